//! A queue and its numbers.

use std::fmt;

use serde::Serialize;

use super::{Handling, Reading, Time};

/// The kind of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// The `jobs` table with leases.
    Jobs,
    /// The PGMQ extension.
    Pgmq,
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jobs => "jobs",
            Self::Pgmq => "pgmq",
        })
    }
}

/// Names a queue across backends. The name is foreign text: show it through `text::Safe` only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId {
    /// Which kind of queue.
    pub backend: BackendKind,
    /// Its name as the database has it.
    pub name: String,
}

/// Counts that only ever grow while a server's counters live, so that a rate is a difference over a true span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Jobs put into the queue.
    pub enqueued: u64,
    /// Attempts begun.
    pub claimed: u64,
    /// Jobs completed.
    pub completed: u64,
    /// Attempts that went back to the queue (retry or expiry).
    pub retried: u64,
    /// Jobs moved to the dead letters.
    pub dead: u64,
}

/// Changes per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// Jobs put into the queue per second.
    pub enqueued: Reading<f64>,
    /// Attempts begun per second.
    pub claimed: Reading<f64>,
    /// Jobs completed per second.
    pub completed: Reading<f64>,
    /// Attempts sent back per second.
    pub retried: Reading<f64>,
    /// Jobs moved to the dead letters per second.
    pub dead: Reading<f64>,
}

impl Rates {
    /// How attempts end, as shares of 1: completed, sent back, dead. `None` when none ends.
    #[must_use]
    pub fn shares(&self) -> Reading<Option<[f64; 3]>> {
        let ends = [self.completed, self.retried, self.dead];
        let all = ends.into_iter().reduce(|sum, rate| sum.combine(rate, |a, b| a + b)).unwrap_or_default();
        all.map(|all| (all > 0.0).then(|| ends.map(|rate| rate.get().unwrap_or(0.0) / all)))
    }
}

/// Whether the jobs that are ready will be worked off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drain {
    /// Nothing is ready.
    Empty,
    /// At the present rates, in so many seconds.
    Within(f64),
    /// Not shrinking, but what is ready is less than a minute of work: in and out balance.
    Steady,
    /// Not shrinking.
    Never,
    /// The queue is paused: nobody claims.
    Paused,
}

/// One queue at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueStats {
    /// Which queue.
    pub id: QueueId,
    /// Paused: who did it and when are in the detail; `None` where pausing is not known.
    pub paused: Option<bool>,
    /// Claimable now.
    pub ready: Reading<u64>,
    /// Queued, due later.
    pub scheduled: Reading<u64>,
    /// Claimed, lease in the future.
    pub running: Reading<u64>,
    /// Claimed, lease past its end or missing.
    pub expired: Reading<u64>,
    /// Queued with no attempt left: nobody will ever claim it.
    pub exhausted: Reading<u64>,
    /// `run_at` of the ready job that has waited longest; `Exact(None)` when nothing is ready.
    pub oldest_ready: Reading<Option<Time>>,
    /// Dead letters in all.
    pub dead_total: Reading<u64>,
    /// Ever-growing counts, the base of the rates.
    pub totals: Reading<Totals>,
    /// Rates over the last while; filled from history or from two readings.
    pub rates: Rates,
    /// Live jobs (queued and running) by attempts: `(attempts, jobs)`, ascending.
    pub attempts: Reading<Vec<(i32, u64)>>,
    /// Live jobs whose next failure is their last.
    pub last_attempt: Reading<u64>,
    /// The highest `max_attempts` among live jobs: the right end of the attempts chart.
    pub max_attempts: Option<i32>,
    /// How its jobs are handled; read at a rhythm of its own.
    pub handling: Handling,
}

