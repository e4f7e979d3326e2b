//! What keys do in a detail.

use crossterm::event::{KeyCode, KeyEvent};

use super::page::Section;
use super::search::{Search, Within};
use super::sheet::{Place, Revealed};
use super::{Detail, Long, sheets};
use crate::fmt;
use crate::keymap::Command;
use crate::model::{Part, PartRequest};
use crate::msg::COPY_MOST;

use super::super::field::Field;
use super::head::key;

/// So many characters are read on by one key.
const MORE: u64 = 1 << 20;
/// So many at most are read in all.
const MOST: u64 = 8 << 20;

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It stays open.
    Stay,
    /// Close it.
    Close,
    /// Say this, as good news or not.
    Say(String, bool),
    /// Read more of a text.
    Read(PartRequest),
    /// Put a text on the clipboard and say what it is.
    Copy {
        /// The text.
        text: String,
        /// What to say.
        notice: String,
    },
}

impl Detail {
    /// A key, with its command in the scope that is in force. Actions on the job are not for here.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>) -> Answer {
        if self.typing.is_some() {
            return self.type_in(event, command);
        }
        let Some(command) = command else {
            return Answer::Stay;
        };
        match command {
            // Esc takes back step by step.
            Command::Back if event.code == KeyCode::Esc && self.search.is_some() => self.search = None,
            Command::Back => return Answer::Close,
            Command::NextPane => self.view.next_section(&sheets(self.error.as_ref(), self.payload.as_ref())),
            Command::Fold => return self.fold(),
            Command::FoldAll => return self.fold_all(),
            Command::Reveal => return self.reveal(),
            Command::Search => self.typing = Some(Field::default()),
            Command::NextMatch => return self.step(true),
            Command::PreviousMatch => return self.step(false),
            Command::ReadMore => return self.read_on(MORE),
            Command::ReadAll => return self.read_on(MOST),
            Command::Copy => {
                let text = self.at.id.clone();
                return Answer::Copy { text, notice: copied("the id") };
            }
            Command::CopyPayload => return copy(self.payload.as_ref(), Part::Payload),
            Command::CopyError => return copy(self.error.as_ref(), Part::Error),
            _ => {
                self.view.on_command(command, &sheets(self.error.as_ref(), self.payload.as_ref()));
            }
        }
        Answer::Stay
    }

    /// A key while what to look for is typed.
    fn type_in(&mut self, event: &KeyEvent, command: Option<Command>) -> Answer {
        let Some(field) = &mut self.typing else {
            return Answer::Stay;
        };
        match (event.code, command) {
            (KeyCode::Esc, _) | (_, Some(Command::Back)) => self.typing = None,
            (KeyCode::Enter, _) | (_, Some(Command::Confirm)) => {
                let wanted = field.text().to_owned();
                self.typing = None;
                // Nothing typed: on with what was looked for before.
                if wanted.is_empty() && self.search.is_some() {
                    return self.step(true);
                }
                if !wanted.is_empty() {
                    let (error, payload) = (self.error.as_ref(), self.payload.as_ref());
                    self.search =
                        Some(Search::new(&wanted, error.map(|long| &long.sheet), payload.map(|long| &long.sheet)));
                    return self.step(true);
                }
            }
            _ => {
                field.on_key(event);
            }
        }
        Answer::Stay
    }

    /// Goes to the next place that was found, or the one before.
    fn step(&mut self, forward: bool) -> Answer {
        let from = self.here();
        let Some(search) = &mut self.search else {
            return Answer::Say(format!("nothing was searched for yet: {} does", key(Command::Search)), false);
        };
        let Some((within, byte)) = search.step(forward, &from) else {
            let cut = [&self.error, &self.payload].into_iter().flatten().any(|long| long.next.is_some());
            let rest = format!("; the rest was not read, {} reads it", key(Command::ReadAll));
            let words = format!("not in the error or the payload{}", if cut { rest.as_str() } else { "" });
            return Answer::Say(words, false);
        };
        let (section, slot) = match within {
            Within::Error => (Section::Error, &mut self.error),
            Within::Payload => (Section::Payload, &mut self.payload),
        };
        if let Some(long) = slot {
            long.sheet.unfold_to(byte);
            let place = long.sheet.place(long.sheet.row_of_byte(byte));
            self.view.show(section, place);
        }
        Answer::Stay
    }

    /// Where the cursor is in the texts: the bytes of its row.
    fn here(&self) -> (Within, std::ops::Range<usize>) {
        let (section, place) = self.view.at();
        let row = |long: &Long| long.sheet.bytes_of_row(long.sheet.row(place));
        match section {
            Section::Payload => (Within::Payload, self.payload.as_ref().map_or(0..0, row)),
            Section::PayloadHead => (Within::Payload, 0..0),
            Section::Error => (Within::Error, self.error.as_ref().map_or(0..0, row)),
            _ => (Within::Error, 0..0),
        }
    }

    /// The cursor's place in the payload, if it is there.
    fn in_payload(&self) -> Option<Place> {
        let (section, place) = self.view.at();
        (section == Section::Payload).then_some(place)
    }

    fn fold(&mut self) -> Answer {
        let at = self.in_payload();
        let folded = self.payload.as_mut().zip(at).and_then(|(long, place)| long.sheet.fold(place));
        match folded {
            Some(place) => {
                self.view.stay(place);
                Answer::Stay
            }
            None => Answer::Say("nothing to fold here: objects and arrays of the payload fold".into(), false),
        }
    }

    fn fold_all(&mut self) -> Answer {
        match &mut self.payload {
            Some(long) if long.sheet.can_fold() => {
                long.sheet.fold_all();
                Answer::Stay
            }
            _ => Answer::Say("nothing to fold: the payload has no objects or arrays".into(), false),
        }
    }

    fn reveal(&mut self) -> Answer {
        let at = self.in_payload();
        let redaction = self.redaction.clone();
        let done =
            self.payload.as_mut().zip(at).map(|(long, place)| long.sheet.reveal(place, &|path| redaction.hides(path)));
        match done {
            Some(Revealed::Shown) => {
                self.search_again();
                let words = format!("shown until this detail is closed; {} hides it again", key(Command::Reveal));
                Answer::Say(words, true)
            }
            Some(Revealed::Hidden) => {
                self.search_again();
                Answer::Say("hidden again".into(), true)
            }
            _ => Answer::Say("nothing hidden here: the cursor must be on a hidden value".into(), false),
        }
    }

    /// Asks for more of the text under the cursor, else of one that was cut.
    fn read_on(&mut self, chars: u64) -> Answer {
        if self.more.is_some() {
            return Answer::Say("more is on its way".into(), true);
        }
        let next = |part: Part| {
            let long = if part == Part::Payload { &self.payload } else { &self.error };
            long.as_ref()?.next.map(|from| (part, from))
        };
        let parts = match self.view.at().0 {
            Section::ErrorHead | Section::Error => [Part::Error, Part::Payload],
            _ => [Part::Payload, Part::Error],
        };
        let Some((part, from)) = parts.into_iter().find_map(next) else {
            return Answer::Say("error and payload are here as a whole".into(), true);
        };
        let chars = chars.min(MOST.saturating_sub(from));
        if chars == 0 {
            let most = fmt::bytes(MOST);
            return Answer::Say(format!("more than {most} of a text are not shown here: psql has the rest"), false);
        }
        let chars = u32::try_from(chars).unwrap_or(u32::MAX);
        let request = PartRequest { job: self.at.clone(), part, from, chars };
        self.more = Some(request.clone());
        Answer::Read(request)
    }
}

/// What of a text fits onto a clipboard.
fn copy(long: Option<&Long>, part: Part) -> Answer {
    let name = part.as_str();
    let Some(long) = long else {
        return Answer::Say(format!("there is no {name} to copy"), false);
    };
    let (text, fits) = long.sheet.copy(COPY_MOST);
    let hidden = if long.sheet.hides_something() { ", hidden values as signs" } else { "" };
    let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let what = if fits && long.next.is_none() {
        format!("the {name}, {}{hidden}", fmt::bytes(size))
    } else {
        format!("the first {} of {} of the {name}{hidden}", fmt::bytes(size), fmt::bytes(long.bytes))
    };
    Answer::Copy { text, notice: copied(&what) }
}

fn copied(what: &str) -> String {
    format!("copied {what}, if the terminal allows it (OSC 52)")
}
