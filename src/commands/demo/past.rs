//! A past for the demo, so that every pane has something to say at once.

use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use tokio_postgres::Client;

use super::produce::enqueue;
use super::texts;
use crate::db::{DbError, Limits, Session};

const LIMITS: Limits = Limits::within(Duration::from_secs(20));

/// Jobs by queue: how many, and when they are due, in seconds from now.
const JOBS: [(&str, u32, i32, (i32, i32)); 6] = [
    ("emails", 7, 8, (-30, 0)),
    ("reports", 40, 5, (20, 2_700)),
    ("webhooks", 150, 4, (-300, -60)),
    ("thumbnails", 12, 6, (-500, -60)),
    ("invoices", 90, 8, (-840, 0)),
    ("newsletter", 12, 3, (-2_400, -2_000)),
];

/// Puts it in. Nobody else may be at work in the database yet.
///
/// # Errors
/// What the server says.
pub(super) async fn put(session: &mut Session, seed: u64, rate: f64) -> Result<(), DbError> {
    let mut rng = Rng::with_seed(seed);
    session.call("past", &enqueue(jobs(&mut rng)), LIMITS).await?;
    let sql = include_str!("past.sql").replace("{seed}", &rng.f64().to_string()).replace("{rate}", &rate.to_string());
    run(session.driver(), &sql).await?;
    // Behind the rest: it wants a transaction of its own.
    run(session.driver(), "select public.recount_counters()").await
}

async fn run(client: &Client, sql: &str) -> Result<(), DbError> {
    client.batch_execute(sql).await.map_err(|error| DbError::of_driver(&error).context("the demo's past"))
}

fn jobs(rng: &mut Rng) -> Vec<Value> {
    let mut jobs = Vec::new();
    for (queue, count, max_attempts, (from, to)) in JOBS {
        for _ in 0..count {
            let number = jobs.len() as u64 + 1;
            jobs.push(json!({
                "queue": queue,
                "payload": texts::payload(queue, number, rng),
                "priority": texts::priority(queue, rng),
                "max_attempts": max_attempts,
                "in_seconds": rng.i32(from..=to),
            }));
        }
    }
    jobs
}
