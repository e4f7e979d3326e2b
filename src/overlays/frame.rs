//! The box of a dialog: clears what lies below, draws the border and the title, and puts lines in it.

use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use crate::panes::parts::put;
use crate::text;
use crate::theme::Theme;

/// A line of a dialog. Its text is ours or came through `text::Safe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) style: Style,
}

impl Line {
    pub(super) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// `label     value`, the value wrapped under itself where it must be.
pub(super) fn labelled(label: &str, value: &str, columns: usize, style: Style) -> Vec<Line> {
    const LABEL: usize = 10;
    tagged((label, LABEL), value, columns, style)
}

/// The same with a label of its own width.
pub(super) fn tagged(label: (&str, usize), value: &str, columns: usize, style: Style) -> Vec<Line> {
    let (label, wanted) = label;
    let room = wanted.min(columns / 3);
    let lines = text::wrap(value, columns.saturating_sub(room).max(1)).enumerate().map(|(at, piece)| {
        let label = if at == 0 { label } else { "" };
        Line::new(format!("{}{piece}", text::fit(label, room, text::Side::Left)), style)
    });
    lines.collect()
}

/// A text on as many lines as it needs.
pub(super) fn wrapped(words: &str, columns: usize, style: Style) -> Vec<Line> {
    text::wrap(words, columns.max(1)).map(|piece| Line::new(piece, style)).collect()
}

/// A box of that inner size in the middle of the area, where it fits with its border.
pub(super) fn centered(area: Rect, columns: u16, rows: u16) -> Option<Rect> {
    let (width, height) = (columns.checked_add(2)?, rows.checked_add(2)?);
    (width <= area.width && height <= area.height).then(|| {
        let x = area.x + (area.width - width) / 2;
        let y = area.y + (area.height - height) / 2;
        Rect::new(x, y, width, height)
    })
}

/// Clears the place, draws border and title, and gives back the room inside.
pub(super) fn draw(place: Rect, title: &str, border: Style, buf: &mut Buffer) -> Rect {
    clear(place, buf);
    let block = Block::bordered().border_style(border);
    let inner = block.inner(place);
    block.render(place, buf);
    let room = Rect { x: place.x + 1, width: place.width.saturating_sub(2), height: 1, ..place };
    put(buf, room, 0, &format!(" {title} "), border);
    inner
}

/// Empties the place. A wide character that reaches into it from the left loses its place outside too: half of it cannot
/// stay.
pub(super) fn clear(place: Rect, buf: &mut Buffer) {
    let place = place.intersection(buf.area);
    Clear.render(place, buf);
    if let Some(left) = place.x.checked_sub(1) {
        for y in place.top()..place.bottom() {
            if let Some(cell) = buf.cell_mut((left, y)).filter(|cell| cell.cell_width() > 1) {
                cell.set_symbol(" ");
            }
        }
    }
}

/// Puts lines from the top of the area on, as many as there is room for.
pub(super) fn lines<'a>(buf: &mut Buffer, area: Rect, lines: impl IntoIterator<Item = &'a Line>) {
    for (row, line) in (0..area.height).zip(lines) {
        put(buf, area, row, &line.text, line.style);
    }
}

/// Says that a dialog needs more room than there is. Over everything: nothing below may look as if it took keys.
pub(super) fn too_small(area: Rect, buf: &mut Buffer, theme: &Theme, needs: (usize, usize)) {
    clear(area, buf);
    let words = format!("this dialog needs a screen of {}x{}; Esc leaves it", needs.0, needs.1);
    for (row, line) in (0..area.height).zip(text::wrap(&words, usize::from(area.width))) {
        put(buf, area, row, &line, theme.warn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_character_under_the_border_is_taken_away_whole() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 8, 3));
        buf.set_string(0, 1, "漢字漢字", Style::new());
        draw(Rect::new(3, 0, 4, 3), "t", Style::new(), &mut buf);
        let row: Vec<&str> = buf.content[8..16].iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(row[..4], ["漢", " ", " ", "│"]);
    }

    #[test]
    fn a_value_is_wrapped_under_itself() {
        let lines = labelled("job", "8c1fd0a4 running since an hour", 30, Style::new());
        let text: Vec<&str> = lines.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(text, ["job       8c1fd0a4 running", "          since an hour"]);
        assert!(!labelled("job", "x", 0, Style::new()).is_empty());
    }

    #[test]
    fn a_box_that_does_not_fit_is_none() {
        assert_eq!(centered(Rect::new(0, 0, 20, 5), 18, 3), Some(Rect::new(0, 0, 20, 5)));
        assert_eq!(centered(Rect::new(0, 0, 20, 5), 19, 3), None);
        assert_eq!(centered(Rect::new(0, 0, 0, 0), u16::MAX, u16::MAX), None);
    }
}
