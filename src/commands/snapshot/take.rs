//! Takes one reading of everything, with rates: from the minutes that the database keeps, else from two readings.

use std::time::Duration;

use crate::db::{Connector, DbError};
use crate::engine::{fill_handling, read_core, read_failures};
use crate::model::{BackendKind, History, Snapshot};

use super::super::{CommandError, target};

/// Rates come from minutes no older than this.
const MINUTES: Duration = Duration::from_secs(150);
const MINUTE: Duration = Duration::from_mins(1);
/// Where the database keeps no minutes: from one reading to the other.
const BETWEEN: Duration = Duration::from_secs(1);
/// Longer than any pause between the two readings: they are never taken for a gap.
const LONGEST: Duration = Duration::from_mins(1);

/// A reading and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The numbers.
    pub snapshot: Snapshot,
    /// Whom they are from: database, host, version.
    pub server: String,
    /// Backends found.
    pub backends: Vec<BackendKind>,
}

/// Takes a reading. Waits a second where rates need two.
///
/// # Errors
/// When the database cannot be reached, has no queue, or cannot answer.
pub async fn take(connector: &Connector, schema: Option<&str>) -> Result<Taken, CommandError> {
    let failed = |error: DbError| CommandError::Failed(error.to_string());
    let (session, backends) = target::queues(connector, schema).await?;
    let mut history = History::default();
    for backend in &backends {
        // Without minutes the rates come from two readings.
        for (queue, minutes) in backend.history(&session, MINUTES, MINUTE).await.unwrap_or_default() {
            history.preload(&queue, minutes);
        }
    }
    let mut snapshot = read_core(&session, &backends).await.map_err(failed)?;
    let known = |snapshot: &Snapshot| {
        snapshot.queues.iter().all(|q| history.rates_over(&q.id, snapshot.taken_at, MINUTES).enqueued.get().is_some())
    };
    if !known(&snapshot) {
        history = History::default();
        history.record(&snapshot, LONGEST);
        tokio::time::sleep(BETWEEN).await;
        let first = snapshot;
        snapshot = read_core(&session, &backends).await.map_err(failed)?;
        snapshot.cost += first.cost;
        history.record(&snapshot, LONGEST);
    }
    for queue in &mut snapshot.queues {
        let rates = history.rates_over(&queue.id, snapshot.taken_at, MINUTES);
        if rates.enqueued.get().is_some() {
            queue.rates = rates;
        }
    }
    let mut handling = Vec::new();
    for backend in &backends {
        // What cannot be read stays unknown.
        handling.extend(backend.handling(&session).await.ok().map(|found| (backend.kind(), found)));
    }
    fill_handling(&mut snapshot, &handling);
    snapshot.failures = read_failures(&session, &backends).await.map_err(failed)?;
    snapshot.queues.sort_by(|a, b| a.id.cmp(&b.id));
    let version = session.facts().version.clone();
    let server = format!("{} PostgreSQL {version}", connector.target());
    Ok(Taken { snapshot, server, backends: backends.iter().map(|b| b.kind()).collect() })
}
