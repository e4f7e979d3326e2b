//! Rules about leases: those that ran out and stay, and those that are held without a sign of life.

use crate::fmt;
use crate::model::{BackendKind, Finding, Job, JobState, QueueId, QueueStats, Reading, Severity, Snapshot, Time};
use crate::text::Safe;

use super::words::{Reaper, counted, fact, seconds_since};
use super::{Input, Report};

/// A late heartbeat may still save a lease that ran out, and a reaper needs its turn.
const GRACE: i64 = 10;
/// A living reaper should have taken a lease after so long.
const REAPER_GRACE: i64 = 120;
/// No sign of life for so long, under a lease that is longer still, is worth a look.
const SILENT: i64 = 30 * 60;

/// Leases that ran out and that nobody takes back.
pub(super) fn expired(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    if queue.id.backend != BackendKind::Jobs {
        // PGMQ shows a message again by itself.
        return;
    }
    let Some(count) = report.need(&queue.expired, "expired leases", Some(&queue.id)) else {
        return;
    };
    if count == 0 {
        return;
    }
    let reaper = Reaper::of(input.snapshot, input.now);
    if reaper == Reaper::Unknown {
        report.miss("when the reaper last ran", None, input.snapshot.reaper_last == Reading::Denied);
    }
    let oldest = oldest_expired(input.snapshot, &queue.id, input.now);
    let grace = if matches!(reaper, Reaper::Alive(_)) { REAPER_GRACE } else { GRACE };
    // Without the list of leases their age is not known; with a living reaper that is no reason to worry.
    let stays = match oldest {
        Some(Overdue::Seconds(seconds)) => seconds >= grace,
        Some(Overdue::NoEnd) => true,
        None => !matches!(reaper, Reaper::Alive(_)),
    };
    if stays {
        report.find(expired_finding(queue, count, oldest, reaper));
    }
}

fn expired_finding(queue: &QueueStats, count: u64, oldest: Option<Overdue>, reaper: Reaper) -> Finding {
    let what = counted(&queue.expired, "lease expired", "leases expired");
    let (why, brief_why, severity, next_step) = match reaper {
        Reaper::Silent(s) => (
            format!("no reaper seen for {}", fmt::span(s)),
            format!("no reaper for {}", fmt::span(s)),
            Severity::Act,
            "start the reaper (`queuetop reaper`, or its cron entry); x takes one lease back at once",
        ),
        Reaper::Never => (
            "no reaper has ever run".into(),
            "no reaper ever".into(),
            Severity::Act,
            "run `queuetop reaper`, or call reap_expired_jobs() from cron; x takes one lease back at once",
        ),
        Reaper::Alive(s) => (
            format!("though the reaper ran {} ago", fmt::span(s)),
            "reaper behind".into(),
            Severity::Look,
            "see whether the reaper's batch is too small or a row it cannot change holds it up; x takes one lease back",
        ),
        Reaper::Unknown => (
            "whether a reaper runs is not known".into(),
            "reaper?".into(),
            Severity::Look,
            "make sure that a reaper runs and may execute reap_expired_jobs(); x takes one lease back at once",
        ),
    };
    let (age, shown) = match oldest {
        Some(Overdue::Seconds(s)) => (format!(", oldest {} ago", fmt::span(s)), format!("{} ago", fmt::span(s))),
        Some(Overdue::NoEnd) => (", one without an end".into(), "a lease without an end".into()),
        None => (String::new(), fmt::UNKNOWN.into()),
    };
    Finding {
        id: "expired-leases",
        severity,
        queue: Some(queue.id.clone()),
        sentence: format!("{what}{age}, {why}"),
        brief: format!("{what}, {brief_why}"),
        evidence: vec![
            fact("expired leases", fmt::Figure::words(&queue.expired)),
            fact("oldest ran out", shown),
            fact("reaper last ran", reaper.last_run()),
        ],
        next_step: next_step.into(),
        weight: count,
    }
}

/// How far past its end the oldest expired lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overdue {
    Seconds(i64),
    /// Running without a lease: it counts as expired since ever.
    NoEnd,
}

fn oldest_expired(snapshot: &Snapshot, queue: &QueueId, now: Time) -> Option<Overdue> {
    let expired = jobs(snapshot, queue).filter(|job| job.state == JobState::Expired);
    let ages = expired.map(|job| match job.lease_until.and_then(|end| seconds_since(now, end)) {
        Some(seconds) => Overdue::Seconds(seconds.max(0)),
        None => Overdue::NoEnd,
    });
    ages.max_by_key(|age| match age {
        Overdue::Seconds(s) => *s,
        Overdue::NoEnd => i64::MAX,
    })
}

fn jobs<'a>(snapshot: &'a Snapshot, queue: &'a QueueId) -> impl Iterator<Item = &'a Job> {
    snapshot.leases.value().into_iter().flatten().map(|lease| &lease.job).filter(move |job| job.at.queue == *queue)
}

