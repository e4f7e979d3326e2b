//! The simulated queues and their tempers. Numbers only; nothing here does anything.

use std::time::Duration;

use crate::worker::RetryDelay;

/// How jobs come in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Inflow {
    /// So many a second, a little unevenly.
    Steady(f64),
    /// So many at once, again and again; a third of them for later.
    Bursts { jobs: f64, every: Duration },
}

/// One queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Temper {
    pub(super) queue: &'static str,
    pub(super) inflow: Inflow,
    /// With so many jobs waiting or running, no more come in: the demo may run for days.
    pub(super) most: i64,
    pub(super) max_attempts: i32,
    /// How many worker processes it has.
    pub(super) workers: usize,
    /// Jobs at once in each of them.
    pub(super) slots: usize,
    pub(super) lease: Duration,
    /// How long a job takes, from and to, in milliseconds.
    pub(super) takes: (u64, u64),
    pub(super) retry: RetryDelay,
    /// Its workers die in the middle of their work.
    pub(super) mortal: bool,
}

const fn delay(base: u64, cap: u64) -> RetryDelay {
    RetryDelay { base: Duration::from_secs(base), cap: Duration::from_secs(cap), jitter: 0.25 }
}

/// The backlog of `invoices` at which its worker begins to hurry, and the one at which it is slow again.
pub(super) const INVOICES: (i64, i64) = (240, 90);

/// All of them.
pub(super) const QUEUES: [Temper; 6] = [
    Temper {
        queue: "emails",
        inflow: Inflow::Steady(8.0),
        most: 2_000,
        max_attempts: 8,
        workers: 2,
        slots: 5,
        lease: Duration::from_secs(30),
        takes: (80, 600),
        retry: delay(20, 600),
        mortal: false,
    },
    Temper {
        queue: "reports",
        inflow: Inflow::Bursts { jobs: 18.0, every: Duration::from_secs(15) },
        most: 1_000,
        max_attempts: 5,
        workers: 1,
        slots: 4,
        lease: Duration::from_mins(1),
        takes: (800, 3_500),
        retry: delay(30, 600),
        mortal: false,
    },
    Temper {
        queue: "webhooks",
        inflow: Inflow::Steady(2.0),
        most: 1_000,
        // The first death comes some 15 s after the dependency broke.
        max_attempts: 4,
        workers: 1,
        slots: 6,
        lease: Duration::from_secs(30),
        takes: (100, 900),
        retry: delay(2, 15),
        mortal: false,
    },
    Temper {
        queue: "thumbnails",
        inflow: Inflow::Steady(1.5),
        most: 500,
        max_attempts: 6,
        workers: 2,
        slots: 3,
        lease: Duration::from_secs(8),
        takes: (700, 2_500),
        retry: delay(5, 60),
        mortal: true,
    },
    Temper {
        queue: "invoices",
        inflow: Inflow::Steady(1.6),
        most: 400,
        max_attempts: 8,
        workers: 1,
        slots: 1,
        lease: Duration::from_mins(1),
        takes: (500, 1_100),
        retry: delay(30, 600),
        mortal: false,
    },
    Temper {
        queue: "newsletter",
        inflow: Inflow::Steady(0.05),
        most: 40,
        max_attempts: 3,
        workers: 1,
        slots: 2,
        lease: Duration::from_mins(1),
        takes: (200, 400),
        retry: delay(30, 600),
        mortal: false,
    },
];

/// The dependency of `webhooks` is down for the first part of each of these.
const EPISODE: Duration = Duration::from_secs(80);
const DOWN: Duration = Duration::from_secs(50);

/// Whether that dependency is down, so long after the start.
pub(super) fn is_down(since_start: Duration) -> bool {
    since_start.as_millis() % EPISODE.as_millis() < DOWN.as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes in on average, in jobs a second.
    fn inflow(temper: &Temper) -> f64 {
        match temper.inflow {
            Inflow::Steady(rate) => rate,
            Inflow::Bursts { jobs, every } => jobs / every.as_secs_f64(),
        }
    }

    #[test]
    fn only_invoices_grow() {
        for temper in &QUEUES {
            let seconds = (temper.takes.0 + temper.takes.1) as f64 / 2000.0;
            let capacity = (temper.workers * temper.slots) as f64 / seconds;
            assert_eq!(inflow(temper) > capacity, temper.queue == "invoices", "{}: {capacity}", temper.queue);
            assert!(Duration::from_millis(temper.takes.1) < temper.lease, "{}", temper.queue);
        }
    }

    #[test]
    fn the_dependency_is_down_from_the_start_and_comes_back() {
        assert!(is_down(Duration::ZERO) && is_down(Duration::from_secs(49)));
        assert!(!is_down(Duration::from_secs(51)) && is_down(Duration::from_secs(81)));
    }
}
