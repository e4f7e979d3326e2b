//! Why a migration was not done, in words that say what to do.
//!
//! It must not hold a secret: server messages name objects and roles, never passwords.

use std::error::Error as StdError;

use tokio_postgres::error::SqlState;

use super::files::quote_ident;

/// Why a schema could not be brought to this program's version.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A schema's or role's name that cannot be used.
    #[error("{name:?} cannot be a {what} name here: {why}")]
    Name {
        /// schema or role
        what: &'static str,
        /// The name as given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The server's version is below the oldest that has what we need.
    #[error("PostgreSQL {0} is too old: queuetop needs 13 or newer")]
    OldServer(String),
    /// The server only replays another one's changes.
    #[error("this server is a standby and cannot be changed: migrate on the primary")]
    Standby,
    /// The advisory lock was not to be had.
    #[error("another migrate of this schema has been running for {0} s; try again when it has ended")]
    Busy(u64),
    /// The schema was made by a newer queuetop.
    #[error("schema {schema:?} is at version {version}, this queuetop knows {ours}: use a newer queuetop")]
    Newer {
        /// The schema.
        schema: String,
        /// Its version.
        version: i32,
        /// The version of this program.
        ours: i32,
    },
    /// The roles were installed under another prefix.
    #[error("the roles of this schema were made with the prefix {installed:?}, not {asked:?}: leave --role-prefix out")]
    RolePrefix {
        /// The prefix asked for.
        asked: String,
        /// The prefix in use.
        installed: String,
    },
    /// A table that cannot be taken over.
    #[error("{schema}.{table} cannot be taken over: {why}; install into another schema with --schema")]
    Table {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// What is wrong with it.
        why: String,
    },
    /// Tables under our names although we are not installed.
    #[error("schema {schema:?} has tables of the same names that are not queuetop's: {}; install into another schema with --schema", tables.join(", "))]
    ForeignTables {
        /// The schema.
        schema: String,
        /// Their names.
        tables: Vec<String>,
    },
    /// Functions under our names that somebody else made.
    #[error("these functions are not queuetop's but have names it needs: {}; --replace-functions replaces them", .0.join(", "))]
    ForeignFunctions(Vec<String>),
    /// The session may not create objects.
    #[error("{user} may not create in {what}; let its owner run: grant create on {what} to {};", quote_ident(user))]
    NoCreate {
        /// The session's role.
        user: String,
        /// The schema or database, quoted.
        what: String,
    },
    /// The roles are missing and the session may not create any.
    #[error(
        "roles are missing and {user} may not create any; let somebody with CREATEROLE run: {statements} then migrate again"
    )]
    Roles {
        /// The session's role.
        user: String,
        /// What creates the missing ones.
        statements: String,
    },
    /// A pooler in transaction mode is in between.
    #[error(
        "this connection goes through a pooler in transaction mode, which keeps no lock between statements; migrate through a direct connection or a session pooler"
    )]
    Pooled,
    /// An index cannot be built because of the rows.
    #[error("index {index} cannot be built: {why}; nothing else was changed")]
    Index {
        /// The index.
        index: String,
        /// What the server says.
        why: String,
    },
    /// Somebody held a table for longer than we are willing to let others queue behind us.
    #[error("a table is locked by somebody else ({0}); nothing was changed, try again at a quieter time")]
    TableLocked(String),
    /// The server refused a statement.
    #[error("{0}; nothing was changed")]
    Refused(String),
    /// What is installed is not what this program would have installed.
    #[error("the installed migrations are not this program's: {0}")]
    History(String),
    /// The connection failed.
    #[error(transparent)]
    Connection(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for MigrateError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(db) if *db.code() == SqlState::LOCK_NOT_AVAILABLE => Self::TableLocked(db.message().to_owned()),
            Some(db) => Self::Refused(describe(db)),
            None => Self::Connection(error),
        }
    }
}

impl From<refinery_core::Error> for MigrateError {
    fn from(error: refinery_core::Error) -> Self {
        match database_error(&error) {
            Some(db) if *db.code() == SqlState::LOCK_NOT_AVAILABLE => Self::TableLocked(db.message().to_owned()),
            Some(db) => Self::Refused(describe(db)),
            None => Self::History(error.to_string()),
        }
    }
}

/// The server's own error somewhere in the chain of causes.
fn database_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a tokio_postgres::error::DbError> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(db) = error.downcast_ref::<tokio_postgres::error::DbError>() {
            return Some(db);
        }
        cause = error.source();
    }
    None
}

/// Message, detail, hint and where in PL/pgSQL or in which statement, as far as the server said them.
pub(super) fn describe(db: &tokio_postgres::error::DbError) -> String {
    let mut text = format!("{} (SQLSTATE {})", db.message(), db.code().code());
    for more in [db.detail(), db.hint()].into_iter().flatten() {
        text.push_str(": ");
        text.push_str(more);
    }
    text
}
