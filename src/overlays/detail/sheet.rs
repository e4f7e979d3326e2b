//! A text of any length as rows of a screen. Its lines, and where each begins on screen, are worked out once for a width and a
//! state of the folds; a frame then costs what its rows in view cost, wherever they are.

mod fold;
mod hidden;
mod rows;

use std::collections::BTreeSet;
use std::ops::Range;

use super::json::{self, Hides, Line, Role, small};
use fold::Folds;
pub(super) use hidden::Revealed;
pub(super) use rows::SheetRow;

/// A huge line is worked on in parts of about so many bytes, so that its far end is as near as its start.
const PART: usize = 8_192;
/// Columns for each level.
const STEP: usize = 2;
/// Deeper levels are indented no further.
const DEEPEST: u16 = 16;

/// What the text is, for how it is made harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Backslashes are the text's own: shown as they are.
    Json,
    /// Anything.
    Plain,
}

/// A line, or a part of a huge one, that is not folded away.
#[derive(Debug, Clone, Copy)]
struct Part {
    line: u32,
    start: u32,
    end: u32,
    /// Rows before it.
    before: u32,
    /// One column a byte: rows are found by counting.
    even: bool,
}

impl Part {
    fn bytes(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place in the text: a byte, and how many rows below the row that begins there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place {
    pub(super) byte: usize,
    pub(super) row: usize,
}

/// The text with its lines, folds and rows.
#[derive(Debug, Clone)]
pub(super) struct Sheet {
    text: String,
    kind: Kind,
    lines: Vec<Line>,
    folds: Folds,
    /// Where hidden values begin that are shown all the same.
    revealed: BTreeSet<u32>,
    columns: usize,
    parts: Vec<Part>,
    rows: usize,
}

impl Sheet {
    /// Any text: its line ends end lines.
    pub(super) fn plain(text: &str) -> Self {
        let mut sheet = Self::empty(text.to_owned(), Kind::Plain);
        sheet.read(&|_| false);
        sheet
    }

    /// JSON: a member a line, folded where it is large.
    pub(super) fn json(text: &str, hides: Hides<'_>) -> Self {
        let mut sheet = Self::empty(json::tidy(text).into_owned(), Kind::Json);
        sheet.read(hides);
        sheet.folds = Folds::sensible(&sheet.lines);
        sheet
    }

    fn empty(text: String, kind: Kind) -> Self {
        Self {
            text,
            kind,
            lines: Vec::new(),
            folds: Folds::default(),
            revealed: BTreeSet::new(),
            columns: 0,
            parts: Vec::new(),
            rows: 0,
        }
    }

    /// More of the same text. Folds stay, also those of what comes.
    pub(super) fn append(&mut self, more: &str, hides: Hides<'_>) {
        self.text.push_str(more);
        if self.kind == Kind::Json
            && let std::borrow::Cow::Owned(tidy) = json::tidy(&self.text)
        {
            self.text = tidy;
        }
        self.read(hides);
        self.lay_out_again();
    }

    fn read(&mut self, hides: Hides<'_>) {
        self.lines = match self.kind {
            Kind::Json => json::lines(&self.text, hides, &self.revealed),
            Kind::Plain => plain_lines(&self.text),
        };
    }

    /// The whole text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// How many rows there are at the width that was laid out.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Works out the rows for a width. The same width again costs nothing.
    pub(super) fn lay_out(&mut self, columns: usize) {
        let columns = columns.max(1);
        if self.columns != columns {
            self.columns = columns;
            self.lay_out_again();
        }
    }

    fn lay_out_again(&mut self) {
        self.parts.clear();
        self.rows = 0;
        if self.columns == 0 {
            return;
        }
        let mut at = 0;
        while let Some(line) = self.lines.get(at).copied() {
            let number = small(at);
            if self.folds.holds(&line) || line.role == Role::Hidden {
                self.add_part(number, line.start as usize, line.end as usize, false);
            } else {
                self.add_line(number, &line);
            }
            at = if self.folds.holds(&line) { line.next as usize } else { at + 1 };
        }
    }

    /// A line in parts of bounded size.
    fn add_line(&mut self, number: u32, line: &Line) {
        let room = self.room(line.depth);
        let (mut at, end) = (line.start as usize, line.end as usize);
        loop {
            let to = part_end(&self.text, at, end, room);
            let even = is_even(&self.text, at..to, self.kind);
            self.add_part(number, at, to, even);
            at = to;
            if at >= end {
                break;
            }
        }
    }

    fn add_part(&mut self, line: u32, start: usize, end: usize, even: bool) {
        let part = Part { line, start: small(start), end: small(end), before: small(self.rows), even };
        self.rows += self.rows_of(&part);
        self.parts.push(part);
    }

    fn indent(&self, depth: u16) -> usize {
        (usize::from(depth.min(DEEPEST)) * STEP).min(self.columns / 2)
    }

    /// Columns for a line's own text.
    fn room(&self, depth: u16) -> usize {
        (self.columns - self.indent(depth)).max(1)
    }

    /// The place of a row.
    pub(super) fn place(&self, row: usize) -> Place {
        let Some(part) = self.part_of_row(row) else {
            return Place::default();
        };
        let below = row.saturating_sub(part.before as usize);
        if part.even {
            return Place { byte: part.start as usize + below * self.room(self.depth(part)), row: 0 };
        }
        Place { byte: part.start as usize, row: below }
    }

    /// The row of a place; what is folded away is at the line that holds it.
    pub(super) fn row(&self, place: Place) -> usize {
        let Some(part) = self.part_of_byte(place.byte) else {
            return 0;
        };
        let inside = place.byte.saturating_sub(part.start as usize);
        let below = if part.even { inside / self.room(self.depth(part)) } else { 0 };
        part.before as usize + (below + place.row).min(self.rows_of(part).saturating_sub(1))
    }

    /// The row that shows a byte.
    pub(super) fn row_of_byte(&self, byte: usize) -> usize {
        let row = self.row(Place { byte, row: 0 });
        match self.part_of_byte(byte) {
            Some(part) if !part.even => row + self.row_inside(part, byte),
            _ => row,
        }
    }

    /// The bytes that a row shows; of lines that are not even, those of the whole part.
    pub(super) fn bytes_of_row(&self, row: usize) -> Range<usize> {
        let Some(part) = self.part_of_row(row) else {
            return 0..0;
        };
        if !part.even {
            return part.bytes();
        }
        let start = self.place(row).byte;
        start..(start + self.room(self.depth(part))).min(part.end as usize).max(start + 1)
    }

    fn depth(&self, part: &Part) -> u16 {
        self.lines.get(part.line as usize).map_or(0, |line| line.depth)
    }

    fn part_of_row(&self, row: usize) -> Option<&Part> {
        let behind = self.parts.partition_point(|part| part.before as usize <= row);
        self.parts.get(behind.checked_sub(1)?)
    }

    fn part_of_byte(&self, byte: usize) -> Option<&Part> {
        let behind = self.parts.partition_point(|part| part.start as usize <= byte);
        self.parts.get(behind.saturating_sub(1))
    }

    /// The line that holds a byte, folded away or not.
    fn line_of(&self, byte: usize) -> usize {
        self.lines.partition_point(|line| line.start as usize <= byte).saturating_sub(1)
    }

    fn slice(&self, line: &Line) -> &str {
        self.text.get(line.start as usize..line.end as usize).unwrap_or_default()
    }
}

/// Line ends end lines; one at the very end begins none.
fn plain_lines(text: &str) -> Vec<Line> {
    let mut at = 0;
    let whole = text.strip_suffix('\n').unwrap_or(text);
    let lines = whole.split('\n').map(|line| {
        let start = at;
        at += line.len() + 1;
        Line::text(start, start + line.strip_suffix('\r').unwrap_or(line).len())
    });
    lines.collect()
}

/// Where a part that begins at `at` ends: at the line's end, or after whole rows of about [`PART`] bytes.
fn part_end(text: &str, at: usize, end: usize, room: usize) -> usize {
    let size = room * (PART / room).max(1);
    let wanted = at + size;
    if wanted >= end {
        return end;
    }
    // Before an ASCII character, so that no mark loses its letter; a text without any is cut at a character.
    let near = (wanted.saturating_sub(PART / 8).max(at + 1)..=wanted).rev();
    let ascii = near.clone().find(|i| text.as_bytes().get(*i).is_some_and(u8::is_ascii));
    let character = || (at + 1..=wanted).rev().find(|i| text.is_char_boundary(*i));
    ascii.or_else(character).unwrap_or(end)
}

/// Only characters that take one column and are shown as they are.
fn is_even(text: &str, bytes: Range<usize>, kind: Kind) -> bool {
    let plain = |b: &u8| matches!(b, b' '..=b'~') && (*b != b'\\' || kind == Kind::Json);
    text.as_bytes().get(bytes).is_some_and(|part| part.iter().all(plain))
}

#[cfg(test)]
mod tests;
