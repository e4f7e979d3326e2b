//! The palette: everything that can be done here, found by a few letters of its name. A paste goes into the line and never
//! submits.
//!
//! ```text
//! : dead
//! ▸ 4        failures and dead letters by error signature
//!   d        move the job to the dead letters
//! ```

use crossterm::event::{KeyCode, KeyEvent};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::field::Field;
use super::frame;
use crate::keymap::{Binding, Command};
use crate::model::QueueId;
use crate::panes::Ctx;
use crate::panes::parts::{Cursor, movement, put};
use crate::text::{self, Safe, Side};
use crate::theme;

/// What an entry leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A command, as if its key were pressed.
    Command(Command),
    /// The jobs of a queue.
    Queue(QueueId),
    /// A filter from the settings, by its text.
    Filter(String),
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It stays open.
    Stay,
    /// Close it and do nothing.
    Cancel,
    /// Close it and go there.
    Chosen(Target),
}

/// A line of the list.
#[derive(Debug, Clone)]
struct Entry {
    keys: String,
    /// Ours, or through `text::Safe`.
    name: String,
    target: Target,
}

/// An open palette.
#[derive(Debug, Clone)]
pub struct Palette {
    field: Field,
    entries: Vec<Entry>,
    /// Entries that match, best first, by index.
    found: Vec<usize>,
    cursor: Cursor<usize>,
}

/// Columns of the keys.
const KEYS: usize = 12;
/// Its size where there is room.
const MOST: (u16, u16) = (90, 24);

