//! Rules about attempts that fail: retry storms, jobs that die, one error behind most failures, jobs out of attempts.

use std::time::Duration;

use crate::fmt::{self, Figure};
use crate::model::{Finding, QueueStats, Severity, Signature, Time};
use crate::text::Safe;

use super::recent::{LOOK_BACK, Recent};
use super::words::{Reaper, counted, exactly, fact, percent, seconds_since};
use super::{Input, Report};

/// With less known time than this nothing is said of failures.
const FAIR: Duration = Duration::from_secs(15);
/// Fewer failures than this are an accident.
const FEW_FAILURES: u64 = 20;
/// Fewer dead letters than this are single jobs.
const FEW_DEAD: u64 = 3;
/// A signature needs so many failures to stand for something.
const FEW_ALIKE: u64 = 10;
/// Columns of an error in a sentence.
const ERROR_COLUMNS: usize = 60;

/// What happened of late; notes that it is not known yet.
fn recent(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) -> Option<Recent> {
    let recent = Recent::of(input.history, &queue.id, input.now);
    if recent.known >= FAIR {
        return Some(recent);
    }
    report.need(&queue.totals, "how many attempts fail", Some(&queue.id))?;
    report.miss("how many attempts fail", Some(&queue.id), false);
    None
}

fn failing(recent: &Recent) -> (u64, u64) {
    let failed = recent.counts.retried.saturating_add(recent.counts.dead);
    (failed, failed.saturating_add(recent.counts.completed))
}

/// Most attempts fail: workers are busy with the same jobs again and again.
pub(super) fn storm(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    let Some(recent) = recent(queue, input, report) else {
        return;
    };
    let (failed, ended) = failing(&recent);
    let share = percent(failed, ended);
    if failed < FEW_FAILURES || share < 50 {
        return;
    }
    let over = window(&recent);
    report.find(Finding {
        id: "retry-storm",
        severity: if share >= 80 { Severity::Act } else { Severity::Look },
        queue: Some(queue.id.clone()),
        sentence: format!("{share} % of attempts fail: {} of {} in {over}", fmt::count(failed), fmt::count(ended)),
        brief: format!("{share} % of attempts fail"),
        evidence: vec![
            fact("attempts sent back", format!("{} in {over}", fmt::count(recent.counts.retried))),
            fact("jobs that died", format!("{} in {over}", fmt::count(recent.counts.dead))),
            fact("completed", format!("{} in {over}", fmt::count(recent.counts.completed))),
        ],
        next_step: "read the failures by signature: a dependency that is down needs mending before workers are added"
            .into(),
        weight: failed,
    });
}

/// Jobs die now, more than single ones.
pub(super) fn rising(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    let Some(recent) = recent(queue, input, report) else {
        return;
    };
    let dead = recent.counts.dead;
    let finished = dead.saturating_add(recent.counts.completed);
    let now = Recent::since(input.history, &queue.id, input.now, Duration::from_mins(2)).counts.dead;
    if dead < FEW_DEAD || recent.deadly < 2 || now == 0 || percent(dead, finished) < 1 {
        return;
    }
    let over = window(&recent);
    let died = exactly(dead, "job died", "jobs died");
    report.find(Finding {
        id: "dead-letters-rising",
        severity: if dead >= 10 && percent(dead, finished) >= 50 { Severity::Act } else { Severity::Look },
        queue: Some(queue.id.clone()),
        sentence: format!("{died} in {over}, {} completed", fmt::count(recent.counts.completed)),
        brief: format!("{} died in {over}", fmt::count(dead)),
        evidence: vec![
            fact("died", format!("{} in {over}", fmt::count(dead))),
            fact("completed", format!("{} in {over}", fmt::count(recent.counts.completed))),
            fact("dead letters in all", Figure::words(&queue.dead_total)),
        ],
        next_step: "find the cause in the failures by signature; replay the dead letters only when it is mended".into(),
        weight: dead,
    });
}

