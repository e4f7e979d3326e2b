//! `Safe`: the only way foreign text reaches a screen or a pipe.
//!
//! Everything a stranger wrote (queue names, worker names, errors, payloads, connection strings, files) becomes a
//! [`Safe`] before it is shown. What could move the cursor, write the title or the clipboard, reorder a line, or
//! hide, is shown as a visible escape; what terminals draw with different widths is too, so columns never drift.
//! This module must not know where text comes from or goes to.

mod columns;
mod escape;

use std::fmt;

pub use columns::{Side, fit, truncate, width, wrap};
pub use escape::harmless_json;

/// How many characters of a name or a first line are looked at; the rest becomes an ellipsis.
/// No screen is wider, and a name of a megabyte must not cost a megabyte a frame.
pub const LABEL_MAX: usize = 512;

/// How many characters a tab stop is wide in [`Safe::lines`].
const TAB: usize = 4;

/// One line of text that is safe to print: no control, no invisible, no reordering and no width-disputed character.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Safe(String);

impl Safe {
    /// A name or another short text, on one line; line breaks become `\n`. Looks at [`LABEL_MAX`] characters.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (head, cut) = match text.char_indices().nth(LABEL_MAX) {
            Some((end, _)) => (text.get(..end).unwrap_or_default(), true),
            None => (text, false),
        };
        let mut out = escape::line(head);
        if cut {
            out.push(columns::ELLIPSIS);
        }
        Self(out)
    }

    /// Like [`Safe::new`], without the cap: for text that is wrapped or scrolled, and for plain output.
    #[must_use]
    pub fn full(text: &str) -> Self {
        Self(escape::line(text))
    }

    /// Text that may not be UTF-8: each invalid byte is shown as `\xHH`.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut out = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            out.push_str(&escape::line(chunk.valid()));
            for byte in chunk.invalid() {
                escape::push_byte(&mut out, *byte);
            }
        }
        Self(out)
    }

    /// The first line that says something, for errors: stack traces and blank first lines do not fit in a row.
    /// An ellipsis tells that more follows.
    #[must_use]
    pub fn first_line(text: &str) -> Self {
        let text = text.trim_start();
        let line = text.lines().next().unwrap_or_default().trim_end();
        let mut out = Self::new(line).0;
        let more = !text.get(line.len()..).unwrap_or_default().trim().is_empty();
        if more && !out.ends_with(columns::ELLIPSIS) {
            out.push(columns::ELLIPSIS);
        }
        Self(out)
    }

    /// The lines of a longer text, lazily, uncapped: line ends vanish, tabs become spaces, the rest as in [`Safe::full`].
    pub fn lines(text: &str) -> impl Iterator<Item = Self> {
        text.lines().map(|line| Self(escape::line(&expand_tabs(line))))
    }

    /// The text as it may be printed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many terminal columns it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        width(&self.0)
    }

    /// At most `columns` wide; what is cut off is told by an ellipsis.
    #[must_use]
    pub fn truncate(&self, columns: usize) -> Self {
        Self(truncate(&self.0, columns).into_owned())
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for Safe {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<Safe> for String {
    fn from(safe: Safe) -> Self {
        safe.0
    }
}

fn expand_tabs(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('\t') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len() + TAB);
    let mut column = 0;
    for c in line.chars() {
        if c == '\t' {
            let gap = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', gap));
            column += gap;
        } else {
            out.push(c);
            column += 1;
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_an_error_is_the_first_that_speaks() {
        for (text, want) in [
            ("", ""),
            ("boom", "boom"),
            ("boom\n", "boom"),
            ("\n\n  boom\n  at main.rs:1", "boom…"),
            ("boom\r\nat x", "boom…"),
            ("a\tb", "a\\tb"),
        ] {
            assert_eq!(Safe::first_line(text).as_str(), want, "{text:?}");
        }
    }

    #[test]
    fn long_names_are_capped_and_say_so() {
        let long = "x".repeat(1_000_000);
        let safe = Safe::new(&long);
        assert_eq!(safe.width(), LABEL_MAX + 1);
        assert!(safe.as_str().ends_with('…'));
        assert_eq!(Safe::first_line(&long), safe);
        assert_eq!(Safe::full(&long).width(), 1_000_000);
    }

    #[test]
    fn invalid_bytes_are_shown_one_by_one() {
        assert_eq!(
            Safe::from_bytes(b"ok \xff\xed\xa0\x80 \x1b[m \xe6\xbc").as_str(),
            r"ok \xff\xed\xa0\x80 \x1b[m \xe6\xbc"
        );
        assert_eq!(Safe::from_bytes("漢\u{9b}".as_bytes()).as_str(), r"漢\u{9b}");
    }

    #[test]
    fn lines_keep_their_shape() {
        let lines: Vec<String> = Safe::lines("a\tb\r\n\tc\n\u{1b}d\n").map(String::from).collect();
        assert_eq!(lines, ["a   b", "    c", r"\x1bd"]);
    }
}
