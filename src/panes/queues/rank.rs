//! Which queue is worse: what makes it worth a look, and the orders that the table can have.

use std::cmp::Ordering;

use crate::fmt::whole_seconds;
use crate::model::{Drain, QueueStats, Reading, Time};

/// How much a queue needs somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concern {
    /// All is well.
    None,
    /// Look.
    Look,
    /// Act.
    Act,
}

/// A ready job that waits longer than this is worth a look, in seconds.
pub(super) const LONG_WAIT: f64 = 60.0;

/// What a queue needs. Leases that ran out mean act: somebody stopped working. The rest means look.
pub(super) fn concern(queue: &QueueStats, now: Time) -> Concern {
    match trouble(queue, now) {
        0 => Concern::None,
        EXPIRED => Concern::Act,
        _ => Concern::Look,
    }
}

/// The rank of an expired lease among the troubles.
const EXPIRED: u8 = 4;

/// The worst of its troubles: leases that ran out, a backlog that will not drain, a long wait, and then what is a matter
/// of single jobs or of somebody's will.
fn trouble(queue: &QueueStats, now: Time) -> u8 {
    let some = |count: Reading<u64>| count.get().is_some_and(|n| n > 0);
    let drain = queue.drain().get();
    let paused = drain == Some(Drain::Paused);
    let dies = queue.rates.dead.get().is_some_and(|rate| rate > 0.0);
    match () {
        () if some(queue.expired) => EXPIRED,
        () if drain == Some(Drain::Never) => 3,
        () if wait(queue, now) > LONG_WAIT && !paused => 2,
        () if paused || dies || some(queue.exhausted) => 1,
        () => 0,
    }
}

/// Seconds the oldest ready job has waited; zero where there is none.
pub(super) fn wait(queue: &QueueStats, now: Time) -> f64 {
    queue.oldest_ready_seconds(now).get().flatten().filter(|s| s.is_finite()).unwrap_or(0.0)
}

/// What the table is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Order {
    /// Worst first.
    #[default]
    Worst,
    /// By name.
    Name,
    /// Most ready first.
    Ready,
    /// Longest wait first.
    Oldest,
    /// Most running first.
    Running,
    /// Most coming in first.
    Inflow,
    /// Most dead letters a second first.
    Dead,
}

impl Order {
    /// The next one on the sort key.
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Worst => Self::Name,
            Self::Name => Self::Ready,
            Self::Ready => Self::Oldest,
            Self::Oldest => Self::Running,
            Self::Running => Self::Inflow,
            Self::Inflow => Self::Dead,
            Self::Dead => Self::Worst,
        }
    }

    /// For the title.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Worst => "worst first",
            Self::Name => "by name",
            Self::Ready => "most ready first",
            Self::Oldest => "longest wait first",
            Self::Running => "most running first",
            Self::Inflow => "most coming in first",
            Self::Dead => "most dead/s first",
        }
    }

    /// Sorts; equal keys stand in the order of their names, so rows never swap for nothing.
    pub(super) fn sort(self, queues: &mut [&QueueStats], now: Time) {
        let count = |r: &Reading<u64>| r.get().map_or(0.0, |n| n as f64);
        let rate = |r: &Reading<f64>| r.get().unwrap_or(0.0);
        let by_name = |a: &QueueStats, b: &QueueStats| a.id.name.cmp(&b.id.name).then(a.id.backend.cmp(&b.id.backend));
        let largest = |key: &dyn Fn(&QueueStats) -> f64, a, b| key(b).total_cmp(&key(a)).then_with(|| by_name(a, b));
        queues.sort_by(|a, b| match self {
            Self::Worst => worse(a, b, now).then_with(|| by_name(a, b)),
            Self::Name => by_name(a, b),
            Self::Ready => largest(&|q| count(&q.ready), a, b),
            Self::Oldest => largest(&|q| wait(q, now), a, b),
            Self::Running => largest(&|q| count(&q.running), a, b),
            Self::Inflow => largest(&|q| rate(&q.rates.enqueued), a, b),
            Self::Dead => largest(&|q| rate(&q.rates.dead), a, b),
        });
    }
}

/// By the worst trouble, then by wait and by backlog in coarse steps: two queues that are about equally bad keep their places.
fn worse(a: &QueueStats, b: &QueueStats, now: Time) -> Ordering {
    let key = |q: &QueueStats| {
        let quarter_minutes = u64::try_from(whole_seconds(wait(q, now)) / 15).unwrap_or(0);
        (trouble(q, now), coarse(quarter_minutes), coarse(q.ready.get().unwrap_or(0)))
    };
    key(b).cmp(&key(a))
}

/// In powers of four.
fn coarse(n: u64) -> u32 {
    n.checked_ilog2().map_or(0, |log| log / 2 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BackendKind, QueueId};

    const NOW: Time = Time::At(1_000_000_000);

    fn queue(name: &str, change: impl FnOnce(&mut QueueStats)) -> QueueStats {
        let mut q = QueueStats::unknown(QueueId { backend: BackendKind::Jobs, name: name.into() });
        q.ready = Reading::Exact(0);
        change(&mut q);
        q
    }

    fn names(order: Order, queues: &[QueueStats]) -> Vec<&str> {
        let mut rows: Vec<&QueueStats> = queues.iter().collect();
        order.sort(&mut rows, NOW);
        rows.into_iter().map(|q| q.id.name.as_str()).collect()
    }

    #[test]
    fn the_worst_comes_first_and_equals_stand_by_name() {
        let waiting = |seconds: i64| Reading::Exact(Some(Time::At(1_000_000_000 - seconds * 1_000_000)));
        let queues = [
            queue("calm", |_| ()),
            queue("busy", |_| ()),
            queue("slow", |q| q.oldest_ready = waiting(100)),
            queue("slower", |q| q.oldest_ready = waiting(700)),
            queue("alike", |q| q.oldest_ready = waiting(105)),
            queue("expired", |q| q.expired = Reading::Exact(1)),
            queue("exhausted", |q| q.exhausted = Reading::AtLeast(1)),
            queue("odd", |q| q.rates.dead = Reading::Exact(f64::NAN)),
        ];
        let want = ["expired", "slower", "alike", "slow", "exhausted", "busy", "calm", "odd"];
        assert_eq!(names(Order::Worst, &queues), want);
        let mut reversed = queues.clone();
        reversed.reverse();
        assert_eq!(names(Order::Worst, &reversed), want);
    }

    #[test]
    fn every_order_is_total_and_comes_round() {
        let queues = [queue("b", |q| q.ready = Reading::Denied), queue("a", |q| q.ready = Reading::About(5))];
        let mut order = Order::default();
        for _ in 0..7 {
            assert_eq!(names(order, &queues), ["a", "b"], "{order:?}");
            order = order.next();
        }
        assert_eq!(order, Order::Worst);
    }
}
