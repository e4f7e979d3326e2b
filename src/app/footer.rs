//! The last line: the answer to the last action, else the keys that count now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::keymap::{self, Binding, Command};
use crate::text::{self, Safe, truncate};

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
    if !app.world.marks.is_empty() && app.overlays.is_empty() {
        spans.push(Span::styled(format!(" {} marked ", app.world.marks.len()), theme.mark));
    }
    let mut room = width.saturating_sub(spans.iter().map(Span::width).sum());
    let counts = |b: &&Binding| !b.hint.is_empty() && app.works_here(b.command);
    let hints: Vec<&Binding> = keymap::in_force(&app.scopes()).filter(counts).collect();
    // Help and the way out always have their place; the others fill what is left, in their order.
    let (last, first): (Vec<&Binding>, Vec<&Binding>) =
        hints.iter().partition(|b| matches!(b.command, Command::Help | Command::Quit | Command::Back));
    room = room.saturating_sub(last.iter().map(|b| hint_width(b)).sum());
    let fitting = first.into_iter().take_while(|binding| {
        let fits = hint_width(binding) <= room;
        room = room.saturating_sub(hint_width(binding));
        fits
    });
    for binding in fitting.chain(last) {
        spans.push(Span::styled(key_text(binding), theme.accent));
        spans.push(Span::styled(format!(" {} ", binding.hint), theme.text));
    }
    Line::from(spans).render(area, buf);
}

fn key_text(binding: &Binding) -> String {
    format!(" {}", binding.keys.first().map(|key| key.label()).unwrap_or_default())
}

fn hint_width(binding: &Binding) -> usize {
    text::width(&key_text(binding)) + text::width(binding.hint) + 2
}
