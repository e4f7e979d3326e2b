//! When to read what, so that the server's time for us stays within its share of wall time. Pure: the clock comes in.

use std::time::Duration;

/// How the user wants it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// From poll to poll, if the load allows.
    pub interval: Duration,
    /// Most database time as a share of wall time, 0 to 1.
    pub load: f64,
}

/// Never closer together, whatever is asked for.
pub(super) const FLOOR: Duration = Duration::from_millis(50);

/// How many latest costs count. Their median is taken: two slow answers (a cold cache, a checkpoint) are forgiven, lasting
/// slowness is not. Their least would be too kind where many dashboards stand in each other's way; until all are known it is taken.
const REMEMBERED: usize = 5;
/// Fewer than this say nothing yet.
const FEW: usize = 3;
/// While few are known the gap is at most this: the first answers of a server that just started, or on which many dashboards
/// started at once, would else silence us for minutes.
const WHILE_UNSURE: Duration = Duration::from_secs(5);

/// One part of a reading with a rhythm of its own. Times are monotonic since any fixed moment.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Its share of the allowed load.
    share: f64,
    /// Never closer together than this by itself.
    least: Duration,
    started: Option<Duration>,
    costs: [Option<Duration>; REMEMBERED],
}

impl Part {
    pub(super) fn new(share: f64, least: Duration) -> Self {
        Self { share, least, started: None, costs: [None; REMEMBERED] }
    }

    /// It was read: started at `started`, cost `cost`.
    pub(super) fn read(&mut self, started: Duration, cost: Duration) {
        self.started = Some(started);
        self.costs.rotate_right(1);
        self.costs[0] = Some(cost);
    }

    /// The shortest gap that keeps the load: what it costs, divided by its share of the allowed load.
    fn gap(&self, pace: Pace) -> Duration {
        let mut costs: Vec<Duration> = self.costs.iter().flatten().copied().collect();
        costs.sort_unstable();
        let middle = if costs.len() == REMEMBERED { REMEMBERED / 2 } else { 0 };
        let typical = costs.get(middle).copied().unwrap_or_default();
        let allowed = (pace.load * self.share).max(1e-6);
        let gap = Duration::try_from_secs_f64(typical.as_secs_f64() / allowed).unwrap_or(Duration::MAX).max(FLOOR);
        if costs.len() < FEW { gap.min(WHILE_UNSURE) } else { gap }
    }

    /// The time from reading to reading by itself.
    pub(super) fn every(&self, pace: Pace) -> Duration {
        self.gap(pace).max(pace.interval).max(self.least)
    }

    /// When it is to be read by itself.
    pub(super) fn due(&self, pace: Pace) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.saturating_add(self.every(pace)))
    }

    /// The soonest moment at which a change may have it read before it is due.
    pub(super) fn soonest(&self, pace: Pace) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.saturating_add(self.gap(pace)))
    }

    /// Read it at the next chance.
    pub(super) fn forget(&mut self) {
        self.started = None;
    }

    /// The load it makes, 0 to 1.
    pub(super) fn load(&self, pace: Pace) -> f64 {
        let cost = self.costs[0].unwrap_or_default();
        cost.as_secs_f64() / self.every(pace).as_secs_f64().max(1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { interval: Duration::from_secs(1), load: 0.02 };

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn cheap_readings_follow_the_interval_and_dear_ones_the_load() {
        let mut part = Part::new(0.5, Duration::ZERO);
        assert_eq!(part.due(PACE), Duration::ZERO, "due at the start");
        part.read(millis(5000), millis(2));
        assert_eq!((part.due(PACE), part.soonest(PACE)), (millis(6000), millis(5200)));
        for _ in 0..REMEMBERED {
            part.read(millis(5000), millis(100));
        }
        assert_eq!((part.due(PACE), part.soonest(PACE)), (millis(15_000), millis(15_000)));
        assert!((part.load(PACE) - 0.01).abs() < 1e-9);
    }

    #[test]
    fn slow_answers_are_forgiven_and_slowness_is_not() {
        let mut part = Part::new(0.5, Duration::ZERO);
        for _ in 0..REMEMBERED {
            part.read(millis(0), millis(2));
        }
        part.read(millis(1000), millis(900));
        part.read(millis(2000), millis(900));
        assert_eq!(part.every(PACE), millis(1000));
        part.read(millis(3000), millis(900));
        assert_eq!(part.every(PACE), millis(90_000));
    }

    #[test]
    fn slow_first_answers_do_not_silence_it() {
        let mut part = Part::new(0.5, Duration::ZERO);
        part.read(millis(0), millis(900));
        assert_eq!(part.every(PACE), WHILE_UNSURE);
        part.read(millis(5000), millis(900));
        part.read(millis(10_000), millis(4));
        assert_eq!(part.every(PACE), millis(1000), "the start was slow, it is not");
    }

    #[test]
    fn never_below_the_floor_nor_above_what_time_can_hold() {
        let mut part = Part::new(0.5, Duration::ZERO);
        part.read(millis(0), Duration::ZERO);
        assert_eq!(part.soonest(Pace { interval: Duration::ZERO, load: 1.0 }), FLOOR);
        for _ in 0..REMEMBERED {
            part.read(millis(0), Duration::MAX);
        }
        assert_eq!(part.due(Pace { interval: Duration::ZERO, load: 0.0 }), Duration::MAX);
    }
}
