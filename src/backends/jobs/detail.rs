//! One job in full: payload and error cut to a size that can travel, and the attempts that did not complete. What is cut off
//! is read in parts, on demand.

use std::time::Duration;

use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::facts::{Access, DEAD_COLUMNS, Facts, JOB_COLUMNS};
use super::row::{count, get, job, text};
use super::texts::{ERROR, LIVE, dead as dead_row, fill};
use super::{Jobs, LIST_LIMITS};
use crate::db::{DbError, Session, Statement};
use crate::model::{
    Attempt, DetailRequest, Excerpt, JobDetail, Part, PartRead, PartRequest, Preview, Reading, Stamps, Time,
};

/// The first so many characters of a payload are read.
const PAYLOAD_CHARS: i32 = 65_536;
/// The first so many characters of an error.
const ERROR_CHARS: i32 = 16_384;
/// Further columns of a live job, in the order shown.
const MORE: &[&str] = &["idempotency_key", "replay_of", "origin_key"];
/// Further columns of a dead letter.
const MORE_DEAD: &[&str] =
    &["reason", "idempotency_key", "replayed_at", "replayed_job_id", "replays", "replay_of", "origin_key"];
/// What tells whether a payload, or an error, is still the same.
const PAYLOAD_STAMP: &str = "pg_column_size(j.payload)::text";
const ERROR_STAMP: &str = "octet_length(j.last_error)::text || ' ' || md5(left(j.last_error, {chars}))";

