//! Which queue is worse, and the other orders that the table can have. What is wrong with a queue is said by the findings,
//! so the table, the verdict line and the diagnosis never contradict each other.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::fmt::whole_seconds;
use crate::model::{Finding, QueueId, QueueStats, Reading, Time};

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
    pub(super) fn sort(self, queues: &mut [&QueueStats], findings: &[Finding], now: Time) {
        let count = |r: &Reading<u64>| r.get().map_or(0.0, |n| n as f64);
        let rate = |r: &Reading<f64>| r.get().unwrap_or(0.0);
        let by_name = |a: &QueueStats, b: &QueueStats| a.id.name.cmp(&b.id.name).then(a.id.backend.cmp(&b.id.backend));
        let largest = |key: &dyn Fn(&QueueStats) -> f64, a, b| key(b).total_cmp(&key(a)).then_with(|| by_name(a, b));
        let places = places(findings);
        queues.sort_by(|a, b| match self {
            Self::Worst => badness(b, &places, now).cmp(&badness(a, &places, now)).then_with(|| by_name(a, b)),
            Self::Name => by_name(a, b),
            Self::Ready => largest(&|q| count(&q.ready), a, b),
            Self::Oldest => largest(&|q| wait(q, now), a, b),
            Self::Running => largest(&|q| count(&q.running), a, b),
            Self::Inflow => largest(&|q| rate(&q.rates.enqueued), a, b),
            Self::Dead => largest(&|q| rate(&q.rates.dead), a, b),
        });
    }
}

/// The place of each queue's first finding.
fn places(findings: &[Finding]) -> HashMap<&QueueId, usize> {
    let mut places = HashMap::new();
    for (place, finding) in findings.iter().enumerate() {
        if let Some(queue) = &finding.queue {
            places.entry(queue).or_insert(place);
        }
    }
    places
}

/// By the place of its first finding, then by wait and by backlog in coarse steps: two queues that are about equally bad
/// keep their places.
fn badness(queue: &QueueStats, places: &HashMap<&QueueId, usize>, now: Time) -> (Reverse<usize>, u32, u32) {
    let place = places.get(&queue.id).copied().unwrap_or(usize::MAX);
    let quarter_minutes = u64::try_from(whole_seconds(wait(queue, now)) / 15).unwrap_or(0);
    (Reverse(place), coarse(quarter_minutes), coarse(queue.ready.get().unwrap_or(0)))
}

/// In powers of four.
fn coarse(n: u64) -> u32 {
    n.checked_ilog2().map_or(0, |log| log / 2 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BackendKind, Severity};

    const NOW: Time = Time::At(1_000_000_000);

    fn queue(name: &str, change: impl FnOnce(&mut QueueStats)) -> QueueStats {
        let mut q = QueueStats::unknown(QueueId { backend: BackendKind::Jobs, name: name.into() });
        q.ready = Reading::Exact(0);
        change(&mut q);
        q
    }

    fn names<'a>(order: Order, queues: &'a [QueueStats], findings: &[Finding]) -> Vec<&'a str> {
        let mut rows: Vec<&QueueStats> = queues.iter().collect();
        order.sort(&mut rows, findings, NOW);
        rows.into_iter().map(|q| q.id.name.as_str()).collect()
    }

    fn finding(queue: &QueueStats) -> Finding {
        Finding {
            id: "test",
            severity: Severity::Look,
            queue: Some(queue.id.clone()),
            sentence: String::new(),
            brief: String::new(),
            evidence: vec![],
            next_step: String::new(),
            weight: 1,
        }
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
            queue("worst", |_| ()),
            queue("bad", |_| ()),
            queue("odd", |q| q.rates.dead = Reading::Exact(f64::NAN)),
        ];
        let findings = [finding(&queues[5]), finding(&queues[6]), finding(&queues[5])];
        let want = ["worst", "bad", "slower", "alike", "slow", "busy", "calm", "odd"];
        assert_eq!(names(Order::Worst, &queues, &findings), want);
        let mut reversed = queues.clone();
        reversed.reverse();
        assert_eq!(names(Order::Worst, &reversed, &findings), want);
    }

    #[test]
    fn every_order_is_total_and_comes_round() {
        let queues = [queue("b", |q| q.ready = Reading::Denied), queue("a", |q| q.ready = Reading::About(5))];
        let mut order = Order::default();
        for _ in 0..7 {
            assert_eq!(names(order, &queues, &[]), ["a", "b"], "{order:?}");
            order = order.next();
        }
        assert_eq!(order, Order::Worst);
    }
}
