//! One row an error signature: what several queues have of it taken together, the orders of the rows, and shares.

use std::collections::HashMap;

use crate::model::{Group, QueueId, Reading, Time};

/// What one queue has of a signature.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) queue: QueueId,
    pub(super) failed: Reading<u64>,
    pub(super) dead: Reading<u64>,
}

impl Part {
    fn new(group: &Group) -> Self {
        Self { queue: group.queue.clone(), failed: group.failed_15m, dead: group.dead }
    }
}

/// A signature with its numbers over the queues that are shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub(super) signature: String,
    pub(super) failed: Reading<u64>,
    pub(super) retried: Reading<f64>,
    pub(super) dead: Reading<u64>,
    pub(super) replayed: Reading<u64>,
    pub(super) first_seen: Option<Time>,
    pub(super) last_seen: Option<Time>,
    /// Its queues, most first.
    pub(super) queues: Vec<Part>,
    /// Empty: nothing, or no trends.
    pub(super) trend: Vec<u64>,
}

impl Line {
    fn new(group: &Group) -> Self {
        Self {
            signature: group.signature.clone(),
            failed: group.failed_15m,
            retried: group.retried_per_s,
            dead: group.dead,
            replayed: group.replayed,
            first_seen: group.first_seen,
            last_seen: group.last_seen,
            queues: vec![Part::new(group)],
            trend: group.trend.clone(),
        }
    }

    fn add(&mut self, group: &Group) {
        self.failed = self.failed.combine(group.failed_15m, u64::saturating_add);
        self.retried = self.retried.combine(group.retried_per_s, |a, b| a + b);
        self.dead = self.dead.combine(group.dead, u64::saturating_add);
        self.replayed = self.replayed.combine(group.replayed, u64::saturating_add);
        self.first_seen = [self.first_seen, group.first_seen].into_iter().flatten().min();
        self.last_seen = self.last_seen.max(group.last_seen);
        self.queues.push(Part::new(group));
        self.trend.resize(self.trend.len().max(group.trend.len()), 0);
        for (sum, n) in self.trend.iter_mut().zip(&group.trend) {
            *sum = sum.saturating_add(*n);
        }
    }

    /// Dead letters that nobody replayed.
    pub(super) fn open(&self) -> u64 {
        self.dead.get().unwrap_or(0).saturating_sub(self.replayed.get().unwrap_or(0))
    }
}

/// The signatures of one queue, or of all, whose text or queue contains the filter.
pub(super) fn of(groups: &[Group], queue: Option<&QueueId>, filter: &str) -> Vec<Line> {
    let wanted = filter.to_lowercase();
    let contains = |text: &str| wanted.is_empty() || text.to_lowercase().contains(&wanted);
    let mut lines: Vec<Line> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for group in groups {
        if queue.is_some_and(|queue| *queue != group.queue)
            || !(contains(&group.signature) || contains(&group.queue.name))
        {
            continue;
        }
        let place = places.get(group.signature.as_str()).and_then(|at| lines.get_mut(*at));
        if let Some(line) = place {
            line.add(group);
        } else {
            places.insert(&group.signature, lines.len());
            lines.push(Line::new(group));
        }
    }
    lines
}

/// What the rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Order {
    /// What fails now first, then what is dead and not replayed.
    #[default]
    Worst,
    /// Most retries first.
    Retried,
    /// Most dead letters first.
    Dead,
    /// Most dead letters first that nobody replayed.
    Open,
    /// What was first seen last first.
    Newest,
    /// What was seen last first.
    Latest,
    /// By text.
    Text,
}

impl Order {
    /// The next one on the sort key.
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Worst => Self::Retried,
            Self::Retried => Self::Dead,
            Self::Dead => Self::Open,
            Self::Open => Self::Newest,
            Self::Newest => Self::Latest,
            Self::Latest => Self::Text,
            Self::Text => Self::Worst,
        }
    }

    /// For the title.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Worst => "worst first",
            Self::Retried => "most retry/s first",
            Self::Dead => "most dead first",
            Self::Open => "most not replayed first",
            Self::Newest => "newest first",
            Self::Latest => "latest first",
            Self::Text => "by text",
        }
    }

    /// Sorts; equal keys stand in the order of their texts, so rows never swap for nothing.
    pub(super) fn sort(self, lines: &mut [Line]) {
        let n = |reading: &Reading<u64>| reading.get().unwrap_or(0);
        let rate = |line: &Line| line.retried.get().filter(|rate| rate.is_finite()).unwrap_or(0.0);
        lines.sort_by(|a, b| {
            match self {
                Self::Worst => (n(&b.failed), b.open(), b.last_seen).cmp(&(n(&a.failed), a.open(), a.last_seen)),
                Self::Retried => rate(b).total_cmp(&rate(a)),
                Self::Dead => n(&b.dead).cmp(&n(&a.dead)),
                Self::Open => b.open().cmp(&a.open()),
                Self::Newest => b.first_seen.cmp(&a.first_seen),
                Self::Latest => b.last_seen.cmp(&a.last_seen),
                Self::Text => std::cmp::Ordering::Equal,
            }
            .then_with(|| a.signature.cmp(&b.signature))
        });
    }

    /// Shares are of the dead letters, not of the failures.
    pub(super) fn is_of_dead(self, lines: &[Line]) -> bool {
        let failing = lines.iter().any(|line| line.failed.get().is_some_and(|n| n > 0));
        matches!(self, Self::Dead | Self::Open) || !failing
    }
}

