//! All numbers of one moment.

use std::time::Duration;

use super::{Lease, QueueId, QueueStats, Reading, Time};

/// Errors that look alike: numbers, ids, addresses and quoted values folded away.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The folded text (foreign: show through `text::Safe`).
    pub text: String,
    /// The queue it was seen in.
    pub queue: QueueId,
    /// How many failures or dead letters.
    pub count: Reading<u64>,
    /// Of those, how many are dead letters.
    pub dead: Reading<u64>,
    /// Latest time it was seen.
    pub last_seen: Option<Time>,
    /// Retries per second over the last 15 minutes.
    pub retried_per_s: Reading<f64>,
    /// Dead letters per second over the last 15 minutes.
    pub dead_per_s: Reading<f64>,
}

/// Failures of the last 15 minutes and dead letters, grouped.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Failures {
    /// Attempts that failed in the last 15 minutes.
    pub failed_15m: Reading<u64>,
    /// Jobs that died in the last hour.
    pub dead_1h: Reading<u64>,
    /// By signature, most first.
    pub signatures: Reading<Vec<Signature>>,
    /// When it was read, by the server's clock.
    pub taken_at: Option<Time>,
}

/// One reading of everything the overview shows. All numbers of `queues` come from one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The server's clock at reading.
    pub taken_at: Time,
    /// Every queue, in no particular order.
    pub queues: Vec<QueueStats>,
    /// Leases, soonest end first, as many as the limit allows.
    pub leases: Reading<Vec<Lease>>,
    /// Failures and dead letters. Has its own, slower rhythm.
    pub failures: Failures,
    /// When the reaper last ran; `Exact(None)`: never.
    pub reaper_last: Reading<Option<Time>>,
    /// Database time this reading cost.
    pub cost: Duration,
}

impl Snapshot {
    /// The queue with this id.
    #[must_use]
    pub fn queue(&self, id: &QueueId) -> Option<&QueueStats> {
        self.queues.iter().find(|q| q.id == *id)
    }
}
