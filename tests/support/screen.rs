//! A drawn screen as text.

use queuetop::panes::{Ctx, Pane};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;

/// One line of text for each row, without what only fills it.
pub(crate) fn text_of(buf: &Buffer) -> String {
    let width = usize::from(buf.area.width).max(1);
    buf.content.chunks(width).map(|row| line(row) + "\n").collect()
}

/// A wide character covers the cells after it; they are no text of their own.
fn line(cells: &[Cell]) -> String {
    let mut covered = 0;
    let mut out = String::new();
    for cell in cells {
        if covered == 0 {
            out += cell.symbol();
            covered = queuetop::text::width(cell.symbol()).max(1);
        }
        covered -= 1;
    }
    out.trim_end().to_owned()
}

/// A pane under its title in an area that begins at the top left, as the app lays it out.
pub(crate) fn titled(pane: &mut dyn Pane, ctx: &Ctx<'_>, area: Rect) -> Buffer {
    let mut buf = Buffer::empty(area);
    let title = queuetop::text::truncate(&pane.title(ctx), usize::from(area.width)).into_owned();
    buf.set_string(0, 0, title, Style::new());
    pane.render(Rect { y: 1, height: area.height - 1, ..area }, &mut buf, ctx);
    ctx.theme.finish(&mut buf);
    buf
}