/// Everything about one job, in whichever table it is now; `None`: it is gone.
pub(super) async fn read(
    jobs: &Jobs,
    session: &Session,
    request: &DetailRequest,
) -> Result<Option<JobDetail>, DbError> {
    let Ok(id) = Uuid::parse_str(&request.job.id) else {
        return Ok(None);
    };
    for dead in [request.job.dead, !request.job.dead] {
        let (table, columns) = if dead { ("dead_letter_jobs", DEAD_COLUMNS) } else { ("jobs", JOB_COLUMNS) };
        // Where nothing may be read, the database says so best; a look into the other table is extra.
        if dead != request.job.dead && jobs.facts.access(table, columns) != Access::Yes {
            continue;
        }
        let found = read_from(jobs, session, id, dead, &request.known).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

async fn read_from(
    jobs: &Jobs,
    session: &Session,
    id: Uuid,
    dead: bool,
    known: &Stamps,
) -> Result<Option<JobDetail>, DbError> {
    let before = session.busy();
    let row = Statement::new(sql(&jobs.facts, &jobs.texts.schema, dead)).uuid(id);
    let asks = [
        row.text(known.payload.clone()).text(known.error.clone()),
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
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    Ok(Some(JobDetail { cost: session.busy().saturating_sub(before), ..detail(row, known, attempts)? }))
}

fn sql(facts: &Facts, schema: &str, dead: bool) -> String {
    let table = if dead { "dead_letter_jobs" } else { "jobs" };
    let columns = if dead { dead_row(facts) } else { LIVE.to_owned() };
    let columns = format!("{columns}, {ERROR}");
    let (payload, payload_from) = if facts.can_read(table, "payload") {
        (excerpt("payload", "ps", "p"), include_str!("sql/detail_payload.sql"))
    } else {
        (nothing("payload", "$2"), "")
    };
    let more = if dead { MORE_DEAD } else { MORE };
    let pairs: Vec<String> = more
        .iter()
        .filter(|column| facts.can_read(table, column))
        .map(|column| format!("'{}', j.{column}", column.replace('_', " ")))
        .collect();
    let own = |column: &str, kind: &str| {
        let value = if facts.can_read(table, column) { format!("j.{column}") } else { "null".to_owned() };
        format!("{value}::{kind} as {column}")
    };
    let row_facts =
        [own("claimed_at", "timestamptz"), own("completed_at", "timestamptz"), own("replayed_job_id", "text")];
    let text = include_str!("sql/detail.sql")
        .replace("{payload_from}", &payload_from.replace("{chars}", &PAYLOAD_CHARS.to_string()))
        .replace("{error_from}", &include_str!("sql/detail_error.sql").replace("{chars}", &ERROR_CHARS.to_string()));
    let pairs = format!("json_build_object({}) as more", pairs.join(", "));
    let parts = [
        ("{columns}", columns.as_str()),
        ("{facts}", &row_facts.join(", ")),
        ("{more}", &pairs),
        ("{payload}", &payload),
        ("{error}", &excerpt("error", "es", "e")),
        ("{table}", table),
    ];
    fill(&text, schema, &parts)
}

/// The columns of an excerpt, from the subqueries with its stamp and its text.
fn excerpt(name: &str, stamp: &str, text: &str) -> String {
    format!(
        "{stamp}.stamp as {name}_stamp, {text}.text as {name}_text, {text}.bytes as {name}_bytes, {text}.more as {name}_more"
    )
}

/// The same where it may not be read; the parameter has to be named all the same.
fn nothing(name: &str, parameter: &str) -> String {
    format!(
        "null::text as {name}_stamp, nullif({parameter}, {parameter}) as {name}_text, null::bigint as {name}_bytes, \
         null::boolean as {name}_more"
    )
}

fn detail(row: &Row, known: &Stamps, attempts: Reading<Vec<Attempt>>) -> Result<JobDetail, DbError> {
    let now: Time = get(row, "now")?;
    let payload = preview(row, "payload", PAYLOAD_CHARS, known.payload.as_deref())?;
    let error = preview(row, "error", ERROR_CHARS, known.error.as_deref())?;
    Ok(JobDetail {
        job: job(row, now)?,
        payload: payload.map_or(Reading::Denied, Reading::Exact),
        error: Reading::Exact(error),
        attempts,
        claimed_at: get(row, "claimed_at")?,
        completed_at: get(row, "completed_at")?,
        replayed_as: text(row, "replayed_job_id")?,
        more: more(&get(row, "more")?),
        taken_at: now,
        cost: Duration::ZERO,
    })
}

/// The columns of [`excerpt`] as what they say; `None`: there is no text, or it may not be read.
fn preview(row: &Row, name: &str, chars: i32, known: Option<&str>) -> Result<Option<Preview>, DbError> {
    let Some(stamp) = text(row, &format!("{name}_stamp"))? else {
        return Ok(None);
    };
    let Some(text) = text(row, &format!("{name}_text"))? else {
        return Ok((known == Some(&stamp)).then_some(Preview::Same));
    };
    let more: Option<bool> = get(row, &format!("{name}_more"))?;
    let next = (more == Some(true)).then(|| u64::try_from(chars).unwrap_or(0));
    Ok(Some(Preview::Read(Excerpt { text, bytes: count(row, &format!("{name}_bytes"))?, next, stamp })))
}

/// More of a text.
pub(super) async fn part(jobs: &Jobs, session: &Session, request: &PartRequest) -> Result<PartRead, DbError> {
    let before = session.busy();
    let gone = PartRead { piece: None, cost: Duration::ZERO };
    let Ok(id) = Uuid::parse_str(&request.job.id) else {
        return Ok(gone);
    };
    let (whole, stamp) = match request.part {
        Part::Payload => ("j.payload::text", PAYLOAD_STAMP.to_owned()),
        Part::Error => ("j.last_error", ERROR_STAMP.replace("{chars}", &ERROR_CHARS.to_string())),
    };
    let table = if request.job.dead { "dead_letter_jobs" } else { "jobs" };
    let parts = [("{text}", whole), ("{stamp}", &stamp), ("{table}", table)];
    let sql = fill(include_str!("sql/part.sql"), &jobs.texts.schema, &parts);
    // Texts of PostgreSQL have fewer characters than this type has numbers.
    let from = i32::try_from(request.from).unwrap_or(i32::MAX);
    let chars = i32::try_from(request.chars).unwrap_or(i32::MAX).min(i32::MAX - from);
    let ask = Statement::new(sql).uuid(id).bind(from, Type::INT4).bind(chars, Type::INT4);
    let rows = session.read_one("part", ask, LIST_LIMITS).await?;
    let cost = session.busy().saturating_sub(before);
    let Some(row) = rows.first() else {
        return Ok(PartRead { cost, ..gone });
    };
    let more: bool = get(row, "more")?;
    let piece = Excerpt {
        text: text(row, "text")?.unwrap_or_default(),
        bytes: count(row, "bytes")?,
        next: more.then(|| request.from + u64::from(request.chars)),
        stamp: text(row, "stamp")?.unwrap_or_default(),
    };
    Ok(PartRead { piece: Some(piece), cost })
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
