//! `[keys]`: other keys for commands. The table of keys stays the one list; what is written here changes rows of it.

use std::collections::BTreeMap;

use super::place::Wrong;
use crate::keymap::{self, Binding, Command, Key, Scope};
use crate::model::spelling::suggestion;

/// Keys by command, or by `scope.command` where a command has several places.
pub type Keys = BTreeMap<String, Vec<String>>;

/// The table with these changes. A bare command has its keys wherever it counts but in dialogs; `scope.command` changes one
/// place, and wins over the bare one.
///
/// # Errors
/// An unknown command, a key that cannot be read, a key that means two things in one place, and what would make a
/// confirmation unsafe, a text impossible to type or the program impossible to leave.
pub fn table(keys: &Keys) -> Result<Vec<Binding>, Wrong> {
    let mut rows: Vec<Row> = keymap::BINDINGS.iter().map(|binding| Row { binding: *binding, by: None }).collect();
    let (placed, bare): (Vec<_>, Vec<_>) = keys.iter().partition(|(name, _)| name.contains('.'));
    for (name, wanted) in bare.into_iter().chain(placed) {
        let wrong = |reason: String| Wrong::new(&["keys", name], reason);
        let keys = wanted.iter().map(|text| Key::parse(text)).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let keys: &'static [Key] = Vec::leak(keys);
        let mut found = false;
        for row in rows.iter_mut().filter(|row| named(&row.binding, name)) {
            (row.binding.keys, row.by) = (keys, Some(name));
            found = true;
        }
        if !found {
            return Err(wrong(unknown(name)));
        }
    }
    check(&rows)?;
    Ok(rows.into_iter().map(|row| row.binding).collect())
}

/// A row of the table, and the setting that changed it.
struct Row<'a> {
    binding: Binding,
    by: Option<&'a String>,
}

/// Dialogs keep their own keys unless one is named with its place: letters are typed there.
const DIALOGS: [Scope; 3] = [Scope::Confirm, Scope::Prompt, Scope::Palette];

fn full_name(binding: &Binding) -> String {
    format!("{}.{}", binding.scope.name(), binding.command.name())
}

fn named(binding: &Binding, name: &str) -> bool {
    full_name(binding) == name || (binding.command.name() == name && !DIALOGS.contains(&binding.scope))
}

/// Why a name is none.
fn unknown(name: &str) -> String {
    let in_dialogs: Vec<String> = keymap::BINDINGS.iter().filter(|b| b.command.name() == name).map(full_name).collect();
    if !in_dialogs.is_empty() {
        return format!("it counts in dialogs only: name one of them, {}", in_dialogs.join(", "));
    }
    let mut names: Vec<String> = keymap::BINDINGS
        .iter()
        .map(|binding| if name.contains('.') { full_name(binding) } else { binding.command.name() })
        .collect();
    names.sort();
    names.dedup();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!("no such command{}", suggestion(name, &names))
}

