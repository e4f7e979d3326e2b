//! Readings to draw: empty, busy, overflowing, denied, hostile. The time is fixed, so a screen is the same every day.

use std::time::Duration;

use queuetop::diagnose;
use queuetop::model::{
    BackendKind, Failures, Fence, Finding, Handling, History, Job, JobRef, JobState, Lease, Page, PageRequest, Point,
    QueueId, QueueStats, Rates, Reading, Signature, Snapshot, Time, Totals, Wave,
};

use queuetop::panes::{Arrangement, Ctx, Marks, TimeStyle};
use queuetop::theme::Theme;

/// Every column in its usual place.
static AS_IT_IS: Arrangement = Arrangement { queues: None, jobs: None };

/// 2026-12-01 14:02:11 UTC.
pub(crate) const NOW: Time = Time::At(1_796_133_731_000_000);

/// A moment so many seconds before [`NOW`].
pub(crate) fn ago(seconds: i64) -> Time {
    NOW.minus(Duration::from_secs(u64::try_from(seconds).unwrap()))
}

/// A moment so many seconds after [`NOW`].
pub(crate) fn ahead(seconds: u64) -> Time {
    NOW.plus(Duration::from_secs(seconds))
}

/// Everything a screen is drawn from.
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) history: History,
    pub(crate) page: Option<Page>,
    pub(crate) stale: bool,
    /// The queue that the panes follow.
    pub(crate) queue: Option<QueueId>,
}

/// What a pane sees of a fixture.
pub(crate) fn context<'a>(fixture: &'a Fixture, marks: &'a Marks, theme: &'a Theme) -> Ctx<'a> {
    Ctx {
        snapshot: fixture.snapshot.as_ref(),
        findings: &fixture.findings,
        history: &fixture.history,
        server: None,
        queue: fixture.queue.as_ref(),
        marks,
        now: NOW,
        stale: fixture.stale,
        range: Duration::from_mins(15),
        times: TimeStyle::Relative,
        theme,
        filter: "",
        arrangement: &AS_IT_IS,
        focused: true,
    }
}

/// With what the rules say of it.
pub(crate) fn diagnosed(fixture: Fixture) -> Fixture {
    let findings = fixture.snapshot.as_ref().map(|s| diagnose::findings(s, &fixture.history, None));
    Fixture { findings: findings.unwrap_or_default(), ..fixture }
}

/// The fixtures that every pane is drawn with.
pub(crate) fn all() -> Vec<Fixture> {
    let stale = Fixture { name: "stale", stale: true, ..busy() };
    vec![empty(), busy(), overflowing(), stale, denied()].into_iter().map(diagnosed).collect()
}

pub(crate) fn queue_id(name: &str) -> QueueId {
    QueueId { backend: BackendKind::Jobs, name: name.into() }
}

/// A queue by its counts and rates.
fn queue(name: &str, [ready, sched, run, exp, exh]: [u64; 5], oldest: i64, rates: [f64; 4]) -> QueueStats {
    let [enqueued, completed, retried, dead] = rates.map(Reading::Exact);
    QueueStats {
        ready: Reading::Exact(ready),
        scheduled: Reading::Exact(sched),
        running: Reading::Exact(run),
        expired: Reading::Exact(exp),
        exhausted: Reading::Exact(exh),
        oldest_ready: Reading::Exact((ready > 0).then(|| ago(oldest))),
        dead_total: Reading::Exact(18),
        totals: Reading::Exact(Totals::default()),
        rates: Rates { enqueued, claimed: completed, completed, retried, dead },
        attempts: Reading::Exact(vec![(0, ready), (1, run), (2, exp), (8, exh.max(1))]),
        last_attempt: Reading::Exact(1),
        max_attempts: Some(8),
        paused: Some(false),
        handling: handling(name, sched),
        ..QueueStats::unknown(queue_id(name))
    }
}

/// Handlers of around a tenth of a second, some of ten; four jobs a claim.
fn handling(name: &str, scheduled: u64) -> Handling {
    let mut durations = vec![0; 28];
    (durations[13], durations[20], durations[26]) = (900, 80, 20);
    let idle = name == "invoices";
    Handling {
        durations: Reading::Exact(if idle { Vec::new() } else { durations }),
        claimed: Reading::Exact(if idle { 0 } else { 1_000 }),
        claims: Reading::Exact(if idle { 0 } else { 250 }),
        wave: Reading::Exact((scheduled > 0).then(|| Wave { at: ahead(250), jobs: scheduled })),
    }
}

