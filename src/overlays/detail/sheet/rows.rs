//! From parts of lines to rows of cells: harmless text, broken at the width, with the columns of what was found.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::super::json::{Line, Role, value_at};
use super::hidden::HIDDEN;
use super::{Kind, Part, Sheet};
use crate::text::{LABEL_MAX, Safe, truncate, width};

/// A row of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct SheetRow {
    /// What it says, indented, safe to print.
    pub(in super::super) text: String,
    /// Columns of what was found.
    pub(in super::super) marks: Vec<Range<usize>>,
}

impl Sheet {
    /// The rows of that range. `found` are stretches of the text, in order; they are marked.
    pub(in super::super) fn visible(&self, range: Range<usize>, found: &[Range<usize>]) -> Vec<SheetRow> {
        let mut out = Vec::new();
        let first = self.parts.partition_point(|part| part.before as usize <= range.start).saturating_sub(1);
        for part in self.parts.iter().skip(first).take_while(|part| (part.before as usize) < range.end) {
            let before = part.before as usize;
            let skip = range.start.saturating_sub(before);
            let take = range.end - before.max(range.start);
            let from = found.partition_point(|found| found.end <= part.start as usize);
            let found = found.get(from..).unwrap_or_default();
            let indent = self.indent(self.depth(part));
            let rows = self.pieces(part, skip, take, found);
            out.extend(rows.into_iter().map(|row| row.indented(indent)));
        }
        out
    }

    /// Rows of a part, without their indentation.
    fn pieces(&self, part: &Part, skip: usize, take: usize, found: &[Range<usize>]) -> Vec<SheetRow> {
        let room = self.room(self.depth(part));
        if part.even {
            let text = self.text.get(part.bytes()).unwrap_or_default();
            let found: Vec<Range<usize>> =
                within(found, part).map(|f| f.start - part.start as usize..f.end - part.start as usize).collect();
            let count = text.len().div_ceil(room).max(1);
            let piece = |n: usize| n * room..text.len().min((n + 1) * room);
            return (skip..count).take(take).map(|n| SheetRow::of(text, piece(n), &found)).collect();
        }
        let text = self.words(part);
        let shown = |byte: usize| self.harmless(part.start as usize..byte).len();
        let found: Vec<Range<usize>> = within(found, part).map(|f| shown(f.start)..shown(f.end)).collect();
        let pieces = break_hard(&text, room).skip(skip).take(take);
        pieces.map(|piece| SheetRow::of(&text, piece, &found).fitting(room)).collect()
    }

    /// How many rows a part takes.
    pub(super) fn rows_of(&self, part: &Part) -> usize {
        let Some(line) = self.lines.get(part.line as usize).filter(|line| !self.folds.holds(line)) else {
            // What is folded is told on one row.
            return 1;
        };
        let room = self.room(line.depth);
        let rows =
            if part.even { part.bytes().len().div_ceil(room) } else { break_hard(&self.words(part), room).count() };
        rows.max(1)
    }

    /// In which of its rows a part shows a byte.
    pub(super) fn row_inside(&self, part: &Part, byte: usize) -> usize {
        let at = self.harmless(part.start as usize..byte).len();
        let pieces =
            break_hard(&self.words(part), self.room(self.depth(part))).take_while(|piece| piece.end <= at).count();
        pieces.min(self.rows_of(part).saturating_sub(1))
    }

