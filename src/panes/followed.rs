//! What the panes follow: one queue, or all of them together.

use super::Ctx;
use crate::model::history::Series;
use crate::model::{Handling, QueueStats, Rates, Reading};
use crate::text::Safe;

impl<'a> Ctx<'a> {
    /// The name of what is followed, for titles.
    pub(super) fn followed(&self) -> String {
        self.queue.map_or_else(|| "all queues".to_owned(), |id| Safe::new(&id.name).truncate(24).into())
    }

    /// The numbers of the queue that is followed, or of all.
    pub(super) fn stats(&self) -> impl Iterator<Item = &'a QueueStats> {
        let queue = self.queue;
        let all = self.snapshot.map(|s| s.queues.iter()).unwrap_or_default();
        all.filter(move |q| queue.is_none_or(|id| *id == q.id))
    }

    /// The series of the queue that is followed, or of all.
    pub(super) fn series(&self) -> impl Iterator<Item = &'a Series> {
        let (history, queue) = (self.history, self.queue);
        history.queues().filter(move |id| queue.is_none_or(|q| q == *id)).filter_map(|id| history.series(id))
    }

    /// A rate of the queue that is followed, or the sum of all.
    pub(super) fn rate(&self, pick: fn(&Rates) -> Reading<f64>) -> Reading<f64> {
        self.total(self.stats().map(|q| pick(&q.rates)), 0.0, |a, b| a + b)
    }

    /// How jobs are handled in the queue that is followed, or in all together.
    pub(super) fn handling(&self) -> Handling {
        let all = self.stats().map(|q| q.handling.clone());
        let nothing = self.snapshot.is_some() && self.queue.is_none();
        all.reduce(Handling::join).unwrap_or_else(|| if nothing { Handling::nothing() } else { Handling::default() })
    }

    /// The rates of the queue that is followed, or of all.
    pub(super) fn rates(&self) -> Rates {
        Rates {
            enqueued: self.rate(|r| r.enqueued),
            claimed: self.rate(|r| r.claimed),
            completed: self.rate(|r| r.completed),
            retried: self.rate(|r| r.retried),
            dead: self.rate(|r| r.dead),
        }
    }

    /// A count of the queue that is followed, or the sum of all.
    pub(super) fn count(&self, pick: fn(&QueueStats) -> Reading<u64>) -> Reading<u64> {
        self.total(self.stats().map(pick), 0, u64::saturating_add)
    }

    /// The sum of what is known. Where a part is missing it is at least so much; where all are, that is said. A database
    /// without queues has a true zero; a queue that is followed and gone has nothing.
    fn total<T: Copy>(&self, parts: impl Iterator<Item = Reading<T>>, zero: T, join: fn(T, T) -> T) -> Reading<T> {
        let mut sum: Option<Reading<T>> = None;
        let mut missing: Option<Reading<T>> = None;
        for part in parts {
            if matches!(part, Reading::Denied | Reading::Unknown) {
                missing = missing.or(Some(part));
            } else {
                sum = Some(sum.map_or(part, |before| before.combine(part, join)));
            }
        }
        match (sum, missing) {
            (Some(Reading::Exact(known)), Some(_)) => Reading::AtLeast(known),
            (Some(Reading::NotApplicable) | None, Some(missing)) => missing,
            (Some(sum), _) => sum,
            (None, None) if self.snapshot.is_some() && self.queue.is_none() => Reading::Exact(zero),
            (None, None) => Reading::Unknown,
        }
    }
}
