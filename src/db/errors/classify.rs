//! From the driver's errors to ours. The driver hides its kinds, so what has no SQLSTATE is told by its fixed texts.

use std::{error::Error as StdError, io};

use super::{Class, DbError, words};

/// The longest line kept of any foreign text, in characters.
const LONGEST: usize = 2_000;

/// An error and all its causes on one line, without repetitions.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    one_line(&text)
}

/// Foreign text on one line: control characters are shown, not obeyed.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for c in text.trim().chars().take(LONGEST) {
        match c {
            '\n' => line.push_str(" / "),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

impl DbError {
    /// What the driver says about a session that exists.
    pub(crate) fn of_driver(error: &tokio_postgres::Error) -> Self {
        if let Some(server) = error.as_db_error() {
            return Self::of_server(server);
        }
        let text = chain(error);
        if error.is_closed() {
            return Self::new(Class::LinkLost, "the connection was closed by the server", "");
        }
        if let Some(io) = io_cause(error) {
            return Self::new(Class::LinkLost, format!("the connection broke: {}", one_line(&io.to_string())), "");
        }
        let (class, next) = words::of_text(&text);
        Self::new(class, text, next)
    }

    /// What the server says.
    fn of_server(error: &tokio_postgres::error::DbError) -> Self {
        let code = error.code().code();
        let said = one_line(error.message());
        let (class, next) = words::of_code(code, &said);
        let lines = [
            ("detail", error.detail()),
            ("hint", error.hint()),
            ("context", error.where_()),
            ("table", error.table()),
            ("constraint", error.constraint()),
        ];
        let more = lines.into_iter().filter_map(|(name, text)| Some(format!("{name}: {}", one_line(text?)))).collect();
        Self { class, message: said, next: next.to_owned(), sqlstate: Some(code.into()), more, maybe_done: false }
    }

    /// What the system says while a connection is being opened.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        let next = match error.kind() {
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                "is the server running there, and are host and port right?"
            }
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
                "there is no route; if the host has IPv6 only, use the session pooler's address or a network with IPv6"
            }
            io::ErrorKind::PermissionDenied => "the operating system does not let this user in",
            io::ErrorKind::TimedOut => "is a firewall in between?",
            _ => "",
        };
        Self::new(Class::Unreachable, one_line(&error.to_string()), next)
    }
}

/// The system's error below a driver's error, unless it only wraps a TLS error.
fn io_cause(error: &tokio_postgres::Error) -> Option<&io::Error> {
    if error.to_string().contains("TLS") {
        return None;
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref() {
            return Some(io);
        }
        cause = error.source();
    }
    None
}