impl Palette {
    /// Everything that `bindings` do, the queues, and saved filters (name and text).
    #[must_use]
    pub fn new<'a>(
        bindings: impl Iterator<Item = &'static Binding>,
        queues: impl Iterator<Item = &'a QueueId>,
        filters: &[(String, String)],
    ) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        // Moving is done by its own keys, also in here.
        let listed = |b: &&Binding| b.command != Command::Palette && movement(b.command).is_none();
        for binding in bindings.filter(listed) {
            let keys: Vec<String> = binding.keys.iter().map(|key| key.label()).collect();
            let target = Target::Command(binding.command);
            entries.push(Entry { keys: keys.join(" "), name: binding.help.to_owned(), target });
        }
        entries.extend(filters.iter().map(|(name, filter)| Entry {
            keys: "filter".into(),
            name: format!("{}: {}", Safe::new(name), Safe::new(filter)),
            target: Target::Filter(filter.clone()),
        }));
        entries.extend(queues.map(|queue| Entry {
            keys: "queue".into(),
            name: format!("jobs of {}", Safe::new(&queue.name)),
            target: Target::Queue(queue.clone()),
        }));
        let found = (0..entries.len()).collect();
        Self { field: Field::default(), entries, found, cursor: Cursor::default() }
    }

    /// A key, with its command in the scope of the palette.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>) -> Answer {
        match (event.code, command) {
            (KeyCode::Esc, _) | (_, Some(Command::Back)) => Answer::Cancel,
            (KeyCode::Enter, _) | (_, Some(Command::Confirm)) => self.chosen(),
            (_, Some(command)) if movement(command).is_some() => {
                self.on_movement(command);
                Answer::Stay
            }
            _ => {
                if self.field.on_key(event) {
                    self.find();
                }
                Answer::Stay
            }
        }
    }

    /// Moves the cursor.
    pub fn on_movement(&mut self, command: Command) {
        if let Some(step) = movement(command) {
            self.cursor.step(self.found.iter(), step);
        }
    }

    /// Pasted text goes into the field.
    pub fn paste(&mut self, text: &str) {
        self.field.paste(text);
        self.find();
    }

    fn chosen(&mut self) -> Answer {
        let at = self.cursor.settle(self.found.iter());
        let entry = at.and_then(|at| self.found.get(at)).and_then(|index| self.entries.get(*index));
        entry.map_or(Answer::Stay, |entry| Answer::Chosen(entry.target.clone()))
    }

    /// Best match first; equal ones in the order of the list.
    fn find(&mut self) {
        let mut matcher = Matcher::new(Config::DEFAULT);
        let wanted = self.field.text();
        let pattern = Pattern::new(wanted, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        let mut letters = Vec::new();
        let mut scored: Vec<(u32, usize)> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            // A key typed as it is, is the best match of all.
            let exact = entry.keys.split(' ').any(|key| key == wanted);
            let score = pattern.score(Utf32Str::new(&entry.name, &mut letters), &mut matcher);
            scored.extend(score.or(exact.then_some(0)).map(|score| (if exact { u32::MAX } else { score }, index)));
        }
        scored.sort_by_key(|(score, index)| (std::cmp::Reverse(*score), *index));
        self.found = scored.into_iter().map(|(_, index)| index).collect();
        self.cursor = Cursor::default();
    }

    /// Draws it over the screen `area`.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let width = area.width.saturating_sub(2).min(MOST.0);
        let height = area.height.saturating_sub(2).min(MOST.1);
        let Some(place) = frame::centered(area, width, height).filter(|_| width > 10 && height > 2) else {
            frame::too_small(area, buf, ctx.theme, (13, 5));
            return;
        };
        let title = format!("do or find: {} of {}", self.found.len(), self.entries.len());
        let inner = frame::draw(place, &title, ctx.theme.accent, buf);
        put(buf, inner, 0, ":", ctx.theme.accent);
        let line = Rect { x: inner.x + 2, width: inner.width.saturating_sub(2), height: 1, ..inner };
        self.field.render(line, buf, ctx.theme);
        self.list(Rect { y: inner.y + 1, height: inner.height - 1, ..inner }, buf, ctx);
    }

    fn list(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if self.found.is_empty() {
            put(buf, area, 0, "nothing is called like this", ctx.theme.quiet);
        }
        let at = self.cursor.settle(self.found.iter());
        let top = self.cursor.scroll(usize::from(area.height), self.found.len());
        for (line, (place, index)) in (0..area.height).zip(self.found.iter().enumerate().skip(top)) {
            let Some(entry) = self.entries.get(*index) else { continue };
            let sign = if at == Some(place) { theme::CURSOR } else { " " };
            let keys = text::fit(&entry.keys, KEYS, Side::Left);
            put(buf, area, line, &format!("{sign} {keys} {}", entry.name), ctx.theme.text);
            if at == Some(place) {
                buf.set_style(Rect { y: area.y + line, height: 1, ..area }, ctx.theme.cursor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::{BINDINGS, Scope};
    use crate::model::BackendKind;
    use crossterm::event::KeyModifiers;

    fn palette() -> Palette {
        let queues =
            ["emails", "web\u{202e}hooks"].map(|name| QueueId { backend: BackendKind::Jobs, name: name.into() });
        let rows = BINDINGS.iter().filter(|b| matches!(b.scope, Scope::Global | Scope::Jobs));
        Palette::new(rows, queues.iter(), &[("stuck".into(), "state:expired".into())])
    }

    fn typed(palette: &mut Palette, text: &str) -> Answer {
        for c in text.chars() {
            let event = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
            assert_eq!(palette.on_key(&event, None), Answer::Stay);
        }
        palette.on_key(&KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE), None)
    }

    #[test]
    fn a_few_letters_find_a_command_a_view_a_queue_and_a_filter() {
        let emails = QueueId { backend: BackendKind::Jobs, name: "emails".into() };
        for (text, want) in [
            ("freeze", Target::Command(Command::Freeze)),
            ("workers", Target::Command(Command::View(3))),
            ("emails", Target::Queue(emails)),
            ("stuck", Target::Filter("state:expired".into())),
            ("z", Target::Command(Command::Freeze)),
        ] {
            assert_eq!(typed(&mut palette(), text), Answer::Chosen(want), "{text}");
        }
    }

    #[test]
    fn what_is_not_there_cannot_be_chosen_and_a_paste_does_not_submit() {
        assert_eq!(typed(&mut palette(), "xyzzyx"), Answer::Stay);
        let mut palette = palette();
        palette.paste("quit\r\n");
        assert_eq!(palette.field.text(), "quit");
    }
}
