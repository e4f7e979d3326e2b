//! One round of the reaper and the housekeeping: small committed batches, each a call of a function that never waits for a
//! lock and can be stopped anywhere.

use std::time::Duration;

use crate::db::{DbError, Limits, Session, Statement};

use super::migrate::quote_ident;

/// For one batch.
const BATCH_LIMITS: Limits = Limits::within(Duration::from_secs(30));
/// A round ends after this many batches of one kind, so that each kind gets its turn.
const MOST_BATCHES: u32 = 100;

/// What a round does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// Schema of the `jobs` table.
    pub schema: String,
    /// Rows a batch, 1 to 10,000.
    pub batch: i32,
    /// Completed jobs older than this are removed; `None`: kept for ever.
    pub keep_completed: Option<Duration>,
    /// Dead letters older than this are removed; `None`: kept for ever.
    pub keep_dead: Option<Duration>,
    /// Rows of the history tables older than this are removed; `None`: kept for ever.
    pub keep_history: Option<Duration>,
}

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Expired leases taken back to the queue.
    pub requeued: i64,
    /// Jobs moved to the dead letters.
    pub dead: i64,
    /// Completed jobs removed.
    pub completed_removed: i64,
    /// Dead letters removed.
    pub dead_removed: i64,
    /// History rows removed.
    pub history_removed: i64,
}

impl Sweep {
    /// Runs one round: the reaper first, then what is too old.
    ///
    /// # Errors
    /// When a call fails; what was committed before stays done.
    pub async fn run(&self, session: &Session) -> Result<Swept, DbError> {
        let mut swept = Swept::default();
        for _ in 0..MOST_BATCHES {
            let (requeued, dead) = self.reap(session).await?;
            swept.requeued += requeued;
            swept.dead += dead;
            if requeued + dead < i64::from(self.batch) {
                break;
            }
        }
        swept.completed_removed = self.prune(session, "prune_completed_jobs", self.keep_completed).await?;
        swept.dead_removed = self.prune(session, "prune_dead_letters", self.keep_dead).await?;
        swept.history_removed = self.prune(session, "prune_history", self.keep_history).await?;
        Ok(swept)
    }

    async fn reap(&self, session: &Session) -> Result<(i64, i64), DbError> {
        let sql = format!("select requeued, dead from {}.reap_expired_jobs($1)", quote_ident(&self.schema));
        let rows = session.call("reap", &Statement::new(sql).int4(self.batch), BATCH_LIMITS).await?;
        let row = rows.first().ok_or_else(|| DbError::shape("the reaper says nothing"))?;
        let read = |column: usize| row.try_get::<_, i64>(column).map_err(|error| DbError::of_driver(&error));
        Ok((read(0)?, read(1)?))
    }

    async fn prune(&self, session: &Session, function: &str, keep: Option<Duration>) -> Result<i64, DbError> {
        let Some(keep) = keep else {
            return Ok(0);
        };
        let sql = format!("select {}.{function}(pg_catalog.make_interval(secs => $1), $2)", quote_ident(&self.schema));
        let mut removed = 0;
        for _ in 0..MOST_BATCHES {
            let seconds = keep.as_secs_f64();
            let statement = Statement::new(sql.clone()).bind(seconds, tokio_postgres::types::Type::FLOAT8);
            let rows = session.call("prune", &statement.int4(self.batch), BATCH_LIMITS).await?;
            let row = rows.first().ok_or_else(|| DbError::shape("pruning says nothing"))?;
            let now: i64 = row.try_get(0).map_err(|error| DbError::of_driver(&error))?;
            removed += now;
            if now < i64::from(self.batch) {
                break;
            }
        }
        Ok(removed)
    }
}
