//! Where in a settings file something is wrong: its line, its key, and the reason in words.
//!
//! The text of the file itself is never repeated in an error: it may hold a password.

use toml::de::{DeTable, DeValue, Error};

use super::ConfigError;
use crate::model::spelling::suggestion;

/// A setting that is wrong, by the keys that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", dotted(.path))]
pub struct Wrong {
    /// Keys from the outermost in.
    pub path: Vec<String>,
    /// What is wrong and what is right.
    pub reason: String,
}

impl Wrong {
    /// Something wrong with the setting at `path`.
    pub(super) fn new(path: &[&str], reason: impl Into<String>) -> Self {
        Self { path: path.iter().map(|key| (*key).to_owned()).collect(), reason: reason.into() }
    }

    /// With its place in the file.
    pub(super) fn in_file(&self, file: &str, text: &str) -> ConfigError {
        let line = line_of(text, &self.path).map(|line| format!("line {line}, ")).unwrap_or_default();
        ConfigError::Malformed { file: file.to_owned(), cause: format!("{line}{self}") }
    }
}

/// What the parser says, with its place and in our words.
pub(super) fn unreadable(error: &Error, file: &str, text: &str) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start);
    let (line, column) = position(text, at);
    let path = DeTable::parse(text).ok().and_then(|table| path_at(table.get_ref(), at));
    let cause = match path {
        Some(path) => format!("line {line}, {}: {}", dotted(&path), in_words(error.message())),
        None => format!("line {line}, column {column}: {}", error.message().trim_end().replace('\n', ", ")),
    };
    ConfigError::Malformed { file: file.to_owned(), cause }
}

/// "no such key; did you mean `interval`? There are …", from what the deserializer says.
fn in_words(message: &str) -> String {
    let named: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (Some((wrong, known)), true) = (named.split_first(), message.starts_with("unknown ")) {
        let what = if message.starts_with("unknown field") {
            "no such key".to_owned()
        } else {
            format!("`{wrong}` is none of its values")
        };
        return format!("{what}{}", suggestion(wrong, known));
    }
    // What was found may be a secret; its kind says enough.
    if let Some((found, expected)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected "))
    {
        let kind = found.split(' ').next().unwrap_or_default();
        let expected = match expected {
            "a sequence" => "a list",
            "a boolean" => "true or false",
            "a string" => "a text in quotes",
            "a map" => "a table",
            "f64" => "a number",
            table if table.starts_with("struct ") => "a table",
            other => other,
        };
        return format!("expected {expected}, found a value of type {kind}");
    }
    message.trim_end().replace('\n', ", ")
}

/// `targets.prod.dsn`, with quotes around a key that has dots or spaces in it.
fn dotted(path: &[String]) -> String {
    let bare = |key: &&str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let keys: Vec<String> = path
        .iter()
        .map(String::as_str)
        .map(|key| if bare(&key) { key.to_owned() } else { format!("\"{key}\"") })
        .collect();
    keys.join(".")
}

/// Line and column, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The line of a key; where it is not written, of the innermost table around it that is.
fn line_of(text: &str, path: &[String]) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let (mut table, mut at) = (table.get_ref(), None);
    for key in path {
        let Some((key, value)) = table.get_key_value(key.as_str()) else { break };
        at = Some(key.span().start);
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    at.map(|at| position(text, at).0)
}

/// The keys that lead to what stands at this byte.
fn path_at(table: &DeTable<'_>, at: usize) -> Option<Vec<String>> {
    let covers = |span: std::ops::Range<usize>| span.contains(&at);
    table.iter().find_map(|(key, value)| {
        let below = match value.get_ref() {
            DeValue::Table(inner) => path_at(inner, at),
            _ => None,
        };
        let here = covers(key.span()) || covers(value.span());
        let below = below.or_else(|| here.then(Vec::new))?;
        Some([vec![key.get_ref().to_string()], below].concat())
    })
}
