//! A text of any length as lines of a screen. Where each line begins is worked out once for a width; a frame then costs what
//! its visible lines cost, wherever they are.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{Safe, width};

/// A huge line is worked on in parts of about so many bytes, so that its far end is as near as its start.
const PART: usize = 8_192;

/// What the text is, for how it is made harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Backslashes are the text's own: shown as they are.
    Json,
    /// Anything.
    Plain,
}

/// A line of the text, or a part of a huge one.
#[derive(Debug, Clone)]
struct Part {
    bytes: Range<usize>,
    /// Screen lines before it.
    before: usize,
    /// One column a byte: lines are found by counting.
    even: bool,
}

/// The text with its lines for a width.
#[derive(Debug, Clone)]
pub(super) struct Long {
    text: String,
    kind: Kind,
    columns: usize,
    parts: Vec<Part>,
    lines: usize,
}

impl Long {
    pub(super) fn new(text: String, kind: Kind) -> Self {
        Self { text, kind, columns: 0, parts: Vec::new(), lines: 0 }
    }

    /// Works out the lines for a width. The same width again costs nothing.
    pub(super) fn lay_out(&mut self, columns: usize) {
        let columns = columns.max(1);
        if self.columns == columns {
            return;
        }
        self.columns = columns;
        self.parts.clear();
        let mut lines = 0;
        let mut at = 0;
        // A line break at the very end begins no line.
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        for line in text.split('\n') {
            let next = at + line.len() + 1;
            let end = at + line.strip_suffix('\r').unwrap_or(line).len();
            loop {
                let bytes = at..part_end(text, at, end, columns);
                at = bytes.end;
                let even = is_even(&self.text, &bytes, self.kind);
                let own = if even {
                    bytes.len().div_ceil(columns).max(1)
                } else {
                    break_hard(&harmless(&self.text, &bytes, self.kind), columns).count().max(1)
                };
                self.parts.push(Part { bytes, before: lines, even });
                lines += own;
                if at >= end {
                    break;
                }
            }
            at = next;
        }
        self.lines = lines;
    }

    /// How many lines there are at the width that was laid out.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// The lines of that range, safe to print.
    pub(super) fn visible(&self, range: Range<usize>) -> Vec<String> {
        let mut out = Vec::new();
        let first = self.parts.partition_point(|part| part.before <= range.start).saturating_sub(1);
        for part in self.parts.iter().skip(first).take_while(|part| part.before < range.end) {
            let skip = range.start.saturating_sub(part.before);
            let take = range.end - part.before.max(range.start);
            if part.even {
                let text = self.text.get(part.bytes.clone()).unwrap_or_default();
                let piece = |n: usize| text.get(n * self.columns..text.len().min((n + 1) * self.columns));
                let count = text.len().div_ceil(self.columns).max(1);
                out.extend((skip..count).take(take).map(|n| piece(n).unwrap_or_default().to_owned()));
            } else {
                let text = harmless(&self.text, &part.bytes, self.kind);
                out.extend(break_hard(&text, self.columns).skip(skip).take(take).map(Cow::into_owned));
            }
        }
        out
    }
}

