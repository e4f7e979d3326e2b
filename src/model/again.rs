//! When a reading is made again: never while one is on its way, and as rarely as its cost demands. Pure: the clock comes in.

use std::time::Duration;

/// Readings beside the poll take at most one part in so many of the time: 2 %.
const SHARE: u32 = 50;

/// How long to leave a reading alone that kept the server busy for `cost`.
#[must_use]
pub fn rest(cost: Duration) -> Duration {
    cost.saturating_mul(SHARE)
}

/// The rhythm of one reading. Times are monotonic since the program's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Again {
    /// Asked for and not answered yet.
    asked: Option<Duration>,
    /// The next one is due.
    due: Duration,
}

impl Again {
    /// One that is due at `now`.
    #[must_use]
    pub fn due_at(now: Duration) -> Self {
        Self { asked: None, due: now }
    }

    /// Whether to ask at `now`. An answer that has not come after `patience` does not count as on its way.
    #[must_use]
    pub fn is_due(&self, now: Duration, patience: Duration) -> bool {
        let waits = self.asked.is_some_and(|asked| now < asked + patience);
        !waits && now >= self.due
    }

    /// It was asked for.
    pub fn ask(&mut self, now: Duration) {
        self.asked = Some(now);
    }

    /// It was answered, or failed, at this cost; the next one comes no sooner than after `least`.
    pub fn answered(&mut self, now: Duration, cost: Duration, least: Duration) {
        *self = Self::due_at(now + least.max(rest(cost)));
    }

    /// The next one is due at once, whatever is on its way.
    pub fn hurry(&mut self) {
        self.due = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_at_a_time_and_as_its_cost_allows() {
        let mut again = Again::due_at(SECOND);
        assert!(!again.is_due(Duration::ZERO, SECOND * 10) && again.is_due(SECOND, SECOND * 10));
        again.ask(SECOND);
        assert!(!again.is_due(SECOND * 10, SECOND * 10), "on its way");
        assert!(again.is_due(SECOND * 11, SECOND * 10), "it did not come");
        again.answered(SECOND * 11, Duration::from_millis(100), SECOND);
        assert!(
            !again.is_due(SECOND * 15, SECOND * 10) && again.is_due(SECOND * 16, SECOND * 10),
            "100 ms are 2 % of 5 s"
        );
        again.answered(SECOND * 20, Duration::ZERO, SECOND);
        assert!(again.is_due(SECOND * 21, SECOND * 10));
    }
}