/// A lease far in the future and no sign of life: if the worker died, the job waits until the end of it.
pub(super) fn silent(queue: &QueueStats, input: &Input<'_>, report: &mut Report<'_>) {
    let held = jobs(input.snapshot, &queue.id).filter(|job| job.state == JobState::Running);
    let silences = held.filter_map(|job| {
        let silence = seconds_since(input.now, job.updated_at?)?;
        // What is left of the lease; one without an end is never taken back.
        let left = job.lease_until.map_or(0, |end| seconds_since(end, input.now).unwrap_or(i64::MAX));
        (silence >= SILENT && left >= GRACE).then_some((silence, left, job))
    });
    let silences: Vec<_> = silences.collect();
    let Some((silence, left, job)) = silences.iter().max_by_key(|(silence, ..)| *silence) else {
        return;
    };
    let worker = job.worker.as_deref().map_or_else(|| "?".into(), |w| Safe::new(&fmt::short_id(w)).to_string());
    let rest = if *left == i64::MAX {
        "its lease never ends".into()
    } else {
        format!("its lease runs {} more", fmt::span(*left))
    };
    let others = silences.len() - 1;
    let more = if others == 0 { String::new() } else { format!(", and {others} more like it") };
    report.find(Finding {
        id: "silent-lease",
        severity: Severity::Look,
        queue: Some(queue.id.clone()),
        sentence: format!("worker {worker} holds a job for {} without a heartbeat, {rest}{more}", fmt::span(*silence)),
        brief: format!("no heartbeat for {}", fmt::span(*silence)),
        evidence: vec![
            fact("job", Safe::new(&job.at.id)),
            fact("last heartbeat", format!("{} ago", fmt::span(*silence))),
            fact("jobs like it", silences.len().to_string()),
        ],
        next_step: "see whether the worker lives; F requeues by force and fences it out. Shorter leases with \
                    heartbeats recover sooner"
            .into(),
        weight: u64::try_from(silences.len()).unwrap_or(u64::MAX),
    });
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, ago};
    use super::*;

    #[test]
    fn expired_leases_and_a_silent_reaper_are_the_worst() {
        let mut scene = Scene::calm(&["webhooks"]);
        scene.queue("webhooks").expired = Reading::Exact(3);
        scene.snapshot.reaper_last = Reading::Exact(Some(ago(240)));
        scene.lease("webhooks", Some(ago(252)), ago(552));
        scene.lease("webhooks", Some(ago(31)), ago(331));
        let found = scene.only("expired-leases");
        assert_eq!(found.sentence, "3 leases expired, oldest 4m12s ago, no reaper seen for 4m");
        assert_eq!(found.brief, "3 leases expired, no reaper for 4m");
        assert_eq!(found.severity, Severity::Act);
    }

    #[test]
    fn a_lease_that_ran_out_a_moment_ago_is_no_alarm() {
        let mut scene = Scene::calm(&["a"]);
        scene.queue("a").expired = Reading::Exact(1);
        scene.lease("a", Some(ago(100)), ago(400));
        assert_eq!(scene.findings(), [], "the reaper ran 5 s ago and comes again");
        scene.snapshot.reaper_last = Reading::Exact(None);
        assert_eq!(scene.only("expired-leases").severity, Severity::Act);
        scene.snapshot.leases = Reading::Exact(vec![]);
        scene.lease("a", Some(ago(9)), ago(309));
        assert_eq!(scene.findings(), [], "a late heartbeat may still come");
    }

    #[test]
    fn a_living_reaper_that_leaves_leases_behind_is_worth_a_look() {
        let mut scene = Scene::calm(&["a"]);
        scene.queue("a").expired = Reading::AtLeast(10_000);
        scene.lease("a", Some(ago(300)), ago(600));
        let found = scene.only("expired-leases");
        assert_eq!(found.sentence, "10,000+ leases expired, oldest 5m ago, though the reaper ran 5s ago");
        assert_eq!(found.severity, Severity::Look);
    }

    #[test]
    fn running_without_a_lease_has_no_age_and_counts() {
        let mut scene = Scene::calm(&["a"]);
        scene.queue("a").expired = Reading::Exact(1);
        scene.snapshot.reaper_last = Reading::Unknown;
        scene.lease("a", None, ago(3));
        let found = scene.findings();
        assert_eq!(found[0].sentence, "1 lease expired, one without an end, whether a reaper runs is not known");
        assert_eq!(found[1].sentence, "not known: when the reaper last ran");
    }

    #[test]
    fn a_long_lease_without_a_heartbeat_is_seen_and_a_beating_one_is_not() {
        let mut scene = Scene::calm(&["a"]);
        scene.lease("a", Some(ago(-18 * 60)), ago(42 * 60));
        let found = scene.only("silent-lease");
        assert_eq!(found.sentence, "worker 7f3a…01 holds a job for 42m without a heartbeat, its lease runs 18m more");
        scene.snapshot.leases = Reading::Exact(vec![]);
        scene.lease("a", Some(ago(-3600)), ago(60));
        scene.lease("a", Some(ago(-240)), ago(20 * 60));
        assert_eq!(scene.findings(), []);
        scene.lease("a", Some(Time::Infinity), ago(40 * 60));
        assert!(scene.only("silent-lease").sentence.ends_with("its lease never ends"));
    }
}
