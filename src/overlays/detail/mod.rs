//! One job: its row, what each action would do to it now, its attempts, the error and the payload in full.
//!
//! It opens at once and fills when the job was read, and it is read again while it is open. Error and payload may be huge: they
//! come in parts, are laid out once for a width, and a frame draws only the rows in view.
//!
//! ```text
//!  head.rs      the row's facts, and what each key would do now
//!  timeline.rs  attempts
//!  sheet.rs     error and payload: lines, folds, rows      json.rs  the lines of a payload      search.rs  finding in them
//!  page.rs      all of it below each other, and the cursor                                      draw.rs    a frame of it
//!  keys.rs      what keys do                                                                    long.rs    parts as they come
//! ```

mod draw;
mod head;
mod json;
mod keys;
mod long;
mod page;
mod search;
mod sheet;
mod timeline;

use std::mem::replace;
use std::time::Duration;

use super::field::Field;
use crate::fmt;
use crate::keymap::{Command, Scope};
use crate::model::{
    Again, DetailRequest, Job, JobDetail, JobRef, Part, PartRead, PartRequest, Preview, Redaction, Stamps, Time,
};
use long::{Long, update};
use page::{SECTIONS, Section, Sheets, View};
use search::Search;
use sheet::Sheet;

pub use keys::Answer;

/// A job is not read again sooner than this.
const SHORTEST: Duration = Duration::from_secs(2);
/// An answer that has not come after this long is asked for again.
const PATIENCE: Duration = Duration::from_secs(15);

/// How far the reading of the job has come.
#[derive(Debug, Clone)]
enum Found {
    Reading,
    /// It could not be read: why.
    Failed(String),
    /// No such job.
    Gone,
    Here,
}

/// The open detail of one job.
#[derive(Debug, Clone)]
pub struct Detail {
    at: JobRef,
    /// What of payloads is hidden.
    redaction: Redaction,
    /// Nothing may be done at all.
    read_only: bool,
    found: Found,
    /// The job as it was last read; its texts are in `error` and `payload`.
    last: Option<JobDetail>,
    /// It was found in the other table than it was opened in.
    moved: bool,
    error: Option<Long>,
    payload: Option<Long>,
    /// More of a text was asked for.
    more: Option<PartRequest>,
    search: Option<Search>,
    /// What to look for is being typed.
    typing: Option<Field>,
    view: View,
    /// When it is read again.
    pace: Again,
}

impl Detail {
    /// Opens on a job that is being read. Of its payload is shown what `redaction` does not hide.
    #[must_use]
    pub fn new(at: JobRef, redaction: Redaction) -> Self {
        Self {
            at,
            redaction,
            read_only: false,
            found: Found::Reading,
            last: None,
            moved: false,
            error: None,
            payload: None,
            more: None,
            search: None,
            typing: None,
            view: View::default(),
            pace: Again::default(),
        }
    }