impl QueueStats {
    /// A queue of which nothing is known yet.
    #[must_use]
    pub fn unknown(id: QueueId) -> Self {
        Self {
            id,
            paused: None,
            ready: Reading::Unknown,
            scheduled: Reading::Unknown,
            running: Reading::Unknown,
            expired: Reading::Unknown,
            exhausted: Reading::Unknown,
            oldest_ready: Reading::Unknown,
            dead_total: Reading::Unknown,
            totals: Reading::Unknown,
            rates: Rates::default(),
            attempts: Reading::Unknown,
            last_attempt: Reading::Unknown,
            max_attempts: None,
            handling: Handling::default(),
        }
    }

    /// Seconds the oldest ready job has waited at the server's time `now`; `Exact(None)` when nothing is ready or its
    /// `run_at` is infinite. Never negative.
    #[must_use]
    pub fn oldest_ready_seconds(&self, now: Time) -> Reading<Option<f64>> {
        self.oldest_ready.map(|t| t.and_then(|t| now.seconds_since(t)).map(|s| s.max(0.0)))
    }

    /// Jobs waiting for a worker now or later: ready and scheduled.
    #[must_use]
    pub fn depth(&self) -> Reading<u64> {
        self.ready.combine(self.scheduled, u64::saturating_add)
    }

    /// How fast the jobs that wait grow, per second: in − completed − dead. Negative when draining.
    #[must_use]
    pub fn growth(&self) -> Reading<f64> {
        let out = self.rates.completed.combine(self.rates.dead, |a, b| a + b);
        self.rates.enqueued.combine(out, |a, b| a - b)
    }

    /// Whether what is ready will be worked off at the present rates.
    #[must_use]
    pub fn drain(&self) -> Reading<Drain> {
        const STEADY_SECONDS: f64 = 60.0;
        if self.paused == Some(true) && self.ready.get() != Some(0) {
            return self.ready.map(|_| Drain::Paused);
        }
        let (ready, completed) = (self.ready.get().unwrap_or(0) as f64, self.rates.completed.get().unwrap_or(0.0));
        self.drain_seconds().map(|seconds| match seconds {
            _ if ready <= 0.0 => Drain::Empty,
            Some(seconds) => Drain::Within(seconds),
            None if ready <= completed * STEADY_SECONDS => Drain::Steady,
            None => Drain::Never,
        })
    }

    /// Seconds until nothing is ready at the present rates: `None` when it will not drain.
    #[must_use]
    pub fn drain_seconds(&self) -> Reading<Option<f64>> {
        let Some(ready) = self.ready.get() else {
            return Reading::Unknown;
        };
        if ready == 0 {
            return self.ready.map(|_| Some(0.0));
        }
        self.growth().map(|g| (g < -1e-9).then(|| ready as f64 / -g))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(ready: u64, enqueued: f64, completed: f64) -> QueueStats {
        let mut q = QueueStats::unknown(QueueId { backend: BackendKind::Jobs, name: "q".into() });
        q.ready = Reading::Exact(ready);
        q.rates.enqueued = Reading::Exact(enqueued);
        q.rates.completed = Reading::Exact(completed);
        q.rates.dead = Reading::Exact(0.0);
        q
    }

    #[test]
    fn draining() {
        for (ready, enqueued, completed, want) in [
            (0, 5.0, 1.0, Drain::Empty),
            (100, 1.0, 3.0, Drain::Within(50.0)),
            (3, 0.2, 0.2, Drain::Steady),
            (3, 0.0, 0.0, Drain::Never),
            (12_403, 52.1, 49.8, Drain::Never),
        ] {
            assert_eq!(queue(ready, enqueued, completed).drain(), Reading::Exact(want), "{ready}");
        }
    }

    #[test]
    fn a_paused_queue_does_not_drain_and_an_unknown_rate_is_unknown() {
        let mut q = queue(3, 1.0, 2.0);
        q.paused = Some(true);
        assert_eq!(q.drain(), Reading::Exact(Drain::Paused));
        q.paused = None;
        q.rates.completed = Reading::Unknown;
        assert_eq!(q.drain(), Reading::Unknown);
    }
}