/// Where a part that begins at `at` ends: at the line's end, or after whole screen lines of about [`PART`] bytes.
fn part_end(text: &str, at: usize, end: usize, columns: usize) -> usize {
    let size = columns * (PART / columns).max(1);
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
fn is_even(text: &str, bytes: &Range<usize>, kind: Kind) -> bool {
    let plain = |b: &u8| matches!(b, b' '..=b'~') && (*b != b'\\' || kind == Kind::Json);
    text.as_bytes().get(bytes.clone()).is_some_and(|part| part.iter().all(plain))
}

fn harmless(text: &str, bytes: &Range<usize>, kind: Kind) -> String {
    let text = text.get(bytes.clone()).unwrap_or_default();
    match kind {
        Kind::Plain => Safe::lines(text).next().unwrap_or_default().into(),
        // JSON has its own escapes: what is between its backslashes is made harmless, they themselves are.
        Kind::Json => text.split('\\').map(|s| String::from(Safe::full(s))).collect::<Vec<_>>().join("\\"),
    }
}

/// The text in pieces of exactly so many columns, as far as wide characters allow. A character wider than that is an
/// ellipsis.
fn break_hard(text: &str, columns: usize) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.graphemes(true).next()?;
        let mut end = 0;
        let mut used = 0;
        for grapheme in rest.graphemes(true) {
            used += width(grapheme);
            if used > columns {
                break;
            }
            end += grapheme.len();
        }
        if end == 0 {
            rest = rest.get(first.len()..).unwrap_or_default();
            return Some(Cow::Borrowed("…"));
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(Cow::Borrowed(piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str, kind: Kind, columns: usize) -> Vec<String> {
        let mut long = Long::new(text.into(), kind);
        long.lay_out(columns);
        let lines = long.visible(0..long.lines());
        assert_eq!(lines.len(), long.lines(), "{text:?}");
        lines
    }

    #[test]
    fn lines_are_broken_at_the_width() {
        assert_eq!(all("abcdefg\n\nhi\n", Kind::Plain, 3), ["abc", "def", "g", "", "hi"]);
        assert_eq!(all("漢字x漢", Kind::Plain, 3), ["漢", "字x", "漢"]);
        assert_eq!(all("漢a", Kind::Plain, 1), ["…", "a"]);
        assert_eq!(all("a\tb\r\n\u{1b}[2J", Kind::Plain, 9), ["a   b", r"\x1b[2J"]);
        assert_eq!(all("", Kind::Plain, 9), [""]);
    }

    #[test]
    fn json_keeps_its_own_backslashes() {
        assert_eq!(all(r#""a\n\u001b""#, Kind::Json, 40), [r#""a\n\u001b""#]);
        assert_eq!(all("\"\u{9b}\\n漢\u{202e}\"", Kind::Json, 40), [r#""\u{9b}\n漢\u{202e}""#]);
        assert_eq!(all(r"a\n", Kind::Plain, 40), [r"a\\n"]);
    }

    #[test]
    fn the_end_of_a_huge_line_costs_no_more_than_its_start() {
        let mut long = Long::new("x".repeat(5_000_000) + "end", Kind::Plain);
        long.lay_out(80);
        assert_eq!(long.lines(), 62_501);
        assert_eq!(long.visible(62_500..62_520), ["end"]);
        assert_eq!(long.visible(62_499..62_500), ["x".repeat(80)]);
        assert!(long.parts.iter().all(|part| part.bytes.len() <= PART));
        let mut wide = Long::new("漢".repeat(1_000_000), Kind::Plain);
        wide.lay_out(80);
        assert!(wide.parts.iter().all(|part| part.bytes.len() <= PART));
        assert_eq!(wide.visible(wide.lines() - 1..wide.lines()).len(), 1);
    }

    #[test]
    fn seventy_thousand_lines_have_an_end() {
        let text = (0..70_000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let mut long = Long::new(text, Kind::Json);
        long.lay_out(80);
        assert_eq!(long.lines(), 70_000);
        assert_eq!(long.visible(69_999..70_030), ["line 69999"]);
        assert_eq!(long.visible(65_536..65_537), ["line 65536"]);
    }

    proptest! {
        #[test]
        fn any_window_is_a_part_of_the_whole(
            text in "[a漢é\\\\\t\n\u{301}\u{1b}]{0,60}", columns in 1_usize..9, from in 0_usize..20, rows in 0_usize..9,
        ) {
            for kind in [Kind::Json, Kind::Plain] {
                let whole = all(&text, kind, columns);
                let mut long = Long::new(text.clone(), kind);
                long.lay_out(columns);
                let to = (from + rows).min(long.lines()).max(from);
                let want: Vec<String> = whole.iter().skip(from).take(to - from).cloned().collect();
                prop_assert_eq!(long.visible(from..to), want);
                for line in &whole {
                    prop_assert!(width(line) <= columns && !line.contains(char::is_control), "{:?}", line);
                }
            }
        }
    }
}
