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
    /// Pause after a claim that found less than was asked for, unless the database tells of a change.
    pub poll: Duration,
    /// The most time an attempt may take. Without it a handler that hangs is kept alive by its heartbeats for ever.
    pub attempt_limit: Option<Duration>,
    /// How long running jobs may go on when the worker is told to stop.
    pub grace: Duration,
    /// How long a handler may go on after it was asked to stop.
    pub cut_after: Duration,
    /// How long a failed job waits.
    pub retry: RetryDelay,
}

impl Settings {
    /// For a queue in schema `public`: a new id, 5 minutes of lease, 10 jobs at once, a claim each second (sooner
    /// when the database tells of a change), 10 s of grace.
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
            attempt_limit: None,
            grace: Duration::from_secs(10),
            cut_after: Duration::from_secs(2),
            retry: RetryDelay::default(),
        }
    }

    /// Slots, in the range that `claim_jobs` takes.
    pub(super) fn slots(&self) -> usize {
        self.concurrency.clamp(1, 1000)
    }

    /// The lease, in the range that the queue takes.
    pub(super) fn lease(&self) -> Duration {
        self.lease.clamp(Duration::from_millis(30), Duration::from_hours(24 * 365))
    }

    /// From one extension of the leases to the next.
    pub(super) fn beat(&self) -> Duration {
        self.lease() / 3
    }

    /// The pause, in a range that is neither a spin nor an overflow.
    pub(super) fn poll(&self) -> Duration {
        self.poll.clamp(Duration::from_millis(10), Duration::from_hours(24))
    }

    /// A span to be added to now.
    pub(super) fn within_reason(span: Duration) -> Duration {
        span.min(Duration::from_hours(24 * 365))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_values_are_brought_into_range() {
        let zero = Settings { lease: Duration::ZERO, concurrency: 0, poll: Duration::ZERO, ..Settings::new("q") };
        assert_eq!((zero.slots(), zero.beat(), zero.poll()), (1, Duration::from_millis(10), Duration::from_millis(10)));
        let huge =
            Settings { lease: Duration::MAX, concurrency: usize::MAX, poll: Duration::MAX, ..Settings::new("q") };
        assert_eq!((huge.slots(), huge.lease()), (1000, Duration::from_hours(24 * 365)));
        assert!(huge.poll() <= Duration::from_hours(24));
    }
}
