//! The prompt for a filter: one line at the foot of the screen. The text is literal; a paste goes into it and never submits.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::field::Field;
use super::frame;
use crate::keymap::Command;
use crate::panes::Ctx;
use crate::panes::parts::put;
use crate::text::width;

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

/// An open prompt.
#[derive(Debug, Clone)]
pub struct FilterPrompt {
    field: Field,
}

const LABEL: &str = " filter: ";
const HINT: &str = "  Enter applies, Esc leaves it as it was ";

impl FilterPrompt {
    /// A prompt with the filter that is in force.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { field: Field::new(text) }
    }

    /// A key, with its command in the scope of prompts.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>) -> Answer {
        match (event.code, command) {
            (KeyCode::Esc, _) | (_, Some(Command::Back)) => Answer::Cancel,
            (KeyCode::Enter, _) | (_, Some(Command::Confirm)) => Answer::Done(self.field.text().trim().to_owned()),
            _ => {
                self.field.on_key(event);
                Answer::Stay
            }
        }
    }

    /// Pasted text goes into the field.
    pub fn paste(&mut self, text: &str) {
        self.field.paste(text);
    }

    /// Draws it over the last row of the screen `area`.
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
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::screen;
    use super::*;
    use crossterm::event::KeyModifiers;

    fn press(prompt: &mut FilterPrompt, code: KeyCode) -> Answer {
        prompt.on_key(&KeyEvent::new(code, KeyModifiers::NONE), None)
    }

    #[test]
    fn text_is_taken_as_it_is() {
        let mut prompt = FilterPrompt::new("50%_");
        for c in "q\\'y".chars() {
            assert_eq!(press(&mut prompt, KeyCode::Char(c)), Answer::Stay);
        }
        assert_eq!(press(&mut prompt, KeyCode::Enter), Answer::Done(r"50%_q\'y".into()));
        assert_eq!(press(&mut prompt, KeyCode::Esc), Answer::Cancel);
    }

    #[test]
    fn a_paste_with_line_breaks_does_not_submit() {
        let mut prompt = FilterPrompt::new("");
        prompt.paste("abc\ny\n");
        assert_eq!(press(&mut prompt, KeyCode::Enter), Answer::Done("abc y".into()));
    }

    #[test]
    fn it_lies_over_the_last_row_at_any_size() {
        let prompt = FilterPrompt::new("timeout");
        let draw = |size| screen(size, false, |area, buf, ctx| prompt.render(area, buf, ctx));
        let text = draw((80, 3));
        let line = text.lines().nth(2).unwrap();
        assert!(line.starts_with(" filter: timeout  ") && line.ends_with("Esc leaves it as it was"), "{text}");
        for size in [(20, 5), (10, 3), (1, 1), (300, 2), (0, 0)] {
            draw(size);
        }
    }
}
