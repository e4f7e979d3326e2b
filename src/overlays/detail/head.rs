//! The short lines of a detail: the row's facts, and what each key would do now.

use super::super::frame::{Line, tagged, wrapped};
use super::super::outlook::{Outlook, outlook, state_at};
use super::page::Row;
use crate::fmt;
use crate::keymap::{self, Command, Scope};
use crate::model::{Ability, Action, Job, JobDetail, JobState, Time};
use crate::panes::Ctx;
use crate::text::{Safe, Side, fit, width};
use crate::theme::EXPIRED;

/// Columns of a label: further columns of the row bring their own names.
const LABEL: usize = 17;
/// Columns of a key's name and of its verb.
const KEY: usize = 3;
const VERB: usize = 15;
/// From so many columns on, facts and keys stand side by side; the facts then have so many, and some air behind them.
const WIDE: usize = 110;
const FACTS: usize = 56;
const AIR: usize = 2;

/// Why no key may change anything at all.
pub(super) fn barred(read_only: bool, ctx: &Ctx<'_>) -> Option<String> {
    if read_only {
        return Some("nothing: started with --read-only".to_owned());
    }
    match ctx.server {
        Some(server) if server.standby => Some("nothing: this server is a replica, read only".to_owned()),
        Some(server) => match &server.act {
            Ability::No(reason) => Some(format!("this role may not act: {}", Safe::first_line(reason))),
            _ => None,
        },
        None => None,
    }
}

/// Facts and keys: below each other, or side by side where there is room. `said` are notes above them, and why no key may
/// change anything.
pub(super) fn rows(
    detail: &JobDetail,
    said: (&[String], Option<&str>),
    columns: usize,
    ctx: &Ctx<'_>,
) -> (Vec<Row>, Vec<Row>) {
    let (notes, barred) = said;
    let wide = columns >= WIDE;
    let half = if wide { FACTS } else { columns };
    let mut left: Vec<Line> = notes.iter().flat_map(|words| wrapped(words, half, ctx.theme.warn)).collect();
    left.extend(facts(detail, half, ctx));
    let mut right = vec![Line::new("KEYS NOW", ctx.theme.heading)];
    right.extend(keys(detail, barred, if wide { columns - FACTS - AIR } else { columns }, ctx));
    if !wide {
        right.insert(0, Line::new("", ctx.theme.text));
        return (left.into_iter().map(Row::from).collect(), right.into_iter().map(Row::from).collect());
    }
    let blank = || Line::new("", ctx.theme.text);
    let rows = left.len().max(right.len());
    left.resize(rows, blank());
    right.resize(rows, blank());
    let side_by_side = left.into_iter().zip(right).map(|(left, right)| {
        let filled = fit(&left.text, FACTS + AIR, Side::Left);
        Row(vec![(filled, left.style), (right.text, right.style)])
    });
    (side_by_side.collect(), Vec::new())
}

