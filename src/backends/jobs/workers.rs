//! Who works: holders of leases, and workers that registered.

use std::time::Duration;

use tokio_postgres::Row;

use super::facts::{Access, JOB_COLUMNS};
use super::row::{count, get, text};
use super::{Jobs, LIST_LIMITS, queue_id};
use crate::db::{DbError, Session, Statement, Text};
use crate::model::{QueueId, Reading, WorkerStats, Workers};

/// So many leases are looked at, those that end first.
const MOST_LEASES: i64 = 20_000;
/// So many workers are shown.
const MOST_WORKERS: i64 = 1_000;

/// What a registration has.
pub(super) const REGISTRATION: &[&str] = &["id", "name", "host", "pid", "version", "last_seen"];

/// Reads who works. Without the right to read leases nothing is known; without registrations the names are missing.
pub(super) async fn read(jobs: &Jobs, session: &Session) -> Result<Workers, DbError> {
    let access = jobs.facts.access("jobs", JOB_COLUMNS);
    if access != Access::Yes || !jobs.facts.has_lease_index() {
        let batch = session.read_many("workers", &[], LIST_LIMITS).await?;
        let (workers, note) = match access {
            Access::Denied => (Reading::Denied, format!("{} may not read jobs", jobs.facts.user)),
            _ => (Reading::Unknown, "no index on jobs (lease_until) for running ones".into()),
        };
        return Ok(Workers { workers, taken_at: batch.server_time, cost: batch.cost, note: Some(note) });
    }
    let ask = [Statement::new(jobs.texts.workers.clone()).int8(MOST_LEASES).int8(MOST_WORKERS)];
    let batch = session.read_many("workers", &ask, LIST_LIMITS).await?;
    let rows = batch.rows.first().map(Vec::as_slice).unwrap_or_default();
    let registered = jobs.facts.access("workers", REGISTRATION);
    let leases_cut = rows.first().map(|row| get(row, "leases_cut")).transpose()?.unwrap_or(false);
    let workers = rows.iter().map(|row| worker(row, registered, leases_cut)).collect::<Result<Vec<_>, _>>()?;
    let cut = leases_cut || rows.len() >= usize::try_from(MOST_WORKERS).unwrap_or(usize::MAX);
    Ok(Workers {
        workers: if cut { Reading::AtLeast(workers) } else { Reading::Exact(workers) },
        taken_at: batch.server_time,
        cost: batch.cost,
        note: if leases_cut {
            Some(format!("by the {MOST_LEASES} leases that end first"))
        } else {
            (registered == Access::Denied).then(|| "names of workers are denied for this role".into())
        },
    })
}

fn worker(row: &Row, registered: Access, leases_cut: bool) -> Result<WorkerStats, DbError> {
    let up_to = |n: u64| if leases_cut { Reading::AtLeast(n) } else { Reading::Exact(n) };
    let queues: Vec<QueueId> =
        get::<Option<Vec<Text>>>(row, "queues")?.unwrap_or_default().into_iter().map(|q| queue_id(q.into())).collect();
    let lease = get::<Option<f64>>(row, "lease_s")?.and_then(|s| Duration::try_from_secs_f64(s).ok());
    Ok(WorkerStats {
        id: text(row, "id")?.unwrap_or_default(),
        name: text(row, "name")?,
        host: text(row, "host")?,
        pid: get(row, "pid")?,
        version: text(row, "version")?,
        last_seen: match registered {
            Access::Yes => Reading::Exact(get(row, "last_seen")?),
            Access::Denied => Reading::Denied,
            Access::Missing => Reading::Unknown,
        },
        last_heartbeat: get(row, "last_heartbeat")?,
        held: up_to(count(row, "held")?),
        expired: up_to(count(row, "expired")?),
        oldest_claim: get(row, "oldest_claim")?,
        first_end: get(row, "first_end")?,
        lease,
        queues,
    })
}
