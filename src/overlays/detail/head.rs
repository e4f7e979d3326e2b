//! The short lines of a detail: the row's facts, what each key would do now, and one line for each attempt.

use super::super::frame::{Line, tagged, wrapped};
use super::super::outlook::{outlook, state_at};
use crate::fmt::{self, whole_seconds};
use crate::keymap::{self, Command, Scope};
use crate::model::{Ability, Action, Attempt, Job, JobDetail, JobState};
use crate::panes::{Ctx, TimeStyle};
use crate::text::{Safe, Side, fit};
use crate::theme::EXPIRED;

/// Columns of a label: further columns of the row bring their own names.
const LABEL: usize = 17;

/// The facts of the row.
pub(super) fn row(detail: &JobDetail, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
    let job = &detail.job;
    let theme = ctx.theme;
    let mut lines = Vec::new();
    let mut add = |label: &str, value: &str, style| lines.extend(tagged((label, LABEL), value, columns, style));
    add("queue", Safe::new(&job.at.queue.name).as_str(), theme.text);
    let (state, urgent) = state_words(job, ctx);
    add("state", &state, if urgent { theme.act } else { theme.text });
    add("attempts", &attempts_words(job), theme.text);
    if let Some(worker) = &job.worker {
        add("holder", &format!("worker {}", Safe::new(worker)), theme.text);
        let beat = job.updated_at.map_or_else(|| fmt::UNKNOWN.into(), |at| ctx.ago(at));
        add("last heartbeat", &beat, theme.text);
    }
    let run_at = if job.run_at > ctx.now { ctx.due(job.run_at) } else { ctx.ago(job.run_at) };
    let created = job.created_at.map_or_else(String::new, |at| format!(", created {}", ctx.ago(at)));
    add(if job.at.dead { "died" } else { "run at" }, &format!("{run_at}{created}"), theme.text);
    for (label, value) in &detail.more {
        add(Safe::new(label).as_str(), Safe::new(value).as_str(), theme.text);
    }
    lines
}

/// The state with its lease, and whether it calls for action.
fn state_words(job: &Job, ctx: &Ctx<'_>) -> (String, bool) {
    match (state_at(job, ctx.now), job.lease_until) {
        (JobState::Expired, Some(end)) => (format!("{EXPIRED} lease expired {}", ctx.ago(end)), true),
        (JobState::Expired, None) => (format!("{EXPIRED} running without a lease"), true),
        (JobState::Running, Some(end)) => (format!("running, lease ends {}", ctx.due(end)), false),
        (state @ JobState::Exhausted, _) => (format!("{}: no attempt left", state.as_str()), true),
        (state, _) => (state.as_str().to_owned(), false),
    }
}

fn attempts_words(job: &Job) -> String {
    let attempts = match job.max_attempts {
        None => job.attempts.to_string(),
        Some(max) if job.attempts < max => format!("{} of {max}", job.attempts),
        Some(max) => format!("{} of {max}, the last", job.attempts),
    };
    job.priority.map_or(attempts.clone(), |priority| format!("{attempts}, priority {priority}"))
}

/// The actions and their keys, in the order of the table.
const ACTIONS: [(Command, Action); 5] = [
    (Command::Requeue, Action::Requeue { force: false }),
    (Command::ForceRequeue, Action::Requeue { force: true }),
    (Command::DeadLetter, Action::DeadLetter { force: false }),
    (Command::Reap, Action::Reap),
    (Command::Replay, Action::Replay { force: false }),
];

/// What each key would do to the job as it stands now.
pub(super) fn actions(job: &Job, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
    let theme = ctx.theme;
    let mut lines = vec![Line::new("", theme.text), Line::new("KEYS NOW", theme.heading)];
    if let Some(Ability::No(reason)) = ctx.server.map(|server| &server.act) {
        let words = format!("this role may not act: {}", Safe::first_line(reason));
        lines.extend(wrapped(&words, columns, theme.warn));
        return lines;
    }
    for (command, action) in ACTIONS {
        let outlook = outlook(action, job, ctx.now);
        // Force differs only where there is a live worker to take it from.
        let needless = command == Command::ForceRequeue && state_at(job, ctx.now) != JobState::Running;
        let words = if needless { "no live lease to break: as without force" } else { &outlook.short };
        let style = if outlook.allowed && !needless { theme.text } else { theme.quiet };
        let key = keymap::bindings().iter().find(|b| b.scope == Scope::Detail && b.command == command);
        let key = key.and_then(|b| b.keys.first()).map(|key| key.label()).unwrap_or_default();
        let verb = fit(action.verb(), 15, Side::Left);
        lines.extend(tagged((&key, 3), &format!("{verb}{words}"), columns, style));
    }
    lines
}

/// ` 3  12m02s ago  took 3s    failed   7f3a…01  timeout connecting to smtp`
pub(super) fn attempt(attempt: &Attempt, columns: usize, ctx: &Ctx<'_>) -> Line {
    let ended = attempt.ended_at.map_or_else(|| fmt::UNKNOWN.into(), |at| ctx.ago(at));
    let took = match (attempt.begun_at, attempt.ended_at) {
        (Some(begun), Some(ended)) => ended.seconds_since(begun).map(whole_seconds),
        _ => None,
    };
    let took = match took {
        Some(0) => "took <1s".to_owned(),
        Some(seconds) => format!("took {}", fmt::span(seconds)),
        None => String::new(),
    };
    let worker = attempt.worker.as_deref().map_or_else(String::new, fmt::short_id);
    let error = attempt.error.as_deref().map(Safe::first_line).unwrap_or_default();
    let left = |text: &str, columns| fit(text, columns, Side::Left);
    let text = format!(
        "{}  {}  {}  {}  {}  {error}",
        fit(&attempt.number.to_string(), 3, Side::Right),
        left(&ended, if ctx.times == TimeStyle::Relative { 12 } else { 23 }),
        left(&took, 11),
        left(Safe::new(&attempt.outcome).as_str(), 8),
        left(Safe::new(&worker).as_str(), 7),
    );
    Line::new(Safe::full(&text).truncate(columns), ctx.theme.text)
}
