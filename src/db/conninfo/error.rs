//! Why a connection setting was refused. Names the key and the place, never a value that could be, or could hold a
//! piece of, a password.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Where a setting was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The connection string given on the command line; characters count from 1.
    Dsn(usize),
    /// The connection string in `DATABASE_URL`; characters count from 1.
    DatabaseUrl(usize),
    /// A line of a service file, lines count from 1.
    Service(PathBuf, usize),
    /// An environment variable.
    Env(&'static str),
    /// A file of its own, such as a password file.
    File(PathBuf),
    /// Nowhere in particular: what follows from all settings together.
    Together,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dsn(0) => f.write_str("connection string"),
            Self::Dsn(at) => write!(f, "connection string, character {at}"),
            Self::DatabaseUrl(0) => f.write_str("DATABASE_URL"),
            Self::DatabaseUrl(at) => write!(f, "DATABASE_URL, character {at}"),
            Self::Service(file, line) => write!(f, "service file {}, line {line}", quoted(file)),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::File(file) => f.write_str(&quoted(file)),
            Self::Together => f.write_str("connection settings"),
        }
    }
}

/// A setting that cannot be used: where it stands, what is wrong, what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}{}{hint}", if hint.is_empty() { "" } else { "; " })]
pub struct ConnInfoError {
    /// Where it stands.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl ConnInfoError {
    pub(super) fn new(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into(), hint: String::new() }
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// The longest piece of a foreign value that a message repeats, in characters.
const ECHO: usize = 40;

/// A value of a key that never holds secrets, escaped and cut for a message.
pub(super) fn echo(value: &str) -> String {
    let mut shown: String = value.chars().take(ECHO).flat_map(char::escape_debug).collect();
    if value.chars().count() > ECHO {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// A file's name for a message, in quotes and with control characters escaped.
pub(in crate::db) fn quoted(file: &Path) -> String {
    format!("\"{}\"", file.to_string_lossy().escape_debug())
}
