//! Asks for the value that an action needs: when jobs are to run, or their priority. What is wrong with it is said below the line.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::field::Field;
use super::frame::{self, Line, wrapped};
use crate::fmt;
use crate::keymap::Command;
use crate::model::{Action, Time};
use crate::panes::Ctx;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// When to run.
    RunAt,
    /// Which priority.
    Priority,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It stays open.
    Stay,
    /// Close it and do nothing.
    Cancel,
    /// Close it and ask for confirmation of this.
    Chosen(Action),
}

/// An open prompt.
#[derive(Debug, Clone)]
pub struct ValuePrompt {
    wanted: Wanted,
    field: Field,
    /// The server's time when it was opened, and the monotonic time then.
    opened: (Time, Duration),
    wrong: Option<String>,
}

/// The width where there is room.
const WIDEST: u16 = 64;

impl ValuePrompt {
    /// Asks at the server's time `now`, which was the monotonic time `mono`.
    #[must_use]
    pub fn new(wanted: Wanted, now: Time, mono: Duration) -> Self {
        Self { wanted, field: Field::default(), opened: (now, mono), wrong: None }
    }

    /// A key, with its command in the scope of prompts, at the monotonic time `mono`.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>, mono: Duration) -> Answer {
        match (event.code, command) {
            (KeyCode::Esc, _) | (_, Some(Command::Back)) => Answer::Cancel,
            (KeyCode::Enter, _) | (_, Some(Command::Confirm)) => match self.read(mono) {
                Ok(action) => Answer::Chosen(action),
                Err(wrong) => {
                    self.wrong = Some(wrong);
                    Answer::Stay
                }
            },
            _ => {
                self.field.on_key(event);
                self.wrong = None;
                Answer::Stay
            }
        }
    }

    /// Pasted text goes into the field and never submits.
    pub fn paste(&mut self, text: &str) {
        self.field.paste(text);
        self.wrong = None;
    }

    fn read(&self, mono: Duration) -> Result<Action, String> {
        let text = self.field.text().trim();
        match self.wanted {
            Wanted::RunAt => {
                let now = self.opened.0.plus(mono.saturating_sub(self.opened.1));
                fmt::parse_when(text, now).map(|run_at| Action::Reschedule { run_at })
            }
            Wanted::Priority => {
                let wrong = |_| format!("`{text}` is not a priority: write a whole number, higher runs first");
                text.parse().map(|priority| Action::SetPriority { priority }).map_err(wrong)
            }
        }
    }

    fn words(&self) -> (&'static str, &'static str) {
        match self.wanted {
            Wanted::RunAt => ("Run when?", "now, in 10m, in 2h, never, or 2026-12-01T14:30:00Z"),
            Wanted::Priority => ("Which priority?", "a whole number; higher runs first, 0 is usual"),
        }
    }

    /// Draws it into the middle of the screen `area`.
    pub fn render(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let columns = area.width.saturating_sub(2).min(WIDEST);
        let (title, hint) = self.words();
        let mut lines = vec![Line::new("> ", ctx.theme.accent)];
        lines.extend(wrapped(hint, usize::from(columns), ctx.theme.quiet));
        if let Some(wrong) = &self.wrong {
            lines.extend(wrapped(crate::text::Safe::new(wrong).as_str(), usize::from(columns), ctx.theme.act));
        }
        lines.extend(wrapped(
            "[enter] go on, asks again before it acts   [esc] leave it",
            usize::from(columns),
            ctx.theme.accent,
        ));
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let Some(place) = frame::centered(area, columns, rows).filter(|_| columns >= 16) else {
            frame::too_small(area, buf, ctx.theme, (18, lines.len() + 2));
            return;
        };
        let inner = frame::draw(place, title, ctx.theme.accent, buf);
        frame::lines(buf, inner, &lines);
        let room = Rect { x: inner.x + 2, width: inner.width.saturating_sub(2), height: 1, ..inner };
        self.field.render(room, buf, ctx.theme);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::NOW;
    use super::*;
    use crossterm::event::KeyModifiers;

    const OPENED: Duration = Duration::from_secs(100);

    fn answer(wanted: Wanted, text: &str) -> (Answer, Option<String>) {
        let mut prompt = ValuePrompt::new(wanted, NOW, OPENED);
        prompt.paste(text);
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        let answer = prompt.on_key(&enter, None, OPENED + Duration::from_secs(5));
        (answer, prompt.wrong)
    }

    #[test]
    fn a_time_counts_from_the_moment_of_the_answer() {
        let run_at = NOW.plus(Duration::from_secs(605));
        assert_eq!(answer(Wanted::RunAt, "in 10m").0, Answer::Chosen(Action::Reschedule { run_at }));
        let never = Action::Reschedule { run_at: Time::Infinity };
        assert_eq!(answer(Wanted::RunAt, "never").0, Answer::Chosen(never));
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_prompt_stays() {
        for (wanted, text) in [(Wanted::RunAt, "soon"), (Wanted::Priority, "1.5"), (Wanted::Priority, "9999999999")] {
            let (answer, wrong) = answer(wanted, text);
            assert_eq!(answer, Answer::Stay);
            assert!(wrong.is_some_and(|wrong| wrong.contains(text)), "{text}");
        }
        assert_eq!(answer(Wanted::Priority, "-7").0, Answer::Chosen(Action::SetPriority { priority: -7 }));
    }
}
