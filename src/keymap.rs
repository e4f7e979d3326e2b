//! The one list of keys: dispatch, footer, help and the README's table all come from it.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

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
    /// Copy the id under the cursor.
    Copy,
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
    /// The table of queues.
    Queues,
    /// The table of error signatures.
    Failures,
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

/// One key press, without what terminals disagree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character as typed (shift is in the character).
    Char(char),
    /// A character with Ctrl.
    Ctrl(char),
    /// A named key.
    Named(KeyCode),
}

impl Key {
    /// The key of an event; `None` for releases, repeats of held keys and anything with Alt.
    #[must_use]
    pub fn of(event: &KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::ALT) {
            return None;
        }
        match event.code {
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::CONTROL) => {
                Some(Self::Ctrl(c.to_ascii_lowercase()))
            }
            KeyCode::Char(c) => Some(Self::Char(c)),
            code => Some(Self::Named(code)),
        }
    }

    /// As written in the footer and the help.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Char(' ') => "Space".into(),
            Self::Char(c) => c.to_string(),
            Self::Ctrl(c) => format!("Ctrl-{}", c.to_ascii_uppercase()),
            Self::Named(KeyCode::PageUp) => "PgUp".into(),
            Self::Named(KeyCode::PageDown) => "PgDn".into(),
            Self::Named(KeyCode::BackTab) => "Shift-Tab".into(),
            Self::Named(KeyCode::Up) => "↑".into(),
            Self::Named(KeyCode::Down) => "↓".into(),
            Self::Named(code) => format!("{code}"),
        }
    }
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

const fn bind(scope: Scope, keys: &'static [Key], command: Command, hint: &'static str, help: &'static str) -> Binding {
    Binding { scope, keys, command, hint, help }
}

use Key::{Char, Ctrl, Named};

