//! The attempts of a job, a line each: when it began, how long it took as text and as a bar on one scale, how it ended.
//!
//! ```text
//!   1  1h5m ago       12s  ▕█         ▏  failed     7f3a…01  HTTP 422 from hooks.example…
//!   2  15m00s ago   2m10s  ▕██████████▏  expired    7f3a…01  lease expired
//!   3  4m12s ago    1m04s  ▕█████     ▏  running    91bc…7e  lease ends in 56s
//! ```

use ratatui::style::Style;

use super::super::outlook::state_at;
use super::page::Row;
use crate::fmt::{self, whole_seconds};
use crate::model::{Attempt, JobDetail, JobState, Reading, Time};
use crate::panes::{Ctx, TimeStyle};
use crate::text::{Safe, Side, fit};
use crate::theme::EXPIRED;

/// So many attempts are read at most.
const READ: usize = 200;
/// Columns of the bar without its ends.
const BAR: usize = 10;
/// Below so many columns there is no bar.
const BAR_FROM: usize = 70;
/// Below so many there is no worker.
const WORKER_FROM: usize = 56;

/// A line of the timeline.
struct Run {
    number: i32,
    worker: Option<String>,
    begun: Option<Time>,
    /// `None`: it runs, or nobody knows.
    ended: Option<Time>,
    outcome: String,
    words: String,
    style: Style,
    /// It is not over.
    runs: bool,
}

/// Heading and lines.
pub(super) fn rows(detail: &JobDetail, columns: usize, ctx: &Ctx<'_>) -> Vec<Row> {
    let theme = ctx.theme;
    let recorded = detail.attempts.value().map_or(&[] as &[Attempt], Vec::as_slice);
    let mut runs: Vec<Run> = recorded.iter().map(|attempt| ended(attempt, ctx)).collect();
    runs.extend(present(detail, ctx));
    let note = match &detail.attempts {
        Reading::Denied => Some("those that ended: denied, this role may not read them"),
        reading if reading.value().is_none() => Some("those that ended: not recorded here"),
        _ => None,
    };
    if runs.is_empty() && note.is_none() && detail.job.attempts <= 0 {
        return Vec::new();
    }
    let longest = runs.iter().filter_map(|run| span(run, ctx.now)).fold(0.0, f64::max);
    let scale = if longest > 0.0 && columns >= BAR_FROM {
        format!("  the longest took {}", fmt::span(whole_seconds(longest)))
    } else {
        String::new()
    };
    let quiet = |text: String| Row(vec![(text, theme.quiet)]);
    let mut rows = vec![Row::default(), Row(vec![("ATTEMPTS".into(), theme.heading), (scale, theme.quiet)])];
    rows.extend(note.map(|words| quiet(words.into())));
    let mut next = 1_i64;
    for run in &runs {
        if detail.attempts.value().is_some() {
            rows.extend(missing(next, i64::from(run.number) - 1, recorded.len()).map(quiet));
        }
        next = i64::from(run.number) + 1;
        rows.push(line(run, longest, columns, ctx));
    }
    if detail.attempts.value().is_some() {
        rows.extend(missing(next, i64::from(detail.job.attempts), recorded.len()).map(quiet));
    }
    rows
}

/// Attempts from one number to another that there is no record of.
fn missing(from: i64, to: i64, recorded: usize) -> Option<String> {
    let why = if from == 1 && recorded >= READ { "not read: the latest are shown" } else { "not recorded" };
    match to - from {
        ..0 => None,
        0 => Some(format!("{from:>3}  {why}")),
        _ => Some(format!("{from:>3} to {to}  {why}")),
    }
}

fn ended(attempt: &Attempt, ctx: &Ctx<'_>) -> Run {
    Run {
        number: attempt.number,
        worker: attempt.worker.clone(),
        begun: attempt.begun_at,
        ended: attempt.ended_at,
        outcome: Safe::new(&attempt.outcome).into(),
        words: attempt.error.as_deref().map(|error| Safe::first_line(error).into()).unwrap_or_default(),
        style: ctx.theme.text,
        runs: false,
    }
}

