//! Rules about jobs that wait: nobody works, more comes than goes, paused, or simply waiting long.

use crate::fmt::{self, Figure, whole_seconds};
use crate::model::{Finding, QueueStats, Reading, Severity};

use super::recent::{Recent, keeps_growing};
use super::words::{counted, fact};
use super::{Input, Report};

/// Jobs that wait less than this are being served.
const WAITS: i64 = 60;
/// From here on the wait itself is worth a look, and growth is an emergency.
const WAITS_LONG: i64 = 5 * 60;
/// Fewer ready jobs than this are no backlog.
const FLOOR: u64 = 10;

const NOBODY_WORKS: &str = "nobody-works";
const BACKLOG_GROWS: &str = "backlog-grows";

/// Jobs that are ready, and how long the oldest has waited in seconds; `None` when there is nothing to say.
fn waiting(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) -> Option<(u64, i64)> {
    let ready = report.need(&queue.ready, "ready jobs", Some(&queue.id)).filter(|n| *n > 0)?;
    let oldest = queue.oldest_ready_seconds(input.now);
    let seconds = report.need(&oldest, "how long jobs have waited", Some(&queue.id)).flatten()?;
    Some((ready, whole_seconds(seconds)))
}

/// What happened of late, once enough is known to judge by.
fn fair(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) -> Option<Recent> {
    let recent = Recent::of(input.history, &queue.id, input.now);
    if recent.is_fair() {
        return Some(recent);
    }
    report.miss("how fast jobs come and go", Some(&queue.id), queue.totals == Reading::Denied);
    None
}

/// Jobs wait and nothing is claimed: the workers are gone.
pub(super) fn nobody_works(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    if queue.paused == Some(true) {
        return;
    }
    let Some((ready, seconds)) = waiting(queue, input, report).filter(|(_, seconds)| *seconds >= WAITS) else {
        return;
    };
    let Some(running) = report.need(&queue.running, "running jobs", Some(&queue.id)) else {
        return;
    };
    let Some(recent) = fair(queue, input, report) else {
        return;
    };
    if running > 0 || recent.counts.claimed > 0 || recent.counts.completed > 0 {
        return;
    }
    let quiet = fmt::span(i64::try_from(recent.known.as_secs()).unwrap_or(i64::MAX));
    let wait = counted(&queue.ready, "job waits", "jobs wait");
    report.find(Finding {
        id: NOBODY_WORKS,
        // Some workers come by every few minutes only.
        severity: if seconds >= WAITS_LONG { Severity::Act } else { Severity::Look },
        queue: Some(queue.id.clone()),
        sentence: format!("{wait}, oldest {}, and nobody has claimed one for {quiet}", fmt::span(seconds)),
        brief: format!("{wait}, nobody works"),
        evidence: vec![
            fact("ready", Figure::words(&queue.ready)),
            fact("oldest has waited", fmt::span(seconds)),
            fact("claimed", format!("0 in {quiet}")),
            fact("running", "0"),
        ],
        next_step: "start workers for this queue; if they run, look into their logs for errors from claim_jobs()"
            .into(),
        weight: ready,
    });
}

/// More comes than goes, beyond chance and not just in a burst.
pub(super) fn grows(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    if queue.paused == Some(true) {
        return;
    }
    let large = |(ready, seconds): &(u64, i64)| *ready >= FLOOR && *seconds >= WAITS;
    let Some((ready, seconds)) = waiting(queue, input, report).filter(large) else {
        return;
    };
    let Some(recent) = fair(queue, input, report) else {
        return;
    };
    let shrinks_now = queue.growth().get().is_some_and(|growth| growth < 0.0);
    let Some(growth) = recent.sure_growth().filter(|_| !shrinks_now && recent.counts.completed > 0) else {
        return;
    };
    if !keeps_growing(input.history, &queue.id, input.now) {
        return;
    }
    let per_s = |n: u64| format!("{}/s", fmt::rate(n as f64 / recent.known.as_secs_f64()));
    let growth = fmt::rate(growth);
    report.find(Finding {
        id: BACKLOG_GROWS,
        severity: if seconds >= WAITS_LONG { Severity::Act } else { Severity::Look },
        queue: Some(queue.id.clone()),
        sentence: format!("grows {growth}/s and will not drain, oldest waits {}", fmt::span(seconds)),
        brief: "will not drain".into(),
        evidence: vec![
            fact("ready", Figure::words(&queue.ready)),
            fact("oldest has waited", fmt::span(seconds)),
            fact("in", per_s(recent.counts.enqueued)),
            fact("completed", per_s(recent.counts.completed)),
            fact("retried", per_s(recent.counts.retried)),
            fact("measured over", fmt::span(i64::try_from(recent.known.as_secs()).unwrap_or(i64::MAX))),
        ],
        next_step: "add workers or concurrency if handlers are fine; look at retries and failures first, \
                    they take attempts from new jobs"
            .into(),
        weight: ready,
    });
}

