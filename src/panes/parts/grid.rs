//! A table whose columns never move: fixed widths, one line a row, and in a narrow place fewer columns, given up in a
//! fixed order of importance.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::put;
use crate::fmt::Figure;
use crate::text::{self, Side};
use crate::theme::Theme;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Its heading, with the unit.
    pub(crate) head: &'static str,
    /// The width it needs; 0: it is left out.
    pub(crate) width: u16,
    /// The width it may grow to where there is room.
    pub(crate) most: u16,
    /// Where its text stands.
    pub(crate) side: Side,
    /// 0 is kept longest.
    pub(crate) rank: u8,
}

impl Column {
    /// A column of numbers.
    pub(crate) const fn number(head: &'static str, width: u16, rank: u8) -> Self {
        Self { head, width, most: width, side: Side::Right, rank }
    }

    /// The same column, not shown.
    pub(crate) const fn left_out(self) -> Self {
        Self { width: 0, most: 0, ..self }
    }

    /// A column of words that may grow.
    pub(crate) const fn words(head: &'static str, width: u16, most: u16, rank: u8) -> Self {
        Self { head, width, most, side: Side::Left, rank }
    }
}

/// What stands in one cell. Foreign text only through `text::Safe`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Cell {
    /// Words.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    /// A figure in the style of its tone.
    pub(crate) fn figure(figure: Figure, theme: &Theme) -> Self {
        Self { style: super::style_of(figure.tone, theme), text: figure.text }
    }
}

/// One row: its cells in the order of the columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// Two signs before the first column: the cursor's, and the row's own.
    pub(crate) signs: [Cell; 2],
    pub(crate) cells: Vec<Cell>,
}

/// Columns, or cells, as they were chosen; those that were not chosen are left out.
pub(crate) fn arranged<T: Clone>(all: &[T], order: Option<&[usize]>) -> Vec<T> {
    match order {
        None => all.to_vec(),
        Some(order) => order.iter().filter_map(|at| all.get(*at).cloned()).collect(),
    }
}

/// Where a column of the table's own order stands among the chosen ones.
pub(crate) fn place_in(order: Option<&[usize]>, column: usize) -> Option<usize> {
    order.map_or(Some(column), |order| order.iter().position(|at| *at == column))
}

/// Which columns are shown, where, and how wide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    shown: Vec<Placed>,
    /// Columns taken by the signs.
    lead: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placed {
    column: usize,
    x: u16,
    width: u16,
}

/// The space between two columns.
const GAP: u16 = 1;
/// Cursor, sign and a space.
const LEAD: u16 = 3;
/// Below this the signs have no space after them.
const NARROW: u16 = 80;

