//! The page of a detail: sections one below the other, some of them of any length, and the cursor in them. The cursor belongs
//! to a place in a section, so it stays where it was when sections before it grow, fold, or get another width.

use ratatui::style::Style;

use super::super::frame::Line;
use super::sheet::{Place, Sheet};
use crate::keymap::Command;

/// The sections, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Facts,
    Keys,
    Attempts,
    ErrorHead,
    Error,
    PayloadHead,
    Payload,
}

/// All of them.
pub(super) const SECTIONS: [Section; 7] = [
    Section::Facts,
    Section::Keys,
    Section::Attempts,
    Section::ErrorHead,
    Section::Error,
    Section::PayloadHead,
    Section::Payload,
];

/// A row of pieces, each in its own style. Its text is ours or came through `text::Safe`.
#[derive(Debug, Clone, Default)]
pub(super) struct Row(pub(super) Vec<(String, Style)>);

impl From<Line> for Row {
    fn from(line: Line) -> Self {
        Self(vec![(line.text, line.style)])
    }
}

/// What a section holds.
pub(super) enum Block<'a> {
    Rows(Vec<Row>),
    Sheet(&'a Sheet),
}

impl Block<'_> {
    pub(super) fn height(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Sheet(sheet) => sheet.rows(),
        }
    }
}

/// Where the cursor is, and what of the page is in view.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    section: usize,
    place: Place,
    /// Rows in view above the cursor's.
    above: usize,
    /// Rows in view when last drawn.
    rows: usize,
    /// Rows of each section that has rows of its own, when last drawn.
    heights: [usize; SECTIONS.len()],
}

/// Rows of each section as they are now: those of sheets change between frames.
pub(super) type Sheets<'a> = [Option<&'a Sheet>; SECTIONS.len()];

impl View {
    /// Fits it to the sections of a frame with room for `rows`. The first row in view, the cursor's row, and how many there
    /// are.
    pub(super) fn settle(&mut self, blocks: &[Block<'_>; SECTIONS.len()], rows: usize) -> (usize, usize, usize) {
        for (height, block) in self.heights.iter_mut().zip(blocks) {
            *height = block.height();
        }
        self.rows = rows;
        let sheets = blocks.each_ref().map(|block| match block {
            Block::Sheet(sheet) => Some(*sheet),
            Block::Rows(_) => None,
        });
        let all = self.count(&sheets);
        let at = self.row(&sheets);
        let top = self.top(at, all);
        self.above = at - top;
        (top, at, all)
    }

    fn top(&self, at: usize, all: usize) -> usize {
        let lowest = (at + 1).saturating_sub(self.rows.max(1));
        at.saturating_sub(self.above).clamp(lowest, at).min(all.saturating_sub(self.rows).max(lowest))
    }

    fn height(&self, section: usize, sheets: &Sheets<'_>) -> usize {
        let own = self.heights.get(section).copied().unwrap_or(0);
        sheets.get(section).copied().flatten().map_or(own, Sheet::rows)
    }

    fn start(&self, section: usize, sheets: &Sheets<'_>) -> usize {
        (0..section).map(|before| self.height(before, sheets)).sum()
    }

    fn count(&self, sheets: &Sheets<'_>) -> usize {
        self.start(SECTIONS.len(), sheets)
    }

    /// The row of the cursor, counted over all sections.
    fn row(&self, sheets: &Sheets<'_>) -> usize {
        let inside = match sheets.get(self.section).copied().flatten() {
            Some(sheet) => sheet.row(self.place),
            None => self.place.row,
        };
        let last = self.height(self.section, sheets).saturating_sub(1);
        let row = self.start(self.section, sheets) + inside.min(last);
        row.min(self.count(sheets).saturating_sub(1))
    }

    /// Puts the cursor on a row; what is in view stays as far as it can.
    fn go_to_row(&mut self, row: usize, sheets: &Sheets<'_>) {
        let all = self.count(sheets);
        let row = row.min(all.saturating_sub(1));
        let top = self.top(self.row(sheets), all);
        let mut start = 0;
        for section in 0..SECTIONS.len() {
            let height = self.height(section, sheets);
            if row < start + height {
                let place = match sheets.get(section).copied().flatten() {
                    Some(sheet) => sheet.place(row - start),
                    None => Place { byte: 0, row: row - start },
                };
                (self.section, self.place) = (section, place);
                break;
            }
            start += height;
        }
        self.above = row.saturating_sub(top).min(self.rows.saturating_sub(1));
        if row < top {
            self.above = 0;
        }
    }

    /// Moves the cursor. Says whether the command was a movement.
    pub(super) fn on_command(&mut self, command: Command, sheets: &Sheets<'_>) -> bool {
        let page = self.rows.saturating_sub(1).max(1);
        let at = self.row(sheets);
        match command {
            Command::Up => self.go_to_row(at.saturating_sub(1), sheets),
            Command::Down => self.go_to_row(at + 1, sheets),
            Command::Top => self.go_to_row(0, sheets),
            Command::Bottom => self.go_to_row(usize::MAX, sheets),
            Command::PageUp | Command::PageDown => {
                // The page moves with the cursor.
                let above = self.above;
                let to = if command == Command::PageUp { at.saturating_sub(page) } else { at + page };
                self.go_to_row(to, sheets);
                self.above = above.min(self.row(sheets));
            }
            _ => return false,
        }
        true
    }

    /// Moves what is in view by a row; the cursor stays where it can.
    pub(super) fn scroll(&mut self, down: bool, sheets: &Sheets<'_>) {
        let all = self.count(sheets);
        let at = self.row(sheets);
        let top = self.top(at, all);
        let top = if down { (top + 1).min(all.saturating_sub(self.rows)) } else { top.saturating_sub(1) };
        let at = at.clamp(top, (top + self.rows).saturating_sub(1).max(top));
        self.go_to_row(at, sheets);
        self.above = at.saturating_sub(top);
    }

    /// Puts the cursor into a section, at a place, with so many rows above it in view.
    pub(super) fn go_to(&mut self, section: Section, place: Place, above: usize) {
        (self.section, self.place) = (section as usize, place);
        self.above = above.min(self.rows.saturating_sub(1));
    }

    /// Puts the cursor on a place that was looked for; a third of the page stands above it.
    pub(super) fn show(&mut self, section: Section, place: Place) {
        self.go_to(section, place, self.rows / 3);
    }

    /// Puts the cursor on another place of its section; the page stays as far as it can.
    pub(super) fn stay(&mut self, place: Place) {
        self.place = place;
    }

    /// Puts the cursor on the next section that has a heading, the heading on top; after the last comes the first.
    pub(super) fn next_section(&mut self, sheets: &Sheets<'_>) {
        let heads = [Section::Keys, Section::Attempts, Section::ErrorHead, Section::PayloadHead];
        let height = |section: Section| self.height(section as usize, sheets);
        let Some(head) = heads.into_iter().find(|head| *head as usize > self.section && height(*head) > 0) else {
            return self.go_to_row(0, sheets);
        };
        let own = match head {
            Section::ErrorHead => height(Section::Error),
            Section::PayloadHead => height(Section::Payload),
            _ => 0,
        };
        // A blank row, the heading, then what it is about, where there is something.
        let inside = (height(head) + own).saturating_sub(1).min(2);
        self.go_to_row(self.start(head as usize, sheets) + inside, sheets);
        self.above = inside.saturating_sub(1);
    }

    /// The section that the cursor is in, and its place there.
    pub(super) fn at(&self) -> (Section, Place) {
        (SECTIONS.get(self.section).copied().unwrap_or(Section::Facts), self.place)
    }
}
