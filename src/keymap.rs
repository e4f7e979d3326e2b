//! The one list of keys: dispatch, footer, help and the README's table all come from it.

mod bindings;
mod key;

use std::sync::OnceLock;

pub use bindings::BINDINGS;
pub use key::Key;

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Leave the program.
    Quit,
    /// Leave the program from anywhere, dialogs included.
    QuitNow,
    /// Stop and give the terminal back to the shell until `fg`.
    Suspend,
    /// Show the keys.
    Help,
    /// Close what is open, or clear marks, or go back.
    Back,
    /// Switch to the view with this number.
    View(u8),
    /// Focus the next pane.
    NextPane,
    /// Focus the pane before.
    PreviousPane,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One screen up.
    PageUp,
    /// One screen down.
    PageDown,
    /// First row.
    Top,
    /// Last row.
    Bottom,
    /// Open the job under the cursor, or the rows behind a number.
    Inspect,
    /// Find a command, a view or a queue by name.
    Palette,
    /// Edit the filter.
    Filter,
    /// Next sort order.
    Sort,
    /// To the column at the left.
    Left,
    /// To the column at the right.
    Right,
    /// Only the queue that is followed, or all of them.
    Narrow,
    /// Mark or unmark the job under the cursor.
    Mark,
    /// Mark everything between the last mark and the cursor.
    MarkRange,
    /// Make claimable now.
    Requeue,
    /// Make claimable now even when a live lease holds it.
    ForceRequeue,
    /// Move to the dead letters.
    DeadLetter,
    /// Take back an expired lease.
    Reap,
    /// Make a new job of a dead letter.
    Replay,
    /// Run at another time.
    Reschedule,
    /// Change the priority.
    Priority,
    /// Pause a queue, or let it go on.
    Pause,
    /// Put back what the last action changed.
    Undo,
    /// Copy the id under the cursor.
    Copy,
    /// Copy a job's payload.
    CopyPayload,
    /// Copy a job's error.
    CopyError,
    /// Fold or unfold what the cursor is in.
    Fold,
    /// Unfold everything, or fold it.
    FoldAll,
    /// Find a text in what is open.
    Search,
    /// The next place where it was found.
    NextMatch,
    /// The place before.
    PreviousMatch,
    /// Read more of what was cut.
    ReadMore,
    /// Read all of it, up to a limit.
    ReadAll,
    /// Show a hidden value.
    Reveal,
    /// Panes follow all queues, or the one under the cursor.
    AllQueues,
    /// A shorter time range for the charts.
    RangeShorter,
    /// A longer time range for the charts.
    RangeLonger,
    /// Relative, UTC or local times.
    Times,
    /// Freeze the screen, or let it run.
    Freeze,
    /// Fill the screen with the pane, or put it back.
    Zoom,
    /// Let the mouse point, or leave it to the terminal.
    Mouse,
    /// Poll more often.
    Faster,
    /// Poll less often.
    Slower,
    /// Show the psql line of the demo's own server.
    PsqlLine,
    /// Say yes to a dialog.
    Confirm,
    /// Read again now.
    Refresh,
}

/// Where a key counts. Scopes are tried from the innermost out; an open dialog hides all but its own and `Always`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everywhere, dialogs included.
    Always,
    /// Everywhere but in dialogs.
    Global,
    /// Lists of any kind.
    List,
    /// Where the row under the cursor is a job.
    Jobs,
    /// The list of jobs.
    JobList,
    /// The table of queues.
    Queues,
    /// The table of error signatures.
    Failures,
    /// The view of failures and dead letters by error signature.
    Groups,
    /// The table of workers.
    Workers,
    /// The detail of one job.
    Detail,
    /// A confirmation.
    Confirm,
    /// A line of text being edited: other keys type.
    Prompt,
    /// The palette: other keys type.
    Palette,
    /// The help page, and other pages that only scroll.
    Help,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Where it counts.
    pub scope: Scope,
    /// Any of these keys.
    pub keys: &'static [Key],
    /// What it means.
    pub command: Command,
    /// For the footer; empty: not shown there.
    pub hint: &'static str,
    /// For the help page and the README.
    pub help: &'static str,
}

/// The table in force, where the settings changed some of it.
static CHANGED: OnceLock<Vec<Binding>> = OnceLock::new();

/// Puts another table in force, once, before the first key is read. Later calls change nothing.
pub fn install(table: Vec<Binding>) {
    let _already_there = CHANGED.set(table);
}