    /// What a part says: its own text, or in short what is folded away or hidden.
    fn words(&self, part: &Part) -> Cow<'_, str> {
        let Some(line) = self.lines.get(part.line as usize) else {
            return Cow::Borrowed("");
        };
        if line.role == Role::Hidden {
            return Cow::Owned(self.told(line));
        }
        if !self.folds.holds(line) {
            return Cow::Owned(self.harmless(part.bytes()));
        }
        let members = match (self.slice(line).ends_with('{'), line.members) {
            (true, 1) => "1 key".to_owned(),
            (true, n) => format!("{} keys", crate::fmt::count(u64::from(n))),
            (false, 1) => "1 item".to_owned(),
            (false, n) => format!("{} items", crate::fmt::count(u64::from(n))),
        };
        let own = self.short(line.start as usize..line.end as usize);
        let so_far = if line.role == Role::OpenEnd { " so far" } else { "" };
        let room = self.room(line.depth);
        let mut short = format!("{own}… {members}{so_far} ·");
        // The beginning of what is in it, as far as there is room on the row.
        let inside = self.lines.get(part.line as usize + 1..line.next as usize).unwrap_or_default();
        for line in inside.iter().take(room) {
            short.push(' ');
            short.push_str(&self.told(line));
            if short.len() > 4 * room {
                break;
            }
        }
        Cow::Owned(truncate(&short, room).into_owned())
    }

    /// A line in short, without its indentation; what is hidden by its signs.
    fn told(&self, line: &Line) -> String {
        let (start, end) = (line.start as usize, line.end as usize);
        if line.role != Role::Hidden {
            return self.short(start..end);
        }
        let own = self.slice(line);
        let key = self.short(start..start + value_at(own));
        let comma = if own.ends_with(',') { "," } else { "" };
        format!("{key}{HIDDEN}{comma}")
    }

    /// The beginning of a line that is told in short, its end kept.
    fn short(&self, bytes: Range<usize>) -> String {
        let text = self.harmless(bytes.start..bytes.end.min(self.floor(bytes.start + LABEL_MAX)));
        if bytes.len() > LABEL_MAX { format!("{text}…") } else { text }
    }

    fn floor(&self, byte: usize) -> usize {
        (0..=byte.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    fn harmless(&self, bytes: Range<usize>) -> String {
        let text = self.text.get(bytes).unwrap_or_default();
        match self.kind {
            Kind::Plain => Safe::lines(text).next().unwrap_or_default().into(),
            // JSON has its own escapes: what is between its backslashes is made harmless, they themselves are.
            Kind::Json => text.split('\\').map(|s| String::from(Safe::full(s))).collect::<Vec<_>>().join("\\"),
        }
    }
}

/// What of the stretches lies in a part.
fn within<'a>(found: &'a [Range<usize>], part: &'a Part) -> impl Iterator<Item = Range<usize>> + 'a {
    let bytes = part.bytes();
    let end = bytes.end;
    let inside = found.iter().take_while(move |f| f.start < end);
    inside.map(move |f| f.start.max(bytes.start)..f.end.min(bytes.end)).filter(|f| !f.is_empty())
}

impl SheetRow {
    /// A piece of a text, with what of the stretches lies in it.
    fn of(text: &str, piece: Range<usize>, found: &[Range<usize>]) -> Self {
        let Some(own) = text.get(piece.clone()).filter(|own| !own.is_empty() || piece.is_empty()) else {
            return Self { text: String::new(), marks: Vec::new() };
        };
        let column = |byte: usize| own.get(..byte.saturating_sub(piece.start)).map_or(0, width);
        let marks = found
            .iter()
            .map(|f| f.start.max(piece.start)..f.end.min(piece.end))
            .filter(|f| !f.is_empty())
            .map(|f| column(f.start)..column(f.end))
            .collect();
        Self { text: own.to_owned(), marks }
    }

    /// A character that has no room is an ellipsis.
    fn fitting(self, room: usize) -> Self {
        if width(&self.text) <= room { self } else { Self { text: "…".into(), marks: Vec::new() } }
    }

    fn indented(self, indent: usize) -> Self {
        if indent == 0 {
            return self;
        }
        let marks = self.marks.iter().map(|mark| mark.start + indent..mark.end + indent).collect();
        Self { text: format!("{:indent$}{}", "", self.text), marks }
    }
}

/// Where to break a text so that the pieces have exactly so many columns, as far as wide characters allow. A character that is
/// wider than that is a piece of its own.
fn break_hard(text: &str, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        let mut used = 0;
        for grapheme in rest.graphemes(true) {
            used += width(grapheme);
            if used > columns && at > start {
                break;
            }
            at += grapheme.len();
            if used > columns {
                break;
            }
        }
        Some(start..at)
    })
}
