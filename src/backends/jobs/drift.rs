//! The slow check of the counters: once a minute one queue's figures are compared with its rows. Nothing counts while
//! triggers are off, and the screen must not call such numbers exact.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_mins(1);

/// Which queue comes next, and which were found wrong.
#[derive(Debug, Default)]
pub(super) struct Drift {
    last: Option<Instant>,
    turn: usize,
    wrong: BTreeSet<String>,
}

impl Drift {
    /// The queue to compare now, if it is time. `queues` are those of the last reading.
    pub(super) fn next<'a>(&mut self, queues: &[&'a str], now: Instant) -> Option<&'a str> {
        if queues.is_empty() || self.last.is_some_and(|last| now.duration_since(last) < EVERY) {
            return None;
        }
        self.last = Some(now);
        let turn = self.turn % queues.len();
        self.turn = turn + 1;
        queues.get(turn).copied()
    }

    /// What the comparison said.
    pub(super) fn found(&mut self, queue: &str, wrong: bool) {
        if wrong {
            self.wrong.insert(queue.to_owned());
        } else {
            self.wrong.remove(queue);
        }
    }

    /// Whether this queue's figures were wrong when last compared.
    pub(super) fn is_wrong(&self, queue: &str) -> bool {
        self.wrong.contains(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_queue_a_minute_in_turn() {
        let mut drift = Drift::default();
        let (queues, start) = (["a", "b"], Instant::now());
        assert_eq!(drift.next(&queues, start), Some("a"));
        assert_eq!(drift.next(&queues, start + Duration::from_secs(59)), None);
        assert_eq!(drift.next(&queues, start + EVERY), Some("b"));
        assert_eq!(drift.next(&queues, start + EVERY * 2), Some("a"));
        assert_eq!(drift.next(&[], start + EVERY * 3), None);
    }

    #[test]
    fn what_was_mended_is_right_again() {
        let mut drift = Drift::default();
        drift.found("a", true);
        assert!(drift.is_wrong("a") && !drift.is_wrong("b"));
        drift.found("a", false);
        assert!(!drift.is_wrong("a"));
    }
}
