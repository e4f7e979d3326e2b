//! What a check-up of an installation works with: what is known beforehand, the questions, and their answers as plain data.
//! The checks themselves are rules (`diagnose::checks`); asking is the engine's work.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::{Reading, Time};

/// A value for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// `text`.
    Text(String),
    /// `text[]`.
    Texts(Vec<String>),
}

/// One read-only statement. Each of its rows is answered as one JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The statement; built-in types that JSON can hold.
    pub sql: String,
    /// `$1`, `$2` and so on.
    pub args: Vec<Arg>,
}

/// What a question brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The rows as objects.
    pub rows: Vec<Value>,
    /// The server's clock at the end of the statement.
    pub server_time: Time,
    /// This machine's clock in the middle between asking and hearing.
    pub client_time: Time,
    /// From asking to hearing.
    pub took: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// A right is missing.
    pub denied: bool,
    /// In words (partly the server's: show through `text::Safe`).
    pub why: String,
}

/// A function that our migrations bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurFunction {
    /// Its name; there is one of each.
    pub name: String,
    /// Its text, as `pg_proc.prosrc` has it.
    pub body: String,
    /// It runs with its owner's rights.
    pub definer: bool,
    /// It sets its own search path.
    pub pinned: bool,
    /// Which groups call it: `viewer`, `worker`, `operator`; none: only other functions do.
    pub callers: Vec<String>,
}

/// A trigger or an index that our migrations bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurPart {
    /// Its name.
    pub name: String,
    /// The table that it is on.
    pub table: String,
    /// The statement that makes it, on one line.
    pub statement: String,
}

/// What the migrations of one version bring into a schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// Tables.
    pub tables: Vec<String>,
    /// Functions.
    pub functions: Vec<OurFunction>,
    /// Triggers.
    pub triggers: Vec<OurPart>,
    /// Indexes, without those of keys.
    pub indexes: Vec<OurPart>,
}

/// The three groups that rights come in, by the names they have on this server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupRoles {
    /// Reads.
    pub viewer: String,
    /// Works.
    pub worker: String,
    /// Acts.
    pub operator: String,
}

/// What is known before anything is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// The schema with the `jobs` table; `None`: there is none, or the one named has none.
    pub schema: Option<String>,
    /// The schema was named by the operator.
    pub schema_named: bool,
    /// The schema as SQL writes it; empty without one.
    pub schema_sql: String,
    /// Other schemas of this database that hold our SQL.
    pub elsewhere: Vec<String>,
    /// The version of our SQL there; `Exact(None)`: it is not installed.
    pub version: Reading<Option<i32>>,
    /// The version that this program brings.
    pub newest: i32,
    /// What the installed version should consist of.
    pub contents: Contents,
    /// Tables of ours that are there.
    pub tables: BTreeSet<String>,
    /// What the queue lacks, in words (from its backend).
    pub notes: Vec<String>,
    /// The groups.
    pub groups: GroupRoles,
    /// The groups as SQL writes them.
    pub groups_sql: GroupRoles,
    /// Whose rights are looked at.
    pub role: String,
    /// That role as SQL writes it.
    pub role_sql: String,
    /// The role that asks is a superuser.
    pub superuser: bool,
    /// `server_version`, as the server says.
    pub server: String,
    /// `server_version_num`.
    pub server_num: i32,
    /// A standby.
    pub standby: bool,
    /// Why notifications do not arrive here; `None`: they do.
    pub poll_only: Option<String>,
}

impl Surroundings {
    /// Our SQL is installed, as far as is known.
    #[must_use]
    pub fn installed(&self) -> bool {
        !matches!(self.version, Reading::Exact(None)) && self.schema.is_some()
    }
}
