//! A single job as lists and details show it, and the fence that an action repeats.

use serde::Serialize;

use super::{QueueId, Time};

/// The state of a job at a moment, derived from its row and the server's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Queued, due, attempts left.
    Ready,
    /// Queued, due later.
    Scheduled,
    /// Queued, no attempt left.
    Exhausted,
    /// Claimed, lease in the future.
    Running,
    /// Claimed, lease past its end or missing.
    Expired,
    /// Done.
    Completed,
    /// In the dead letters.
    Dead,
}

impl JobState {
    /// The word shown and written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Scheduled => "scheduled",
            Self::Exhausted => "exhausted",
            Self::Running => "running",
            Self::Expired => "expired",
            Self::Completed => "completed",
            Self::Dead => "dead",
        }
    }

    /// The state of a row with the raw column `status`, by the server's time `now`.
    #[must_use]
    pub fn of(status: &str, run_at: Time, attempts: (i32, i32), lease_until: Option<Time>, now: Time) -> Self {
        let (done, max) = attempts;
        match status {
            "running" => match lease_until {
                Some(lease) if lease >= now => Self::Running,
                _ => Self::Expired,
            },
            "completed" => Self::Completed,
            "dead" => Self::Dead,
            _ if done >= max => Self::Exhausted,
            _ if run_at > now => Self::Scheduled,
            _ => Self::Ready,
        }
    }
}

/// Names a job for good: marks and the cursor hold this, never a row number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobRef {
    /// Its queue.
    pub queue: QueueId,
    /// Its id as text (a uuid; pgmq: the message number).
    pub id: String,
    /// In the dead-letter table.
    pub dead: bool,
}

/// What an action repeats: the row as it was seen on screen. `serde_json::Value` keeps it free of any backend's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence(pub serde_json::Value);

/// One row of a list: no payload, the error cut to its first line.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Which job.
    pub at: JobRef,
    /// Derived by the server's time at reading.
    pub state: JobState,
    /// Higher runs first; `None` where the backend has none.
    pub priority: Option<i32>,
    /// Attempts begun.
    pub attempts: i32,
    /// The limit; `None` where there is none.
    pub max_attempts: Option<i32>,
    /// When it may run (dead: when it failed for good).
    pub run_at: Time,
    /// When it was put in.
    pub created_at: Option<Time>,
    /// Who holds it.
    pub worker: Option<String>,
    /// When the lease ends.
    pub lease_until: Option<Time>,
    /// Last sign of life: the last change of a running row.
    pub updated_at: Option<Time>,
    /// First line of the last error; an ellipsis at its end where it was cut.
    pub error: Option<String>,
    /// The row as seen, for the action's fence.
    pub fence: Fence,
}

/// One lease: who holds which job until when.
#[derive(Debug, Clone, PartialEq)]
pub struct Lease {
    /// The job under the lease, with its fence.
    pub job: Job,
}
