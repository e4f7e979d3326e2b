//! `[keys]`: other keys for commands. The table of keys stays the one list; what is written here changes rows of it.

use std::collections::BTreeMap;

use super::ConfigError;
use crate::keymap::{self, Binding, Command, Key, Scope};

/// Keys by command, or by `scope.command` where a command has several places.
pub type Keys = BTreeMap<String, Vec<String>>;

/// The table with these changes.
///
/// # Errors
/// An unknown command, a key that cannot be read, a key that means two things in one place, and what would make a
/// confirmation unsafe or the program impossible to leave.
pub fn table(keys: &Keys) -> Result<Vec<Binding>, ConfigError> {
    let mut table = keymap::BINDINGS.to_vec();
    for (name, wanted) in keys {
        let wrong = |reason: String| ConfigError::Value { place: format!("keys.{name}"), reason };
        let keys = wanted.iter().map(|text| Key::parse(text)).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let keys: &'static [Key] = Vec::leak(keys);
        let mut found = false;
        for binding in table.iter_mut().filter(|binding| named(binding, name)) {
            binding.keys = keys;
            found = true;
        }
        if !found {
            return Err(wrong(format!("no such command; known: {}", names().join(", "))));
        }
    }
    check(&table)?;
    Ok(table)
}

fn named(binding: &Binding, name: &str) -> bool {
    match name.split_once('.') {
        Some((scope, command)) => binding.scope.name() == scope && binding.command.name() == command,
        None => binding.command.name() == name,
    }
}

/// Every command that has a key.
fn names() -> Vec<String> {
    let mut names: Vec<String> = keymap::BINDINGS.iter().map(|binding| binding.command.name()).collect();
    names.sort();
    names.dedup();
    names
}

fn check(table: &[Binding]) -> Result<(), ConfigError> {
    for (at, one) in table.iter().enumerate() {
        let place = || format!("keys.{}", one.command.name());
        if one.scope == Scope::Confirm && one.command == Command::Confirm && one.keys != [Key::Char('y')] {
            return Err(ConfigError::Value { place: place(), reason: "a confirmation is answered by y only".into() });
        }
        if one.command == Command::QuitNow && !one.keys.contains(&Key::Ctrl('c')) {
            return Err(ConfigError::Value { place: place(), reason: "Ctrl-C always leads out".into() });
        }
        for other in table.iter().skip(at + 1).filter(|other| other.scope == one.scope) {
            if let Some(key) = one.keys.iter().find(|key| other.keys.contains(key)) {
                let (key, command) = (key.label(), other.command.name());
                let reason = format!("{key} already means {command} in the same place ({})", one.scope.name());
                return Err(ConfigError::Value { place: place(), reason });
            }
        }
    }
    Ok(())
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
            ("requeu", ["r"], "no such command; known: all-queues"),
            ("requeue", ["hyper-r"], "`hyper-r` is no key"),
            ("requeue", ["d"], "d already means dead-letter"),
            ("confirm.confirm", ["enter"], "answered by y only"),
            ("quit-now", ["q"], "Ctrl-C always leads out"),
        ] {
            let error = with(&[(name, &keys)]).expect_err(name);
            assert!(error.contains(&format!("keys.{}", name.split('.').next_back().unwrap_or(name))), "{error}");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn every_command_and_place_has_a_name_of_its_own() {
        for one in keymap::BINDINGS {
            assert!(!one.command.name().is_empty() && !one.scope.name().is_empty());
        }
    }
}
