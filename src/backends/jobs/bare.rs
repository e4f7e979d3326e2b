//! The numbers of a frame where there are no counters: read from the tables up to a limit, and marked where it was met.

use tokio_postgres::Row;

use super::core::{by_attempts, paused, reaper_last};
use super::facts::{Access, JOB_COLUMNS};
use super::row::{count, get, text};
use super::{CORE_LIMITS, Jobs, queue_id};
use crate::backends::Core;
use crate::db::{DbError, Session, Statement};
use crate::model::{QueueStats, Reading};

/// More queues than this are not looked for.
const MOST_QUEUES: i32 = 500;
/// About so many rows are read for one frame.
const MOST_ROWS: i32 = 4_000;

/// Reads what the tables tell within the limits. Without the indexes of leases and claims, or without the right to read,
/// nothing is known, and nothing is asked but the time.
pub(super) async fn read(jobs: &Jobs, session: &Session) -> Result<Core, DbError> {
    let readable = jobs.facts.access("jobs", JOB_COLUMNS) == Access::Yes;
    if !readable || !jobs.facts.has_claim_index() || !jobs.facts.has_lease_index() {
        let taken_at = session.read_many("clock", &[], CORE_LIMITS).await?.server_time;
        let reaper_last = if readable { Reading::Unknown } else { Reading::Denied };
        return Ok(Core { taken_at, queues: Vec::new(), reaper_last });
    }
    let ask = Statement::new(jobs.texts.core.clone()).int4(MOST_QUEUES).int4(MOST_ROWS);
    let rows = session.read_one("numbers", ask, CORE_LIMITS).await?;
    let Some(first) = rows.first() else {
        return Err(DbError::shape("the numbers have no row"));
    };
    let mut queues = Vec::with_capacity(rows.len());
    for row in &rows {
        if let Some(name) = text(row, "queue")? {
            queues.push(queue(jobs, row, name)?);
        }
    }
    Ok(Core { taken_at: get(first, "at")?, queues, reaper_last: reaper_last(jobs, first)? })
}

fn queue(jobs: &Jobs, row: &Row, name: String) -> Result<QueueStats, DbError> {
    let (queued, running): (bool, bool) = (get(row, "whole")?, get(row, "running_whole")?);
    let number = |column: &str, whole: bool| count(row, column).map(|n| up_to(n, whole));
    let dead_total = match jobs.facts.access("dead_letter_jobs", &["id", "queue"]) {
        Access::Yes => number("dead_rows", get(row, "dead_whole")?)?,
        Access::Denied => Reading::Denied,
        Access::Missing => Reading::Unknown,
    };
    let oldest = get(row, "oldest")?;
    Ok(QueueStats {
        paused: paused(jobs, row)?,
        ready: number("ready", queued)?,
        scheduled: number("scheduled", queued)?,
        running: number("running", running)?,
        expired: number("expired", running)?,
        exhausted: number("exhausted", queued)?,
        oldest_ready: if queued { Reading::Exact(oldest) } else { Reading::About(oldest) },
        dead_total,
        attempts: up_to(by_attempts(row)?, queued && running),
        last_attempt: number("last_attempt", queued && running)?,
        max_attempts: get(row, "max_attempts")?,
        ..QueueStats::unknown(queue_id(name))
    })
}

fn up_to<T>(value: T, whole: bool) -> Reading<T> {
    if whole { Reading::Exact(value) } else { Reading::AtLeast(value) }
}
