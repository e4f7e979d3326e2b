//! Asks before acting: names the action, the database, the queue, the exact jobs as they were seen, and what will happen.
//!
//! `y` confirms; Enter, Space and whatever was typed before the box appeared do not. Wide actions and production targets
//! are confirmed by typing the number of jobs or the queue's name, then `y`. It refuses while it cannot be read whole, while
//! the numbers are old, and when nothing would be done. It holds what was seen as data and never looks anything up again.

mod change;
mod draw;
mod guard;
mod queue;

pub use queue::QueueConfirm;

use std::collections::BTreeMap;
use std::time::Duration;

use crossterm::event::KeyEvent;

use super::scroll::Scroll;
use crate::keymap::Command;
use crate::model::{Action, Job, ServerFacts, Snapshot, Time};
use guard::Guard;

/// Longer queue names are not for typing; the number is asked for instead.
const TYPED_NAME_MAX: usize = 30;

/// Where the action would happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The server that would be acted on.
    pub server: ServerFacts,
    /// Confirmed by typing, whatever the number.
    pub production: bool,
    /// More jobs than this are confirmed by typing.
    pub typed_above: usize,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It stays open.
    Stay,
    /// Close it and change nothing.
    Cancel,
    /// Close it and act.
    Confirmed,
}

/// An open confirmation.
#[derive(Debug, Clone)]
pub struct Confirm {
    action: Action,
    jobs: Vec<Job>,
    place: Place,
    guard: Guard,
    /// What is known to have changed since, by the job's place in `jobs`.
    changes: BTreeMap<usize, String>,
    scroll: Scroll,
}

impl Confirm {
    /// Asks to do `action` to `jobs` as they were seen; `now` is monotonic time since the program's start.
    #[must_use]
    pub fn new(action: Action, jobs: Vec<Job>, place: Place, now: Duration) -> Self {
        let must_type = place.production || jobs.len() > place.typed_above;
        let guard = Guard::new(must_type.then(|| word_for(&jobs, &place)), now);
        Self { action, jobs, place, guard, changes: BTreeMap::new(), scroll: Scroll::default() }
    }

    /// What would be done.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// To which jobs, as they were seen.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Whether keys count at the monotonic time `now`: it was drawn, and nothing was typed for a moment.
    #[must_use]
    pub fn is_armed(&self, now: Duration) -> bool {
        self.guard.is_armed(now)
    }

    /// A key, with its command in the scope of confirmations, at the monotonic time `now`.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>, now: Duration) -> Answer {
        self.guard.on_key(event, command, now, &mut self.scroll)
    }

    /// Scrolls a long list of jobs by one line.
    pub fn scroll_by(&mut self, command: Command) {
        self.scroll.on_command(command);
    }

    /// Pasted text goes into the text field. Says whether there is one.
    pub fn paste(&mut self, text: &str) -> bool {
        self.guard.paste(text)
    }

    /// New numbers came while it is open: notes which of its jobs are no longer as they were seen.
    pub fn on_snapshot(&mut self, snapshot: &Snapshot, now: Time) {
        for (at, job) in self.jobs.iter().enumerate() {
            match change::by_leases(job, snapshot, now) {
                change::Change::To(what) => drop(self.changes.insert(at, what)),
                change::Change::None => drop(self.changes.remove(&at)),
                change::Change::Unknown => {}
            }
        }
    }

    /// Rows that were read again while it is open, from a list or a detail.
    pub fn on_jobs(&mut self, rows: &[Job]) {
        for (at, job) in self.jobs.iter().enumerate() {
            if let Some(row) = rows.iter().find(|row| row.at.id == job.at.id && row.at.queue == job.at.queue) {
                match change::between(job, row) {
                    Some(what) => drop(self.changes.insert(at, what)),
                    None => drop(self.changes.remove(&at)),
                }
            }
        }
    }
}

/// What is to be typed: how many, when it is the number that makes it wide; else the queue's name, where one can type it.
fn word_for(jobs: &[Job], place: &Place) -> String {
    let number = jobs.len().to_string();
    let Some(first) = jobs.first().filter(|_| jobs.len() <= place.typed_above) else {
        return number;
    };
    let one_queue = jobs.iter().all(|job| job.at.queue == first.at.queue);
    name_to_type(&first.at.queue.name).filter(|_| one_queue).unwrap_or(number)
}

/// A queue's name, where one can type it.
fn name_to_type(name: &str) -> Option<String> {
    let can_be_typed = !name.is_empty() && name.len() <= TYPED_NAME_MAX && name.bytes().all(|b| b.is_ascii_graphic());
    can_be_typed.then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
