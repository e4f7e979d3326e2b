//! What looks after the queue: a reaper that comes late, so that expired leases can be seen, and pruning, so that the demo
//! may run for days.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::link::Link;
use super::workload::Shared;
use crate::db::Statement;

/// From one look at the backlog to the next.
const LOOK: Duration = Duration::from_secs(4);
/// Every so many looks the reaper comes, and pruning.
const REAP: u32 = 6;

const BACKLOG: &str = "select queue, count(*) from public.jobs where status in ('queued', 'running') group by queue";
const REAPER: &str = "select public.reap_expired_jobs(100)";
const PRUNE: [&str; 3] = [
    "select public.prune_completed_jobs('10 minutes', 10000)",
    "select public.prune_dead_letters('40 minutes')",
    "select public.prune_history('40 minutes')",
];

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
            for prune in PRUNE {
                link.call("prune", Statement::new(prune)).await;
            }
        }
    }
}
