//! Asks before acting: names the action, the database, the queue, the exact jobs as they were seen, and what will happen.
//!
//! `y` confirms; Enter, Space and whatever was typed before the box appeared do not. Wide actions and production targets
//! are confirmed by typing the number of jobs or the queue's name, then `y`. It refuses while it cannot be read whole, while
//! the numbers are old, and when nothing would be done. It holds what was seen as data and never looks anything up again.

mod change;
mod draw;

use std::collections::BTreeMap;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};

use super::field::Field;
use super::scroll::Scroll;
use crate::keymap::{Command, Key};
use crate::model::{Action, Job, ServerFacts, Snapshot, Time};

/// Keys do not count until it was quiet for so long: what comes faster was typed before the box was read.
const QUIET: Duration = Duration::from_millis(250);
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

/// What the last frame showed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shown {
    /// No frame yet.
    Nothing,
    /// Something that must not be confirmed, and why.
    Blocked(String),
    /// All of it.
    Whole,
}

/// A word to be typed before `y`.
#[derive(Debug, Clone)]
struct Typed {
    word: String,
    field: Field,
}

/// An open confirmation.
#[derive(Debug, Clone)]
pub struct Confirm {
    action: Action,
    jobs: Vec<Job>,
    place: Place,
    typed: Option<Typed>,
    /// Keys count from here on, in monotonic time.
    quiet_until: Duration,
    last_key: Duration,
    shown: Shown,
    /// Why the last key did nothing.
    hint: Option<&'static str>,
    /// What is known to have changed since, by the job's place in `jobs`.
    changes: BTreeMap<usize, String>,
    scroll: Scroll,
}

impl Confirm {
    /// Asks to do `action` to `jobs` as they were seen; `now` is monotonic time since the program's start.
    #[must_use]
    pub fn new(action: Action, jobs: Vec<Job>, place: Place, now: Duration) -> Self {
        let must_type = place.production || jobs.len() > place.typed_above;
        let typed = must_type.then(|| Typed { word: word_for(&jobs, &place), field: Field::default() });
        Self {
            action,
            jobs,
            place,
            typed,
            quiet_until: now + QUIET,
            last_key: now,
            shown: Shown::Nothing,
            hint: None,
            changes: BTreeMap::new(),
            scroll: Scroll::default(),
        }
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
        self.shown != Shown::Nothing && now >= self.quiet_until
    }

    /// A key, with its command in the scope of confirmations, at the monotonic time `now`.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>, now: Duration) -> Answer {
        let leave = event.code == KeyCode::Esc || (self.typed.is_none() && command == Some(Command::Back));
        if leave {
            return Answer::Cancel;
        }
        if !self.is_armed(now) {
            self.quiet_until = now + QUIET;
            self.hint = Some("keys typed before this appeared do not count");
            return Answer::Stay;
        }
        let pause = now.saturating_sub(self.last_key);
        self.last_key = now;
        self.hint = None;
        if !matches!(event.code, KeyCode::Char(_)) && command.is_some_and(|c| self.scroll.on_command(c)) {
            return Answer::Stay;
        }
        if Key::of(event) == Some(Key::Char('y')) && self.typed.as_ref().is_none_or(Typed::complete) {
            return self.confirm(pause);
        }
        match self.typed.as_mut().map(|typed| typed.field.on_key(event)) {
            Some(true) => {}
            Some(false) => self.hint = Some("this key does not confirm: type the word, then y"),
            None => self.hint = Some("this key does not confirm: only y does"),
        }
        Answer::Stay
    }

    /// Scrolls a long list of jobs by one line.
    pub fn scroll_by(&mut self, command: Command) {
        self.scroll.on_command(command);
    }

    /// Pasted text goes into the text field. Says whether there is one.
    pub fn paste(&mut self, text: &str) -> bool {
        if let Some(typed) = &mut self.typed {
            typed.field.paste(text);
        }
        self.typed.is_some()
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

    fn confirm(&mut self, pause: Duration) -> Answer {
        match &self.shown {
            // The box says why on a line of its own.
            Shown::Nothing | Shown::Blocked(_) => Answer::Stay,
            // A y that comes with the word belongs to a paste or to another thought.
            Shown::Whole if self.typed.is_some() && pause < QUIET => {
                self.hint = Some("that came too fast: y again");
                Answer::Stay
            }
            Shown::Whole => Answer::Confirmed,
        }
    }
}

impl Typed {
    fn complete(&self) -> bool {
        self.field.text() == self.word
    }
}

/// What is to be typed: how many, when it is the number that makes it wide; else the queue's name, where one can type it.
fn word_for(jobs: &[Job], place: &Place) -> String {
    let number = jobs.len().to_string();
    let Some(first) = jobs.first().filter(|_| jobs.len() <= place.typed_above) else {
        return number;
    };
    let name = &first.at.queue.name;
    let one_queue = jobs.iter().all(|job| job.at.queue == first.at.queue);
    let can_be_typed = !name.is_empty() && name.len() <= TYPED_NAME_MAX && name.bytes().all(|b| b.is_ascii_graphic());
    if one_queue && can_be_typed { name.clone() } else { number }
}

#[cfg(test)]
mod tests;
