//! What a new session finds out about itself and its server, in one statement that every role may run.

use tokio_postgres::Row;

use super::{errors::DbError, statement::Statement, types::Text};
use crate::model::{Time, TlsState};

/// What is known of a session from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// The server that answered, as in [`crate::db::Target::host`]; of several hosts the one in use.
    pub host: String,
    /// Encryption as negotiated.
    pub tls: TlsState,
    /// The server itself answers, for certain; false: a pooler, or not known.
    pub direct: bool,
    /// `server_version`, as the server says: `16.4 (Debian 16.4-1)`.
    pub version: String,
    /// `server_version_num`: 160004.
    pub version_num: i32,
    /// The server is in recovery: a standby.
    pub standby: bool,
    /// The session cannot write, for whatever reason.
    pub read_only: bool,
    /// `current_user`.
    pub user: String,
    /// `current_database()`.
    pub database: String,
    /// `server_encoding`.
    pub encoding: String,
    /// The server process; through a pooler it changes.
    pub pid: i32,
    /// The TCP port of the client as the server sees it.
    pub(super) client_port: Option<i32>,
    /// When the server was started: another value means that it was restarted or is another server.
    pub started: Time,
}

const QUESTION: &str = "select current_setting('server_version'), current_setting('server_version_num')::int4, \
    pg_is_in_recovery(), current_setting('default_transaction_read_only')::bool, current_user::text, \
    current_database()::text, current_setting('server_encoding'), pg_backend_pid(), inet_client_port(), \
    pg_postmaster_start_time()";

/// The question for a session about itself.
pub(super) fn question() -> Statement {
    Statement::new(QUESTION)
}

impl SessionFacts {
    /// Before the server was asked.
    pub(super) fn unknown() -> Self {
        Self {
            host: String::new(),
            tls: TlsState::Unknown,
            direct: false,
            version: String::new(),
            version_num: 0,
            standby: false,
            read_only: false,
            user: String::new(),
            database: String::new(),
            encoding: String::new(),
            pid: 0,
            client_port: None,
            started: Time::NegInfinity,
        }
    }

    /// Reached through a unix socket of this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.tls == TlsState::Socket
    }

    /// Reads the answer to [`question`]; what the server cannot know is filled in by the caller.
    pub(super) fn read(row: &Row) -> Result<Self, DbError> {
        let read = || -> Result<Self, tokio_postgres::Error> {
            let text = |index: usize| row.try_get::<_, Text>(index).map(|text| text.0);
            let standby: bool = row.try_get(2)?;
            Ok(Self {
                version: text(0)?,
                version_num: row.try_get(1)?,
                standby,
                read_only: standby || row.try_get(3)?,
                user: text(4)?,
                database: text(5)?,
                encoding: text(6)?,
                pid: row.try_get(7)?,
                client_port: row.try_get(8)?,
                started: row.try_get(9)?,
                ..Self::unknown()
            })
        };
        read().map_err(|error| DbError::of_driver(&error))
    }
}