fn snapshot(queues: Vec<QueueStats>, leases: Vec<Job>, failures: Failures) -> Snapshot {
    Snapshot {
        taken_at: NOW,
        queues,
        leases: Reading::Exact(leases.into_iter().map(|job| Lease { job }).collect()),
        failures,
        reaper_last: Reading::Exact(Some(ago(240))),
        cost: Duration::from_millis(3),
    }
}

/// A job by its number, state and time: of the lease for what is running, else when it is due.
pub(crate) fn job(number: u32, queue: &str, state: JobState, tries: i32, at: Time) -> Job {
    let running = matches!(state, JobState::Running | JobState::Expired);
    Job {
        at: JobRef {
            queue: queue_id(queue),
            id: format!("{:08x}-1111-4222-8333-4444444444{:02x}", number.wrapping_mul(0x9e37_79b1), number % 256),
            dead: state == JobState::Dead,
        },
        state,
        priority: Some(0),
        attempts: tries,
        max_attempts: Some(8),
        run_at: if running { ago(600) } else { at },
        created_at: Some(ago(900)),
        worker: running.then(|| format!("7f3a{number:04x}-0000-4000-8000-000000000000")),
        lease_until: running.then_some(at),
        updated_at: Some(at.minus(Duration::from_mins(5))),
        error: (tries > 1)
            .then(|| format!("timeout connecting to smtp.example after {number} ms\n  at send (mail.js:{number})")),
        fence: Fence(serde_json::Value::Null),
    }
}

/// Fifteen minutes of a queue with so many jobs a minute in and done; two of them were not seen.
fn minutes(name: &str, history: &mut History, inflow: u64, completed: u64) {
    let point = |m: u64| {
        let wave = m * 7 % 5;
        let delta = Totals {
            enqueued: inflow + inflow * wave / 20,
            claimed: completed,
            completed: completed + completed * wave / 40,
            retried: wave * 12,
            dead: u64::from(m.is_multiple_of(6)) * 6,
        };
        let delta = (m != 7 && m != 8).then_some(delta);
        Point {
            at: NOW.minus(Duration::from_mins(15 - m)),
            span: Duration::from_mins(1),
            delta,
            depth: delta.map(|_| 100 + m * m * 40),
        }
    };
    history.preload(&queue_id(name), (0..=15).map(point).collect());
}

fn signature(text: &str, queue: &str, count: u64, dead: u64, seen: i64) -> Signature {
    Signature {
        text: text.into(),
        queue: queue_id(queue),
        count: Reading::Exact(count),
        dead: Reading::Exact(dead),
        last_seen: Some(ago(seen)),
        retried_per_s: Reading::Exact(count as f64 / 60.0),
        dead_per_s: Reading::Exact(dead as f64 / 60.0),
    }
}

fn page(jobs: Vec<Job>) -> Page {
    Page {
        request: PageRequest { limit: 200, ..PageRequest::default() },
        jobs: Reading::Exact(jobs),
        next: None,
        taken_at: NOW,
        cost: Duration::from_millis(1),
        note: None,
    }
}

/// A database without a queue.
pub(crate) fn empty() -> Fixture {
    let failures = Failures {
        failed_15m: Reading::Exact(0),
        dead_1h: Reading::Exact(0),
        signatures: Reading::Exact(vec![]),
        taken_at: Some(NOW),
    };
    Fixture {
        name: "empty",
        snapshot: Some(snapshot(vec![], vec![], failures)),
        findings: vec![],
        history: History::default(),
        page: Some(page(vec![])),
        stale: false,
        queue: None,
    }
}

