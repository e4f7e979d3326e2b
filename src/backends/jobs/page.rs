//! Pages of the list of jobs. Each part of a list walks one index from a row on and stops when the page is full, or when enough
//! rows were looked at or enough time is over: then it says so, and the next page goes on there.

use std::time::Duration;

use tokio_postgres::Row;

use super::ask::{self, Asked, BY_INDEX, Size};
use super::key::{Key, Start, cursor, place};
use super::parts::{Part, backwards, parts};
use super::row::{get, job, text};
use super::{Jobs, LIST_LIMITS};
use crate::db::{Batch, DbError, Session, Statement};
use crate::model::filter::thousands;
use crate::model::page::{WINDOW_ROWS, WINDOW_SECONDS};
use crate::model::{Job, Page, PageCursor, PageRequest, Reading, Sort, SortKey, Time};

/// A page looks for more in the next part only while less than this is spent.
const PATIENCE: Duration = Duration::from_secs(WINDOW_SECONDS.unsigned_abs());

/// Reads one page.
pub(super) async fn read(jobs: &Jobs, session: &Session, request: &PageRequest) -> Result<Page, DbError> {
    let asked = Asked { facts: &jobs.facts, schema: &jobs.texts.schema, filter: &request.filter };
    let all = parts(asked.facts, asked.filter);
    let start = request.after.as_ref().map(place).transpose()?;
    for part in &all {
        if let Err((reading, note)) = part.access(asked.facts, asked.filter) {
            return without_rows(session, request, (reading, Some(note))).await;
        }
    }
    match (backwards(&all, asked.filter, request.sort), request.sort) {
        (None, Sort::By { key, descending }) => {
            let start = start.map_or(Start::Top, |(_, start)| start);
            sorted(session, request, (asked, &all), (key, descending), &start).await
        }
        (backwards, _) => walked(session, request, (asked, &all), (start, backwards.unwrap_or(false))).await,
    }
}

async fn without_rows(
    session: &Session,
    request: &PageRequest,
    (jobs, note): (Reading<Vec<Job>>, Option<String>),
) -> Result<Page, DbError> {
    let clock = session.read_many("clock", &[], LIST_LIMITS).await?;
    let (taken_at, cost) = (clock.server_time, clock.cost);
    Ok(Page { request: request.clone(), jobs, next: None, taken_at, cost, note })
}

/// Asks with the planner held to indexes: the rows of the answer, and what the server says of the whole.
async fn answer(session: &Session, statement: Statement) -> Result<(Vec<Row>, Batch), DbError> {
    let mut batch = session.read_many("page of jobs", &[Statement::new(BY_INDEX), statement], LIST_LIMITS).await?;
    Ok((batch.rows.pop().unwrap_or_default(), batch))
}

/// How many rows are looked at and given: one more than is shown, to know whether there is one.
fn size(room: usize) -> Size {
    let rows = i64::try_from(room).unwrap_or(i64::MAX).saturating_add(1);
    Size { window: WINDOW_ROWS.max(rows), rows }
}