/// What a share is a share of: everything that is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    of_dead: bool,
    total: Reading<u64>,
}

impl Shares {
    pub(super) fn of(lines: &[Line], order: Order) -> Self {
        let of_dead = order.is_of_dead(lines);
        let parts = lines.iter().map(|line| if of_dead { line.dead } else { line.failed });
        let total = parts.fold(Reading::Exact(0), |sum, part| sum.combine(part, u64::saturating_add));
        Self { of_dead, total }
    }

    /// A line's share of one; where not everything was counted it is about so much.
    pub(super) fn share(&self, line: &Line) -> Reading<f64> {
        let part = if self.of_dead { line.dead } else { line.failed };
        let (Some(n), Some(total)) = (part.get(), self.total.get()) else { return part.map(|_| 0.0) };
        if total == 0 {
            return Reading::NotApplicable;
        }
        let share = n as f64 / total as f64;
        match (part, self.total) {
            (Reading::Exact(_), Reading::Exact(_)) => Reading::Exact(share),
            _ => Reading::About(share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BackendKind;

    fn group(signature: &str, queue: &str, failed: u64, dead: u64) -> Group {
        Group {
            signature: signature.into(),
            queue: QueueId { backend: BackendKind::Jobs, name: queue.into() },
            failed_15m: Reading::Exact(failed),
            retried_per_s: Reading::Exact(failed as f64),
            dead: Reading::Exact(dead),
            replayed: Reading::Exact(dead / 2),
            first_seen: Some(Time::At(100 - i64::try_from(failed).unwrap())),
            last_seen: Some(Time::At(100 + i64::try_from(dead).unwrap())),
            trend: vec![failed, dead],
        }
    }

    fn sorted(order: Order, groups: &[Group]) -> Vec<String> {
        let mut lines = of(groups, None, "");
        order.sort(&mut lines);
        lines.into_iter().map(|line| line.signature).collect()
    }

    #[test]
    fn queues_are_taken_together_or_one_alone() {
        let groups = [group("x", "a", 3, 8), group("y", "b", 1, 0), group("x", "b", 2, 2)];
        let lines = of(&groups, None, "");
        assert_eq!(lines.len(), 2);
        let x = &lines[0];
        assert_eq!(
            (x.failed, x.dead, x.replayed, x.open()),
            (Reading::Exact(5), Reading::Exact(10), Reading::Exact(5), 5)
        );
        assert_eq!((x.first_seen, x.last_seen), (Some(Time::At(97)), Some(Time::At(108))));
        assert_eq!((x.trend.as_slice(), x.queues.len()), ([5, 10].as_slice(), 2));
        let b = of(&groups, Some(&groups[1].queue), "");
        assert_eq!(b.iter().map(|line| line.failed.get()).collect::<Vec<_>>(), [Some(1), Some(2)]);
        assert_eq!(of(&groups, None, "Y").len(), 1);
        assert_eq!(of(&groups, None, "A")[0].failed, Reading::Exact(3), "only the queue that contains it");
    }

    #[test]
    fn a_part_that_is_not_known_makes_the_sum_unknown() {
        let denied = Group { dead: Reading::Denied, ..group("x", "b", 1, 0) };
        let lines = of(&[group("x", "a", 3, 8), denied], None, "");
        assert_eq!((lines[0].failed, lines[0].dead), (Reading::Exact(4), Reading::Denied));
    }

    #[test]
    fn orders() {
        let groups = [group("b", "q", 1, 9), group("a", "q", 0, 40), group("c", "q", 7, 0), group("d", "q", 0, 40)];
        for (order, want) in [
            (Order::Worst, ["c", "b", "a", "d"]),
            (Order::Retried, ["c", "b", "a", "d"]),
            (Order::Dead, ["a", "d", "b", "c"]),
            (Order::Open, ["a", "d", "b", "c"]),
            (Order::Newest, ["a", "d", "b", "c"]),
            (Order::Latest, ["a", "d", "b", "c"]),
            (Order::Text, ["a", "b", "c", "d"]),
        ] {
            assert_eq!(sorted(order, &groups), want, "{order:?}");
        }
        let all: Vec<Order> =
            std::iter::successors(Some(Order::default()), |order| Some(order.next())).take(8).collect();
        assert!(all[0] == all[7] && (1..7).all(|i| all[i] != all[0]), "it comes round: {all:?}");
    }

    #[test]
    fn shares_are_of_what_fails_or_else_of_what_is_dead() {
        let lines = of(&[group("a", "q", 1, 9), group("b", "q", 3, 0)], None, "");
        let share = |order, lines: &[Line]| Shares::of(lines, order).share(&lines[0]);
        assert_eq!(share(Order::Worst, &lines), Reading::Exact(0.25));
        assert_eq!(share(Order::Dead, &lines), Reading::Exact(1.0));
        let dead = of(&[group("a", "q", 0, 9), group("b", "q", 0, 27)], None, "");
        assert_eq!(share(Order::Worst, &dead), Reading::Exact(0.25));
        let cut = of(&[Group { failed_15m: Reading::AtLeast(4), ..group("a", "q", 0, 0) }], None, "");
        assert_eq!(share(Order::Worst, &cut), Reading::About(1.0));
        let none = of(&[group("a", "q", 0, 0)], None, "");
        assert_eq!(share(Order::Worst, &none), Reading::NotApplicable);
    }
}
