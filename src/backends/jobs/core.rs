//! The numbers of a frame, from the counters: exact, unless the counters are known to be off.

use std::time::Instant;

use tokio_postgres::Row;

use super::drift::Drift;
use super::facts::Access;
use super::row::{count, get, text};
use super::{CORE_LIMITS, Jobs, bare, queue_id};
use crate::backends::Core;
use crate::db::{DbError, Session, Statement};
use crate::model::{QueueStats, Reading, Time, Totals};

/// Reads the numbers by the best way that is open.
pub(super) async fn read(jobs: &Jobs, session: &Session) -> Result<Core, DbError> {
    if jobs.facts.counters() != Access::Yes {
        return bare::read(jobs, session).await;
    }
    let rows = session.read_one("numbers", Statement::new(jobs.texts.core.clone()), CORE_LIMITS).await?;
    compare_one(jobs, session, &rows).await?;
    let Ok(drift) = jobs.drift.lock() else {
        return Err(DbError::shape("the check of the counters has died"));
    };
    core(jobs, &rows, &drift)
}

/// Compares one queue with its rows, when it is time. That it cannot be done (a missing right) changes nothing.
async fn compare_one(jobs: &Jobs, session: &Session, rows: &[Row]) -> Result<(), DbError> {
    if !jobs.facts.functions.get("counter_drift").is_some_and(|function| function.callable) {
        return Ok(());
    }
    let names: Vec<String> = rows.iter().filter_map(|row| text(row, "queue").transpose()).collect::<Result<_, _>>()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let next = jobs.drift.lock().ok().and_then(|mut drift| drift.next(&names, Instant::now()));
    let Some(queue) = next else {
        return Ok(());
    };
    let ask = [Statement::new(jobs.texts.drift.clone()).text(queue.to_owned())];
    let answer = session.read_each("counters against rows", &ask, CORE_LIMITS).await?.into_iter().next();
    if let (Some(Ok(rows)), Ok(mut drift)) = (answer, jobs.drift.lock()) {
        let wrong = rows.first().map(|row| count(row, "wrong")).transpose()?.unwrap_or(0);
        drift.found(queue, wrong > 0);
    }
    Ok(())
}

fn core(jobs: &Jobs, rows: &[Row], drift: &Drift) -> Result<Core, DbError> {
    let Some(first) = rows.first() else {
        return Err(DbError::shape("the counters have no row in counter_fold"));
    };
    let mut queues = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(name) = text(row, "queue")? {
            let doubted = get::<bool>(row, "suspect")? || drift.is_wrong(&name);
            queues.push(queue(jobs, row, name, doubted)?);
        }
    }
    Ok(Core { taken_at: get(first, "at")?, queues, reaper_last: reaper_last(jobs, first)? })
}

/// When the reaper last ran.
pub(super) fn reaper_last(jobs: &Jobs, row: &Row) -> Result<Reading<Option<Time>>, DbError> {
    Ok(match jobs.facts.access("maintenance_runs", &["task", "last_run_at"]) {
        Access::Yes => Reading::Exact(get(row, "reaper_last")?),
        Access::Denied => Reading::Denied,
        Access::Missing => Reading::Unknown,
    })
}

/// Paused or not; a queue that was never paused has no row.
pub(super) fn paused(jobs: &Jobs, row: &Row) -> Result<Option<bool>, DbError> {
    Ok(match jobs.facts.access("queues", &["queue", "paused"]) {
        Access::Yes => Some(get::<Option<bool>>(row, "paused")?.unwrap_or(false)),
        Access::Denied => None,
        Access::Missing => Some(false),
    })
}

/// Live jobs by attempts, from two arrays.
pub(super) fn by_attempts(row: &Row) -> Result<Vec<(i32, u64)>, DbError> {
    let attempts: Option<Vec<i32>> = get(row, "attempts")?;
    let jobs: Option<Vec<i64>> = get(row, "attempts_jobs")?;
    let counts = jobs.unwrap_or_default().into_iter().map(|n| u64::try_from(n).unwrap_or(0));
    Ok(attempts.unwrap_or_default().into_iter().zip(counts).collect())
}

fn queue(jobs: &Jobs, row: &Row, name: String, doubted: bool) -> Result<QueueStats, DbError> {
    let number = |column: &str| count(row, column).map(|n| known(n, doubted));
    let ready = count(row, "ready")?;
    let oldest = get::<Option<Time>>(row, "oldest_slot")?.filter(|_| ready > 0);
    let totals = Totals {
        enqueued: count(row, "enqueued")?,
        claimed: count(row, "claimed")?,
        completed: count(row, "completed")?,
        retried: count(row, "retried")?,
        dead: count(row, "dead")?,
    };
    Ok(QueueStats {
        paused: paused(jobs, row)?,
        ready: known(ready, doubted),
        scheduled: number("scheduled")?,
        running: number("running")?,
        expired: number("expired")?,
        exhausted: number("exhausted")?,
        oldest_ready: known(oldest, doubted),
        dead_total: number("dead_rows")?,
        totals: known(totals, doubted),
        attempts: known(by_attempts(row)?, doubted),
        last_attempt: number("last_attempt")?,
        max_attempts: get(row, "max_attempts")?,
        ..QueueStats::unknown(queue_id(name))
    })
}

fn known<T>(value: T, doubted: bool) -> Reading<T> {
    if doubted { Reading::About(value) } else { Reading::Exact(value) }
}
