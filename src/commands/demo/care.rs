//! What looks after the queue: a reaper that comes late, so that expired leases can be seen, and pruning, so that the demo
//! may run for days.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_postgres::types::Type;

use super::link::Link;
use super::workload::Shared;
use crate::db::Statement;

/// From one look at the backlog to the next.
const LOOK: Duration = Duration::from_secs(4);
/// Every so many looks the reaper comes, and pruning.
const REAP: u32 = 6;

const BACKLOG: &str = "select queue, count(*) from public.jobs where status in ('queued', 'running') group by queue";
const REAPER: &str = "select public.reap_expired_jobs(100)";
/// How long each is kept, in minutes, at a rate of 1; and the call that removes what is older, at most 10,000 at once.
const PRUNE: [(f64, &str); 3] = [
    (10.0, "select public.prune_completed_jobs(make_interval(secs => $1), 10000)"),
    (40.0, "select public.prune_dead_letters(make_interval(secs => $1), 10000)"),
    (40.0, "select public.prune_history(make_interval(secs => $1), 10000)"),
];
/// Nothing goes before it could be looked at, in minutes.
const AT_LEAST: f64 = 1.0;

/// Looks after it until the demo stops.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut link = Link::new(Arc::clone(&shared.connector), shared.stop.clone());
    let mut looks = 0_u32;
    loop {
        if let Some(rows) = link.call("backlog", Statement::new(BACKLOG)).await {
            for (queue, waiting) in &shared.backlog {
                let row = rows.iter().find(|row| row.try_get::<_, &str>(0).is_ok_and(|name| name == *queue));
                let count = row.and_then(|row| row.try_get(1).ok()).unwrap_or(0_i64);
                waiting.store(count, Ordering::Relaxed);
            }
        }
        if !link.pause(LOOK).await {
            return;
        }
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(REAP) {
            link.call("reap", Statement::new(REAPER)).await;
            for (minutes, sql) in PRUNE {
                // The more comes in, the less long it is kept: the database stays small at any rate.
                let seconds = (minutes / shared.rate.max(1.0)).max(AT_LEAST) * 60.0;
                prune(&mut link, sql, seconds).await;
            }
        }
    }
}

/// Removes batch after batch, until a batch is not full.
async fn prune(link: &mut Link, sql: &'static str, seconds: f64) {
    loop {
        let rows = link.call("prune", Statement::new(sql).bind(seconds, Type::FLOAT8)).await;
        let removed = rows.and_then(|rows| rows.first()?.try_get::<_, i64>(0).ok());
        if removed.unwrap_or(0) < 10_000 {
            return;
        }
    }
}
