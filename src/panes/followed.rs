//! What the panes follow: one queue, or all of them together.

use super::Ctx;
use crate::model::history::Series;
use crate::model::{QueueStats, Rates, Reading};
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

    /// A rate of the queue that is followed, or the sum of all; unknown without a reading.
    pub(super) fn rate(&self, pick: fn(&Rates) -> Reading<f64>) -> Reading<f64> {
        self.stats().map(|q| pick(&q.rates)).reduce(|a, b| a.combine(b, |a, b| a + b)).unwrap_or_default()
    }

    /// A count of the queue that is followed, or the sum of all; unknown without a reading.
    pub(super) fn count(&self, pick: fn(&QueueStats) -> Reading<u64>) -> Reading<u64> {
        self.stats().map(pick).reduce(|a, b| a.combine(b, u64::saturating_add)).unwrap_or_default()
    }
}
