//! From rows to jobs.

use serde_json::json;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::queue_id;
use super::texts::ERROR_SHOWN;
use crate::db::{DbError, Text};
use crate::model::{Fence, Job, JobRef, JobState, Time};

/// A column by name.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T, DbError> {
    row.try_get(name).map_err(|error| DbError::of_driver(&error))
}

/// A text column that may be null.
pub(super) fn text(row: &Row, name: &str) -> Result<Option<String>, DbError> {
    Ok(get::<Option<Text>>(row, name)?.map(String::from))
}

/// A count, never below zero.
pub(super) fn count(row: &Row, name: &str) -> Result<u64, DbError> {
    Ok(get::<Option<i64>>(row, name)?.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
}

/// A row of the list columns as a job, by the server's time `now`. The fence is (id, status, attempts, `locked_by`), and
/// (`run_at`, priority) for who changes those.
pub(super) fn job(row: &Row, now: Time) -> Result<Job, DbError> {
    let id = get::<Uuid>(row, "id")?.to_string();
    let status = text(row, "status")?.unwrap_or_default();
    let dead = status == "dead";
    let worker = get::<Option<Uuid>>(row, "worker")?.map(|id| id.to_string());
    let (attempts, max_attempts): (i32, i32) = (get(row, "attempts")?, get(row, "max_attempts")?);
    let run_at: Time = get(row, "run_at")?;
    let priority: Option<i32> = get(row, "priority")?;
    let lease_until: Option<Time> = get(row, "lease_until")?;
    let fence =
        if dead { json!({ "id": id }) } else { seen(&id, &status, attempts, worker.as_deref(), (run_at, priority)) };
    Ok(Job {
        at: JobRef { queue: queue_id(text(row, "queue")?.unwrap_or_default()), id, dead },
        state: JobState::of(&status, run_at, (attempts, max_attempts), lease_until, now),
        priority,
        attempts,
        max_attempts: Some(max_attempts),
        run_at,
        created_at: get(row, "created_at")?,
        worker,
        lease_until,
        updated_at: get(row, "updated_at")?,
        error: text(row, "error")?.filter(|line| !line.is_empty()).map(cut),
        fence: Fence(fence),
    })
}

/// A row as it was seen. A time that the calendar cannot write is left out: what is left out is not compared.
fn seen(
    id: &str,
    status: &str,
    attempts: i32,
    worker: Option<&str>,
    (run_at, priority): (Time, Option<i32>),
) -> serde_json::Value {
    let mut seen =
        json!({ "id": id, "status": status, "attempts": attempts, "locked_by": worker, "priority": priority });
    if run_at.micros().is_none() || run_at.date().is_some() {
        seen["run_at"] = json!(run_at);
    }
    seen
}

/// An error's first line with an ellipsis where it was cut.
fn cut(mut line: String) -> String {
    if let Some((end, _)) = line.char_indices().nth(ERROR_SHOWN) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Rows as jobs.
pub(super) fn jobs(rows: &[Row], now: Time) -> Result<Vec<Job>, DbError> {
    rows.iter().map(|row| job(row, now)).collect()
}