/// Every key there is, as it is in force.
#[must_use]
pub fn bindings() -> &'static [Binding] {
    CHANGED.get().map_or(BINDINGS, Vec::as_slice)
}

/// `force-requeue` for `ForceRequeue`, `view-3` for `View(3)`: the names of commands and scopes in the settings.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '(' => out.push('-'),
            ')' => {}
            c if c.is_ascii_uppercase() && !out.is_empty() => out.extend(['-', c.to_ascii_lowercase()]),
            c => out.push(c.to_ascii_lowercase()),
        }
    }
    out
}

impl Command {
    /// Its name in the settings.
    #[must_use]
    pub fn name(self) -> String {
        kebab(&format!("{self:?}"))
    }
}

impl Scope {
    /// Its name in the settings.
    #[must_use]
    pub fn name(self) -> String {
        kebab(&format!("{self:?}"))
    }
}

/// The command of a key press where `scopes` are in force, innermost first.
#[must_use]
pub fn resolve(scopes: &[Scope], key: Key) -> Option<Command> {
    scopes
        .iter()
        .find_map(|scope| bindings().iter().find(|b| b.scope == *scope && b.keys.contains(&key)))
        .map(|b| b.command)
}

/// Rows in force with `scopes`, innermost first; a key that an inner scope takes hides the outer row.
pub fn in_force(scopes: &[Scope]) -> impl Iterator<Item = &'static Binding> {
    let mut taken: Vec<Key> = Vec::new();
    let mut rows = Vec::new();
    for scope in scopes {
        for binding in bindings().iter().filter(|b| b.scope == *scope) {
            if binding.keys.iter().any(|k| !taken.contains(k)) {
                rows.push(binding);
            }
            taken.extend(binding.keys);
        }
    }
    rows.into_iter()
}

/// The first key of a command, for texts that name it.
#[must_use]
pub fn label(command: Command) -> String {
    let binding = bindings().iter().find(|b| b.command == command);
    binding.and_then(|b| b.keys.first()).map(|key| key.label()).unwrap_or_default()
}

/// The README's table: one row for each meaning, in the order of the list.
#[must_use]
pub fn markdown_table() -> String {
    let mut text = String::from("| keys | where | what |\n|---|---|---|\n");
    for b in BINDINGS {
        let keys: Vec<String> = b.keys.iter().map(|k| format!("`{}`", k.label())).collect();
        let place = match b.scope {
            Scope::Always | Scope::Global => "everywhere",
            Scope::List => "lists",
            Scope::Jobs => "jobs and leases",
            Scope::JobList => "list of jobs",
            Scope::Queues => "queues",
            Scope::Failures => "failures",
            Scope::Groups => "dead letters",
            Scope::Workers => "workers",
            Scope::Detail => "job detail",
            Scope::Confirm => "confirmation",
            Scope::Prompt => "text field",
            Scope::Palette => "palette",
            Scope::Help => "help",
        };
        text.extend(["| ", &keys.join(" "), " | ", place, " | ", b.help, " |\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Key::{Char, Named};
    use super::*;
    use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

    #[test]
    fn no_key_is_bound_twice_in_one_scope() {
        for (i, a) in BINDINGS.iter().enumerate() {
            for b in &BINDINGS[i + 1..] {
                let twice = a.scope == b.scope && a.keys.iter().any(|k| b.keys.contains(k));
                assert!(!twice, "{:?} and {:?} share a key in {:?}", a.command, b.command, a.scope);
            }
        }
    }

    #[test]
    fn a_confirmation_answers_to_y_only() {
        let scopes = [Scope::Confirm, Scope::Always];
        assert_eq!(resolve(&scopes, Char('y')), Some(Command::Confirm));
        for key in [Named(KeyCode::Enter), Char(' '), Char('r'), Char('Y'), Char('1')] {
            assert_eq!(resolve(&scopes, key), None);
        }
    }

    #[test]
    fn releases_and_alt_are_not_keys() {
        let mut event = KeyEvent::new(KeyCode::Char('r'), KeyModifiers::NONE);
        assert_eq!(Key::of(&event), Some(Char('r')));
        event.kind = KeyEventKind::Release;
        assert_eq!(Key::of(&event), None);
        assert_eq!(Key::of(&KeyEvent::new(KeyCode::Char('r'), KeyModifiers::ALT)), None);
        assert_eq!(Key::of(&KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT)), Some(Char('G')));
    }
}
