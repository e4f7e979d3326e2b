//! The table form, for people: the columns of the dashboard's list, with whole ids.

use crate::fmt::{self, NOT_APPLICABLE, whole_seconds};
use crate::model::{Job, JobState, Time};
use crate::text::Safe;

use super::aligned;

const HEAD: [&str; 9] = ["job", "queue", "state", "tries", "prio", "when", "worker", "lease", "error"];

/// A head and a line for each job; foreign text only in its harmless form.
pub(in crate::commands) fn lines(jobs: &[Job], now: Time) -> String {
    let head = HEAD.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = [head].into_iter().chain(jobs.iter().map(|job| row(job, now))).collect();
    aligned(&rows)
}

fn row(job: &Job, now: Time) -> Vec<String> {
    let or_dot = |text: Option<String>| text.unwrap_or_else(|| NOT_APPLICABLE.to_owned());
    let safe = |text: &Option<String>| text.as_ref().map(|text| Safe::full(text).to_string());
    vec![
        Safe::full(&job.at.id).to_string(),
        Safe::full(&job.at.queue.name).to_string(),
        job.state.as_str().to_owned(),
        job.max_attempts.map_or_else(|| job.attempts.to_string(), |max| format!("{}/{max}", job.attempts)),
        or_dot(job.priority.map(|priority| priority.to_string())),
        when(job, now),
        or_dot(safe(&job.worker)),
        or_dot(job.lease_until.map(|until| lease(until, now))),
        or_dot(safe(&job.error)),
    ]
}

/// When it is due; for what runs, the last sign of life; for what is over, when that was.
fn when(job: &Job, now: Time) -> String {
    let changed = job.updated_at.unwrap_or(job.run_at);
    match job.state {
        JobState::Exhausted => "no tries left".to_owned(),
        JobState::Ready | JobState::Scheduled => due(job.run_at, now),
        JobState::Running | JobState::Expired => format!("beat {}", ago(changed, now)),
        JobState::Completed => format!("done {}", ago(changed, now)),
        JobState::Dead => format!("died {}", ago(job.run_at, now)),
    }
}

fn lease(until: Time, now: Time) -> String {
    if until < now { format!("ended {}", ago(until, now)) } else { format!("ends {}", due(until, now)) }
}

fn due(at: Time, now: Time) -> String {
    at.seconds_since(now).map_or_else(|| at.to_rfc3339(), |seconds| fmt::due(whole_seconds(seconds)))
}

fn ago(at: Time, now: Time) -> String {
    now.seconds_since(at).map_or_else(|| at.to_rfc3339(), |seconds| format!("{} ago", fmt::age(whole_seconds(seconds))))
}
