//! What happened in one queue in the latest past, from its history. Gaps stay gaps: only what is known is summed.

use std::time::Duration;

use crate::model::{History, Point, QueueId, Time, Totals, history};

/// Rules look back this far.
pub(super) const LOOK_BACK: Duration = Duration::from_mins(5);
/// With less known time than this a rule says nothing.
pub(super) const FAIR: Duration = Duration::from_mins(1);

/// Sums over a span of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Recent {
    /// What happened.
    pub(super) counts: Totals,
    /// How much of the time is known.
    pub(super) known: Duration,
    /// In how many of the points jobs died: one alone is an operator's act as likely as a failure.
    pub(super) deadly: usize,
}

impl Recent {
    /// What is known of the last [`LOOK_BACK`].
    pub(super) fn of(history: &History, queue: &QueueId, now: Time) -> Self {
        Self::since(history, queue, now, LOOK_BACK)
    }

    /// What is known of the last `length`.
    pub(super) fn since(history: &History, queue: &QueueId, now: Time, length: Duration) -> Self {
        Self::between(history, queue, now.minus(length), now)
    }

    /// The known points whose middle lies in the span.
    fn between(history: &History, queue: &QueueId, from: Time, to: Time) -> Self {
        let mut sum = Self::default();
        for point in history.series(queue).into_iter().flatten().rev() {
            if point.at < from {
                break;
            }
            let middle = middle(point);
            if let (Some(delta), true) = (point.delta, middle > from && middle <= to) {
                sum.counts = history::add(sum.counts, delta);
                sum.known = sum.known.saturating_add(point.span);
                sum.deadly += usize::from(delta.dead > 0);
            }
        }
        sum
    }

    /// Enough is known to judge by.
    pub(super) fn is_fair(&self) -> bool {
        self.known >= FAIR
    }

    /// Jobs that came less jobs that left.
    pub(super) fn net(&self) -> i128 {
        i128::from(self.counts.enqueued) - i128::from(self.counts.completed) - i128::from(self.counts.dead)
    }

    /// Growth per second beyond chance. Arrivals and departures that balance still wander by about the square root of
    /// their number (Poisson), so a growth within three times that is none. `None`: it does not grow, or not surely.
    pub(super) fn sure_growth(&self) -> Option<f64> {
        let moved = self.counts.enqueued as f64 + self.counts.completed as f64 + self.counts.dead as f64;
        let net = self.net() as f64;
        (net > 3.0 * moved.sqrt() && !self.known.is_zero()).then(|| net / self.known.as_secs_f64())
    }
}

/// Whether the queue grew in each third of the known past: a burst that is being worked off did not.
pub(super) fn keeps_growing(history: &History, queue: &QueueId, now: Time) -> bool {
    let known = Recent::of(history, queue, now).known;
    let oldest = history.series(queue).into_iter().flatten().rev().take_while(|p| p.at >= now.minus(LOOK_BACK)).last();
    let reach = oldest.and_then(|p| now.micros_since(p.at.minus(p.span))).and_then(|m| u64::try_from(m).ok());
    let third = Duration::from_micros(reach.unwrap_or(0)).min(LOOK_BACK) / 3;
    !known.is_zero()
        && (0..3).all(|part| {
            let to = now.minus(third * part);
            let part = Recent::between(history, queue, to.minus(third), to);
            part.known >= third / 3 && part.net() > 0
        })
}

fn middle(point: &Point) -> Time {
    point.at.minus(point.span / 2)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{NOW, Scene, queue};
    use super::*;

    #[test]
    fn balance_wanders_and_is_no_growth() {
        let recent = |enqueued, completed| Recent {
            counts: Totals { enqueued, completed, ..Totals::default() },
            known: Duration::from_mins(5),
            deadly: 0,
        };
        assert_eq!(recent(15_100, 15_000).sure_growth(), None);
        assert_eq!(recent(15_630, 14_940).sure_growth(), Some(2.3));
        assert_eq!(recent(10, 400).sure_growth(), None);
        assert_eq!(recent(0, 0).sure_growth(), None);
    }

    #[test]
    fn gaps_are_not_known_time() {
        let mut scene = Scene::calm(&["a"]);
        scene.minutes("a", &[Some((60, 30)), None, Some((60, 30))]);
        let recent = Recent::of(&scene.history, &queue("a"), NOW);
        assert_eq!((recent.known, recent.net()), (Duration::from_mins(2), 60));
        assert!(!keeps_growing(&scene.history, &queue("a"), NOW), "a third of it is not known");
    }

    #[test]
    fn a_burst_that_is_worked_off_does_not_keep_growing() {
        let mut scene = Scene::calm(&["a"]);
        scene.minutes("a", &[Some((60, 60)), Some((60, 60)), Some((9_000, 60)), Some((60, 90)), Some((60, 90))]);
        assert!(Recent::of(&scene.history, &queue("a"), NOW).sure_growth().is_some());
        assert!(!keeps_growing(&scene.history, &queue("a"), NOW));
        scene.minutes("a", &[Some((100, 60)); 5]);
        assert!(keeps_growing(&scene.history, &queue("a"), NOW));
    }
}
