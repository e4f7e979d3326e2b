//! What stands around every batch: the settings of its transaction in front, the server's clock behind.

use std::time::Duration;

use tokio_postgres::{Error, Row};

use super::{errors::DbError, facts::SessionFacts, statement::Limits};
use crate::model::Time;

/// The settings of one transaction: limits, and what keeps a guest modest.
pub(super) fn settings(facts: &SessionFacts, limits: Limits) -> String {
    let millis = |limit: Duration| limit.as_millis().max(1);
    let mut sql = format!(
        "set local statement_timeout = {}; set local lock_timeout = {}; \
         set local idle_in_transaction_session_timeout = {}",
        millis(limits.statement),
        millis(limits.lock),
        millis(limits.deadline),
    );
    // Compiling a metric query costs more than running it, and a guest takes no parallel workers.
    if facts.version_num >= 110_000 {
        sql.push_str("; set local jit = off; set local max_parallel_workers_per_gather = 0");
    }
    // Else the server refuses to send bytes that are not UTF-8; `Text` takes them.
    if facts.encoding == "SQL_ASCII" {
        sql.push_str("; set local client_encoding = 'SQL_ASCII'");
    }
    sql
}

/// What the server says of itself at the end of a batch.
pub(super) struct Clock {
    pub(super) now: Time,
    pub(super) cost: Duration,
    pub(super) standby: bool,
}

impl Clock {
    /// Reads the answer to the pipeline's question for the clock.
    pub(super) fn read(rows: &[Row]) -> Result<Self, DbError> {
        let row = rows.first().ok_or_else(|| DbError::shape("the clock gave no answer"))?;
        let read = || -> Result<(Time, Time, bool), Error> { Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)) };
        let (began, now, standby) = read().map_err(|error| DbError::of_driver(&error))?;
        let micros = now.micros_since(began).and_then(|micros| u64::try_from(micros).ok()).unwrap_or(0);
        Ok(Self { now, cost: Duration::from_micros(micros), standby })
    }
}
