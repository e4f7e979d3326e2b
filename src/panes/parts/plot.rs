//! Lines over time, drawn with braille dots: two dots a column, four a row. A gap in the data is a gap in the line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::put;
use crate::fmt;
use crate::text::{self, Side};
use crate::theme::Theme;

/// One line of a chart: a value for each dot column, oldest first.
pub(crate) struct Line<'a> {
    /// Written at its end.
    pub(crate) name: &'static str,
    pub(crate) values: &'a [Option<f64>],
    pub(crate) style: Style,
}

/// A chart with its axes.
pub(crate) struct Plot {
    /// Everything, axes included.
    area: Rect,
    /// Dots only.
    inner: Rect,
}

/// Columns of the numbers on the left, and of the names on the right.
const LEFT: u16 = 5;
const RIGHT: u16 = 6;
/// From so many rows on the scale has a label in the middle.
const MIDDLE_FROM: u16 = 7;
/// Dots in one cell.
const ACROSS: u16 = 2;
const DOWN: u16 = 4;

impl Plot {
    /// A chart in `area`; `None` where there is no room for one with axes.
    pub(crate) fn new(area: Rect) -> Option<Self> {
        let rows = area.height.saturating_sub(2);
        // An odd number of rows has a row in the middle, for half of the scale.
        let spare = u16::from(rows >= MIDDLE_FROM && rows.is_multiple_of(2));
        let area = Rect { y: area.y.saturating_add(spare), height: area.height - spare, ..area };
        let inner = Rect {
            x: area.x.saturating_add(LEFT + 1),
            width: area.width.saturating_sub(LEFT + 1 + RIGHT),
            height: rows - spare,
            ..area
        };
        (inner.width >= 8 && inner.height >= 2).then_some(Self { area, inner })
    }

    /// All of it.
    pub(crate) fn area(&self) -> Rect {
        self.area
    }

    /// How many values a line should have.
    pub(crate) fn dots(&self) -> usize {
        usize::from(self.inner.width) * usize::from(ACROSS)
    }

