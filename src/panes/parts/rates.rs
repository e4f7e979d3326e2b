//! Rates and depth over time of what is followed, worked out again only when there is something new: with a thousand queues a
//! frame must not walk through all of their past.

use super::Window;
use crate::model::{QueueId, Time, Totals};
use crate::panes::Ctx;

/// What a line counts.
pub(crate) type Pick = fn(&Totals) -> u64;

/// The values of `N` lines, as last worked out.
#[derive(Debug)]
pub(crate) struct RateLines<const N: usize> {
    picks: [Pick; N],
    of: Option<Key>,
    values: [Vec<Option<f64>>; N],
}

/// What the values depend on.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    window: Window,
    queue: Option<QueueId>,
    read: Option<Time>,
    points: usize,
}

impl Key {
    fn of(ctx: &Ctx<'_>, window: Window) -> Self {
        let points = ctx.series().map(std::collections::VecDeque::len).sum();
        Self { window, queue: ctx.queue.cloned(), read: ctx.snapshot.map(|s| s.taken_at), points }
    }
}

/// How many jobs waited over time, as last worked out.
#[derive(Debug, Default)]
pub(crate) struct DepthLine {
    of: Option<Key>,
    values: Vec<Option<f64>>,
}

impl DepthLine {
    /// Jobs that waited at the end of each of `len` buckets over the time range; gaps are `None`. Empty where there is no clock.
    pub(crate) fn values(&mut self, ctx: &Ctx<'_>, len: usize) -> &[Option<f64>] {
        let key = Window::new(ctx.now, ctx.range, len).map(|window| Key::of(ctx, window));
        if self.of != key {
            self.values = key.as_ref().map(|key| key.window.depth_sums(ctx.series())).unwrap_or_default();
            self.of = key;
        }
        &self.values
    }
}

impl<const N: usize> RateLines<N> {
    /// Nothing worked out yet.
    pub(crate) fn new(picks: [Pick; N]) -> Self {
        Self { picks, of: None, values: std::array::from_fn(|_| Vec::new()) }
    }

    /// Jobs per second in each of `len` buckets over the time range; gaps are `None`. Empty where there is no clock.
    pub(crate) fn values(&mut self, ctx: &Ctx<'_>, len: usize) -> &[Vec<Option<f64>>; N] {
        let Some(window) = Window::new(ctx.now, ctx.range, len) else {
            self.of = None;
            self.values = std::array::from_fn(|_| Vec::new());
            return &self.values;
        };
        let key = Key::of(ctx, window);
        if self.of.as_ref() != Some(&key) {
            self.values = window.rates(ctx.series(), &self.picks);
            self.of = Some(key);
        }
        &self.values
    }
}