/// One error is behind most of the failures, so there is one cause.
pub(super) fn one_signature(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    let Some(all) = report.need(&input.snapshot.failures.signatures, "errors by signature", None) else {
        return;
    };
    let recent = Recent::of(input.history, &queue.id, input.now);
    let (failed, ended) = failing(&recent);
    // A few errors of one kind among thousands of successes are daily life.
    if recent.known >= FAIR && percent(failed, ended) < 2 {
        return;
    }
    let mine: Vec<&Signature> = all.iter().filter(|s| s.queue == queue.id).collect();
    // Dead letters are of any age, so they count only while jobs die.
    let dying = || alike(&mine, dead, input.now).filter(|_| recent.counts.dead >= FEW_ALIKE);
    let (alike, what) = match (alike(&mine, lately, input.now), dying()) {
        (Some(alike), _) => (alike, ("failure of the last 15m says", "failures of the last 15m say")),
        (None, Some(alike)) => (alike, ("dead letter says", "dead letters say")),
        (None, None) => return,
    };
    let text = Safe::first_line(&alike.top.text).truncate(ERROR_COLUMNS);
    let part = if alike.part == alike.whole { "all".to_owned() } else { fmt::count(alike.part) };
    report.find(Finding {
        id: "one-signature",
        severity: Severity::Look,
        queue: Some(queue.id.clone()),
        sentence: format!("{part} of {}: {text}", exactly(alike.whole, what.0, what.1)),
        brief: format!("most fail with: {}", text.truncate(ERROR_COLUMNS / 2)),
        evidence: vec![
            fact("error", Safe::first_line(&alike.top.text)),
            fact("alike", format!("{} of {}", fmt::count(alike.part), fmt::count(alike.whole))),
            fact("dead letters alike", Figure::words(&alike.top.dead)),
            fact("last seen", format!("{} ago", fmt::span(alike.age))),
        ],
        next_step: "one cause: mend what this error names, then watch the retries succeed".into(),
        weight: alike.part,
    });
}

/// An error that stands behind most of its kind.
struct Alike<'a> {
    top: &'a Signature,
    part: u64,
    whole: u64,
    /// Seconds since it was last seen.
    age: i64,
}

fn alike<'a>(mine: &[&'a Signature], count: fn(&Signature) -> u64, now: Time) -> Option<Alike<'a>> {
    let whole = mine.iter().map(|s| count(s)).fold(0, u64::saturating_add);
    let top = mine.iter().copied().max_by_key(|s| count(s))?;
    let (part, age) = (count(top), seconds_since(now, top.last_seen?)?);
    let fresh = age <= i64::try_from(LOOK_BACK.as_secs()).unwrap_or(i64::MAX);
    (part >= FEW_ALIKE && percent(part, whole) >= 60 && fresh).then_some(Alike { top, part, whole, age })
}

/// Attempts that failed in the last 15 minutes and whose jobs live.
fn lately(signature: &Signature) -> u64 {
    signature.count.get().unwrap_or(0).saturating_sub(dead(signature))
}

fn dead(signature: &Signature) -> u64 {
    signature.dead.get().unwrap_or(0)
}

/// Queued jobs without an attempt left: nobody will ever claim them.
pub(super) fn exhausted(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    let Some(count) = report.need(&queue.exhausted, "exhausted jobs", Some(&queue.id)).filter(|n| *n > 0) else {
        return;
    };
    let jobs = counted(&queue.exhausted, "job has", "jobs have");
    let reaper = Reaper::of(input.snapshot, input.now);
    let alive = matches!(reaper, Reaper::Alive(_));
    let rest =
        if alive { "the reaper moves such jobs to the dead letters" } else { "no worker will ever claim such a job" };
    report.find(Finding {
        id: "exhausted-jobs",
        severity: if alive { Severity::Info } else { Severity::Look },
        queue: Some(queue.id.clone()),
        sentence: format!("{jobs} no attempt left: {rest}"),
        brief: format!("{} exhausted", Figure::words(&queue.exhausted)),
        evidence: vec![fact("exhausted", Figure::words(&queue.exhausted)), fact("reaper last ran", reaper.last_run())],
        next_step: "r gives a job one more attempt; a running reaper moves the others to the dead letters".into(),
        weight: count,
    });
}

