//! The prompt for a filter: one line at the foot of the screen, above it what the word under the cursor may become, what is wrong
//! with the text and where, or how far the filter would look. A paste goes into the line and never submits.
//!
//! ```text
//!   queue     the queue's name
//!   quiet     …
//!               ^^^ no field is called like this
//!  filter: state:dead qeu:emails
//! ```

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::field::Field;
use super::frame;
use crate::keymap::Command;
use crate::model::Filter;
use crate::model::filter::{Completion, FilterError, Vocabulary, complete};
use crate::panes::Ctx;
use crate::panes::parts::put;
use crate::text::{Safe, Side, fit, width};

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It stays open.
    Stay,
    /// Close it and leave the filter as it was.
    Cancel,
    /// Close it and filter by this text; empty: no filter.
    Done(String),
}

/// Words of the database, and what was typed before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Names of queues.
    pub queues: Vec<String>,
    /// Ids of workers.
    pub workers: Vec<String>,
    /// Earlier filters, the latest last.
    pub history: Vec<String>,
}

/// An open prompt.
#[derive(Debug, Clone)]
pub struct FilterPrompt {
    field: Field,
    known: Known,
    /// Which of the earlier filters is shown, counted from the latest; `None`: what is being typed.
    earlier: Option<usize>,
    /// What was typed before an earlier one was shown.
    typed: String,
    /// What the word may become, and which of it stands there.
    offers: Vec<Completion>,
    offered: Option<usize>,
    wrong: Option<FilterError>,
}

const LABEL: &str = " filter: ";
const HINT: &str = "  Enter applies, Tab completes, Esc leaves it ";
/// So many completions are in view.
const OFFERS: usize = 6;

impl FilterPrompt {
    /// A prompt with the filter that is in force.
    #[must_use]
    pub fn new(text: &str, known: Known) -> Self {
        let (typed, offers) = (String::new(), Vec::new());
        Self { field: Field::new(text), known, earlier: None, typed, offers, offered: None, wrong: None }
    }