    /// For a program that was started to look only.
    #[must_use]
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }

    /// Which job.
    #[must_use]
    pub fn at(&self) -> &JobRef {
        &self.at
    }

    /// Whose keys count.
    #[must_use]
    pub fn scope(&self) -> Scope {
        if self.typing.is_some() { Scope::Prompt } else { Scope::Detail }
    }

    /// The job as it was read, for acting on it; `None` until then, and when it is gone.
    #[must_use]
    pub fn job(&self) -> Option<&Job> {
        match self.found {
            Found::Gone => None,
            _ => self.last.as_ref().map(|detail| &detail.job),
        }
    }

    /// Whether a command does something here, at the server's time `now`.
    #[must_use]
    pub fn works(&self, command: Command, now: Time) -> bool {
        let cut = |long: &Option<Long>| long.as_ref().is_some_and(|long| long.next.is_some());
        match command {
            Command::NextMatch | Command::PreviousMatch => self.search.is_some(),
            Command::ReadMore | Command::ReadAll => cut(&self.error) || cut(&self.payload),
            Command::Reveal => self.payload.as_ref().is_some_and(|long| long.sheet.hides_something()),
            Command::Fold | Command::FoldAll => self.payload.as_ref().is_some_and(|long| long.sheet.can_fold()),
            Command::CopyPayload => self.payload.is_some(),
            Command::CopyError => self.error.is_some(),
            _ => head::works(command, self.last.as_ref().filter(|_| self.job().is_some()), now),
        }
    }

    /// The question for the job, asked at the monotonic time `now`.
    pub fn request(&mut self, now: Duration) -> DetailRequest {
        self.pace.ask(now);
        let stamp = |long: &Option<Long>| long.as_ref().map(|long| long.stamp.clone());
        let known = Stamps { payload: stamp(&self.payload), error: stamp(&self.error) };
        DetailRequest { job: self.at.clone(), known }
    }

    /// The same, where it is due.
    pub fn request_again(&mut self, now: Duration) -> Option<DetailRequest> {
        self.pace.is_due(now, PATIENCE).then(|| self.request(now))
    }

    /// A job was read, at the monotonic time `now`; `None`: it is gone. Another job than the one that is open changes nothing.
    pub fn on_detail(&mut self, job: &JobRef, detail: Option<JobDetail>, now: Duration) {
        if *job != self.at {
            return;
        }
        let cost = detail.as_ref().map_or(Duration::ZERO, |detail| detail.cost);
        self.pace.answered(now, cost, SHORTEST);
        let Some(mut detail) = detail else {
            // What was read before stays in view: it may be the last that is known of it.
            self.found = Found::Gone;
            return;
        };
        self.found = Found::Here;
        self.moved |= detail.job.at.dead != self.at.dead;
        self.at = detail.job.at.clone();
        let redaction = self.redaction.clone();
        let payload = |text: &str| Sheet::json(text, &|path| redaction.hides(path));
        // The texts may be large: they are kept once.
        let error = detail.error.value_mut().and_then(Option::as_mut).map(|read| replace(read, Preview::Same));
        let mut changed = update(&mut self.error, error, Sheet::plain);
        let read = detail.payload.value_mut().map(|read| replace(read, Preview::Same));
        changed |= update(&mut self.payload, read, payload);
        self.last = Some(detail);
        if changed {
            self.more = None;
            self.search_again();
        }
    }

    /// A job could not be read.
    pub fn on_failure(&mut self, job: &JobRef, reason: &str, now: Duration) {
        if *job == self.at {
            self.pace.answered(now, Duration::ZERO, SHORTEST);
            self.found = Found::Failed(reason.to_owned());
        }
    }

    /// More of a text was read. What to say of it, and whether that is good news.
    pub fn on_part(&mut self, request: &PartRequest, read: PartRead) -> Option<(String, bool)> {
        self.more.take_if(|asked| asked == request)?;
        let redaction = self.redaction.clone();
        let slot = if request.part == Part::Payload { &mut self.payload } else { &mut self.error };
        let name = request.part.as_str();
        let piece = read.piece.filter(|piece| slot.as_ref().is_some_and(|long| long.stamp == piece.stamp));
        let (Some(long), Some(piece)) = (slot, piece) else {
            // Another text stands there now: it comes with the next reading.
            self.pace.hurry();
            return Some((format!("the {name} has changed meanwhile: it is read again"), false));
        };
        long.append(&piece, &|path| redaction.hides(path));
        let (shown, whole) = (fmt::bytes(long.shown()), fmt::bytes(long.bytes));
        let spent = read.cost.as_millis();
        let words = if long.next.is_some() {
            format!("{shown} of {whole} of the {name} are here; that took the server {spent} ms")
        } else {
            format!("all {whole} of the {name} are here; that took the server {spent} ms")
        };
        self.search_again();
        Some((words, true))
    }

    /// It could not be read. What to say of it.
    pub fn on_part_failed(&mut self, request: &PartRequest, reason: &str) -> Option<String> {
        self.more.take_if(|asked| asked == request)?;
        Some(format!("no more of the {} could be read: {reason}", request.part.as_str()))
    }

    fn search_again(&mut self) {
        let (error, payload) = (self.error.as_ref().map(|l| &l.sheet), self.payload.as_ref().map(|l| &l.sheet));
        if let Some(search) = &mut self.search {
            search.again(error, payload);
        }
    }

    /// Puts in a pasted text where one is typed. Says whether there is such a place.
    pub fn paste(&mut self, text: &str) -> bool {
        if let Some(field) = &mut self.typing {
            field.paste(text);
        }
        self.typing.is_some()
    }

    /// Moves what is in view by a row.
    pub fn scroll(&mut self, command: Command) {
        self.view.scroll(command == Command::Down, &sheets(self.error.as_ref(), self.payload.as_ref()));
    }
}

/// The sections that are sheets.
fn sheets<'a>(error: Option<&'a Long>, payload: Option<&'a Long>) -> Sheets<'a> {
    let mut all: Sheets<'a> = [None; SECTIONS.len()];
    all[Section::Error as usize] = error.map(|long| &long.sheet);
    all[Section::Payload as usize] = payload.map(|long| &long.sheet);
    all
}

#[cfg(test)]
mod tests;
