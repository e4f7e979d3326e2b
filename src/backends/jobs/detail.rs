//! One job in full: payload and error cut to a size that can travel, and the attempts that did not complete.

use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::facts::{Access, Facts};
use super::row::{count, get, job, text};
use super::texts::{ERROR, LIVE, dead as dead_row, fill};
use super::{Jobs, LIST_LIMITS};
use crate::db::{DbError, Session, Statement};
use crate::model::{Attempt, JobDetail, JobRef, Preview, Reading, Time};

/// The first so many characters of a payload are read.
const PAYLOAD_CHARS: usize = 65_536;
/// Further columns of a live job, in the order shown.
const MORE: &[&str] = &["idempotency_key", "claimed_at", "completed_at", "replay_of", "origin_key"];
/// Further columns of a dead letter.
const MORE_DEAD: &[&str] =
    &["reason", "idempotency_key", "replayed_at", "replayed_job_id", "replays", "replay_of", "origin_key"];

/// Everything about one job; `None`: it is gone.
pub(super) async fn read(jobs: &Jobs, session: &Session, job: &JobRef) -> Result<Option<JobDetail>, DbError> {
    let Ok(id) = Uuid::parse_str(&job.id) else {
        return Ok(None);
    };
    let asks = [
        Statement::new(sql(&jobs.facts, &jobs.texts.schema, job.dead)).uuid(id),
        Statement::new(jobs.texts.attempts.clone()).uuid(id),
    ];
    let recorded = jobs.facts.access("job_failures", &["job_id"]);
    let asks = if recorded == Access::Yes { &asks[..] } else { &asks[..1] };
    let mut answers = session.read_each("job", asks, LIST_LIMITS).await?.into_iter();
    let rows = answers.next().unwrap_or_else(|| Err(DbError::shape("an answer is missing")))?;
    let attempts = match (recorded, answers.next()) {
        (Access::Yes, Some(Ok(rows))) => Reading::Exact(rows.iter().map(attempt).collect::<Result<_, _>>()?),
        (Access::Yes, Some(Err(error))) if !error.is_denied() => return Err(error),
        (Access::Missing, _) => Reading::Unknown,
        _ => Reading::Denied,
    };
    rows.first().map(|row| detail(row, attempts)).transpose()
}

fn sql(facts: &Facts, schema: &str, dead: bool) -> String {
    let (table, text, more) = if dead {
        ("dead_letter_jobs", include_str!("sql/detail_dead.sql"), MORE_DEAD)
    } else {
        ("jobs", include_str!("sql/detail.sql"), MORE)
    };
    let columns = if dead { dead_row(facts) } else { LIVE.to_owned() };
    let columns = format!("{columns}, {ERROR}");
    let payload = if facts.can_read(table, "payload") {
        format!(
            "left(j.payload::text, {PAYLOAD_CHARS}) as payload, octet_length(j.payload::text)::bigint as payload_bytes"
        )
    } else {
        "null::text as payload, null::bigint as payload_bytes".to_owned()
    };
    let pairs: Vec<String> = more
        .iter()
        .filter(|column| facts.can_read(table, column))
        .map(|column| format!("'{}', j.{column}", column.replace('_', " ")))
        .collect();
    let more = format!("json_build_object({}) as more", pairs.join(", "));
    fill(text, schema, &[("{columns}", &columns), ("{payload}", &payload), ("{more}", &more)])
}

fn detail(row: &Row, attempts: Reading<Vec<Attempt>>) -> Result<JobDetail, DbError> {
    let now: Time = get(row, "now")?;
    let payload = preview(row, "payload", "payload_bytes")?;
    Ok(JobDetail {
        job: job(row, now)?,
        payload: payload.map_or(Reading::Denied, Reading::Exact),
        error: Reading::Exact(preview(row, "last_error", "last_error_bytes")?),
        attempts,
        more: more(&get(row, "more")?),
        taken_at: now,
    })
}

fn preview(row: &Row, part: &str, bytes: &str) -> Result<Option<Preview>, DbError> {
    let Some(text) = text(row, part)? else {
        return Ok(None);
    };
    let bytes = count(row, bytes)?;
    let cut = (text.len() as u64) < bytes;
    Ok(Some(Preview { text, bytes, cut }))
}

fn more(columns: &Value) -> Vec<(String, String)> {
    let shown = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let columns = columns.as_object().into_iter().flatten();
    columns.filter_map(|(name, value)| Some((name.clone(), shown(value)?))).collect()
}

fn attempt(row: &Row) -> Result<Attempt, DbError> {
    Ok(Attempt {
        number: get(row, "attempt")?,
        worker: text(row, "worker")?,
        begun_at: get(row, "began_at")?,
        ended_at: get(row, "ended_at")?,
        outcome: text(row, "outcome")?.unwrap_or_default(),
        error: text(row, "error")?,
    })
}
