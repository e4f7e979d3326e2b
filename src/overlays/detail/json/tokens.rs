//! JSON cut into its smallest pieces, and what only needs those: nothing here knows what belongs to what.

use std::borrow::Cow;

/// A piece of JSON; `kind` is its first byte, or `0` for a number or a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: u8,
    pub(super) start: usize,
    pub(super) end: usize,
}

pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0 }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let rest = self.bytes.get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = self.bytes.get(start..)?;
        let first = *rest.first()?;
        let (kind, length) = match first {
            b'"' => (first, string_length(rest)),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => (first, 1),
            _ => (0, rest.iter().position(|byte| ends_word(*byte)).unwrap_or(rest.len())),
        };
        self.at = start + length;
        Some(Token { kind, start, end: self.at })
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':')
}

/// How many bytes a string takes that begins here, with its quotes; all of the rest where it does not end.
fn string_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    bytes.len()
}

/// The text as its lines can be shown as they stand: no white space outside of strings but one after each colon. PostgreSQL
/// prints `jsonb` like that already, but for line ends, which no line contains.
pub(in super::super) fn tidy(text: &str) -> Cow<'_, str> {
    if !is_compound(text) || is_tidy(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for token in Tokens::of(text) {
        out.push_str(text.get(token.start..token.end).unwrap_or_default());
        if token.kind == b':' {
            out.push(' ');
        }
    }
    Cow::Owned(out)
}

pub(super) fn is_compound(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Whether white space stands only behind colons and commas, one at each.
pub(super) fn is_tidy(text: &str) -> bool {
    let mut before = Token { kind: b',', start: 0, end: 0 };
    Tokens::of(text).all(|token| {
        let gap = text.as_bytes().get(before.end..token.start).unwrap_or_default();
        let good = match before.kind {
            b':' => gap == b" ",
            b',' => true,
            _ => gap.is_empty(),
        };
        before = token;
        good
    })
}

/// Where the value of a member begins in the line that holds it.
pub(in super::super) fn value_at(line: &str) -> usize {
    let mut tokens = Tokens::of(line);
    match (tokens.next(), tokens.next(), tokens.next()) {
        (Some(Token { kind: b'"', .. }), Some(Token { kind: b':', .. }), Some(value)) => value.start,
        _ => 0,
    }
}