fn window(recent: &Recent) -> String {
    fmt::span(i64::try_from(recent.known.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, ago, queue};
    use super::*;
    use crate::model::{Reading, Totals};

    fn scene(minute: Totals) -> Scene {
        let mut scene = Scene::calm(&["webhooks"]);
        scene.history_of("webhooks", vec![Some(minute); 5]);
        scene
    }

    fn totals(completed: u64, retried: u64, dead: u64) -> Totals {
        Totals { enqueued: completed + dead, claimed: completed + retried + dead, completed, retried, dead }
    }

    #[test]
    fn a_storm_of_retries() {
        let found = scene(totals(38, 62, 0)).only("retry-storm");
        assert_eq!(found.sentence, "62 % of attempts fail: 310 of 500 in 5m");
        assert_eq!(found.severity, Severity::Look);
        assert_eq!(scene(totals(1, 62, 0)).only("retry-storm").severity, Severity::Act);
        assert_eq!(scene(totals(63, 62, 0)).findings(), [], "just under a half");
        assert_eq!(scene(totals(0, 3, 0)).findings(), [], "a handful");
    }

    #[test]
    fn dead_letters_are_counted_against_what_was_finished() {
        let found = scene(totals(96, 0, 4)).only("dead-letters-rising");
        assert_eq!(found.sentence, "20 jobs died in 5m, 480 completed");
        assert_eq!(found.severity, Severity::Look);
        let found = scene(totals(0, 0, 3)).only("dead-letters-rising");
        assert_eq!((found.severity, found.brief.as_str()), (Severity::Act, "15 died in 5m"));
        // One in a thousand is daily life; two in all are single jobs; what is over is over.
        assert_eq!(scene(totals(5_000, 0, 5)).findings(), []);
        let over = |minutes: &[u64]| {
            let mut scene = scene(totals(0, 0, 0));
            scene.history_of("webhooks", minutes.iter().map(|dead| Some(totals(9, 0, *dead))).collect());
            scene
        };
        assert_eq!(over(&[0, 0, 0, 1, 1]).findings(), []);
        assert_eq!(over(&[9, 9, 0, 0, 0]).findings(), []);
        assert_eq!(over(&[0, 0, 0, 0, 9]).findings(), [], "an operator's act, as likely as not");
    }

    fn with_signatures(scene: &mut Scene, rows: &[(&str, u64, Time)]) {
        let rows = rows.iter().map(|(text, count, at)| Signature {
            text: (*text).into(),
            queue: queue("webhooks"),
            count: Reading::Exact(*count),
            dead: Reading::Exact(0),
            last_seen: Some(*at),
            retried_per_s: Reading::Unknown,
            dead_per_s: Reading::Unknown,
        });
        scene.snapshot.failures.signatures = Reading::Exact(rows.collect());
    }

    #[test]
    fn one_error_behind_most_failures_is_named() {
        let mut scene = scene(totals(90, 10, 0));
        with_signatures(&mut scene, &[("timeout connecting to smtp.#\nat x", 30, ago(120)), ("HTTP 422", 11, ago(9))]);
        let found = scene.only("one-signature");
        assert_eq!(found.sentence, "30 of 41 failures of the last 15m say: timeout connecting to smtp.#…");
        with_signatures(&mut scene, &[("a", 20, ago(1)), ("b", 21, ago(1))]);
        assert_eq!(scene.findings(), [], "two errors");
        with_signatures(&mut scene, &[("a", 30, ago(900))]);
        assert_eq!(scene.findings(), [], "it is over");
        with_signatures(&mut scene, &[("a", 9, ago(1))]);
        assert_eq!(scene.findings(), [], "too few");
        scene.history_of("webhooks", vec![Some(totals(10_000, 10, 0)); 5]);
        with_signatures(&mut scene, &[("a", 50, ago(1))]);
        assert_eq!(scene.findings(), [], "a few among thousands");
    }

    #[test]
    fn old_dead_letters_are_no_failures_of_now() {
        let mut calm = scene(totals(90, 10, 0));
        with_signatures(&mut calm, &[("HTTP 422", 200, ago(9))]);
        if let Reading::Exact(rows) = &mut calm.snapshot.failures.signatures {
            rows[0].dead = Reading::Exact(195);
        }
        assert_eq!(calm.findings(), []);
        // Jobs that die at their first failure leave no other trace.
        let mut dying = scene(totals(90, 0, 3));
        dying.snapshot.failures = calm.snapshot.failures.clone();
        let found = dying.findings().into_iter().find(|f| f.id == "one-signature").unwrap();
        assert_eq!(found.sentence, "all of 195 dead letters say: HTTP 422");
    }

    #[test]
    fn hostile_errors_are_made_harmless() {
        let mut scene = scene(totals(90, 10, 0));
        with_signatures(&mut scene, &[("\u{1b}]52;c;YQ==\u{7}\u{202e}", 30, ago(1))]);
        let found = scene.only("one-signature");
        assert!(!format!("{found:?}").contains(['\u{1b}', '\u{7}', '\u{202e}']));
        assert!(found.sentence.contains(r"\x1b]52;c;YQ==\x07\u{202e}"), "{}", found.sentence);
    }

    #[test]
    fn jobs_without_an_attempt_left() {
        let mut scene = Scene::calm(&["webhooks"]);
        scene.queue("webhooks").exhausted = Reading::Exact(1);
        assert_eq!(scene.only("exhausted-jobs").severity, Severity::Info);
        scene.snapshot.reaper_last = Reading::Exact(None);
        let found = scene.only("exhausted-jobs");
        assert_eq!(found.sentence, "1 job has no attempt left: no worker will ever claim such a job");
        assert_eq!(found.severity, Severity::Look);
        scene.queue("webhooks").exhausted = Reading::NotApplicable;
        assert_eq!(scene.findings(), []);
        scene.queue("webhooks").exhausted = Reading::Denied;
        assert_eq!(scene.only(super::super::NOT_CHECKED).evidence[0].1, "denied");
    }
}
