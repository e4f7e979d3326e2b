//! Walking over the text of a filter: words, phrases, separators.

use std::ops::Range;

use super::FilterError;

/// A value as typed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    /// It stood in quotes.
    pub(super) quoted: bool,
}

/// A place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'a> {
    text: &'a str,
    pub(super) at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Nothing more of this term follows.
    pub(super) fn at_boundary(&self) -> bool {
        self.peek().is_none_or(char::is_whitespace)
    }

    pub(super) fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Goes past `part` if it comes next.
    pub(super) fn eat(&mut self, part: &str) -> bool {
        let found = self.rest().starts_with(part);
        self.at += if found { part.len() } else { 0 };
        found
    }

    /// What comes next as long as `inside` says so.
    pub(super) fn take_while(&mut self, inside: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// The rest of the term that this place is in, for errors: at least what comes next.
    pub(super) fn word_span(&self) -> Range<usize> {
        let rest = self.rest();
        self.at..self.at + rest.find(char::is_whitespace).unwrap_or(rest.len())
    }

    /// A value: a phrase, or up to a space, a comma and, where ranges are possible, `..`. May be empty.
    pub(super) fn value(&mut self, ranges: bool) -> Result<Value, FilterError> {
        if self.peek() == Some('"') {
            return self.phrase();
        }
        let (start, rest) = (self.at, self.rest());
        let mut end = rest.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(rest.len());
        if let Some(dots) = rest.get(..end).and_then(|text| text.find("..")).filter(|_| ranges) {
            end = dots;
        }
        self.at += end;
        let text = rest.get(..end).unwrap_or_default().to_owned();
        Ok(Value { text, span: start..self.at, quoted: false })
    }

    /// A text in quotes: `\"` and `\\` are a quote and a backslash, every other backslash is one.
    pub(super) fn phrase(&mut self) -> Result<Value, FilterError> {
        let start = self.at;
        let mut text = String::new();
        let mut letters = self.rest().char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at = start + at + 1;
                    return Ok(Value { text, span: start..self.at, quoted: true });
                }
                '\\' => {
                    let next = letters.next_if(|(_, next)| matches!(next, '"' | '\\'));
                    text.push(next.map_or('\\', |(_, next)| next));
                }
                _ => text.push(letter),
            }
        }
        Err(FilterError::new(start..self.text.len(), "expected a closing quote"))
    }
}

/// A text as a phrase.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}