/// The attempt that runs, or the one that completed the job.
fn present(detail: &JobDetail, ctx: &Ctx<'_>) -> Option<Run> {
    let job = &detail.job;
    let lease = job.lease_until;
    let (outcome, words, style, ended) = match state_at(job, ctx.now) {
        JobState::Running => {
            let words = lease.map_or_else(String::new, |end| format!("lease ends {}", ctx.due(end)));
            ("running".to_owned(), words, ctx.theme.text, None)
        }
        JobState::Expired => {
            let words = lease.map_or_else(|| "no lease".to_owned(), |end| format!("lease expired {}", ctx.ago(end)));
            (format!("{EXPIRED} expired"), words, ctx.theme.act, None)
        }
        JobState::Completed => ("completed".to_owned(), String::new(), ctx.theme.text, Some(detail.completed_at)),
        _ => return None,
    };
    Some(Run {
        number: job.attempts,
        worker: job.worker.clone(),
        begun: detail.claimed_at,
        ended: ended.flatten(),
        outcome,
        words,
        style,
        runs: ended.is_none(),
    })
}

/// How long it took, or has taken so far, in seconds.
fn span(run: &Run, now: Time) -> Option<f64> {
    let end = if run.runs { now } else { run.ended? };
    end.seconds_since(run.begun?).filter(|seconds| seconds.is_finite()).map(|seconds| seconds.max(0.0))
}

fn line(run: &Run, longest: f64, columns: usize, ctx: &Ctx<'_>) -> Row {
    let begun = run.begun.map_or_else(|| fmt::UNKNOWN.into(), |at| ctx.ago(at));
    let seconds = span(run, ctx.now);
    let took = match seconds.map(whole_seconds) {
        Some(0) => "<1s".to_owned(),
        Some(seconds) => fmt::span(seconds),
        None => fmt::UNKNOWN.to_owned(),
    };
    let worker = run.worker.as_deref().map_or_else(|| fmt::UNKNOWN.into(), |id| fmt::short_id(Safe::new(id).as_str()));
    let begun = fit(&begun, if ctx.times == TimeStyle::Relative { 11 } else { 23 }, Side::Left);
    let mut before = format!("{:>3}  {begun}  {}  ", run.number, fit(&took, 7, Side::Right));
    if columns >= BAR_FROM {
        before.push_str(&bar(seconds, longest));
        before.push_str("  ");
    }
    let mut after = String::new();
    if columns >= WORKER_FROM {
        after = format!("  {}", fit(&worker, 7, Side::Left));
    }
    let words = format!("  {}", run.words);
    let outcome = fit(&run.outcome, 9, Side::Left);
    Row(vec![(before, ctx.theme.text), (outcome, run.style), (after, ctx.theme.text), (words, run.style)])
}

/// `▕███       ▏`: full is the longest of all. What took any time at all shows something.
fn bar(seconds: Option<f64>, longest: f64) -> String {
    let share = seconds.filter(|_| longest > 0.0).map_or(0.0, |seconds| (seconds / longest).clamp(0.0, 1.0));
    let steps = BAR as f64;
    let full = (0..BAR).filter(|step| *step as f64 + 0.5 <= share * steps).count();
    let full = full.max(usize::from(share > 0.0));
    format!("▕{}{}▏", "█".repeat(full), " ".repeat(BAR - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_on_one_scale_and_total() {
        for (seconds, longest, want) in [
            (Some(60.0), 60.0, "▕██████████▏"),
            (Some(30.0), 60.0, "▕█████     ▏"),
            (Some(0.1), 60.0, "▕█         ▏"),
            (Some(0.0), 60.0, "▕          ▏"),
            (None, 60.0, "▕          ▏"),
            (Some(f64::NAN), 60.0, "▕          ▏"),
            (Some(9.0), 0.0, "▕          ▏"),
        ] {
            assert_eq!(bar(seconds, longest), want, "{seconds:?} of {longest}");
        }
    }

    #[test]
    fn what_is_not_recorded_is_said_without_counting_to_it() {
        assert_eq!(missing(1, 0, 0), None);
        assert_eq!(missing(3, 3, 2).unwrap(), "  3  not recorded");
        assert_eq!(missing(2, i64::from(i32::MAX), 1).unwrap(), "  2 to 2147483647  not recorded");
        assert_eq!(missing(1, 57, 200).unwrap(), "  1 to 57  not read: the latest are shown");
        assert_eq!(missing(5, 2, 0), None);
    }
}
