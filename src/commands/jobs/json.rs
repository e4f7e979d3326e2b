//! JSON lines: exact data, an object a job, and behind them one with the page's cursor. The names are stable: scripts rely on
//! them; the README documents them.

use serde::Serialize;

use super::CommandError;
use crate::model::{BackendKind, Job, JobState, Page, Time};
use crate::text::harmless_json;

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    queue: &'a str,
    backend: BackendKind,
    state: JobState,
    priority: Option<i32>,
    attempts: i32,
    max_attempts: Option<i32>,
    run_at: Option<Time>,
    failed_at: Option<Time>,
    created_at: Option<Time>,
    updated_at: Option<Time>,
    worker: Option<&'a str>,
    lease_until: Option<Time>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct End<'a> {
    page: PageLine<'a>,
}

#[derive(Serialize)]
struct PageLine<'a> {
    jobs: usize,
    filter: String,
    sort: String,
    taken_at: Time,
    note: Option<&'a str>,
    next: Option<&'a str>,
}

/// A line for each job and one for the page. Control characters of foreign text stay escaped, in terminals too.
///
/// # Errors
/// Never for jobs; the writer of JSON says so in its type.
pub(super) fn lines(page: &Page, jobs: &[Job], next: Option<&str>) -> Result<String, CommandError> {
    let mut text = String::new();
    for job in jobs {
        text.push_str(&written(&line(job))?);
    }
    let page = PageLine {
        jobs: jobs.len(),
        filter: page.request.filter.to_string(),
        sort: page.request.sort.to_string(),
        taken_at: page.taken_at,
        note: page.note.as_deref(),
        next,
    };
    text.push_str(&written(&End { page })?);
    Ok(text)
}

fn written(line: &impl Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string(line)
        .map_err(|error| CommandError::Failed(format!("a job cannot be written as JSON: {error}")))?;
    Ok(harmless_json(&text) + "\n")
}

fn line(job: &Job) -> Line<'_> {
    Line {
        id: &job.at.id,
        queue: &job.at.queue.name,
        backend: job.at.queue.backend,
        state: job.state,
        priority: job.priority,
        attempts: job.attempts,
        max_attempts: job.max_attempts,
        run_at: (!job.at.dead).then_some(job.run_at),
        failed_at: job.at.dead.then_some(job.run_at),
        created_at: job.created_at,
        updated_at: job.updated_at,
        worker: job.worker.as_deref(),
        lease_until: job.lease_until,
        error: job.error.as_deref(),
    }
}