/// The facts of the row.
fn facts(detail: &JobDetail, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
    let job = &detail.job;
    let theme = ctx.theme;
    let mut lines = Vec::new();
    let mut add = |label: &str, value: &str, style| lines.extend(tagged((label, LABEL), value, columns, style));
    add("queue", Safe::new(&job.at.queue.name).as_str(), theme.text);
    let (state, urgent) = state_words(job, ctx);
    add("state", &state, if urgent { theme.act } else { theme.text });
    add("attempts", &attempts_words(job), theme.text);
    if let Some(worker) = &job.worker {
        add("holder", Safe::new(worker).as_str(), theme.text);
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

/// The commands that change a job, in the order of the table.
const LIVE: [Command; 6] = [
    Command::Requeue,
    Command::ForceRequeue,
    Command::DeadLetter,
    Command::Reap,
    Command::Reschedule,
    Command::Priority,
];
/// Those that count for a dead letter.
const DEAD: [Command; 2] = [Command::Replay, Command::ForceRequeue];

/// What a command would do to the job as it stands now, with its verb. `None`: it is no action on a job, or none on one like
/// this: dead letters are replayed, and only they.
fn told(command: Command, detail: &JobDetail, now: Time) -> Option<(&'static str, Outlook)> {
    let job = &detail.job;
    let dead = state_at(job, now) == JobState::Dead;
    if !(if dead { DEAD.as_slice() } else { LIVE.as_slice() }).contains(&command) {
        return None;
    }
    let action = match command {
        Command::Requeue => Action::Requeue { force: false },
        Command::ForceRequeue if dead => Action::Replay { force: true },
        Command::ForceRequeue => Action::Requeue { force: true },
        Command::DeadLetter => Action::DeadLetter { force: false },
        Command::Reap => Action::Reap,
        Command::Replay => Action::Replay { force: false },
        // Its value is asked for later; whether it may be is known.
        Command::Reschedule => Action::Reschedule { run_at: now },
        _ => Action::SetPriority { priority: 0 },
    };
    let outlook = outlook(action, job, now);
    let refused = |short: String| Outlook { allowed: false, short, ..outlook.clone() };
    let allowed = |short: String| Outlook { allowed: true, short, ..outlook.clone() };
    let replayed = detail.replayed_as.as_deref().map(|id| Safe::new(id).to_string());
    let outlook = match (command, replayed) {
        (Command::ForceRequeue, None) if dead => refused("as R: it was not replayed yet".into()),
        (Command::ForceRequeue, Some(_)) if dead => allowed("makes one more new job of it".into()),
        (Command::Replay, Some(id)) => refused(format!("refused: replayed as job {id}")),
        // Force differs only where there is a live worker to take it from.
        (Command::ForceRequeue, _) if outlook.allowed && state_at(job, now) != JobState::Running => {
            refused("as r: there is no live lease to break".into())
        }
        (Command::Reschedule, _) if outlook.allowed => allowed(format!("asks when, instead of {}", due(job, now))),
        (Command::Priority, _) if outlook.allowed => {
            let later = if job.worker.is_some() { ", counts from its next attempt" } else { "" };
            let old = job.priority.map_or_else(|| fmt::UNKNOWN.to_owned(), |old| old.to_string());
            allowed(format!("asks; now {old}{later}"))
        }
        _ => outlook,
    };
    Some((action.verb(), outlook))
}

fn due(job: &Job, now: Time) -> String {
    match job.run_at.seconds_since(now).map(fmt::whole_seconds) {
        Some(seconds) if seconds > 0 => format!("in {}", fmt::span(seconds)),
        Some(_) => "now".to_owned(),
        None => "never".to_owned(),
    }
}

/// Whether a command would do something to the job. Commands that are no actions do.
pub(super) fn works(command: Command, detail: Option<&JobDetail>, now: Time) -> bool {
    let acts = LIVE.contains(&command) || DEAD.contains(&command);
    let would = || told(command, detail?, now).map(|(_, outlook)| outlook.allowed);
    !acts || would().unwrap_or(false)
}

/// What each key would do to the job as it stands now, or why it cannot.
fn keys(detail: &JobDetail, barred: Option<&str>, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
    let theme = ctx.theme;
    if let Some(words) = barred {
        return wrapped(words, columns, theme.warn);
    }
    let state = state_at(&detail.job, ctx.now);
    // What holds for all of them is said once.
    let (commands, rest): (&[Command], Option<&str>) = match state {
        JobState::Dead => (&DEAD, Some("nothing: a dead letter stays as it is; a replay makes a new job of it")),
        JobState::Completed => (&[], Some("nothing: completed jobs stay as they are")),
        _ => (&LIVE, None),
    };
    let told = commands.iter().filter_map(|command| Some((*command, told(*command, detail, ctx.now)?)));
    let mut lines: Vec<Line> = told
        .flat_map(|(command, (verb, outlook))| {
            let style = if outlook.allowed { theme.text } else { theme.quiet };
            // What another key would do is said at that key.
            let short = outlook.short.split(". ").next().unwrap_or_default();
            let words = format!("{}{short}", fit(verb, VERB, Side::Left));
            tagged((&key(command), KEY), &words, columns, style)
        })
        .collect();
    if let Some(words) = rest {
        let others = LIVE.iter().filter(|command| !commands.contains(command)).map(|command| key(*command));
        let others = others.collect::<Vec<_>>().join(" ");
        let label = width(&others) + 2;
        lines.extend(tagged((&others, label), words, columns, theme.quiet));
    }
    lines
}

/// The key of a command in the detail.
pub(super) fn key(command: Command) -> String {
    let binding = keymap::bindings().iter().find(|b| b.scope == Scope::Detail && b.command == command);
    binding.and_then(|b| b.keys.first()).map(|key| key.label()).unwrap_or_default()
}
