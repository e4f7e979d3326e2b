//! A drawn screen as text.

use ratatui::buffer::{Buffer, Cell};

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
