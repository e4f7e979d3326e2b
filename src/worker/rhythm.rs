//! When to claim. Pure: time and chance come in.
//!
//! The database tells of changes at most ten times a second, for all queues together, and may swallow the last change of
//! a burst. So a word from it means "look", and "look once more after the last word". On a busy database with an empty
//! queue those looks would come in vain all the time: each one in vain doubles the pause before the next, up to the
//! poll's.

use std::time::Duration;

use tokio::time::Instant;

/// The database's own pause between two words.
const SHORTEST: Duration = Duration::from_millis(100);
/// The look after the last word of a burst.
const AFTER_LAST: Duration = Duration::from_millis(150);

/// The rhythm of claims.
#[derive(Debug)]
pub(super) struct Rhythm {
    poll: Duration,
    /// The next look in any case.
    next: Instant,
    /// A look because of a word.
    told: Option<Instant>,
    /// The look after the last word.
    again: Option<Instant>,
    last: Option<Instant>,
    /// Between looks because of words.
    pause: Duration,
}

impl Rhythm {
    pub(super) fn new(poll: Duration, now: Instant) -> Self {
        Self { poll, next: now, told: None, again: None, last: None, pause: SHORTEST }
    }

    /// The next claim, if there is a free slot then.
    pub(super) fn when(&self) -> Instant {
        let looks = [Some(self.next), self.told, self.again];
        looks.into_iter().flatten().min().unwrap_or(self.next)
    }

    /// The database said that something changed.
    pub(super) fn notified(&mut self, now: Instant) {
        let soonest = self.last.map_or(now, |last| now.max(last + self.pause));
        self.told = Some(self.told.map_or(soonest, |told| told.min(soonest)));
        self.again = Some(soonest.max(now + AFTER_LAST));
    }

    /// A claim was answered with `got` of `asked` jobs. `chance`, between 0 and 1, keeps many workers from asking together.
    pub(super) fn claimed(&mut self, now: Instant, asked: usize, got: usize, chance: f64) {
        let by_word = self.next > now;
        self.told = None;
        self.again = self.again.filter(|again| *again > now);
        self.last = Some(now);
        // A full batch: there is more.
        self.next = if got >= asked { now } else { now + self.poll.mul_f64(0.9 + 0.2 * chance) };
        if got > 0 {
            self.pause = SHORTEST;
        } else if by_word {
            self.pause = self.pause.saturating_mul(2).min(self.poll.max(SHORTEST));
        }
    }

    /// A claim failed; the session is still good.
    pub(super) fn failed(&mut self, now: Instant) {
        (self.told, self.again) = (None, None);
        self.next = now + self.poll.max(Duration::from_secs(1));
    }

    /// There is a new session: whatever was said meanwhile was not heard.
    pub(super) fn reconnected(&mut self, now: Instant) {
        self.next = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A rhythm after a claim in vain.
    fn idle(now: Instant) -> Rhythm {
        let mut rhythm = Rhythm::new(SECOND, now);
        assert_eq!(rhythm.when(), now);
        rhythm.claimed(now, 5, 0, 0.5);
        rhythm
    }

    #[test]
    fn an_empty_queue_is_polled_and_a_full_batch_goes_on() {
        let now = Instant::now();
        let mut rhythm = idle(now);
        assert_eq!(rhythm.when(), now + SECOND);
        rhythm.claimed(now + SECOND, 5, 5, 0.5);
        assert_eq!(rhythm.when(), now + SECOND);
        rhythm.claimed(now + SECOND, 5, 4, 1.0);
        assert_eq!(rhythm.when(), now + SECOND + ms(1100));
    }

    #[test]
    fn a_word_means_a_look_and_another_after_the_last_word() {
        let start = Instant::now();
        let mut rhythm = idle(start);
        let now = start + ms(500);
        rhythm.notified(now);
        assert_eq!(rhythm.when(), now);
        rhythm.claimed(now, 5, 1, 0.5);
        assert_eq!(rhythm.when(), now + AFTER_LAST);
        rhythm.notified(now + ms(20));
        assert_eq!(rhythm.when(), now + SHORTEST, "not sooner than the database speaks");
    }

    #[test]
    fn looks_in_vain_become_rare_on_a_busy_database() {
        let start = Instant::now();
        let mut rhythm = idle(start);
        let mut looks = 0;
        for tenth in 0..600 {
            let now = start + ms(tenth * 100);
            rhythm.notified(now);
            if rhythm.when() <= now {
                rhythm.claimed(now, 5, 0, 0.5);
                looks += 1;
            }
        }
        assert!((55..75).contains(&looks), "about one a second: {looks}");
    }
}