fn check(rows: &[Row<'_>]) -> Result<(), Wrong> {
    for (at, Row { binding: one, by }) in rows.iter().enumerate() {
        let name = by.cloned().unwrap_or_else(|| one.command.name());
        unsafe_in(one).map_or(Ok(()), |reason| Err(Wrong::new(&["keys", &name], reason)))?;
        for Row { binding: other, by: other_by } in
            rows.iter().skip(at + 1).filter(|other| other.binding.scope == one.scope)
        {
            let Some(key) = one.keys.iter().find(|key| other.keys.contains(key)) else { continue };
            // What the file names is to blame, not what was there before.
            let (name, taken) = match (by, other_by) {
                (None, Some(name)) => ((*name).clone(), one),
                _ => (name, other),
            };
            let (key, command) = (key.label(), taken.command.name());
            let reason = format!("{key} already means {command} in the same place ({})", one.scope.name());
            return Err(Wrong::new(&["keys", &name], reason));
        }
    }
    Ok(())
}

/// What must not be, whatever the operator likes.
fn unsafe_in(row: &Binding) -> Option<&'static str> {
    let leaves = row.command == Command::QuitNow;
    if row.scope == Scope::Confirm && row.command == Command::Confirm && row.keys != [Key::Char('y')] {
        return Some("a confirmation is answered by y only");
    }
    if row.keys.contains(&Key::Ctrl('c')) != leaves {
        return Some("Ctrl-C always leads out, and means nothing else");
    }
    let types = [Scope::Prompt, Scope::Palette].contains(&row.scope);
    let letter = row.keys.iter().any(|key| matches!(key, Key::Char(_)));
    (types && letter).then_some("letters are typed here: take a key with Ctrl, or a named one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &[&str])]) -> Result<Vec<Binding>, String> {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let keys = pairs.iter().map(|(name, keys)| ((*name).to_owned(), own(keys))).collect();
        table(&keys).map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_gets_other_keys_everywhere_or_in_one_place() {
        let changed = with(&[("requeue", &["ctrl-e", "f5"])]).expect("fine");
        let requeue: Vec<_> = changed.iter().filter(|b| b.command == Command::Requeue).collect();
        assert!(requeue.len() >= 2 && requeue.iter().all(|b| b.keys.contains(&Key::Ctrl('e'))));
        let changed = with(&[("jobs.reap", &["X"])]).expect("fine");
        let keys: Vec<_> = changed.iter().filter(|b| b.command == Command::Reap).map(|b| b.keys).collect();
        assert!(keys.contains(&[Key::Char('X')].as_slice()) && keys.contains(&[Key::Char('x')].as_slice()));
        assert_eq!(with(&[]).expect("fine"), keymap::BINDINGS);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, keys, why) in [
            ("requeu", ["r"], "no such command; did you mean requeue? There are all-queues"),
            ("requeue", ["hyper-r"], "`hyper-r` is no key"),
            ("requeue", ["d"], "d already means dead-letter"),
            ("confirm.confirm", ["enter"], "answered by y only"),
            ("confirm.confirm", ["space"], "answered by y only"),
            ("quit-now", ["q"], "Ctrl-C always leads out"),
            ("jobs.requeue", ["ctrl-c"], "Ctrl-C always leads out"),
            ("jobs.requeu", ["f5"], "did you mean jobs.requeue?"),
            ("confirm", ["f5"], "name one of them, confirm.confirm"),
            ("prompt.back", ["q"], "letters are typed here"),
            ("requeue", ["ctrl-m"], "is the same as enter"),
        ] {
            let error = with(&[(name, &keys)]).expect_err(name);
            assert!(error.starts_with("keys.") && error.contains(name), "{error}");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_place_wins_over_the_bare_name_and_dialogs_keep_their_keys() {
        let changed = with(&[("reap", &["X"]), ("jobs.reap", &["f6"]), ("down", &["w"])]).expect("fine");
        let keys = |scope, command| {
            let row = changed.iter().find(|b| b.scope == scope && b.command == command).expect("a row");
            row.keys.iter().map(|key| key.label()).collect::<Vec<_>>()
        };
        assert_eq!(keys(Scope::Jobs, Command::Reap), ["F6"]);
        assert_eq!(keys(Scope::Detail, Command::Reap), ["X"]);
        assert_eq!(keys(Scope::List, Command::Down), ["w"]);
        assert_eq!(keys(Scope::Palette, Command::Down), ["↓", "Ctrl-N"]);
        assert_eq!(keys(Scope::Confirm, Command::Down), ["↓"]);
        assert!(keys(Scope::Confirm, Command::Back).contains(&"n".to_owned()));
    }

    #[test]
    fn the_setting_is_blamed_and_not_the_row_that_was_there() {
        let error = with(&[("global.times", &["q"])]).expect_err("taken");
        assert_eq!(error, "keys.\"global.times\": q already means quit in the same place (global)");
    }

    #[test]
    fn every_command_and_place_has_a_name_of_its_own() {
        for one in keymap::BINDINGS {
            assert!(!one.command.name().is_empty() && !one.scope.name().is_empty());
        }
    }
}
