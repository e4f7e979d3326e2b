//! What stands between a key and an action, whatever the box is about: `y` confirms, after a word was typed where one is asked
//! for; Enter, Space and whatever was typed before the box appeared do not.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};

use super::super::field::Field;
use super::super::frame::{Line, wrapped};
use super::super::scroll::Scroll;
use super::Answer;
use crate::keymap::{Command, Key};
use crate::theme::Theme;

/// Keys do not count until it was quiet for so long: what comes faster was typed before the box was read.
const QUIET: Duration = Duration::from_millis(250);

/// What the last frame showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// No frame yet.
    Nothing,
    /// Something that must not be confirmed, and why.
    Blocked(String),
    /// All of it.
    Whole,
}

/// A word to be typed before `y`.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    pub(super) word: String,
    pub(super) field: Field,
}

impl Typed {
    pub(super) fn complete(&self) -> bool {
        self.field.text() == self.word
    }
}

/// The state of the keys of a box.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) typed: Option<Typed>,
    /// Keys count from here on, in monotonic time.
    quiet_until: Duration,
    last_key: Duration,
    pub(super) shown: Shown,
    /// Why the last key did nothing.
    pub(super) hint: Option<&'static str>,
}

impl Guard {
    /// Opens at the monotonic time `now`; `word` must be typed first.
    pub(super) fn new(word: Option<String>, now: Duration) -> Self {
        let typed = word.map(|word| Typed { word, field: Field::default() });
        Self { typed, quiet_until: now + QUIET, last_key: now, shown: Shown::Nothing, hint: None }
    }

    /// Whether keys count at the monotonic time `now`: it was drawn, and nothing was typed for a moment.
    pub(super) fn is_armed(&self, now: Duration) -> bool {
        self.shown != Shown::Nothing && now >= self.quiet_until
    }

    /// A key, with its command in the scope of confirmations, at the monotonic time `now`.
    pub(super) fn on_key(
        &mut self,
        event: &KeyEvent,
        command: Option<Command>,
        now: Duration,
        scroll: &mut Scroll,
    ) -> Answer {
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
        if !matches!(event.code, KeyCode::Char(_)) && command.is_some_and(|c| scroll.on_command(c)) {
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

    /// Pasted text goes into the text field. Says whether there is one.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        if let Some(typed) = &mut self.typed {
            typed.field.paste(text);
        }
        self.typed.is_some()
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

    /// Why it must not be confirmed or why the last key did nothing, and the keys. The field of a word to type stands in the
    /// line before the last.
    pub(super) fn lines(&self, verb: &str, blocked: Option<&str>, columns: usize, theme: &Theme) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(reason) = blocked {
            lines.extend(wrapped(reason, columns, theme.act));
        }
        if let Some(hint) = self.hint {
            lines.extend(wrapped(hint, columns, theme.warn));
        }
        let keys = format!("[y] {verb}   [esc] leave it");
        match &self.typed {
            _ if blocked.is_some() => lines.push(Line::new("[esc] leave it", theme.accent)),
            None => lines.push(Line::new(keys, theme.accent)),
            Some(typed) => {
                lines.extend(wrapped(&format!("To confirm type  {}  and then y.", typed.word), columns, theme.text));
                let style = if typed.complete() { theme.accent } else { theme.quiet };
                lines.extend([Line::new("> ", theme.accent), Line::new(keys, style)]);
            }
        }
        lines
    }
}
