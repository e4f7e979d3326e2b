//! What the full views show besides the overview's snapshot: each has a reading of its own, asked for while it is on screen.

use std::time::Duration;

use super::{QueueId, Reading, Time};

/// Which reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelKind {
    /// Who works, and what each holds.
    Workers,
    /// Failures and dead letters by error signature.
    Groups,
}

/// A reading.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// Who works, and what each holds.
    Workers(Workers),
    /// Failures and dead letters by error signature.
    Groups(Groups),
}

impl Panel {
    /// Which reading this is.
    #[must_use]
    pub fn kind(&self) -> PanelKind {
        match self {
            Self::Workers(_) => PanelKind::Workers,
            Self::Groups(_) => PanelKind::Groups,
        }
    }

    /// How long the server was busy with it.
    #[must_use]
    pub fn cost(&self) -> Duration {
        match self {
            Self::Workers(workers) => workers.cost,
            Self::Groups(groups) => groups.cost,
        }
    }
}

/// One worker: what it holds, and what it said of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerStats {
    /// Its id, as jobs name their holder (foreign: show through `text::Safe`).
    pub id: String,
    /// The name it registered with.
    pub name: Option<String>,
    /// The host it registered from.
    pub host: Option<String>,
    /// Its process there.
    pub pid: Option<i32>,
    /// Its program's version.
    pub version: Option<String>,
    /// When it last registered; `Exact(None)`: never.
    pub last_seen: Reading<Option<Time>>,
    /// The latest change of a job that it holds: a claim or a heartbeat. `None` while it holds none.
    pub last_heartbeat: Option<Time>,
    /// Jobs it holds, expired ones included.
    pub held: Reading<u64>,
    /// Of those, how many leases ran out.
    pub expired: Reading<u64>,
    /// When the oldest attempt that it holds began.
    pub oldest_claim: Option<Time>,
    /// When the first of its leases ends or ended.
    pub first_end: Option<Time>,
    /// The longest lease it took, from the last heartbeat to its end: twice that without a sign of life is suspicious.
    pub lease: Option<Duration>,
    /// Queues of the jobs it holds, by name, a few of them.
    pub queues: Vec<QueueId>,
}

/// Who works.
#[derive(Debug, Clone, PartialEq)]
pub struct Workers {
    /// In no particular order; `Denied` when the role may not read leases.
    pub workers: Reading<Vec<WorkerStats>>,
    /// When it was read, by the server's clock.
    pub taken_at: Time,
    /// How long the server was busy with it.
    pub cost: Duration,
    /// A limit that was met, or what is missing, in words.
    pub note: Option<String>,
}

/// Errors that look alike in one queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The folded text (foreign: show through `text::Safe`); empty where there was no error text.
    pub signature: String,
    /// The queue.
    pub queue: QueueId,
    /// Attempts that failed like this in the last 15 minutes.
    pub failed_15m: Reading<u64>,
    /// Of those, how many went back to the queue, per second.
    pub retried_per_s: Reading<f64>,
    /// Dead letters with it, replayed or not.
    pub dead: Reading<u64>,
    /// Of those, how many were replayed.
    pub replayed: Reading<u64>,
    /// First time seen; where all dead letters are counted, pruned ones included.
    pub first_seen: Option<Time>,
    /// Latest time seen.
    pub last_seen: Option<Time>,
    /// Failures and deaths in equal parts of [`Groups::trend_span`], oldest first. Empty: nothing within it.
    pub trend: Vec<u64>,
}

/// Failures and dead letters by error signature and queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// Most failures first, then most dead letters; `AtLeast` when some were left out, `Denied` when the role may read
    /// neither failures nor dead letters.
    pub groups: Reading<Vec<Group>>,
    /// Dead letters in all.
    pub dead: Reading<u64>,
    /// The time until now that trends cover: an hour, or less where so much happened that not all was looked at. `None`:
    /// there are no trends.
    pub trend_span: Option<Duration>,
    /// There were too many failures: only those since then were looked at.
    pub failed_since: Option<Time>,
    /// There were too many dead letters to look at, and nobody counts them: only those since then were looked at.
    pub dead_since: Option<Time>,
    /// When it was read, by the server's clock.
    pub taken_at: Time,
    /// How long the server was busy with it.
    pub cost: Duration,
    /// What else is missing or in doubt, in words.
    pub note: Option<String>,
}
