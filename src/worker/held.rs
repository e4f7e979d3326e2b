//! The attempts that a worker holds, and what is to be done about each and when. Pure: time comes in. An attempt is
//! known by id and number, since one that was lost may still run while this worker has claimed the job again.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::said::Said;

/// One attempt of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) id: Uuid,
    pub(super) attempt: i32,
}

/// After so many refusals for other reasons than the link, the lease runs out instead.
const TRIES: u32 = 8;
/// Before what was refused is said again (the first time; then longer): somebody else may hold the row for a moment.
const AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug)]
struct Slot {
    stop: CancellationToken,
    /// Our own idea of the lease: never later than the database's.
    lease_end: Instant,
    /// The database knows that it is not ours any more.
    lost: bool,
    /// The handler was asked to stop, and is cut off at this time.
    cut: Option<Instant>,
    /// The handler has ended.
    end: Option<End>,
}

/// An end that waits to be told.
#[derive(Debug)]
struct End {
    said: Said,
    due: Instant,
    refusals: u32,
    ascii: bool,
}

/// What time demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The lease ran out and nobody could be asked; the handler was asked to stop.
    LeaseOver(Key),
    /// The handler did not stop.
    Cut(Key),
}

/// All attempts in hand.
#[derive(Debug, Default)]
pub(super) struct Held {
    slots: HashMap<Key, Slot>,
}

impl Held {
    /// How many slots are taken. A lost job takes one until its handler has ended, an ended one until that was told.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn keys(&self) -> Vec<Key> {
        self.slots.keys().copied().collect()
    }

    /// Takes an attempt in. Earlier ones of the same job are lost by that; names those that were not known to be.
    pub(super) fn begin(&mut self, key: Key, stop: CancellationToken, lease_end: Instant, cut: Instant) -> Vec<Key> {
        let mut lost = Vec::new();
        for (older, slot) in self.slots.iter_mut().filter(|(older, _)| older.id == key.id) {
            if slot.lose(cut) {
                lost.push(*older);
            }
        }
        self.slots.insert(key, Slot { stop, lease_end, lost: false, cut: None, end: None });
        lost
    }

    /// An attempt has ended; its end is to be told from now on. Nothing happens where it had ended before.
    pub(super) fn end(&mut self, key: Key, said: Said, now: Instant) {
        if let Some(slot) = self.slots.get_mut(&key).filter(|slot| slot.end.is_none()) {
            slot.end = Some(End { said, due: now, refusals: 0, ascii: false });
        }
    }

    /// A slot becomes free.
    pub(super) fn free(&mut self, key: Key) -> bool {
        self.slots.remove(&key).is_some()
    }

    /// The attempts whose leases we want to keep: all but the lost ones.
    pub(super) fn kept(&self) -> Vec<Key> {
        self.slots.iter().filter(|(_, slot)| !slot.lost).map(|(key, _)| *key).collect()
    }

    /// The answer to a heartbeat for `asked`: the `owned` ones are ours until `lease_end` or longer, the others are lost.
    /// Names those.
    pub(super) fn extended(&mut self, asked: &[Key], owned: &[Uuid], lease_end: Instant, cut: Instant) -> Vec<Key> {
        let mut lost = Vec::new();
        for key in asked {
            let Some(slot) = self.slots.get_mut(key) else { continue };
            if owned.contains(&key.id) {
                slot.lease_end = lease_end;
            } else if slot.lose(cut) {
                lost.push(*key);
            }
        }
        lost
    }

    /// Asks all handlers to stop.
    pub(super) fn stop_all(&mut self, cut: Instant) {
        self.slots.values_mut().for_each(|slot| slot.ask_to_stop(cut));
    }

    /// The handler was asked to stop.
    pub(super) fn was_asked(&self, key: Key) -> bool {
        self.slots.get(&key).is_some_and(|slot| slot.cut.is_some())
    }

    pub(super) fn is_lost(&self, key: Key) -> bool {
        self.slots.get(&key).is_some_and(|slot| slot.lost)
    }

    /// Handlers whose time is over.
    pub(super) fn overdue(&mut self, now: Instant, cut: Instant) -> Vec<Overdue> {
        let mut overdue = Vec::new();
        for (key, slot) in self.slots.iter_mut().filter(|(_, slot)| slot.end.is_none()) {
            if slot.cut.is_some_and(|cut| cut <= now) {
                overdue.push(Overdue::Cut(*key));
            } else if slot.cut.is_none() && slot.lease_end <= now {
                slot.ask_to_stop(cut);
                overdue.push(Overdue::LeaseOver(*key));
            }
        }
        overdue
    }

    /// When [`Self::overdue`] will next have something to say.
    pub(super) fn next_overdue(&self) -> Option<Instant> {
        let running = self.slots.values().filter(|slot| slot.end.is_none());
        running.map(|slot| slot.cut.unwrap_or(slot.lease_end)).min()
    }

    /// Ends that are to be told now, at most `most`.
    pub(super) fn untold(&self, now: Instant, most: usize) -> Vec<(Key, Said)> {
        let due = self.slots.iter().filter_map(|(key, slot)| {
            let end = slot.end.as_ref().filter(|end| end.due <= now)?;
            Some((*key, end.said.clone()))
        });
        due.take(most).collect()
    }

    /// When the next end is to be told.
    pub(super) fn next_untold(&self) -> Option<Instant> {
        self.slots.values().filter_map(|slot| slot.end.as_ref()).map(|end| end.due).min()
    }

    /// The database refused to be told. It is told again later, or at once in ASCII where the text may be the reason;
    /// false: it was tried often enough.
    pub(super) fn refused(&mut self, key: Key, bad_text: bool, now: Instant) -> bool {
        let Some(end) = self.slots.get_mut(&key).and_then(|slot| slot.end.as_mut()) else {
            return false;
        };
        if bad_text && !end.ascii {
            end.ascii = true;
            end.said = end.said.clone().in_ascii();
            return true;
        }
        end.refusals += 1;
        end.due = now + AGAIN * end.refusals;
        end.refusals < TRIES
    }
}

