//! The JSON form. Its names are stable: scripts rely on them; the README documents them.
//!
//! One object: `taken_at`, `server`, `backends`, `readings_cost_ms`, `queues` and `failures`. A figure is
//! `{"value": .., "known": ".."}`; its value is null where it is not known, and where there was no occasion for one
//! (`known` tells which). Of a queue:
//!
//! - now: `ready`, `scheduled`, `running`, `expired`, `exhausted`, `dead_total`, `last_attempt` in jobs; `attempts` live jobs by
//!   attempts begun; `oldest_ready_seconds`
//! - the last two and a half minutes, or a second where the database keeps no minutes: `enqueued_per_s`, `claimed_per_s`,
//!   `completed_per_s`, `retried_per_s`, `dead_per_s`, `growth_per_s`; `drains_within_seconds` at those rates; `completed_share`,
//!   `retried_share`, `dead_share` of the attempts that end, 0 to 1
//! - the last 15 minutes: `handler_seconds` `{p50, p95, p99}`, at most 19 % off (the buckets grow by the square root of two);
//!   `claim_batch` jobs a claim on average
//! - the next hour: `next_wave` `{at, jobs}`, the minute in which most waiting jobs come due
//!
//! `failures`: `failed_15m`, `died_1h`, and `signatures`: `queue`, `error`, `jobs`, `dead`, `retried_per_s`, `dead_per_s` (of 15
//! minutes), `last_seen`; the most frequent first.

use serde::Serialize;

use crate::model::{BackendKind, Failures, Quantiles, QueueStats, Reading, Signature, Time, Wave};
use crate::text::harmless_json;

use super::{CommandError, Taken};

/// Live jobs with so many attempts begun.
#[derive(Serialize)]
struct Attempts {
    attempts: i32,
    jobs: u64,
}

#[derive(Serialize)]
struct Queue<'a> {
    #[serde(rename = "queue")]
    name: &'a str,
    backend: BackendKind,
    ready: Reading<u64>,
    scheduled: Reading<u64>,
    running: Reading<u64>,
    expired: Reading<u64>,
    exhausted: Reading<u64>,
    enqueued_per_s: Reading<f64>,
    completed_per_s: Reading<f64>,
    retried_per_s: Reading<f64>,
    dead_per_s: Reading<f64>,
    oldest_ready_seconds: Reading<Option<f64>>,
    attempts: Reading<Vec<Attempts>>,
    dead_total: Reading<u64>,
    last_attempt: Reading<u64>,
    claimed_per_s: Reading<f64>,
    growth_per_s: Reading<f64>,
    drains_within_seconds: Reading<Option<f64>>,
    completed_share: Reading<Option<f64>>,
    retried_share: Reading<Option<f64>>,
    dead_share: Reading<Option<f64>>,
    handler_seconds: Reading<Option<Quantiles>>,
    claim_batch: Reading<Option<f64>>,
    next_wave: Reading<Option<Wave>>,
}

#[derive(Serialize)]
struct Whole<'a> {
    taken_at: Time,
    server: &'a str,
    backends: &'a [BackendKind],
    readings_cost_ms: f64,
    queues: Vec<Queue<'a>>,
    failures: Lately,
}

/// Failures and dead letters.
#[derive(Serialize)]
struct Lately {
    failed_15m: Reading<u64>,
    died_1h: Reading<u64>,
    signatures: Reading<Vec<Similar>>,
}

/// Errors that look alike.
#[derive(Serialize)]
struct Similar {
    queue: String,
    backend: BackendKind,
    error: String,
    jobs: Reading<u64>,
    dead: Reading<u64>,
    retried_per_s: Reading<f64>,
    dead_per_s: Reading<f64>,
    last_seen: Option<Time>,
}

/// One object on several lines, with a line end. Control characters of foreign text stay escaped, in terminals too.
///
/// # Errors
/// Never for readings; the writer of JSON says so in its type.
pub fn to_json(taken: &Taken) -> Result<String, CommandError> {
    let now = taken.snapshot.taken_at;
    let whole = Whole {
        taken_at: now,
        server: &taken.server,
        backends: &taken.backends,
        readings_cost_ms: (taken.snapshot.cost.as_secs_f64() * 1e6).round() / 1e3,
        queues: taken.snapshot.queues.iter().map(|stats| queue(stats, now)).collect(),
        failures: lately(&taken.snapshot.failures),
    };
    let text = serde_json::to_string_pretty(&whole)
        .map_err(|error| CommandError::Failed(format!("the snapshot cannot be written as JSON: {error}")))?;
    Ok(harmless_json(&text) + "\n")
}

fn lately(failures: &Failures) -> Lately {
    let similar = |s: Signature| Similar {
        queue: s.queue.name,
        backend: s.queue.backend,
        error: s.text,
        jobs: s.count,
        dead: s.dead,
        retried_per_s: s.retried_per_s,
        dead_per_s: s.dead_per_s,
        last_seen: s.last_seen,
    };
    Lately {
        failed_15m: failures.failed_15m,
        died_1h: failures.dead_1h,
        signatures: failures.signatures.clone().map(|all| all.into_iter().map(similar).collect()),
    }
}

fn queue(stats: &QueueStats, now: Time) -> Queue<'_> {
    let attempts = stats
        .attempts
        .clone()
        .map(|counts| counts.into_iter().map(|(attempts, jobs)| Attempts { attempts, jobs }).collect::<Vec<_>>());
    let share = |at: usize| stats.rates.shares().map(|shares| shares.and_then(|shares| shares.get(at).copied()));
    Queue {
        name: &stats.id.name,
        backend: stats.id.backend,
        ready: stats.ready,
        scheduled: stats.scheduled,
        running: stats.running,
        expired: stats.expired,
        exhausted: stats.exhausted,
        enqueued_per_s: stats.rates.enqueued,
        completed_per_s: stats.rates.completed,
        retried_per_s: stats.rates.retried,
        dead_per_s: stats.rates.dead,
        oldest_ready_seconds: stats.oldest_ready_seconds(now),
        attempts,
        dead_total: stats.dead_total,
        last_attempt: stats.last_attempt,
        claimed_per_s: stats.rates.claimed,
        growth_per_s: stats.growth(),
        drains_within_seconds: stats.drain_seconds(),
        completed_share: share(0),
        retried_share: share(1),
        dead_share: share(2),
        handler_seconds: stats.handling.quantiles(),
        claim_batch: stats.handling.batch(),
        next_wave: stats.handling.wave,
    }
}
