//! Readings made by strangers: hostile names, errors and ids, numbers that are none, times without end.

use std::time::Duration;

use queuetop::model::{
    Failures, History, JobState, Page, Point, QueueId, QueueStats, Reading, Signature, Snapshot, Time, Totals,
};

use super::fixtures::{self, Fixture, NOW, job, queue_id};

#[derive(serde::Deserialize)]
struct Hostile {
    text: String,
}

/// The strings of `tests/data`.
pub(crate) fn strings() -> Vec<String> {
    let all: Vec<Hostile> = serde_json::from_str(include_str!("../data/hostile_strings.json")).unwrap();
    all.into_iter().map(|h| h.text).collect()
}

const NUMBERS: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.000_000_1, 7.0, f64::MAX, 0.0];
const TIMES: [Time; 5] = [Time::NegInfinity, Time::Infinity, Time::At(i64::MIN), Time::At(i64::MAX), Time::At(0)];

fn pick<T: Copy>(all: &[T], i: usize) -> T {
    all[i % all.len()]
}

fn queue(name: &str, i: usize) -> QueueStats {
    let number = |n| Reading::Exact(pick(&NUMBERS, i + n));
    let mut q = QueueStats::unknown(queue_id(name));
    (q.ready, q.scheduled) = (Reading::Exact(u64::MAX), Reading::About(i as u64));
    q.oldest_ready = Reading::Exact(Some(pick(&TIMES, i)));
    (q.rates.enqueued, q.rates.completed) = (number(0), number(1));
    (q.rates.retried, q.rates.dead) = (number(2), number(3));
    q.attempts = Reading::Exact(vec![(i32::MIN, 1), (i32::MAX, u64::MAX), (-1, 0), (3, u64::MAX)]);
    q.last_attempt = Reading::AtLeast(u64::MAX);
    q.max_attempts = Some(pick(&[i32::MAX, i32::MIN, 0, 8], i));
    q
}

fn series(queue: &QueueId, history: &mut History) {
    let all = |n| Totals { enqueued: n, claimed: n, completed: n, retried: n, dead: n };
    let point = |at, span, n| Point { at, span, delta: Some(all(n)), depth: Some(n) };
    history.preload(
        queue,
        vec![
            point(Time::NegInfinity, Duration::MAX, 1),
            point(NOW.minus(Duration::from_mins(3)), Duration::ZERO, u64::MAX),
            point(NOW, Duration::from_secs(30), 5),
            point(Time::At(i64::MAX), Duration::MAX, 0),
        ],
    );
}

/// Every hostile string in every place that text comes from.
pub(crate) fn fixture() -> Fixture {
    let strings = strings();
    let mut history = History::default();
    let queues: Vec<QueueStats> = strings.iter().enumerate().map(|(i, name)| queue(name, i)).collect();
    for q in &queues {
        series(&q.id, &mut history);
    }
    let jobs: Vec<_> = strings
        .iter()
        .zip(0_u32..)
        .map(|(text, i)| {
            let states = [JobState::Ready, JobState::Running, JobState::Expired, JobState::Dead, JobState::Exhausted];
            let at = pick(&TIMES, i as usize);
            let mut job = job(i, text, pick(&states, i as usize), i32::MAX, at);
            job.at.id.clone_from(text);
            (job.worker, job.error) = (Some(text.clone()), Some(text.clone()));
            (job.attempts, job.max_attempts, job.priority) = (i32::MIN, Some(i32::MAX), Some(i32::MIN));
            (job.run_at, job.updated_at) = (at, Some(pick(&TIMES, i as usize + 1)));
            job
        })
        .collect();
    let signatures = strings.iter().enumerate().map(|(i, text)| Signature {
        text: text.clone(),
        queue: queue_id(text),
        count: Reading::AtLeast(u64::MAX),
        dead: Reading::Stale(3),
        last_seen: Some(pick(&TIMES, i)),
        retried_per_s: Reading::About(pick(&NUMBERS, i)),
        dead_per_s: Reading::AtLeast(pick(&NUMBERS, i)),
    });
    let failures = Failures { signatures: Reading::Exact(signatures.collect()), ..Failures::default() };
    let leases = Reading::About(jobs.iter().cloned().map(|job| queuetop::model::Lease { job }).collect());
    let base = fixtures::empty();
    let page = base.page.map(|page| Page { jobs: Reading::Exact(jobs), note: Some(strings.concat()), ..page });
    let snapshot = base.snapshot.map(|s| Snapshot { queues, failures, leases, ..s });
    fixtures::diagnosed(Fixture {
        findings: vec![],
        name: "hostile",
        snapshot,
        history,
        page,
        stale: false,
        queue: None,
    })
}
