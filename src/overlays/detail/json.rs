//! JSON as lines that can be folded, token by token. Nothing is parsed into values: numbers keep every digit, double keys stay
//! double, a text that was cut in the middle is no problem, and no depth of nesting can overflow anything.

mod tokens;

use std::borrow::Cow;
use std::collections::BTreeSet;

use tokens::{Token, Tokens, is_compound};
pub(super) use tokens::{tidy, value_at};

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A value, a closing bracket, or a line of plain text.
    Text,
    /// Opens an object or an array that ends with the line before `next`.
    Open,
    /// Opens one that the text does not end.
    OpenEnd,
    /// A value that is not to be shown, with all that is in it.
    Hidden,
}

/// A line: where it stands in the text, and what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The line behind all that it opens, by number.
    pub(super) next: u32,
    /// How many members it opens.
    pub(super) members: u32,
    pub(super) depth: u16,
    pub(super) role: Role,
}

impl Line {
    pub(super) fn text(start: usize, end: usize) -> Self {
        Self { start: small(start), end: small(end), next: 0, members: 0, depth: 0, role: Role::Text }
    }

    pub(super) fn opens(&self) -> bool {
        matches!(self.role, Role::Open | Role::OpenEnd)
    }
}

/// Texts here are far smaller than this number can count.
pub(super) fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Says whether the value at a path is hidden.
pub(super) type Hides<'a> = &'a dyn Fn(&[&str]) -> bool;

/// The lines of a text. Hidden values whose place in the text is in `revealed` are shown, with all that is in them.
pub(super) fn lines(text: &str, hides: Hides<'_>, revealed: &BTreeSet<u32>) -> Vec<Line> {
    if !is_compound(text) {
        let role = if hides(&[]) && !revealed.contains(&0) { Role::Hidden } else { Role::Text };
        return vec![Line { role, ..Line::text(0, text.len()) }];
    }
    let mut lines =
        Lines { text, hides, revealed, done: Vec::new(), open: Vec::new(), line: None, skip: None, free: None };
    for token in Tokens::of(text) {
        lines.token(&token);
    }
    lines.finish()
}

/// An object or array that is being read.
struct Open<'t> {
    /// The line that opens it.
    line: usize,
    members: u32,
    /// The key of the present member; in arrays its number.
    name: Cow<'t, str>,
    object: bool,
    /// Objects: the colon was seen, what comes is a value.
    value: bool,
}

/// The lines so far.
struct Lines<'t> {
    text: &'t str,
    hides: Hides<'t>,
    revealed: &'t BTreeSet<u32>,
    done: Vec<Line>,
    open: Vec<Open<'t>>,
    /// The line that is being read.
    line: Option<Line>,
    /// Inside of a hidden object or array: how many are open in it.
    skip: Option<usize>,
    /// Inside of a revealed one: how many were open around it.
    free: Option<usize>,
}

impl Lines<'_> {
    fn token(&mut self, token: &Token) {
        if self.skip.is_some() {
            return self.skip(token);
        }
        match token.kind {
            b'{' | b'[' => self.begin(token),
            b'}' | b']' => self.close(token),
            b',' => {
                self.extend(token);
                self.flush();
                if let Some(open) = self.open.last_mut() {
                    open.members = open.members.saturating_add(1);
                    open.value = false;
                    open.name = if open.object { "".into() } else { open.members.to_string().into() };
                }
            }
            b':' => {
                self.extend(token);
                if let Some(open) = self.open.last_mut() {
                    open.value = true;
                }
            }
            _ => self.scalar(token),
        }
    }

    /// A string, a number or a word: a value, or the key of a member.
    fn scalar(&mut self, token: &Token) {
        self.extend(token);
        let text = self.text;
        if let Some(open) = self.open.last_mut().filter(|open| open.object && !open.value) {
            open.name = key_of(text.get(token.start..token.end).unwrap_or_default());
        } else if self.is_hidden(token) {
            self.hide();
        }
    }

    /// An object or array begins.
    fn begin(&mut self, token: &Token) {
        self.extend(token);
        if self.is_hidden(token) {
            self.hide();
            self.skip = Some(1);
            return;
        }
        if self.free.is_none() && self.revealed.contains(&small(token.start)) {
            self.free = Some(self.open.len());
        }
        let line = self.done.len();
        if let Some(begun) = &mut self.line {
            begun.role = Role::OpenEnd;
        }
        self.flush();
        let object = token.kind == b'{';
        let name = if object { "" } else { "0" }.into();
        self.open.push(Open { line, members: 0, name, object, value: false });
    }

    /// One ends; an empty one goes back to one line.
    fn close(&mut self, token: &Token) {
        let empty = self.line.is_none() && self.open.last().is_some_and(|open| open.line + 1 == self.done.len());
        self.flush();
        let open = self.open.pop();
        if self.free == Some(self.open.len()) {
            self.free = None;
        }
        if empty {
            self.line = self.done.pop().map(|line| Line { role: Role::Text, ..line });
            return self.extend(token);
        }
        self.extend(token);
        if let Some(opening) = open.as_ref().and_then(|open| self.done.get_mut(open.line)) {
            opening.role = Role::Open;
        }
        self.end(open.as_ref(), self.done.len() + 1);
    }

    /// Notes where an object or array ends.
    fn end(&mut self, open: Option<&Open<'_>>, next: usize) {
        if let Some(open) = open
            && let Some(opening) = self.done.get_mut(open.line)
        {
            opening.next = small(next);
            opening.members = open.members.saturating_add(1);
        }
    }

    /// Inside of a hidden value: only its end counts.
    fn skip(&mut self, token: &Token) {
        let depth = match token.kind {
            b'{' | b'[' => self.skip.map(|depth| depth + 1),
            b'}' | b']' => self.skip.and_then(|depth| depth.checked_sub(1)),
            _ => self.skip,
        };
        self.skip = depth.filter(|depth| *depth > 0);
        self.extend(token);
    }

    fn is_hidden(&self, token: &Token) -> bool {
        if self.open.is_empty() || self.free.is_some() || self.revealed.contains(&small(token.start)) {
            return false;
        }
        let path: Vec<&str> = self.open.iter().map(|open| open.name.as_ref()).collect();
        (self.hides)(&path)
    }

    fn hide(&mut self) {
        if let Some(line) = &mut self.line {
            line.role = Role::Hidden;
        }
    }

    /// The token belongs to the line that is being read; without one it begins one.
    fn extend(&mut self, token: &Token) {
        let depth = u16::try_from(self.open.len()).unwrap_or(u16::MAX);
        let line = self.line.get_or_insert_with(|| Line { depth, ..Line::text(token.start, token.end) });
        line.end = small(token.end);
    }

    fn flush(&mut self) {
        self.done.extend(self.line.take());
    }

    fn finish(mut self) -> Vec<Line> {
        self.flush();
        let lines = self.done.len();
        while let Some(open) = self.open.pop() {
            self.end(Some(&open), lines);
        }
        self.done
    }
}

/// A key as it is meant: `"pass\u0077ord"` is password.
fn key_of(token: &str) -> Cow<'_, str> {
    if token.contains('\\')
        && let Ok(key) = serde_json::from_str::<String>(token)
    {
        return Cow::Owned(key);
    }
    let inner = token.strip_prefix('"').unwrap_or(token);
    Cow::Borrowed(inner.strip_suffix('"').unwrap_or(inner))
}

#[cfg(test)]
mod tests;
