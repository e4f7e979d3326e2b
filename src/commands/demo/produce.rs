//! Producers: one for each queue, putting jobs in at its pace.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::link::Link;
use super::queues::{Inflow, Temper};
use super::texts;
use super::workload::Shared;
use crate::db::Statement;

/// Job numbers of the producers begin here; those of the past are below.
const FIRST: u64 = 10_000;
/// No call puts in more.
const AT_ONCE: f64 = 500.0;

/// Produces until the demo stops.
pub(super) async fn run(shared: Arc<Shared>, temper: &'static Temper) {
    let mut link = Link::new(Arc::clone(&shared.connector), shared.stop.clone());
    let mut rng = shared.rng(temper.queue);
    let mut number = FIRST;
    // A part of a job that has not come in yet.
    let mut owed = 0.0;
    let mut last = Instant::now();
    loop {
        if !link.pause(pause(temper.inflow, shared.rate, &mut rng)).await {
            return;
        }
        let passed = last.elapsed();
        last = Instant::now();
        owed += match temper.inflow {
            Inflow::Steady(rate) => rate * shared.rate * passed.as_secs_f64(),
            Inflow::Bursts { jobs, .. } => jobs * shared.rate,
        };
        let due = owed.min(AT_ONCE).floor();
        owed = (owed - due).min(1.0);
        let mut jobs = Vec::new();
        while (jobs.len() as f64) < due {
            jobs.push(job(temper, number, &mut rng));
            number += 1;
        }
        if !jobs.is_empty() && shared.backlog(temper.queue) < temper.most {
            link.call("enqueue", enqueue(jobs)).await;
        }
    }
}

/// All or none of these, in one call.
pub(super) fn enqueue(jobs: Vec<Value>) -> Statement {
    // Times are the database's: how much later is said here, when that is it knows.
    let sql = "select public.enqueue_jobs(jsonb_agg(
                 (j - 'in_seconds') || jsonb_build_object('run_at', now() + make_interval(secs => (j ->> 'in_seconds')::float8))))
               from jsonb_array_elements($1) as j";
    Statement::new(sql).json(Value::Array(jobs))
}

fn job(temper: &Temper, number: u64, rng: &mut Rng) -> Value {
    let later = matches!(temper.inflow, Inflow::Bursts { .. }) && rng.u32(..3) == 0;
    json!({
        "queue": temper.queue,
        "payload": texts::payload(temper.queue, number, rng),
        "priority": texts::priority(temper.queue, rng),
        "max_attempts": temper.max_attempts,
        "in_seconds": if later { rng.u32(10..300) } else { 0 },
    })
}

fn pause(inflow: Inflow, rate: f64, rng: &mut Rng) -> Duration {
    let mean = match inflow {
        Inflow::Steady(jobs) => (1.0 / (jobs * rate)).max(0.05),
        Inflow::Bursts { every, .. } => every.as_secs_f64(),
    };
    Duration::from_secs_f64(mean * (0.6 + 0.8 * rng.f64()))
}
