//! Pages of the list of jobs: each part of it walks one index from a key on and stops at a limit.
//!
//! A filter that no index serves looks at a window of rows in index order and says so; the next page goes on behind it.

use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::facts::{Access, DEAD_COLUMNS, JOB_COLUMNS};
use super::parts::{Part, parts};
use super::row::{get, job, text};
use super::{Jobs, LIST_LIMITS};
use crate::db::{DbError, Session, Statement};
use crate::model::{Job, JobFilter, Page, PageCursor, PageRequest, Reading, StateFilter, Time};

/// A filter looks at so many rows for one page.
const WINDOW: i64 = 10_000;

/// The key of a row: where the next page begins.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    part: Part,
    at: Option<Time>,
    created_at: Option<Time>,
    id: Uuid,
    priority: Option<i32>,
    queue: String,
}

/// What one part gave.
struct Found {
    jobs: Vec<Job>,
    /// The row to go on behind; `None`: the part has come to its end.
    last: Option<Key>,
    /// The window was used up before the page was full.
    window_full: bool,
}

/// Reads one page.
pub(super) async fn read(jobs: &Jobs, session: &Session, request: &PageRequest) -> Result<Page, DbError> {
    let order = parts(&jobs.facts, &request.filter);
    let mut after = request.after.as_ref().map(|cursor| key_of(&cursor.0)).transpose()?;
    let first = after.as_ref().and_then(|key| order.iter().position(|part| *part == key.part)).unwrap_or(0);
    let mut page =
        Page { request: request.clone(), jobs: Reading::Unknown, next: None, taken_at: Time::NegInfinity, note: None };
    let mut list = Vec::new();
    for part in order.iter().skip(first) {
        match access(jobs, *part) {
            Ok(()) => {}
            Err((reading, note)) => {
                page.taken_at = session.read_many("clock", &[], LIST_LIMITS).await?.server_time;
                page.jobs = reading;
                page.note = Some(note);
                return Ok(page);
            }
        }
        let room = (request.limit as usize).saturating_sub(list.len());
        let (found, now) = read_part(jobs, session, *part, (&request.filter, room), after.take()).await?;
        page.taken_at = now;
        list.extend(found.jobs);
        if found.window_full {
            page.note = Some(format!("looked at {WINDOW} rows; the next page goes on behind them"));
        }
        if let Some(last) = found.last {
            page.next = Some(PageCursor(cursor_of(&last)));
            break;
        }
    }
    page.jobs = Reading::Exact(list);
    Ok(page)
}

/// Whether a part can be listed at all, else how that is known and why not.
fn access(jobs: &Jobs, part: Part) -> Result<(), (Reading<Vec<Job>>, String)> {
    let (table, columns) = match part {
        Part::Dead | Part::DeadById => ("dead_letter_jobs", DEAD_COLUMNS),
        _ => ("jobs", JOB_COLUMNS),
    };
    match jobs.facts.access(table, columns) {
        Access::Denied => return Err((Reading::Denied, format!("{} may not read {table}", jobs.facts.user))),
        Access::Missing => return Err((Reading::Unknown, format!("no such table here: {table}"))),
        Access::Yes => {}
    }
    let index = match part {
        Part::Queued => jobs.facts.has_claim_index(),
        Part::Running => jobs.facts.has_lease_index(),
        Part::Completed => jobs.facts.has_index("jobs", &["(completed_at)", "'completed'"]),
        Part::Exhausted | Part::Dead | Part::DeadById | Part::Id(_) => true,
    };
    if index { Ok(()) } else { Err((Reading::Unknown, "no index serves this list here; run: queuetop migrate".into())) }
}

async fn read_part(
    jobs: &Jobs,
    session: &Session,
    part: Part,
    (filter, room): (&JobFilter, usize),
    after: Option<Key>,
) -> Result<(Found, Time), DbError> {
    let filtered = part.filters(filter);
    let rows = i64::try_from(room).unwrap_or(i64::MAX).saturating_add(1);
    let window = if filtered { WINDOW.max(rows) } else { rows };
    let one_queue = filter.queue.as_ref().map(|queue| queue.name.clone());
    let sql = part.sql(&jobs.facts, &jobs.texts.schema, filter, after.as_ref().map(|key| key.at.is_some()));
    let key = after.as_ref();
    let ask = [Statement::new(sql)
        .text(one_queue)
        .text(filter.text.clone())
        .int8(window)
        .int8(rows)
        .time(key.and_then(|key| key.at))
        .time(key.and_then(|key| key.created_at))
        .uuid(key.map(|key| key.id))
        .int4(key.and_then(|key| key.priority))
        .text(key.map(|key| key.queue.clone()))];
    let batch = session.read_many("page of jobs", &ask, LIST_LIMITS).await?;
    let answer = batch.rows.first().map(Vec::as_slice).unwrap_or_default();
    Ok((found(part, answer, (room, window), batch.server_time)?, batch.server_time))
}

fn found(part: Part, rows: &[Row], (room, window): (usize, i64), now: Time) -> Result<Found, DbError> {
    let mut jobs = Vec::new();
    let mut last = None;
    let mut looked = 0;
    for row in rows {
        looked = get::<i64>(row, "looked")?;
        if get(row, "matches")? {
            if jobs.len() == room {
                return Ok(Found { jobs, last, window_full: false });
            }
            jobs.push(job(row, now)?);
        }
        last = Some(key(part, row)?);
    }
    let window_full = looked >= window;
    Ok(Found { jobs, last: last.filter(|_| window_full), window_full })
}

fn key(part: Part, row: &Row) -> Result<Key, DbError> {
    Ok(Key {
        part,
        at: get(row, "key_at")?,
        created_at: get(row, "created_at")?,
        id: get(row, "key_id")?,
        priority: get(row, "priority")?,
        queue: text(row, "queue")?.unwrap_or_default(),
    })
}

fn cursor_of(key: &Key) -> Value {
    let micros = |time: Option<Time>| time.map(Time::to_pg_micros);
    json!({
        "part": key.part.name(), "at": micros(key.at), "created_at": micros(key.created_at), "id": key.id.to_string(),
        "priority": key.priority, "queue": key.queue,
    })
}

fn key_of(cursor: &Value) -> Result<Key, DbError> {
    let time = |name: &str| cursor[name].as_i64().map(Time::from_pg_micros);
    let read = || {
        Some(Key {
            part: Part::named(cursor["part"].as_str()?)?,
            at: time("at"),
            created_at: time("created_at"),
            id: Uuid::parse_str(cursor["id"].as_str()?).ok()?,
            priority: cursor["priority"].as_i64().and_then(|n| i32::try_from(n).ok()),
            queue: cursor["queue"].as_str()?.to_owned(),
        })
    };
    read().ok_or_else(|| DbError::shape("the cursor of a page is not one of ours"))
}

/// One state out of several that a part holds.
pub(super) fn only(filter: &JobFilter) -> Option<crate::model::JobState> {
    match filter.state {
        StateFilter::Live => None,
        StateFilter::Only(state) => Some(state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_the_key_it_was() {
        let key = Key {
            part: Part::Queued,
            at: Some(Time::Infinity),
            created_at: Some(Time::At(-5)),
            id: Uuid::from_u128(7),
            priority: Some(-3),
            queue: "a\"b".into(),
        };
        assert_eq!(key_of(&cursor_of(&key)).expect("ours"), key);
    }

    #[test]
    fn a_foreign_cursor_is_an_error() {
        assert!(key_of(&json!({"page": 3})).is_err());
    }
}
