//! How jobs are handled, from what the counters keep.

use std::time::Duration;

use tokio_postgres::Row;

use super::facts::Access;
use super::row::{count, get, text};
use super::{Jobs, LIST_LIMITS, queue_id};
use crate::backends::Handlings;
use crate::db::{DbError, Session, Statement};
use crate::model::{Handling, Reading, Wave};

/// So far back.
const BACK: Duration = Duration::from_mins(15);

/// Reads it for every queue that did anything; where nothing is kept or may be read, that is said for all.
pub(super) async fn read(jobs: &Jobs, session: &Session) -> Result<Handlings, DbError> {
    let others = match jobs.facts.history() {
        // A queue of which nothing is kept did nothing.
        Access::Yes => Handling::nothing(),
        Access::Denied => return Ok(Handlings { queues: Vec::new(), others: Handling::denied() }),
        Access::Missing => return Ok(Handlings { queues: Vec::new(), others: Handling::default() }),
    };
    let clock = session.read_many("clock", &[], LIST_LIMITS).await?.server_time;
    let ask = Statement::new(jobs.texts.handling.clone()).time(clock.minus(BACK));
    let rows = session.read_one("handling", ask, LIST_LIMITS).await?;
    let mut queues = Vec::with_capacity(rows.len());
    for row in &rows {
        queues.push((queue_id(text(row, "queue")?.unwrap_or_default()), handling(row)?));
    }
    Ok(Handlings { queues, others })
}

fn handling(row: &Row) -> Result<Handling, DbError> {
    let durations = get::<Option<Vec<i64>>>(row, "durations")?.unwrap_or_default();
    let wave = match get(row, "wave_at")? {
        Some(at) => Some(Wave { at, jobs: count(row, "wave_jobs")? }),
        None => None,
    };
    Ok(Handling {
        durations: Reading::Exact(durations.into_iter().map(|n| u64::try_from(n).unwrap_or(0)).collect()),
        claimed: Reading::Exact(count(row, "claimed")?),
        claims: Reading::Exact(count(row, "claims")?),
        wave: Reading::Exact(wave),
    })
}