impl Slot {
    /// True: it was not known to be lost.
    fn lose(&mut self, cut: Instant) -> bool {
        self.ask_to_stop(cut);
        !std::mem::replace(&mut self.lost, true)
    }

    fn ask_to_stop(&mut self, cut: Instant) {
        if self.end.is_none() && self.cut.is_none() {
            self.stop.cancel();
            self.cut = Some(cut);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn key(attempt: i32) -> Key {
        Key { id: Uuid::from_u128(7), attempt }
    }

    fn held(now: Instant) -> (Held, CancellationToken) {
        let (mut held, stop) = (Held::default(), CancellationToken::new());
        assert_eq!(held.begin(key(1), stop.clone(), now + 10 * SECOND, now), []);
        (held, stop)
    }

    #[test]
    fn what_a_heartbeat_does_not_name_is_lost_once() {
        let now = Instant::now();
        let (mut held, stop) = held(now);
        assert_eq!(held.extended(&[key(1)], &[key(1).id], now + 20 * SECOND, now), []);
        assert_eq!(held.next_overdue(), Some(now + 20 * SECOND));
        assert!(!stop.is_cancelled());
        assert_eq!(held.extended(&[key(1)], &[], now, now + SECOND), [key(1)]);
        assert!(stop.is_cancelled() && held.is_lost(key(1)) && held.was_asked(key(1)));
        assert_eq!(held.extended(&[key(1)], &[], now, now + SECOND), []);
        assert_eq!((held.kept(), held.len()), (vec![], 1), "the handler still takes a slot");
        assert_eq!(held.overdue(now, now + SECOND), []);
        assert_eq!(held.overdue(now + SECOND, now), [Overdue::Cut(key(1))]);
    }

    #[test]
    fn a_later_attempt_of_the_same_job_takes_the_earlier_ones_place() {
        let now = Instant::now();
        let (mut held, first) = held(now);
        let second = CancellationToken::new();
        assert_eq!(held.begin(key(2), second.clone(), now + SECOND, now), [key(1)]);
        assert!(first.is_cancelled() && !second.is_cancelled());
        assert_eq!(held.kept(), [key(2)]);
        // The database's answer names the job only by its id.
        assert_eq!(held.extended(&held.kept(), &[key(2).id], now + SECOND, now), []);
        assert!(held.is_lost(key(1)) && !held.is_lost(key(2)));
    }

    #[test]
    fn a_lease_that_ran_out_stops_the_handler_but_not_the_telling() {
        let now = Instant::now();
        let (mut held, stop) = held(now);
        let late = now + 10 * SECOND;
        assert_eq!(held.overdue(late, late + SECOND), [Overdue::LeaseOver(key(1))]);
        assert!(stop.is_cancelled());
        assert_eq!(held.kept(), [key(1)], "it may still be ours");
        held.end(key(1), Said::Done, late);
        held.end(key(1), Said::given_back("too late to say so"), late);
        assert_eq!(held.untold(late, 9), [(key(1), Said::Done)]);
        assert_eq!(held.overdue(late + 9 * SECOND, late), [], "it has ended");
    }

    #[test]
    fn what_is_refused_is_said_again_with_pauses_and_not_for_ever() {
        let now = Instant::now();
        let (mut held, _) = held(now);
        held.end(key(1), Said::given_back("ö"), now);
        assert!(held.refused(key(1), true, now));
        assert_eq!(held.untold(now, 9), [(key(1), Said::given_back("\\u{f6}"))]);
        let tries = (0..100).take_while(|_| held.refused(key(1), true, now)).count();
        assert_eq!(tries, 7);
        assert!(held.next_untold() > Some(now + SECOND));
        assert!(held.free(key(1)) && !held.free(key(1)) && !held.refused(key(1), false, now));
    }
}
