//! Takes one reading of everything, with rates: from the minutes that the database keeps, else from two readings.

use std::time::{Duration, Instant};

use crate::backends::{self, Backend, Core};
use crate::db::{Connector, DbError, Purpose, Session};
use crate::model::{BackendKind, Failures, History, Reading, Snapshot, Time};

use super::CommandError;

/// Rates come from minutes no older than this.
const MINUTES: Duration = Duration::from_secs(150);
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
    let session = connector.connect(Purpose::Read).await.map_err(failed)?;
    let backends = backends::all(&session, schema).await.map_err(failed)?;
    if backends.is_empty() {
        let place = schema.map(|schema| format!(" in schema {schema}")).unwrap_or_default();
        let target = connector.target();
        return Err(CommandError::Failed(format!(
            "no queue found in {target}{place}: `queuetop migrate` installs one"
        )));
    }
    let mut history = History::default();
    for backend in &backends {
        // Without minutes the rates come from two readings.
        for (queue, minutes) in backend.history(&session, MINUTES).await.unwrap_or_default() {
            history.preload(&queue, minutes);
        }
    }
    let mut snapshot = read(&session, &backends).await.map_err(failed)?;
    let known = |snapshot: &Snapshot| {
        snapshot.queues.iter().all(|q| history.rates_over(&q.id, snapshot.taken_at, MINUTES).enqueued.get().is_some())
    };
    if !known(&snapshot) {
        history = History::default();
        history.record(&snapshot, LONGEST);
        tokio::time::sleep(BETWEEN).await;
        let first = snapshot;
        snapshot = read(&session, &backends).await.map_err(failed)?;
        snapshot.cost += first.cost;
        history.record(&snapshot, LONGEST);
    }
    for queue in &mut snapshot.queues {
        let rates = history.rates_over(&queue.id, snapshot.taken_at, MINUTES);
        if rates.enqueued.get().is_some() {
            queue.rates = rates;
        }
    }
    let version = session.facts().version.clone();
    let server = format!("{} PostgreSQL {version}", connector.target());
    Ok(Taken { snapshot, server, backends: backends.iter().map(|b| b.kind()).collect() })
}

async fn read(session: &Session, backends: &[Box<dyn Backend>]) -> Result<Snapshot, DbError> {
    let began = Instant::now();
    let busy = session.busy();
    let mut parts = Vec::new();
    for backend in backends {
        parts.push(backend.core(session).await?);
    }
    let cost = session.busy().saturating_sub(busy);
    let cost = if cost.is_zero() { began.elapsed() } else { cost };
    Ok(join(parts, cost))
}

fn join(parts: Vec<Core>, cost: Duration) -> Snapshot {
    let mut whole = Snapshot {
        taken_at: Time::NegInfinity,
        queues: Vec::new(),
        leases: Reading::Unknown,
        failures: Failures::default(),
        reaper_last: Reading::NotApplicable,
        cost,
    };
    for part in parts {
        whole.taken_at = whole.taken_at.max(part.taken_at);
        whole.queues.extend(part.queues);
        if part.reaper_last != Reading::NotApplicable {
            whole.reaper_last = part.reaper_last;
        }
    }
    whole.queues.sort_by(|a, b| a.id.cmp(&b.id));
    whole
}
