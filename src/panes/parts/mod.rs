//! What several panes draw with: a table that gives up columns in a fixed order, a cursor that belongs to ids, trends,
//! charts, and words for empty states. No pane's own knowledge lives here.

mod cursor;
mod grid;
mod moment;
mod plot;
mod rates;
mod spark;
mod window;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

pub(crate) use cursor::{Cursor, Move};
pub(crate) use grid::{Cell, Column, Grid, Row, arranged, place_in};
pub(crate) use moment::STAMP;
pub(crate) use plot::{Line, Plot};
pub(crate) use rates::{DepthLine, Pick, RateLines};
pub(crate) use spark::spark;
pub(crate) use window::Window;

use crate::fmt::Tone;
use crate::keymap::Command;
use crate::text;
use crate::theme::Theme;

use super::Ctx;

/// Writes one line of text into `area`'s row `line`, cut with an ellipsis; outside of the area nothing happens.
/// The text must be ours or come from `text::Safe`.
pub(crate) fn put(buf: &mut Buffer, area: Rect, line: u16, text: &str, style: Style) {
    let area = area.intersection(buf.area);
    if line >= area.height || area.width == 0 {
        return;
    }
    let width = usize::from(area.width);
    buf.set_stringn(area.x, area.y.saturating_add(line), text::truncate(text, width), width, style);
}

/// The area for what is no table: under the title's first letter, where there is room for a margin.
pub(crate) fn inset(area: Rect) -> Rect {
    let margin = u16::from(area.width > 20);
    Rect { x: area.x.saturating_add(margin), width: area.width - margin, ..area }
}

/// An empty state in words, quietly, on as many lines as it needs.
pub(crate) fn say(buf: &mut Buffer, area: Rect, theme: &Theme, words: &str) {
    let area = inset(area);
    let lines = (0..area.height).zip(text::wrap(words, usize::from(area.width)).collect::<Vec<_>>());
    let needed = text::wrap(words, usize::from(area.width)).count();
    for (line, piece) in lines {
        let last = line + 1 == area.height && usize::from(area.height) < needed;
        let piece = if last { format!("{piece}…") } else { piece.into_owned() };
        put(buf, area, line, &piece, theme.quiet);
    }
}

/// Dims everything drawn from data that is older than it should be.
pub(crate) fn dim_if_stale(buf: &mut Buffer, area: Rect, ctx: &Ctx<'_>) {
    if ctx.stale {
        buf.set_style(area.intersection(buf.area), ctx.theme.stale);
    }
}

/// The style of a figure.
pub(crate) fn style_of(tone: Tone, theme: &Theme) -> Style {
    match tone {
        Tone::Plain | Tone::Missing => theme.text,
        Tone::Quiet => theme.quiet,
        Tone::Stale => theme.stale,
    }
}

/// Movements among the commands.
pub(crate) fn movement(command: Command) -> Option<Move> {
    Some(match command {
        Command::Up => Move::By(-1),
        Command::Down => Move::By(1),
        Command::PageUp => Move::Pages(-1),
        Command::PageDown => Move::Pages(1),
        Command::Top => Move::First,
        Command::Bottom => Move::Last,
        _ => return None,
    })
}