/// Every key there is.
pub const BINDINGS: &[Binding] = &[
    bind(Scope::Jobs, &[Char('r')], Command::Requeue, "requeue", "requeue: make the job claimable now"),
    bind(Scope::Jobs, &[Char('F')], Command::ForceRequeue, "", "force requeue: also take it from a live worker"),
    bind(Scope::Jobs, &[Char('d')], Command::DeadLetter, "dead-letter", "move the job to the dead letters"),
    bind(Scope::Jobs, &[Char('x')], Command::Reap, "reap", "reap: take back an expired lease"),
    bind(Scope::Jobs, &[Char(' ')], Command::Mark, "mark", "mark or unmark the job"),
    bind(Scope::Jobs, &[Char('v')], Command::MarkRange, "", "mark all from the last marked job to this one"),
    bind(Scope::Jobs, &[Char('y')], Command::Copy, "", "copy the job's id to the clipboard (OSC 52)"),
    bind(Scope::Jobs, &[Named(KeyCode::Enter)], Command::Inspect, "inspect", "open the job: payload, error, attempts"),
    bind(Scope::Queues, &[Named(KeyCode::Enter)], Command::Inspect, "jobs", "open the jobs of the queue"),
    bind(Scope::Queues, &[Char('s')], Command::Sort, "sort", "sort the queues by the next column"),
    bind(Scope::Failures, &[Named(KeyCode::Enter)], Command::Inspect, "jobs", "open the jobs that failed like this"),
    bind(Scope::Workers, &[Named(KeyCode::Enter)], Command::Inspect, "jobs", "open the jobs that the worker holds"),
    bind(Scope::Workers, &[Char('y')], Command::Copy, "", "copy the worker's id to the clipboard (OSC 52)"),
    bind(Scope::Workers, &[Char('s')], Command::Sort, "sort", "sort the workers by the next column"),
    bind(Scope::Failures, &[Char('s')], Command::Sort, "sort", "sort the signatures by the next column"),
    bind(Scope::List, &[Char('k'), Named(KeyCode::Up)], Command::Up, "", "up"),
    bind(Scope::List, &[Char('j'), Named(KeyCode::Down)], Command::Down, "", "down"),
    bind(Scope::List, &[Ctrl('b'), Named(KeyCode::PageUp)], Command::PageUp, "", "one screen up"),
    bind(Scope::List, &[Ctrl('f'), Named(KeyCode::PageDown)], Command::PageDown, "", "one screen down"),
    bind(Scope::List, &[Char('g'), Named(KeyCode::Home)], Command::Top, "", "first row"),
    bind(Scope::List, &[Char('G'), Named(KeyCode::End)], Command::Bottom, "", "last row"),
    bind(Scope::Detail, &[Char('k'), Named(KeyCode::Up)], Command::Up, "scroll", "up"),
    bind(Scope::Detail, &[Char('j'), Named(KeyCode::Down)], Command::Down, "", "down"),
    bind(Scope::Detail, &[Ctrl('b'), Named(KeyCode::PageUp)], Command::PageUp, "", "one screen up"),
    bind(Scope::Detail, &[Ctrl('f'), Named(KeyCode::PageDown), Char(' ')], Command::PageDown, "", "one screen down"),
    bind(Scope::Detail, &[Char('g'), Named(KeyCode::Home)], Command::Top, "", "first line"),
    bind(Scope::Detail, &[Char('G'), Named(KeyCode::End)], Command::Bottom, "", "last line"),
    bind(Scope::Detail, &[Named(KeyCode::Tab)], Command::NextPane, "section", "next section"),
    bind(Scope::Detail, &[Char('r')], Command::Requeue, "requeue", "requeue this job"),
    bind(Scope::Detail, &[Char('F')], Command::ForceRequeue, "", "force requeue this job"),
    bind(Scope::Detail, &[Char('d')], Command::DeadLetter, "dead-letter", "move this job to the dead letters"),
    bind(Scope::Detail, &[Char('x')], Command::Reap, "reap", "reap this job"),
    bind(Scope::Detail, &[Char('y')], Command::Copy, "copy id", "copy the job's id to the clipboard (OSC 52)"),
    bind(Scope::Detail, &[Named(KeyCode::Esc), Char('q')], Command::Back, "back", "close the detail"),
    bind(Scope::Confirm, &[Char('y')], Command::Confirm, "yes", "do it"),
    bind(Scope::Confirm, &[Named(KeyCode::Esc), Char('n'), Char('q')], Command::Back, "leave it", "change nothing"),
    bind(Scope::Prompt, &[Named(KeyCode::Enter)], Command::Confirm, "use it", "use the text"),
    bind(Scope::Prompt, &[Named(KeyCode::Esc)], Command::Back, "cancel", "leave the text as it was"),
    bind(Scope::Palette, &[Named(KeyCode::Enter)], Command::Confirm, "do it", "do what the cursor is on"),
    bind(Scope::Palette, &[Named(KeyCode::Esc)], Command::Back, "close", "close the palette"),
    bind(Scope::Palette, &[Named(KeyCode::Up), Ctrl('p')], Command::Up, "", "up"),
    bind(Scope::Palette, &[Named(KeyCode::Down), Ctrl('n')], Command::Down, "choose", "down"),
    bind(Scope::Palette, &[Named(KeyCode::PageUp)], Command::PageUp, "", "one screen up"),
    bind(Scope::Palette, &[Named(KeyCode::PageDown)], Command::PageDown, "", "one screen down"),
    bind(Scope::Confirm, &[Named(KeyCode::Up)], Command::Up, "", "scroll a long list of jobs up"),
    bind(Scope::Confirm, &[Named(KeyCode::Down)], Command::Down, "", "scroll it down"),
    bind(Scope::Confirm, &[Named(KeyCode::PageUp)], Command::PageUp, "", "scroll it one screen up"),
    bind(Scope::Confirm, &[Named(KeyCode::PageDown)], Command::PageDown, "", "scroll it one screen down"),
    bind(Scope::Help, &[Named(KeyCode::Esc), Char('q'), Char('?')], Command::Back, "close", "close the help"),
    bind(Scope::Help, &[Char('k'), Named(KeyCode::Up)], Command::Up, "", "up"),
    bind(Scope::Help, &[Char('j'), Named(KeyCode::Down)], Command::Down, "scroll", "down"),
    bind(Scope::Help, &[Named(KeyCode::PageUp)], Command::PageUp, "", "one screen up"),
    bind(Scope::Help, &[Named(KeyCode::PageDown), Char(' ')], Command::PageDown, "", "one screen down"),
    bind(Scope::Global, &[Char(':')], Command::Palette, "", "find a command, a view or a queue by name"),
    bind(Scope::Global, &[Char('/')], Command::Filter, "filter", "show only queues or jobs that contain a text"),
    bind(Scope::Global, &[Named(KeyCode::Tab)], Command::NextPane, "pane", "next pane"),
    bind(Scope::Global, &[Named(KeyCode::BackTab)], Command::PreviousPane, "", "pane before"),
    bind(Scope::Global, &[Char('1')], Command::View(1), "", "overview"),
    bind(Scope::Global, &[Char('2')], Command::View(2), "jobs", "jobs"),
    bind(Scope::Global, &[Char('3')], Command::View(3), "workers", "leases and workers"),
    bind(Scope::Global, &[Char('4')], Command::View(4), "dead", "failures and dead letters by error signature"),
    bind(
        Scope::Global,
        &[Char('a')],
        Command::AllQueues,
        "all",
        "panes follow all queues, or the one under the cursor",
    ),
    bind(Scope::Global, &[Char('[')], Command::RangeShorter, "", "shorter time range"),
    bind(Scope::Global, &[Char(']')], Command::RangeLonger, "", "longer time range"),
    bind(Scope::Global, &[Char('t')], Command::Times, "", "times: relative, UTC, local"),
    bind(Scope::Global, &[Char('z')], Command::Freeze, "freeze", "freeze the screen, or let it run again"),
    bind(Scope::Global, &[Char('Z')], Command::Zoom, "", "zoom the pane, or put it back"),
    bind(Scope::Global, &[Char('+'), Char('=')], Command::Faster, "", "poll more often"),
    bind(Scope::Global, &[Char('-')], Command::Slower, "", "poll less often"),
    bind(Scope::Global, &[Ctrl('l'), Ctrl('r')], Command::Refresh, "", "read again now and repaint"),
    bind(Scope::Global, &[Char('D')], Command::PsqlLine, "", "show the psql line of the demo's database"),
    bind(Scope::Global, &[Named(KeyCode::Esc)], Command::Back, "", "clear marks or filter; back to the overview"),
    bind(Scope::Global, &[Char('?'), Named(KeyCode::F(1))], Command::Help, "help", "show the keys"),
    bind(Scope::Global, &[Char('q')], Command::Quit, "quit", "quit"),
    bind(Scope::Always, &[Ctrl('z')], Command::Suspend, "", "suspend; `fg` comes back"),
    bind(Scope::Always, &[Ctrl('c')], Command::QuitNow, "", "quit from anywhere"),
];

/// The command of a key press where `scopes` are in force, innermost first.
#[must_use]
pub fn resolve(scopes: &[Scope], key: Key) -> Option<Command> {
    scopes
        .iter()
        .find_map(|scope| BINDINGS.iter().find(|b| b.scope == *scope && b.keys.contains(&key)))
        .map(|b| b.command)
}

/// Rows in force with `scopes`, innermost first; a key that an inner scope takes hides the outer row.
pub fn in_force(scopes: &[Scope]) -> impl Iterator<Item = &'static Binding> {
    let mut taken: Vec<Key> = Vec::new();
    let mut rows = Vec::new();
    for scope in scopes {
        for binding in BINDINGS.iter().filter(|b| b.scope == *scope) {
            if binding.keys.iter().any(|k| !taken.contains(k)) {
                rows.push(binding);
            }
            taken.extend(binding.keys);
        }
    }
    rows.into_iter()
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
            Scope::Queues => "queues",
            Scope::Failures => "failures",
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
    use super::*;

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