    /// Draws axes and lines. `back_seconds` is the length of the time axis. Later lines are drawn over earlier ones.
    pub(crate) fn draw(&self, buf: &mut Buffer, lines: &[Line<'_>], back_seconds: i64, theme: &Theme) {
        let known = lines.iter().flat_map(|l| l.values.iter().flatten()).filter(|v| v.is_finite());
        let top = round_up(known.fold(0.0, |a, b| f64::max(a, *b)));
        self.axes(buf, top, back_seconds, theme);
        let mut taken = Vec::new();
        for line in lines {
            self.line(buf, line, top);
            self.name(buf, line, top, &mut taken);
        }
    }

    fn axes(&self, buf: &mut Buffer, top: f64, back_seconds: i64, theme: &Theme) {
        let left = Rect { width: LEFT, ..self.area };
        let rule = Rect { x: self.inner.x.saturating_sub(1), width: 1, ..self.area };
        let bottom = self.inner.height;
        let middle = (bottom >= MIDDLE_FROM).then_some(bottom / 2);
        for row in 0..bottom {
            put(buf, rule, row, if row == 0 || Some(row) == middle { "┤" } else { "│" }, theme.quiet);
        }
        let label = |value| text::fit(&axis_label(value), usize::from(LEFT), Side::Right);
        put(buf, left, 0, &label(top), theme.quiet);
        if let Some(middle) = middle {
            put(buf, left, middle, &label(top / 2.0), theme.quiet);
        }
        put(buf, left, bottom, &label(0.0), theme.quiet);
        put(buf, rule, bottom, "┼", theme.quiet);
        let base = Rect { width: self.inner.width, height: self.area.height, ..self.inner };
        put(buf, base, bottom, &"─".repeat(usize::from(base.width)), theme.quiet);
        self.time_labels(buf, base, back_seconds, theme);
    }

    /// As many labels as have room: the start, thirds or the middle, and now.
    fn time_labels(&self, buf: &mut Buffer, base: Rect, back_seconds: i64, theme: &Theme) {
        let parts: i64 = match base.width {
            0..=15 => 1,
            16..=35 => 2,
            36.. => 3,
        };
        let bottom = self.inner.height;
        for part in 0..=parts {
            let back = back_seconds / parts * (parts - part);
            let offset = i64::from(base.width.saturating_sub(1)) * part / parts;
            let x = base.x.saturating_add(u16::try_from(offset).unwrap_or(0));
            put(buf, Rect { x, width: 1, ..base }, bottom, "┴", theme.quiet);
            let text = if part == parts { "now".to_owned() } else { format!("-{}", fmt::span(back)) };
            let half = u16::try_from(text.len() / 2).unwrap_or(0);
            let at = Rect { x: x.saturating_sub(half).max(self.area.x), width: 9, ..base };
            put(buf, at.intersection(self.area), bottom + 1, &text, theme.quiet);
        }
    }

    fn line(&self, buf: &mut Buffer, line: &Line<'_>, top: f64) {
        let last_dot = i32::from(self.inner.height * DOWN).saturating_sub(1);
        let mut before: Option<i32> = None;
        for (x, value) in (0..self.inner.width.saturating_mul(ACROSS)).zip(line.values) {
            let y = value.filter(|v| v.is_finite()).map(|v| last_dot - scaled(v, top, last_dot));
            if let Some(y) = y {
                // A vertical stroke from the dot before, so that steep parts stay connected.
                let from = before.map_or(y, |b| if b < y { (b + 1).min(y) } else { (b - 1).max(y) });
                for dot in from.min(y)..=from.max(y) {
                    self.dot(buf, x, dot, line.style);
                }
            }
            before = y;
        }
    }

    fn dot(&self, buf: &mut Buffer, x: u16, y: i32, style: Style) {
        /// The bit of each dot in a braille character, by row and column (Unicode, block U+2800).
        const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let Ok(y) = u16::try_from(y) else { return };
        let at = (self.inner.x.saturating_add(x / ACROSS), self.inner.y.saturating_add(y / DOWN));
        let bit = BITS.get(usize::from(y % DOWN)).and_then(|row| row.get(usize::from(x % ACROSS)));
        let (Some(bit), Some(cell)) = (bit, buf.cell_mut(at)) else { return };
        let before = cell.symbol().chars().next().map_or(0, u32::from);
        let before = if (0x2800..0x2900).contains(&before) { before } else { 0x2800 };
        if let Some(c) = char::from_u32(before | bit) {
            cell.set_char(c).set_style(style);
        }
    }

    /// Writes the line's name beside its last value, on a row that no other name has.
    fn name(&self, buf: &mut Buffer, line: &Line<'_>, top: f64, taken: &mut Vec<i32>) {
        let Some(last) = line.values.iter().rev().flatten().find(|v| v.is_finite()) else { return };
        let rows = i32::from(self.inner.height);
        let wish = rows - 1 - scaled(*last, top, rows - 1);
        let free = (0..rows).filter(|row| !taken.contains(row)).min_by_key(|row| (row - wish).abs());
        let Some(row) = free else { return };
        taken.push(row);
        let x = self.inner.right().saturating_add(1);
        let right = Rect { x, width: RIGHT - 1, ..self.area }.intersection(self.area);
        put(buf, right, u16::try_from(row).unwrap_or(0), line.name, line.style);
    }
}

/// A figure on the scale, without digits that say nothing: `0.25`, `7.5`, `60`, `1.5k`.
fn axis_label(value: f64) -> String {
    if value >= 100.0 {
        return fmt::rate(value);
    }
    format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Where a value stands on a scale of `steps` from zero to `top`.
fn scaled(value: f64, top: f64, steps: i32) -> i32 {
    let share = (value / top).clamp(0.0, 1.0);
    (0..steps).find(|step| share * f64::from(steps) < f64::from(*step) + 0.5).unwrap_or(steps)
}

/// The next of 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, … that is not below the value, from 0.1 on: an axis that does not twitch.
fn round_up(value: f64) -> f64 {
    let mut decade = 0.1;
    while decade < 1e18 {
        for step in [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0] {
            if value <= decade * step * (1.0 + f64::EPSILON) {
                return decade * step;
            }
        }
        decade *= 10.0;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(width: u16, height: u16, values: &[Option<f64>]) -> Buffer {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        if let Some(plot) = Plot::new(area) {
            let style = Style::new();
            plot.draw(&mut buf, &[Line { name: "done", values, style }], 900, &Theme::mono());
        }
        buf
    }

    #[test]
    fn gaps_are_gaps_and_axes_have_labels() {
        let values: Vec<_> = (0..40).map(|i| (i % 13 != 0).then_some(f64::from(i) / 10.0)).collect();
        let buf = draw(32, 6, &values);
        insta::assert_snapshot!(text_of(&buf));
    }

    fn text_of(buf: &Buffer) -> String {
        let rows = buf.content.chunks(usize::from(buf.area.width));
        let line = |row: &[ratatui::buffer::Cell]| row.iter().map(|c| c.symbol().to_owned()).collect::<String>();
        rows.map(|row| line(row).trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn odd_values_and_sizes_do_no_harm() {
        for values in [
            vec![],
            vec![Some(0.0)],
            vec![Some(5.0); 3],
            vec![Some(f64::NAN), Some(f64::INFINITY), Some(-0.1), Some(f64::MAX), None, Some(f64::MIN)],
        ] {
            for (width, height) in [(0, 0), (1, 1), (20, 4), (21, 5), (300, 2), (2, 300)] {
                draw(width, height, &values);
            }
        }
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, want) in [(0.0, 0.1), (0.3, 0.3), (52.1, 60.0), (2_100.0, 3_000.0)] {
            assert!((round_up(value) - want).abs() < 1e-9, "{value}");
        }
    }
}