/// Jobs wait in a paused queue: easily forgotten.
pub(super) fn paused(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    if queue.paused != Some(true) {
        return;
    }
    let Some(ready) = report.need(&queue.ready, "ready jobs", Some(&queue.id)).filter(|n| *n > 0) else {
        return;
    };
    let oldest = queue.oldest_ready_seconds(input.now).get().flatten().map(whole_seconds);
    let age = oldest.map_or_else(String::new, |s| format!(", oldest {}", fmt::span(s)));
    let wait = counted(&queue.ready, "job waiting", "jobs waiting");
    report.find(Finding {
        id: "paused-waiting",
        severity: Severity::Look,
        queue: Some(queue.id.clone()),
        sentence: format!("paused with {wait}{age}"),
        brief: format!("paused, {} waiting", Figure::words(&queue.ready)),
        evidence: vec![
            fact("ready", Figure::words(&queue.ready)),
            fact("oldest has waited", oldest.map_or_else(|| fmt::UNKNOWN.into(), fmt::span)),
        ],
        next_step: "resume it with resume_queue() when the reason for the pause is gone".into(),
        weight: ready,
    });
}

/// The oldest ready job waits long, for whatever reason: it is the wait that users feel.
pub(super) fn old(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    let said = |f: &Finding| f.queue.as_ref() == Some(&queue.id) && [NOBODY_WORKS, BACKLOG_GROWS].contains(&f.id);
    if queue.paused == Some(true) || report.findings.iter().any(|(_, f)| said(f)) {
        return;
    }
    let Some((ready, seconds)) = waiting(queue, input, report).filter(|(_, seconds)| *seconds >= WAITS_LONG) else {
        return;
    };
    let drains = queue.drain_seconds().get().flatten().map(whole_seconds);
    let rest = drains.map_or_else(String::new, |s| format!("; at this rate all is done in {}", fmt::span(s)));
    report.find(Finding {
        id: "old-ready",
        severity: Severity::Look,
        queue: Some(queue.id.clone()),
        sentence: format!("the oldest ready job has waited {}{rest}", fmt::span(seconds)),
        brief: format!("oldest ready {}", fmt::span(seconds)),
        evidence: vec![
            fact("oldest has waited", fmt::span(seconds)),
            fact("ready", Figure::words(&queue.ready)),
            fact("drains in", drains.map_or_else(|| fmt::UNKNOWN.into(), fmt::span)),
        ],
        next_step: "open the queue's jobs: a job of low priority starves behind others, else workers are short".into(),
        weight: ready,
    });
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, ago};
    use super::*;
    use crate::model::Totals;

    fn waiting_scene(ready: u64, seconds: i64) -> Scene {
        let mut scene = Scene::calm(&["emails"]);
        let queue = scene.queue("emails");
        queue.ready = Reading::Exact(ready);
        queue.oldest_ready = Reading::Exact(Some(ago(seconds)));
        scene
    }

    fn rates(scene: &mut Scene, enqueued: f64, completed: f64) {
        let queue = scene.queue("emails");
        queue.rates.enqueued = Reading::Exact(enqueued);
        queue.rates.completed = Reading::Exact(completed);
    }

    #[test]
    fn a_backlog_that_grows_will_not_drain() {
        let mut scene = waiting_scene(12_403, 133);
        scene.minutes("emails", &[Some((3_126, 2_988)); 5]);
        rates(&mut scene, 52.1, 49.8);
        let found = scene.only(BACKLOG_GROWS);
        assert_eq!(found.brief, "will not drain");
        assert_eq!(found.sentence, "grows 2.3/s and will not drain, oldest waits 2m13s");
        assert_eq!(found.severity, Severity::Look);
        scene.queue("emails").oldest_ready = Reading::Exact(Some(ago(600)));
        assert_eq!(scene.only(BACKLOG_GROWS).severity, Severity::Act);
    }

    #[test]
    fn growth_that_hurts_nobody_is_no_alarm() {
        // Chance: 20 jobs more in 15,000.
        let mut scene = waiting_scene(12_403, 133);
        scene.minutes("emails", &[Some((3_004, 3_000)); 5]);
        assert_eq!(scene.findings(), []);
        // A handful of jobs.
        let mut scene = waiting_scene(9, 133);
        scene.minutes("emails", &[Some((200, 100)); 5]);
        assert_eq!(scene.findings(), []);
        // Served at once, however many come.
        let mut scene = waiting_scene(500, 3);
        scene.minutes("emails", &[Some((900, 500)); 5]);
        assert_eq!(scene.findings(), []);
        // A burst being worked off.
        let mut scene = waiting_scene(5_000, 133);
        scene.minutes("emails", &[Some((60, 60)), Some((60, 60)), Some((9_000, 60)), Some((60, 900)), Some((60, 900))]);
        assert_eq!(scene.findings(), []);
        // Grew, and has just turned.
        let mut scene = waiting_scene(5_000, 133);
        scene.minutes("emails", &[Some((3_126, 2_988)); 5]);
        rates(&mut scene, 10.0, 60.0);
        assert_eq!(scene.findings(), []);
    }

    #[test]
    fn without_a_past_it_says_that_it_cannot_tell() {
        let mut scene = waiting_scene(5_000, 133);
        scene.minutes("emails", &[None, None, None]);
        let found = scene.only(super::super::NOT_CHECKED);
        assert!(found.sentence.starts_with("not known: how fast jobs come and go"), "{}", found.sentence);
        assert_eq!(found.severity, Severity::Info);
    }

    #[test]
    fn jobs_that_nobody_claims() {
        let mut scene = waiting_scene(220, 300);
        scene.minutes("emails", &[Some((44, 0)); 5]);
        scene.queue("emails").running = Reading::Exact(0);
        let found = scene.only(NOBODY_WORKS);
        assert_eq!(found.sentence, "220 jobs wait, oldest 5m, and nobody has claimed one for 5m");
        assert_eq!(found.severity, Severity::Act);
        let mut lately = waiting_scene(220, 70);
        lately.minutes("emails", &[Some((44, 0)); 5]);
        lately.queue("emails").running = Reading::Exact(0);
        assert_eq!(lately.only(NOBODY_WORKS).severity, Severity::Look);
        // A worker that holds a job, or that just claimed one, is at work.
        scene.queue("emails").running = Reading::Exact(1);
        assert_eq!(scene.only("old-ready").severity, Severity::Look);
        scene.queue("emails").running = Reading::Exact(0);
        let claimed = Totals { enqueued: 44, claimed: 1, ..Totals::default() };
        scene.history_of("emails", vec![Some(claimed); 5]);
        assert!(scene.findings().iter().all(|f| f.id != NOBODY_WORKS));
        // Idle and empty.
        let mut idle = Scene::calm(&["emails"]);
        idle.minutes("emails", &[Some((0, 0)); 5]);
        assert_eq!(idle.findings(), []);
    }

    #[test]
    fn a_paused_queue_is_named_only_while_jobs_wait() {
        let mut scene = waiting_scene(220, 662);
        scene.queue("emails").paused = Some(true);
        scene.minutes("emails", &[Some((44, 0)); 5]);
        assert_eq!(scene.only("paused-waiting").sentence, "paused with 220 jobs waiting, oldest 11m2s");
        scene.queue("emails").ready = Reading::Exact(0);
        scene.queue("emails").oldest_ready = Reading::Exact(None);
        assert_eq!(scene.findings(), []);
    }

    #[test]
    fn a_long_wait_is_said_with_its_end_where_there_is_one() {
        let mut scene = waiting_scene(100, 720);
        scene.minutes("emails", &[Some((60, 90)); 5]);
        rates(&mut scene, 1.0, 1.5);
        let found = scene.only("old-ready");
        assert_eq!(found.sentence, "the oldest ready job has waited 12m; at this rate all is done in 3m20s");
        scene.queue("emails").oldest_ready = Reading::Exact(Some(ago(299)));
        assert_eq!(scene.findings(), []);
        scene.queue("emails").oldest_ready = Reading::Denied;
        assert_eq!(scene.only(super::super::NOT_CHECKED).sentence, "not known: how long jobs have waited");
    }
}
