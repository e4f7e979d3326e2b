//! Terminal columns: width, cutting, filling and wrapping, always between graphemes and never inside one.
//!
//! Widths are those of the screen library, so what is measured here is what is drawn there.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// Stands for what was cut off.
pub(super) const ELLIPSIS: char = '…';

/// On which side of a column the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Names and words.
    Left,
    /// Numbers.
    Right,
}

/// How many terminal columns a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(|g| usize::from(g.cell_width())).sum()
}

/// At most `columns` wide; what is cut off is told by an ellipsis.
#[must_use]
pub fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    let (end, _) = prefix(text, columns);
    if end == text.len() {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let (end, _) = prefix(text, room);
    let mut out = text.get(..end).unwrap_or_default().to_owned();
    out.push(ELLIPSIS);
    Cow::Owned(out)
}

/// Exactly `columns` wide: cut with an ellipsis, or filled with spaces so that the text stands on `side`.
#[must_use]
pub fn fit(text: &str, columns: usize, side: Side) -> String {
    let cut = truncate(text, columns);
    let gap = columns.saturating_sub(width(&cut));
    match side {
        Side::Left => format!("{cut}{:gap$}", ""),
        Side::Right => format!("{:gap$}{cut}", ""),
    }
}

/// The text in pieces of at most `columns` columns, broken at spaces where there are some.
/// Nothing is lost but the space at a break. A grapheme wider than the limit gets a piece of its own as an ellipsis.
pub fn wrap(text: &str, columns: usize) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (end, _) = prefix(text, columns);
        if end == text.len() {
            rest = None;
            return Some(Cow::Borrowed(text));
        }
        if end == 0 {
            // Not even one grapheme fits: show that something is there, and go on.
            let first = text.graphemes(true).next().map_or(text.len(), str::len);
            rest = text.get(first..).filter(|t| !t.is_empty());
            return Some(if columns == 0 { Cow::Borrowed("") } else { Cow::Owned(ELLIPSIS.to_string()) });
        }
        let head = text.get(..end).unwrap_or_default();
        let tail = text.get(end..).unwrap_or_default();
        let (piece, next) = match head.rfind(' ') {
            _ if tail.starts_with(' ') => (head, tail.get(1..).unwrap_or_default()),
            Some(space) if space > 0 => {
                (head.get(..space).unwrap_or_default(), text.get(space + 1..).unwrap_or_default())
            }
            _ => (head, tail),
        };
        rest = Some(next);
        Some(Cow::Borrowed(piece))
    })
}

/// How many bytes from the start fit into `columns`, and how many columns they take.
fn prefix(text: &str, columns: usize) -> (usize, usize) {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let next = used + usize::from(grapheme.cell_width());
        if next > columns {
            return (at, used);
        }
        used = next;
    }
    (text.len(), used)
}

#[cfg(test)]
mod tests {
    use super::super::Safe;
    use super::*;
    use proptest::prelude::*;

    const MIXED: &str = "é漢 e\u{301}👨\u{200d}👩\u{200d}👧 תור";

    fn check_every_width(text: &str) {
        let whole = Safe::full(text);
        let graphemes: Vec<&str> = whole.as_str().graphemes(true).collect();
        for columns in 0..=20 {
            let cut = whole.truncate(columns);
            assert!(cut.width() <= columns, "{cut:?} in {columns}");
            assert_eq!(cut == whole, whole.width() <= columns, "{cut:?} in {columns}");
            let kept = cut.as_str().strip_suffix(ELLIPSIS).unwrap_or(cut.as_str());
            let n = kept.graphemes(true).count();
            assert_eq!(kept, graphemes[..n].concat(), "half a grapheme in {columns}");
            for side in [Side::Left, Side::Right] {
                assert_eq!(width(&fit(whole.as_str(), columns, side)), columns);
            }
            assert!(wrap(whole.as_str(), columns).all(|piece| width(&piece) <= columns));
        }
    }

    #[test]
    fn every_width_and_every_cut_of_a_mixed_text() {
        check_every_width(MIXED);
        for cut in 0..MIXED.len() {
            check_every_width(Safe::from_bytes(&MIXED.as_bytes()[..cut]).as_str());
        }
    }

    #[test]
    fn truncation_reads_well() {
        for (text, columns, want) in [
            ("webhooks", 8, "webhooks"),
            ("webhooks", 7, "webhoo…"),
            ("webhooks", 1, "…"),
            ("webhooks", 0, ""),
            ("漢字漢字", 5, "漢字…"),
            ("漢字漢字", 4, "漢…"),
            ("", 0, ""),
        ] {
            assert_eq!(truncate(text, columns), want, "{text} in {columns}");
        }
        assert_eq!(fit("12", 5, Side::Right), "   12");
        assert_eq!(fit("漢字", 3, Side::Left), "漢…");
    }

    #[test]
    fn wrapping_prefers_spaces_and_loses_nothing() {
        let pieces = |text, columns| wrap(text, columns).collect::<Vec<_>>();
        assert_eq!(pieces("timeout connecting to smtp", 12), ["timeout", "connecting", "to smtp"]);
        assert_eq!(pieces("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(pieces("漢字", 1), ["…", "…"]);
        assert_eq!(pieces("", 5), [""]);
        assert_eq!(pieces(&"x".repeat(300_000), 80).len(), 3750);
    }

    proptest! {
        #[test]
        fn any_text_obeys_every_width(text in "\\PC{0,12}|.{0,12}") {
            check_every_width(&text);
        }
    }
}
