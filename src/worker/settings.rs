//! How a worker works.

use std::time::Duration;

use uuid::Uuid;

use super::backoff::RetryDelay;

/// The settings of one worker. Zeros and absurd values are brought into range where they are used.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Schema of the queue's objects.
    pub schema: String,
    /// Which queue.
    pub queue: String,
    /// Who we are: one id for each process and worker, never used again.
    pub id: Uuid,
    /// What people call it.
    pub name: Option<String>,
    /// How long a job stays ours without a sign of life. Longer than a handler usually takes.
    pub lease: Duration,
    /// How many jobs run at once, 1 to 1000; no more are ever claimed.
    pub concurrency: usize,
    /// Pause after a claim that found less than was asked for.
    pub poll: Duration,
    /// How long running jobs may go on when the worker is told to stop.
    pub grace: Duration,
    /// How long a failed job waits.
    pub retry: RetryDelay,
}

impl Settings {
    /// For a queue in schema `public`: a new id, 5 minutes of lease, 10 jobs at once, a claim each second, 10 s of grace.
    #[must_use]
    pub fn new(queue: impl Into<String>) -> Self {
        Self {
            schema: "public".to_owned(),
            queue: queue.into(),
            id: Uuid::new_v4(),
            name: None,
            lease: Duration::from_mins(5),
            concurrency: 10,
            poll: Duration::from_secs(1),
            grace: Duration::from_secs(10),
            retry: RetryDelay::default(),
        }
    }

    /// Slots, in the range that `claim_jobs` takes.
    pub(super) fn slots(&self) -> usize {
        self.concurrency.clamp(1, 1000)
    }

    /// From one extension of the leases to the next.
    pub(super) fn beat(&self) -> Duration {
        (self.lease / 3).max(Duration::from_millis(10))
    }
}