/// A bad night of moderate size, as in the sketch of the screens.
pub(crate) fn busy() -> Fixture {
    let mut events = queue("events", [1_234_567, 0, 310, 0, 0], 3, [2_100.0, 2_413.0, 0.0, 0.0]);
    events.id.backend = BackendKind::Pgmq;
    events.ready = Reading::About(1_234_567);
    events.exhausted = Reading::NotApplicable;
    let mut invoices = queue("invoices", [220, 0, 0, 0, 0], 662, [0.5, 0.0, 0.0, 0.0]);
    invoices.paused = Some(true);
    let queues = vec![
        queue("reports", [3, 0, 2, 0, 1], 12, [0.2, 0.2, 0.0, 0.0]),
        events,
        queue("emails", [12_403, 812, 40, 0, 0], 133, [52.1, 49.8, 1.2, 0.1]),
        queue("webhooks", [12, 0, 4, 3, 0], 252, [0.4, 0.1, 0.0, 0.0]),
        invoices,
        queue("thumbnails", [0, 0, 2, 0, 0], 0, [3.0, 3.0, 0.0, 0.0]),
    ];
    let mut history = History::default();
    minutes("webhooks", &mut history, 24, 6);
    minutes("emails", &mut history, 3_126, 2_988);
    let leases = vec![
        job(1, "webhooks", JobState::Expired, 3, ago(252)),
        job(2, "webhooks", JobState::Expired, 1, ago(238)),
        job(3, "webhooks", JobState::Running, 1, ahead(160)),
        job(4, "webhooks", JobState::Running, 8, ahead(291)),
        job(5, "emails", JobState::Running, 2, ahead(45)),
    ];
    let failures = Failures {
        failed_15m: Reading::Exact(41),
        dead_1h: Reading::Exact(18),
        signatures: Reading::Exact(vec![
            signature("HTTP 422 from hooks.#", "webhooks", 11, 2, 540),
            signature("timeout connecting to smtp.#", "webhooks", 30, 0, 120),
            signature("connection refused", "emails", 4, 4, 5),
        ]),
        taken_at: Some(NOW),
    };
    let jobs = vec![
        job(1, "webhooks", JobState::Expired, 3, ago(252)),
        job(3, "webhooks", JobState::Running, 1, ahead(160)),
        job(10, "emails", JobState::Ready, 0, ago(133)),
        job(11, "emails", JobState::Scheduled, 2, ahead(5_400)),
        job(12, "reports", JobState::Exhausted, 8, ago(12)),
        job(13, "emails", JobState::Dead, 8, ago(90_000)),
    ];
    Fixture {
        name: "busy",
        snapshot: Some(snapshot(queues, leases, failures)),
        findings: vec![],
        history,
        page: Some(page(jobs)),
        stale: false,
        queue: Some(queue_id("webhooks")),
    }
}

/// More rows than any screen has, with the largest numbers and names that do not fit.
pub(crate) fn overflowing() -> Fixture {
    let name = |i: u32| format!("tenant-{i:03}-a-rather-long-name-of-a-queue-{i}");
    let mut queues: Vec<QueueStats> = (0..60_u32)
        .map(|i| {
            let n = 10_u64.saturating_pow(i % 20);
            queue(
                &name(i),
                [n, n / 2, n / 3, u64::from(i % 3), u64::from(i % 7)],
                i64::from(i) * 977,
                [n as f64, 1.5, n as f64 / 9.0, 0.01],
            )
        })
        .collect();
    queues.push(queue("largest", [u64::MAX; 5], 400_000_000, [f64::MAX; 4]));
    queues.push(QueueStats { ready: Reading::AtLeast(10_000), ..QueueStats::unknown(queue_id("capped")) });
    let mut history = History::default();
    for q in &queues {
        minutes(&q.id.name, &mut history, 2_400, 2_460);
    }
    let leases = (0..200).map(|i| job(i, &name(i % 60), JobState::Running, 1, ahead(u64::from(i) * 3))).collect();
    let failures = Failures {
        failed_15m: Reading::AtLeast(10_000),
        dead_1h: Reading::About(1_234_567),
        signatures: Reading::Exact((0..40).map(|i| signature(&format!("error number {i} of forty, told at great length because the library that throws it prints its whole configuration"), &name(i % 60), u64::from(i), u64::MAX, 3)).collect()),
        taken_at: Some(NOW),
    };
    let jobs = (0..200).map(|i| job(i, &name(i % 60), JobState::Scheduled, 3, ahead(u64::from(i) * 400))).collect();
    Fixture {
        name: "overflowing",
        snapshot: Some(snapshot(queues, leases, failures)),
        findings: vec![],
        history,
        page: Some(page(jobs)),
        stale: false,
        queue: None,
    }
}

/// A role that may see that there are queues, and nothing else.
pub(crate) fn denied() -> Fixture {
    let mut q = QueueStats::unknown(queue_id("emails"));
    for count in [&mut q.ready, &mut q.scheduled, &mut q.running, &mut q.expired, &mut q.exhausted] {
        *count = Reading::Denied;
    }
    (q.oldest_ready, q.attempts, q.last_attempt) = (Reading::Denied, Reading::Denied, Reading::Denied);
    let failures =
        Failures { failed_15m: Reading::Denied, dead_1h: Reading::Denied, signatures: Reading::Denied, taken_at: None };
    let snapshot = Snapshot { leases: Reading::Denied, ..snapshot(vec![q], vec![], failures) };
    let page = Page { jobs: Reading::Denied, ..page(vec![]) };
    Fixture {
        name: "denied",
        snapshot: Some(snapshot),
        findings: vec![],
        history: History::default(),
        page: Some(page),
        stale: false,
        queue: None,
    }
}
