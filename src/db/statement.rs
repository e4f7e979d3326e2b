//! A statement with its parameters, and the limits it runs under. Statements are never named on the server, and
//! parameter types are always given, so that the driver asks nothing back: both hold through every pooler. Results must be
//! of built-in types: cast enums, domains and composites to text in the SQL.

use std::{sync::Arc, time::Duration};

use tokio_postgres::types::{ToSql, Type};

use crate::model::Time;

/// A parameter value.
pub type Param = Box<dyn ToSql + Sync + Send>;

/// One SQL statement and its parameters.
#[derive(Debug)]
pub struct Statement {
    pub(super) sql: Arc<str>,
    pub(super) params: Vec<(Param, Type)>,
}

impl Statement {
    /// A statement without parameters yet.
    #[must_use]
    pub fn new(sql: impl Into<Arc<str>>) -> Self {
        Self { sql: sql.into(), params: Vec::new() }
    }

    /// Adds the next parameter: `$1`, then `$2` and so on.
    #[must_use]
    pub fn bind(mut self, value: impl ToSql + Sync + Send + 'static, r#type: Type) -> Self {
        self.params.push((Box::new(value), r#type));
        self
    }

    /// Adds a `text` parameter; `None` is null.
    #[must_use]
    pub fn text(self, value: impl Into<Option<String>>) -> Self {
        self.bind(value.into(), Type::TEXT)
    }

    /// Adds a `text[]` parameter.
    #[must_use]
    pub fn texts(self, values: Vec<String>) -> Self {
        self.bind(values, Type::TEXT_ARRAY)
    }

    /// Adds an `integer` parameter; `None` is null.
    #[must_use]
    pub fn int4(self, value: impl Into<Option<i32>>) -> Self {
        self.bind(value.into(), Type::INT4)
    }

    /// Adds a `bigint` parameter; `None` is null.
    #[must_use]
    pub fn int8(self, value: impl Into<Option<i64>>) -> Self {
        self.bind(value.into(), Type::INT8)
    }

    /// Adds a `boolean` parameter; `None` is null.
    #[must_use]
    pub fn bool(self, value: impl Into<Option<bool>>) -> Self {
        self.bind(value.into(), Type::BOOL)
    }

    /// Adds a `uuid` parameter; `None` is null.
    #[must_use]
    pub fn uuid(self, value: impl Into<Option<uuid::Uuid>>) -> Self {
        self.bind(value.into(), Type::UUID)
    }

    /// Adds a `uuid[]` parameter.
    #[must_use]
    pub fn uuids(self, values: Vec<uuid::Uuid>) -> Self {
        self.bind(values, Type::UUID_ARRAY)
    }

    /// Adds a `timestamptz` parameter; `None` is null.
    #[must_use]
    pub fn time(self, value: impl Into<Option<Time>>) -> Self {
        self.bind(value.into(), Type::TIMESTAMPTZ)
    }

    /// Adds a `jsonb` parameter.
    #[must_use]
    pub fn json(self, value: serde_json::Value) -> Self {
        self.bind(value, Type::JSONB)
    }
}

/// How long a batch of statements may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For each statement, on the server (`statement_timeout`).
    pub statement: Duration,
    /// For waiting for a lock, on the server (`lock_timeout`).
    pub lock: Duration,
    /// For the whole batch, on our side; when it runs out the session is given up.
    pub deadline: Duration,
}

impl Limits {
    /// The usual limits around a limit for each statement: a second for locks, two more seconds for the network.
    #[must_use]
    pub const fn within(statement: Duration) -> Self {
        Self { statement, lock: Duration::from_secs(1), deadline: statement.saturating_add(Duration::from_secs(2)) }
    }
}
