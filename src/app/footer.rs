//! The last line: the answer to the last action, else the keys that count now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::keymap;
use crate::text::{Safe, truncate};

use super::App;

/// Draws the footer into a one-line area.
pub(super) fn render(app: &App, area: Rect, buf: &mut Buffer) {
    let theme = &app.world.theme;
    let width = usize::from(area.width);
    if let Some(notice) = &app.notice {
        let style = if notice.good { theme.text } else { theme.warn };
        let text = Safe::new(&notice.text);
        Line::styled(truncate(text.as_str(), width).into_owned(), style).render(area, buf);
        return;
    }
    let mut spans = Vec::new();
    if !app.world.marks.is_empty() && app.overlay.is_none() {
        spans.push(Span::styled(format!(" {} marked ", app.world.marks.len()), theme.mark));
    }
    let mut used: usize = spans.iter().map(Span::width).sum();
    for binding in keymap::in_force(&app.scopes()).filter(|b| !b.hint.is_empty()) {
        let Some(key) = binding.keys.first() else { continue };
        let key = format!(" {}", key.label());
        let hint = format!(" {} ", binding.hint);
        used += crate::text::width(&key) + crate::text::width(&hint);
        if used > width {
            break;
        }
        spans.push(Span::styled(key, theme.accent));
        spans.push(Span::styled(hint, theme.text));
    }
    Line::from(spans).render(area, buf);
}