impl Grid {
    /// Chooses columns for `width`. The most important one is always there, cut if need be.
    pub(crate) fn new(columns: &[Column], width: u16) -> Self {
        let lead = if width > NARROW { LEAD } else { LEAD - 1 }.min(width);
        let room = width - lead;
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|i| columns.get(*i).map(|c| c.rank));
        let mut kept: Vec<(usize, u16)> = Vec::new();
        let mut used = 0_u16;
        for index in order {
            let Some(column) = columns.get(index).filter(|c| c.width > 0) else { continue };
            let gap = if kept.is_empty() { 0 } else { GAP };
            let next = used.saturating_add(gap).saturating_add(column.width);
            if next > room {
                if kept.is_empty() && room > 0 {
                    kept.push((index, room));
                    used = room;
                }
                break;
            }
            kept.push((index, column.width));
            used = next;
        }
        kept.sort_by_key(|(index, _)| *index);
        grow(&mut kept, columns, room - used);
        let mut x = lead;
        let shown = kept.into_iter().map(|(column, width)| {
            let placed = Placed { column, x, width };
            x += width + GAP;
            placed
        });
        Self { shown: shown.collect(), lead }
    }

    /// The width of a column, where it is shown.
    pub(crate) fn width_of(&self, column: usize) -> Option<u16> {
        self.shown.iter().find(|p| p.column == column).map(|p| p.width)
    }

    /// The place of a cell on a line of `area`, where its column is shown.
    pub(crate) fn cell(&self, area: Rect, line: u16, column: usize) -> Option<Rect> {
        let placed = self.shown.iter().find(|placed| placed.column == column)?;
        let row = Rect { y: area.y.saturating_add(line), height: 1, ..area }.intersection(area);
        Some(at(row, placed.x, placed.width))
    }

    /// Draws the headings; `emphasis` is the column that the rows are sorted by.
    pub(crate) fn head(
        &self,
        buf: &mut Buffer,
        area: Rect,
        columns: &[Column],
        emphasis: Option<usize>,
        theme: &Theme,
    ) {
        for placed in &self.shown {
            if let Some(column) = columns.get(placed.column) {
                let style = if emphasis == Some(placed.column) { theme.accent } else { theme.heading };
                let text = text::fit(column.head, usize::from(placed.width), column.side);
                put(buf, at(area, placed.x, placed.width), 0, &text, style);
            }
        }
    }

    /// Draws a row on a line of `area`.
    pub(crate) fn row(&self, buf: &mut Buffer, area: Rect, line: u16, columns: &[Column], row: &Row) {
        for (x, sign) in (0..self.lead).zip(&row.signs) {
            put(buf, at(area, x, 1), line, &sign.text, sign.style);
        }
        for placed in &self.shown {
            if let (Some(column), Some(cell)) = (columns.get(placed.column), row.cells.get(placed.column)) {
                let text = text::fit(&cell.text, usize::from(placed.width), column.side);
                put(buf, at(area, placed.x, placed.width), line, &text, cell.style);
            }
        }
    }
}

/// Gives what is left over to the columns that may grow, first come, first served.
fn grow(kept: &mut [(usize, u16)], columns: &[Column], mut spare: u16) {
    for (index, width) in kept {
        let most = columns.get(*index).map_or(0, |c| c.most);
        let more = most.saturating_sub(*width).min(spare);
        *width += more;
        spare -= more;
    }
}

/// A part of `area`, cut to it.
fn at(area: Rect, x: u16, width: u16) -> Rect {
    Rect { x: area.x.saturating_add(x), width, ..area }.intersection(area)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::words("queue", 8, 12, 0),
        Column::number("ready", 6, 1),
        Column::number("run", 4, 3),
        Column::words("trend", 4, 10, 2),
    ];

    fn shown(width: u16) -> Vec<(usize, u16)> {
        Grid::new(&COLUMNS, width).shown.iter().map(|p| (p.column, p.width)).collect()
    }

    #[test]
    fn columns_go_in_order_of_importance() {
        assert_eq!(shown(2), []);
        assert_eq!(shown(5), [(0, 3)]);
        assert_eq!(shown(10), [(0, 8)]);
        assert_eq!(shown(17), [(0, 8), (1, 6)]);
        assert_eq!(shown(22), [(0, 8), (1, 6), (3, 4)]);
        assert_eq!(shown(27), [(0, 8), (1, 6), (2, 4), (3, 4)]);
        assert_eq!(shown(32), [(0, 12), (1, 6), (2, 4), (3, 5)]);
    }

    #[test]
    fn nothing_is_drawn_outside_and_nothing_is_cut_silently() {
        let theme = Theme::mono();
        let row = Row {
            signs: [Cell::new("▸", theme.text), Cell::new("▲", theme.text)],
            cells: vec![Cell::new("漢字漢字漢字漢字", theme.text), Cell::new("1234567", theme.text)],
        };
        for width in 0..20 {
            let mut buf = Buffer::empty(Rect::new(0, 0, 20, 2));
            let area = Rect::new(0, 0, width, 1);
            let grid = Grid::new(&COLUMNS, width);
            grid.row(&mut buf, area, 0, &COLUMNS, &row);
            grid.row(&mut buf, area, 1, &COLUMNS, &row);
            for x in width..20 {
                assert_eq!(buf[(x, 0)].symbol(), " ");
            }
            assert!((0..20).all(|x| buf[(x, 1)].symbol() == " "));
        }
    }
}
