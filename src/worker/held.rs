//! What a worker holds: which jobs run, which have ended and are still to be told. Pure bookkeeping.

use std::collections::HashMap;

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::handler::JobError;

/// One attempt of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) id: Uuid,
    pub(super) attempt: i32,
}

/// What the handler said, to be told to the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Done,
    Failed(JobError),
    /// The worker stops and its handler gave up: the job goes back without a pause.
    GivenBack(String),
}

#[derive(Debug)]
enum State {
    Running,
    /// Somebody took it; its handler has not ended yet.
    Lost,
    /// Said, and so often told without success.
    Ended(Said, u32),
}

#[derive(Debug)]
struct Job {
    stop: CancellationToken,
    state: State,
}

/// All attempts in hand.
#[derive(Debug, Default)]
pub(super) struct Held {
    jobs: HashMap<Key, Job>,
}

impl Held {
    /// How many slots are taken. A lost job takes one until its handler has ended, an ended one until that was told.
    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Takes a job in; answers with earlier attempts of the same job, which are lost by that. True: its handler had ended.
    pub(super) fn claimed(&mut self, key: Key, stop: CancellationToken) -> Vec<(Key, bool)> {
        let older: Vec<Key> = self.jobs.keys().filter(|held| held.id == key.id).copied().collect();
        let lost = older.into_iter().filter_map(|held| self.lose(held).map(|ended| (held, ended))).collect();
        self.jobs.insert(key, Job { stop, state: State::Running });
        lost
    }

    /// A handler has ended. False: the job was lost before, and nobody wants to know.
    pub(super) fn ended(&mut self, key: Key, said: Said) -> bool {
        match self.jobs.get_mut(&key) {
            Some(job) if matches!(job.state, State::Running) => {
                job.state = State::Ended(said, 0);
                true
            }
            _ => {
                self.jobs.remove(&key);
                false
            }
        }
    }

    /// The attempts whose leases we want to keep.
    pub(super) fn kept(&self) -> Vec<Key> {
        self.jobs.iter().filter(|(_, job)| !matches!(job.state, State::Lost)).map(|(key, _)| *key).collect()
    }

    /// Loses a job: its handler is asked to stop. `None`: it was lost before. True: its handler had ended.
    pub(super) fn lose(&mut self, key: Key) -> Option<bool> {
        let job = self.jobs.get_mut(&key)?;
        match job.state {
            State::Lost => None,
            State::Running => {
                job.state = State::Lost;
                job.stop.cancel();
                Some(false)
            }
            State::Ended(..) => {
                self.jobs.remove(&key);
                Some(true)
            }
        }
    }

    pub(super) fn has_untold(&self) -> bool {
        self.jobs.values().any(|job| matches!(job.state, State::Ended(..)))
    }

    /// What is to be told.
    pub(super) fn untold(&self) -> Vec<(Key, Said)> {
        let said = |(key, job): (&Key, &Job)| match &job.state {
            State::Ended(said, _) => Some((*key, said.clone())),
            _ => None,
        };
        self.jobs.iter().filter_map(said).collect()
    }

    pub(super) fn told(&mut self, key: Key) {
        self.jobs.remove(&key);
    }

    /// The queue did not take it. Answers with the number of such answers so far.
    pub(super) fn not_told(&mut self, key: Key) -> u32 {
        match self.jobs.get_mut(&key).map(|job| &mut job.state) {
            Some(State::Ended(_, tries)) => {
                *tries += 1;
                *tries
            }
            _ => 0,
        }
    }

    /// Asks all handlers to stop.
    pub(super) fn stop_all(&self) {
        self.jobs.values().for_each(|job| job.stop.cancel());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(attempt: i32) -> Key {
        Key { id: Uuid::from_u128(7), attempt }
    }

    #[test]
    fn what_a_lost_job_says_is_dropped() {
        let mut held = Held::default();
        let stop = CancellationToken::new();
        assert_eq!(held.claimed(key(1), stop.clone()), []);
        assert_eq!(held.kept(), [key(1)]);
        assert_eq!(held.lose(key(1)), Some(false));
        assert!(stop.is_cancelled());
        assert_eq!(held.lose(key(1)), None, "only once");
        assert_eq!(held.kept(), [], "its lease is not ours any more");
        assert_eq!(held.len(), 1, "the handler still takes a slot");
        assert!(!held.ended(key(1), Said::Done));
        assert!(held.is_empty());
    }

    #[test]
    fn a_later_attempt_of_the_same_job_ends_the_earlier_one() {
        let mut held = Held::default();
        let first = CancellationToken::new();
        held.claimed(key(1), first.clone());
        let second = CancellationToken::new();
        assert_eq!(held.claimed(key(2), second.clone()), [(key(1), false)]);
        assert!(first.is_cancelled() && !second.is_cancelled());
        assert_eq!(held.kept(), [key(2)]);
        assert!(held.ended(key(2), Said::Done));
        assert_eq!(held.claimed(key(3), CancellationToken::new()), [(key(2), true)]);
    }

    #[test]
    fn what_was_said_waits_until_it_is_told() {
        let mut held = Held::default();
        held.claimed(key(1), CancellationToken::new());
        assert!(held.ended(key(1), Said::Done));
        assert_eq!(held.untold(), [(key(1), Said::Done)]);
        assert_eq!((held.not_told(key(1)), held.not_told(key(1))), (1, 2));
        held.told(key(1));
        assert!(held.is_empty());
        assert_eq!(held.not_told(key(1)), 0);
    }
}
