//! What went wrong with the database, in plain words: a class to decide by, one line to show, the next step, and the
//! server's own code and details for who wants to know more. Text from the server is kept on one line with control
//! characters escaped; it is still foreign text and goes to a screen through `Safe` only.

mod classify;
mod words;

use std::{fmt, time::Duration};

pub(crate) use classify::chain;

/// What kind of failure it is; decides what happens next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// No server answered there.
    Unreachable,
    /// There was a session and it is gone.
    LinkLost,
    /// The server does not let us in.
    Refused,
    /// The server wants a password and we have none.
    PasswordNeeded,
    /// There is no such database.
    NoDatabase,
    /// The server is starting up, shutting down or recovering.
    StartingUp,
    /// All connection slots are taken.
    TooManyConnections,
    /// An administrator ended the session or the server.
    Shutdown,
    /// The servers that answered are not of the wanted kind (`target_session_attrs`).
    WrongServer,
    /// Our own limit on the client's side ran out; the session was given up.
    Deadline,
    /// The limit that we set for the statement ran out on the server.
    StatementTimeout,
    /// The limit that we set for waiting for a lock ran out on the server.
    LockTimeout,
    /// Somebody cancelled the statement.
    Cancelled,
    /// No permission; for what, where the server's words tell.
    Denied(Option<String>),
    /// A table, column, function or schema does not exist.
    Undefined,
    /// The server or the session is read-only.
    ReadOnly,
    /// TLS could not be established as demanded.
    Tls,
    /// A setting does not work with this server.
    Settings,
    /// The answer has another shape than expected.
    Shape,
    /// Anything else that the server says.
    Other,
}

/// A failure, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DbError {
    /// What kind of failure it is.
    pub class: Class,
    /// What happened, one line.
    pub message: String,
    /// What to do about it, one line; may be empty.
    pub next: String,
    /// The server's code, five characters.
    pub sqlstate: Option<Box<str>>,
    /// The server's detail, hint and context, and the chain of causes: one line each.
    pub more: Box<[String]>,
    /// A change was sent and its answer was lost: it may or may not have happened.
    pub maybe_done: bool,
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(code) = &self.sqlstate {
            write!(f, " [{code}]")?;
        }
        if !self.next.is_empty() {
            write!(f, "; {}", self.next)?;
        }
        Ok(())
    }
}

impl std::error::Error for DbError {}

impl DbError {
    /// A failure without a server's answer.
    pub(crate) fn new(class: Class, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            next: next.into(),
            sqlstate: None,
            more: Box::default(),
            maybe_done: false,
        }
    }

    /// The client's own deadline ran out.
    pub(crate) fn deadline(what: &str, limit: Duration) -> Self {
        let message = format!("{what} took longer than queuetop's own limit of {}", seconds(limit));
        Self::new(Class::Deadline, message, "the session was dropped; a new one is made")
    }

    /// The server became a primary or a standby under a session.
    pub(crate) fn other_role(standby: bool) -> Self {
        let message = if standby { "the server is a standby now" } else { "the server was promoted to primary" };
        Self::new(Class::LinkLost, message, "connecting anew")
    }

    /// A row or a value has another shape than the program expects.
    pub(crate) fn shape(what: impl Into<String>) -> Self {
        Self::new(Class::Shape, what, "the objects in the database may be of another version than this program")
    }

    /// The same failure, with a prefix that says where or for what.
    #[must_use]
    pub(crate) fn context(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// The same failure of a change whose answer was lost.
    #[must_use]
    pub(super) fn with_unknown_outcome(mut self) -> Self {
        self.maybe_done = true;
        self.next = String::from("the answer was lost: it may or may not have happened");
        self
    }

    /// True when the session cannot be used any more, or none came about.
    #[must_use]
    pub fn is_link_lost(&self) -> bool {
        matches!(
            self.class,
            Class::Unreachable | Class::LinkLost | Class::StartingUp | Class::Shutdown | Class::Deadline
        )
    }

    /// True when a permission is missing.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.class, Class::Denied(_))
    }

    /// True when connecting again, without a change by anybody, may help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.is_link_lost() || matches!(self.class, Class::TooManyConnections | Class::WrongServer)
    }

    /// True when connecting again cannot help until somebody changes a setting, a password or a right.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.class, Class::Refused | Class::PasswordNeeded | Class::NoDatabase | Class::Tls | Class::Settings)
    }
}

/// `3 s`, `1.5 s`, `250 ms`.
pub(crate) fn seconds(span: Duration) -> String {
    let millis = span.as_millis();
    if millis < 1000 {
        format!("{millis} ms")
    } else if millis.is_multiple_of(1000) {
        format!("{} s", millis / 1000)
    } else {
        format!("{:.1} s", span.as_secs_f64())
    }
}
