//! How long to wait before the next try to connect: 0.25 s, doubled up to 15 s, with jitter, and at most one try a
//! second. Pure: time and chance come in.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(15);
/// From one try to the next, whatever the pause says.
const PACE: Duration = Duration::from_secs(1);

/// The state of a row of tries.
#[derive(Debug, Clone, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The pause after one more failed try that took `took`. `chance` is between 0 and 1 and spreads the tries of many
    /// clients: the pause is between half and all of its step, but the next try starts a second after the last one
    /// began, or later.
    #[must_use]
    pub fn after_failure(&mut self, took: Duration, chance: f64) -> Duration {
        let step = FIRST.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let chance = if (0.0..=1.0).contains(&chance) { chance } else { 0.5 };
        let spread = step.mul_f64(0.5 + 0.5 * chance);
        spread.max(PACE.saturating_sub(took))
    }

    /// A try succeeded: the next failure starts from the beginning.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// How many tries failed in a row.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit() {
        let mut backoff = Backoff::default();
        let slow_try = Duration::from_secs(2);
        let pauses: Vec<u128> = (0..9).map(|_| backoff.after_failure(slow_try, 1.0).as_millis()).collect();
        assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
        backoff.reset();
        assert_eq!(backoff.after_failure(slow_try, 0.0).as_millis(), 125);
    }

    #[test]
    fn never_more_than_one_try_a_second() {
        for failures in 0..100 {
            let mut backoff = Backoff { failures };
            let took = Duration::from_millis(u64::from(failures) * 17);
            let pause = backoff.after_failure(took, 0.0);
            assert!(pause + took >= PACE, "{failures}");
            assert!(pause <= LONGEST, "{failures}");
        }
        let mut worn = Backoff { failures: u32::MAX };
        assert!(worn.after_failure(Duration::ZERO, f64::NAN) >= Duration::ZERO);
    }
}
