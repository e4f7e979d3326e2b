//! A text field of one line. Pasted text goes into it with its line breaks as spaces, so a paste never submits anything.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_input::{Input, InputRequest};
use unicode_segmentation::UnicodeSegmentation;

use crate::panes::parts::put;
use crate::text::{self, Safe};
use crate::theme::Theme;

/// More characters than this are not taken: nobody types them, and a megabyte in the clipboard must not hurt.
const MOST: usize = 512;

/// The text and its cursor.
#[derive(Debug, Clone, Default)]
pub(super) struct Field {
    input: Input,
}

impl Field {
    /// With a text to edit, the cursor at its end.
    pub(super) fn new(text: &str) -> Self {
        Self { input: Input::new(text.chars().take(MOST).collect()) }
    }

    pub(super) fn text(&self) -> &str {
        self.input.value()
    }

    /// Where the cursor stands, in bytes.
    pub(super) fn cursor(&self) -> usize {
        self.text().char_indices().nth(self.input.cursor()).map_or(self.text().len(), |(at, _)| at)
    }

    /// Puts a text in the place of these bytes, the cursor behind it. What does not lie between characters changes nothing.
    pub(super) fn replace(&mut self, bytes: std::ops::Range<usize>, with: &str) {
        let text = self.text();
        let (Some(before), Some(after)) = (text.get(..bytes.start), text.get(bytes.end..)) else { return };
        let cursor = before.chars().count() + with.chars().count();
        self.input = Input::new(format!("{before}{with}{after}").chars().take(MOST).collect()).with_cursor(cursor);
    }

    /// Edits. Says whether the key was one of the field's.
    pub(super) fn on_key(&mut self, event: &KeyEvent) -> bool {
        let Some(request) = request(event) else {
            return false;
        };
        if matches!(request, InputRequest::InsertChar(_)) && self.text().chars().count() >= MOST {
            return true;
        }
        self.input.handle(request);
        true
    }

    /// Puts in a text where the cursor stands.
    pub(super) fn paste(&mut self, text: &str) {
        let room = MOST.saturating_sub(self.text().chars().count());
        for c in text.trim_end_matches(['\r', '\n']).chars().take(room) {
            let c = if c.is_control() { ' ' } else { c };
            self.input.handle(InputRequest::InsertChar(c));
        }
    }

    /// Draws it into the first row of the area, the cursor as a reversed cell that is always in view.
    pub(super) fn render(&self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let area = Rect { height: area.height.min(1), ..area }.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let at = self.text().char_indices().nth(self.input.cursor()).map_or(self.text().len(), |(at, _)| at);
        let (before, after) = self.text().split_at(at);
        let (before, after) = (Safe::full(before), Safe::full(after));
        // The cursor needs a column of its own; what is before it is shown from its end.
        let left = tail(before.as_str(), usize::from(area.width) - 1);
        let column = u16::try_from(text::width(left)).unwrap_or(0);
        put(buf, area, 0, &format!("{left}{after}"), theme.text);
        if let Some(cell) = buf.cell_mut((area.x + column.min(area.width - 1), area.y)) {
            cell.set_style(theme.cursor);
        }
    }
}

/// The end of a text, at most so many columns of it.
fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let mut from = text.len();
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += text::width(grapheme);
        if used > columns {
            break;
        }
        from = at;
    }
    text.get(from..).unwrap_or_default()
}

/// The usual keys of a line editor.
fn request(event: &KeyEvent) -> Option<InputRequest> {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    if event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match (event.code, control) {
        (KeyCode::Char('a'), true) | (KeyCode::Home, _) => InputRequest::GoToStart,
        (KeyCode::Char('e'), true) | (KeyCode::End, _) => InputRequest::GoToEnd,
        (KeyCode::Left, true) => InputRequest::GoToPrevWord,
        (KeyCode::Right, true) => InputRequest::GoToNextWord,
        (KeyCode::Char('b'), true) | (KeyCode::Left, _) => InputRequest::GoToPrevChar,
        (KeyCode::Char('f'), true) | (KeyCode::Right, _) => InputRequest::GoToNextChar,
        (KeyCode::Char('d'), true) | (KeyCode::Delete, _) => InputRequest::DeleteNextChar,
        (KeyCode::Char('w') | KeyCode::Backspace, true) => InputRequest::DeletePrevWord,
        (KeyCode::Char('h'), true) | (KeyCode::Backspace, _) => InputRequest::DeletePrevChar,
        (KeyCode::Char('k'), true) => InputRequest::DeleteTillEnd,
        (KeyCode::Char('u'), true) => InputRequest::DeleteFromStart,
        (KeyCode::Char(c), false) => InputRequest::InsertChar(c),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut Field, code: KeyCode, modifiers: KeyModifiers) -> bool {
        field.on_key(&KeyEvent::new(code, modifiers))
    }

    fn drawn(field: &Field, columns: u16) -> String {
        let area = Rect::new(0, 0, columns, 1);
        let mut buf = Buffer::empty(area);
        field.render(area, &mut buf, &Theme::mono());
        buf.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn pasted_line_breaks_are_spaces_and_a_last_one_is_dropped() {
        let mut field = Field::new("x");
        field.paste("abc\ny\r\n");
        assert_eq!(field.text(), "xabc y");
        field.paste(&"z".repeat(1_000_000));
        assert_eq!(field.text().chars().count(), MOST);
        press(&mut field, KeyCode::Char('z'), KeyModifiers::NONE);
        assert_eq!(field.text().chars().count(), MOST);
    }

    #[test]
    fn enter_escape_and_alt_are_not_the_fields() {
        let mut field = Field::default();
        for code in [KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::Up] {
            assert!(!press(&mut field, code, KeyModifiers::NONE), "{code}");
        }
        assert!(!press(&mut field, KeyCode::Char('x'), KeyModifiers::ALT));
        assert!(press(&mut field, KeyCode::Char('é'), KeyModifiers::NONE));
        assert!(press(&mut field, KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert_eq!(field.text(), "");
    }

    #[test]
    fn the_cursor_is_always_in_view_and_foreign_text_is_harmless() {
        let field = Field::new("0123456789");
        assert_eq!(drawn(&field, 5), "6789 ");
        assert_eq!(drawn(&field, 1), " ");
        assert_eq!(drawn(&Field::new("漢字漢字"), 4).trim_end(), "字");
        let mut hostile = Field::default();
        hostile.paste("a\u{1b}[2J\u{202e}b");
        assert_eq!(drawn(&hostile, 20).trim_end(), r"a [2J\u{202e}b");
        field.render(Rect::new(5, 5, 3, 1), &mut Buffer::empty(Rect::new(0, 0, 2, 2)), &Theme::mono());
    }
}
