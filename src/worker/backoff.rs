//! How long a failed job waits. Pure: chance comes in.

use std::time::Duration;

/// `min(base * 2^(attempts - 1), cap)` plus jitter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryDelay {
    /// After the first failure.
    pub base: Duration,
    /// Before jitter it never gets longer.
    pub cap: Duration,
    /// Up to this share is added by chance, so that jobs that failed together do not come back together.
    pub jitter: f64,
}

impl Default for RetryDelay {
    /// A minute, doubled up to an hour, and up to a quarter more.
    fn default() -> Self {
        Self { base: Duration::from_mins(1), cap: Duration::from_hours(1), jitter: 0.25 }
    }
}

impl RetryDelay {
    /// The delay after the failure of attempt number `attempt` (from 1). `chance` is between 0 and 1. Jitter only ever adds:
    /// nobody comes earlier than asked.
    #[must_use]
    pub fn after(&self, attempt: i32, chance: f64) -> Duration {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(0);
        let step = self.base.saturating_mul(2_u32.saturating_pow(doublings)).min(self.cap);
        let chance = if (0.0..=1.0).contains(&chance) { chance } else { 0.5 };
        let more = step.as_secs_f64() * self.jitter.clamp(0.0, 10.0) * chance;
        step.saturating_add(Duration::try_from_secs_f64(more).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_cap() {
        let delay = RetryDelay::default();
        let seconds: Vec<u64> = (1..=9).map(|attempt| delay.after(attempt, 0.0).as_secs()).collect();
        assert_eq!(seconds, [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
        assert_eq!(delay.after(i32::MAX, 0.0).as_secs(), 3600);
        assert_eq!(delay.after(i32::MIN, 0.0).as_secs(), 60);
    }

    #[test]
    fn a_herd_spreads_and_nobody_is_early() {
        let delay = RetryDelay::default();
        let all: Vec<f64> = (0..=1000).map(|n| delay.after(1, f64::from(n) / 1000.0).as_secs_f64()).collect();
        assert!(all.iter().all(|seconds| *seconds >= 60.0));
        assert!(all[1000] - all[0] >= 60.0 * 0.2, "over at least a fifth of the delay");
        assert!(delay.after(1, f64::NAN) >= Duration::from_mins(1));
    }
}