    /// A key, with its command in the scope of prompts.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>) -> Answer {
        match (event.code, command) {
            (KeyCode::Esc, _) | (_, Some(Command::Back)) => return Answer::Cancel,
            (KeyCode::Enter, _) | (_, Some(Command::Confirm)) => return self.submit(),
            (KeyCode::Tab, _) => self.complete(),
            (KeyCode::Up, _) => self.show_earlier(true),
            (KeyCode::Down, _) => self.show_earlier(false),
            _ => {
                self.field.on_key(event);
                self.edited();
            }
        }
        Answer::Stay
    }

    /// Pasted text goes into the field.
    pub fn paste(&mut self, text: &str) {
        self.field.paste(text);
        self.edited();
    }

    fn edited(&mut self) {
        (self.offered, self.wrong, self.earlier) = (None, None, None);
        let known = Vocabulary { queues: &self.known.queues, workers: &self.known.workers };
        self.offers = complete(self.field.text(), self.field.cursor(), &known);
    }

    fn submit(&mut self) -> Answer {
        let text = self.field.text().trim();
        if text.parse::<Filter>().is_ok() {
            return Answer::Done(text.to_owned());
        }
        // The spans are those of the text as it stands in the line.
        self.wrong = self.field.text().parse::<Filter>().err();
        Answer::Stay
    }

    /// Puts in the first completion, then the next one in its place.
    fn complete(&mut self) {
        if self.offers.is_empty() {
            self.edited();
        }
        let next = self.offered.map_or(0, |at| (at + 1) % self.offers.len().max(1));
        let before = self.offered.and_then(|at| self.offers.get(at)).map(|offer| offer.text.len());
        let Some(offer) = self.offers.get(next) else { return };
        let start = offer.span.start;
        let end = before.map_or(offer.span.end, |length| start + length);
        self.field.replace(start..end, &offer.text);
        self.offered = Some(next);
        self.wrong = None;
    }

    fn show_earlier(&mut self, back: bool) {
        let last = self.known.history.len();
        let at = match (self.earlier, back) {
            (None, true) => {
                self.field.text().clone_into(&mut self.typed);
                Some(0)
            }
            (Some(at), true) => Some((at + 1).min(last.saturating_sub(1))),
            (Some(at), false) => at.checked_sub(1),
            (None, false) => return,
        };
        let text = match at {
            Some(at) if at < last => self.known.history.get(last - 1 - at).cloned().unwrap_or_default(),
            Some(_) => return,
            None => self.typed.clone(),
        };
        self.field = Field::new(&text);
        self.edited();
        self.earlier = at;
    }

    /// Draws it over the last rows of the screen `area`.
    pub fn render(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let line = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
        frame::clear(line, buf);
        put(buf, line, 0, LABEL, ctx.theme.accent);
        let label = u16::try_from(width(LABEL)).unwrap_or(0).min(line.width.saturating_sub(1));
        let hint = u16::try_from(width(HINT)).unwrap_or(0);
        let hint = if line.width >= label + hint + 20 { hint } else { 0 };
        let field = Rect { x: line.x + label, width: line.width.saturating_sub(label + hint), ..line };
        self.field.render(field, buf, ctx.theme);
        if hint > 0 {
            let place = Rect { x: line.right() - hint, width: hint, ..line };
            put(buf, place, 0, HINT, ctx.theme.quiet);
        }
        self.above(Rect { height: area.height.saturating_sub(1), ..area }, buf, ctx);
    }

    /// What is said above the line: the error, else how far it looks; and above that the completions.
    fn above(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let theme = ctx.theme;
        let mut rows = Vec::new();
        let from = self.offered.map_or(0, |at| at / OFFERS * OFFERS);
        for (at, offer) in self.offers.iter().enumerate().skip(from).take(OFFERS) {
            let style = if self.offered == Some(at) { theme.cursor } else { theme.text };
            rows.push((format!("   {} {}", fit(Safe::new(&offer.text).as_str(), 24, Side::Left), offer.about), style));
        }
        if let Some(wrong) = &self.wrong {
            let text = self.field.text();
            let column = |byte: usize| width(Safe::full(text.get(..byte).unwrap_or(text)).as_str());
            let (start, end) = (column(wrong.span.start), column(wrong.span.end));
            let mark = "^".repeat(end.saturating_sub(start).max(1));
            let before = " ".repeat(width(LABEL) + start);
            rows.push((format!("{before}{mark} {}", Safe::new(&wrong.message)), theme.act));
        } else if let Some(note) = self.field.text().parse::<Filter>().ok().and_then(|filter| filter.cost_note()) {
            rows.push((format!("{}{}", " ".repeat(width(LABEL)), Safe::new(&note)), theme.warn));
        }
        let count = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.height);
        let place = Rect { y: area.bottom().saturating_sub(count), height: count, ..area };
        frame::clear(place, buf);
        let skipped = rows.len().saturating_sub(usize::from(count));
        for (line, (text, style)) in (0..count).zip(rows.iter().skip(skipped)) {
            put(buf, place, line, text, *style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::screen;
    use super::*;
    use crossterm::event::KeyModifiers;

    fn prompt(text: &str) -> FilterPrompt {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let known = Known {
            queues: own(&["emails", "web hooks"]),
            workers: own(&["7f3a"]),
            history: own(&["state:dead", "queue:emails"]),
        };
        FilterPrompt::new(text, known)
    }

    fn press(prompt: &mut FilterPrompt, code: KeyCode) -> Answer {
        prompt.on_key(&KeyEvent::new(code, KeyModifiers::NONE), None)
    }

    fn typed(prompt: &mut FilterPrompt, text: &str) {
        for c in text.chars() {
            assert_eq!(press(prompt, KeyCode::Char(c)), Answer::Stay);
        }
    }

    #[test]
    fn text_is_taken_as_it_is() {
        let mut prompt = prompt("50%_");
        typed(&mut prompt, "q'y");
        assert_eq!(press(&mut prompt, KeyCode::Enter), Answer::Done("50%_q'y".into()));
        assert_eq!(press(&mut prompt, KeyCode::Esc), Answer::Cancel);
    }

    #[test]
    fn a_paste_with_line_breaks_does_not_submit() {
        let mut prompt = prompt("");
        prompt.paste("abc\ny\n");
        assert_eq!(press(&mut prompt, KeyCode::Enter), Answer::Done("abc y".into()));
    }

    #[test]
    fn what_is_wrong_stays_open_and_is_pointed_at() {
        let mut prompt = prompt("");
        typed(&mut prompt, "漢 qeu:emails");
        assert_eq!(press(&mut prompt, KeyCode::Enter), Answer::Stay);
        let text = screen((80, 10), false, |area, buf, ctx| prompt.render(area, buf, ctx));
        let lines: Vec<&str> = text.lines().collect();
        let (error, line) = (lines[lines.len() - 2], lines[lines.len() - 1]);
        // A cell is a character here: what a wide one covers is a space.
        let column = |line: &str, what: &str| line.find(what).map(|at| line[..at].chars().count());
        assert_eq!(column(error, "^"), column(line, "qeu"), "{text}");
        press(&mut prompt, KeyCode::Backspace);
        assert!(prompt.wrong.is_none());
    }

    #[test]
    fn tab_completes_and_goes_on_to_the_next() {
        let mut prompt = prompt("");
        typed(&mut prompt, "stat");
        press(&mut prompt, KeyCode::Tab);
        let first = prompt.field.text().to_owned();
        assert!(first.starts_with("state"), "{first}");
        let mut prompt = self::prompt("");
        typed(&mut prompt, "queue:");
        press(&mut prompt, KeyCode::Tab);
        assert_eq!(prompt.field.text(), "queue:emails");
        press(&mut prompt, KeyCode::Tab);
        assert_eq!(prompt.field.text(), "queue:\"web hooks\"");
        press(&mut prompt, KeyCode::Tab);
        assert_eq!(prompt.field.text(), "queue:emails", "and round again");
    }

    #[test]
    fn earlier_filters_come_back_and_what_was_typed_too() {
        let mut prompt = prompt("abc");
        press(&mut prompt, KeyCode::Up);
        assert_eq!(prompt.field.text(), "queue:emails");
        press(&mut prompt, KeyCode::Up);
        press(&mut prompt, KeyCode::Up);
        assert_eq!(prompt.field.text(), "state:dead");
        press(&mut prompt, KeyCode::Down);
        press(&mut prompt, KeyCode::Down);
        assert_eq!(prompt.field.text(), "abc");
    }

    #[test]
    fn it_lies_over_the_last_rows_at_any_size() {
        let mut prompt = prompt("");
        typed(&mut prompt, "payload.to:x q");
        let draw = |size| screen(size, false, |area, buf, ctx| prompt.render(area, buf, ctx));
        let text = draw((80, 12));
        assert!(text.lines().last().is_some_and(|line| line.starts_with(" filter: payload.to:x q")), "{text}");
        assert!(text.contains("queue"), "{text}");
        for size in [(20, 5), (10, 3), (1, 1), (300, 2), (0, 0)] {
            draw(size);
        }
    }
}