/// A page in the order of the parts' own indexes.
async fn walked(
    session: &Session,
    request: &PageRequest,
    (asked, all): (Asked<'_>, &[Part]),
    (start, backwards): (Option<(Part, Start)>, bool),
) -> Result<Page, DbError> {
    let first = start.as_ref().and_then(|(part, _)| all.iter().position(|one| one == part));
    let mut start = start.filter(|_| first.is_some()).map(|(_, start)| start);
    let (mut list, mut spent, mut stopped) = (Vec::new(), Duration::ZERO, None);
    let mut taken_at = None;
    for part in all.iter().skip(first.unwrap_or(0)) {
        if taken_at.is_some() && spent >= PATIENCE {
            stopped = Some((cursor(*part, &Start::Top), None));
            break;
        }
        let from = start.take().unwrap_or(Start::Top);
        let size = size((request.limit as usize).saturating_sub(list.len()));
        let (rows, batch) = answer(session, ask::page(asked, *part, (&from, backwards), size)).await?;
        spent += batch.cost;
        taken_at = Some(batch.server_time);
        let found = found(*part, &rows, (size, &from), batch.server_time)?;
        list.extend(found.jobs);
        if let Some(next) = found.next {
            stopped = Some((cursor(*part, &next), found.note));
            break;
        }
    }
    let Some(taken_at) = taken_at else {
        return without_rows(session, request, (Reading::Exact(vec![]), None)).await;
    };
    let (next, note) = stopped.unzip();
    Ok(Page { request: request.clone(), jobs: Reading::Exact(list), next, taken_at, cost: spent, note: note.flatten() })
}

/// What one part gave.
struct Found {
    jobs: Vec<Job>,
    /// Where to go on; `None`: the part has come to its end.
    next: Option<Start>,
    /// Why it stopped before the page was full.
    note: Option<String>,
}

fn found(part: Part, rows: &[Row], (size, from): (Size, &Start), now: Time) -> Result<Found, DbError> {
    let room = usize::try_from(size.rows - 1).unwrap_or(usize::MAX);
    let mut jobs = Vec::new();
    // Where there is no room at all, the next page begins where this part does.
    let mut last = from.clone();
    for row in rows {
        let shown: Option<bool> = get(row, "matches")?;
        if shown.is_none() {
            let note = format!("looked at rows for {WINDOW_SECONDS} s; the next page goes on behind them");
            return Ok(Found { jobs, next: Some(start_at(part, row, true)?), note: Some(note) });
        }
        if shown == Some(true) {
            if jobs.len() == room {
                return Ok(Found { jobs, next: Some(last), note: None });
            }
            jobs.push(job(row, now)?);
        }
        last = start_at(part, row, false)?;
        if get::<Option<bool>>(row, "last")? == Some(true) {
            let note = format!("looked at {} rows; the next page goes on behind them", thousands(size.window));
            let note = (jobs.len() < room).then_some(note);
            return Ok(Found { jobs, next: Some(last), note });
        }
    }
    Ok(Found { jobs, next: None, note: None })
}

/// The place of a row, or of a queue and priority that have none.
fn start_at(part: Part, row: &Row, with_it: bool) -> Result<Start, DbError> {
    let queue = text(row, "queue")?.unwrap_or_default();
    let priority: Option<i32> = get(row, "priority")?;
    let Some(id) = get(row, "id")? else {
        return Ok(Start::Pair { queue, priority: priority.unwrap_or_default() });
    };
    let at = match part {
        Part::Running => get(row, "lease_until")?,
        Part::Completed => get(row, "key_at")?,
        _ => get(row, "run_at")?,
    };
    let place = text(row, "place")?.unwrap_or_default();
    Ok(Start::Row(Key { queue, priority, at, created_at: get(row, "created_at")?, id, place, with_it }))
}

/// A page of the first rows, sorted by what no index knows.
async fn sorted(
    session: &Session,
    request: &PageRequest,
    (asked, all): (Asked<'_>, &[Part]),
    (key, descending): (SortKey, bool),
    start: &Start,
) -> Result<Page, DbError> {
    let size = Size { window: WINDOW_ROWS, ..size(request.limit as usize) };
    let (rows, batch) = answer(session, ask::sorted(asked, all, (key, descending), start, size)).await?;
    let first = rows.first().ok_or_else(|| DbError::shape("a page has no row"))?;
    let (looked, unseen): (i64, i64) = (get(first, "looked")?, get(first, "unseen")?);
    let note = if unseen > 0 {
        Some(format!("sorted the first {} rows: time was over", thousands(looked - unseen)))
    } else {
        (looked >= size.window).then(|| format!("sorted the first {} rows only", thousands(looked)))
    };
    let (mut jobs, mut next) = (Vec::new(), None);
    for row in &rows {
        let Some(id) = get(row, "id")? else { break };
        if jobs.len() == request.limit as usize {
            return Ok(page_of(request, jobs, next, (&batch, note)));
        }
        jobs.push(job(row, batch.server_time)?);
        let value = if ask::is_time(key) { get::<Time>(row, "sorted")?.to_pg_micros() } else { get(row, "sorted")? };
        next = all.first().map(|part| cursor(*part, &Start::Sorted { value, id }));
    }
    Ok(page_of(request, jobs, None, (&batch, note)))
}

fn page_of(
    request: &PageRequest,
    jobs: Vec<Job>,
    next: Option<PageCursor>,
    (batch, note): (&Batch, Option<String>),
) -> Page {
    let (taken_at, cost) = (batch.server_time, batch.cost);
    Page { request: request.clone(), jobs: Reading::Exact(jobs), next, taken_at, cost, note }
}
