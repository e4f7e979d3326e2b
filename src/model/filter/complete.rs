//! What the word under the cursor may become: fields, operators, states, and the values that the caller knows of.

use std::ops::Range;

use super::field::{Entry, FIELDS, Field, HAS, KINDS, named};
use super::parse::OPERATOR_LETTERS;
use super::print::value;
use super::{StateWord, TextField};

/// What the caller knows of the database's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vocabulary<'a> {
    /// Names of queues.
    pub queues: &'a [String],
    /// Ids of workers.
    pub workers: &'a [String],
}

/// One thing that may stand under the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The bytes that it replaces; the cursor goes behind it.
    pub span: Range<usize>,
    /// What is put there. It may hold foreign text: show it through `text::Safe`.
    pub text: String,
    /// What it means; empty for values.
    pub about: &'static str,
}

/// At most so many are offered.
const MOST: usize = 50;

/// What may stand at `cursor` (in bytes), best first: what begins like the word there, then what contains it.
#[must_use]
pub fn complete(text: &str, cursor: usize, known: &Vocabulary<'_>) -> Vec<Completion> {
    let cursor = (0..=cursor.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let head = text.get(..cursor).unwrap_or_default();
    let word = word_start(head);
    let term = head.get(word..).unwrap_or_default();
    let (term, start) = term.strip_prefix('-').map_or((term, word), |rest| (rest, word + 1));
    if term.starts_with('"') {
        return Vec::new();
    }
    let name = term.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(term.len());
    let (name, rest) = term.split_at(name);
    match named(name) {
        Some(entry) if rest.starts_with(OPERATOR_LETTERS) => {
            let list = rest.trim_start_matches(OPERATOR_LETTERS);
            let item = list.rfind(',').map_or(list, |comma| &list[comma + 1..]);
            let typed = item.trim_start_matches('"');
            fitting(typed, values(entry, known), cursor - item.len()..cursor)
        }
        _ if rest.is_empty() => fitting(name, fields(), start..cursor),
        _ => Vec::new(),
    }
}

/// Where the term that the text ends in begins: behind the last space outside of quotes.
fn word_start(head: &str) -> usize {
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, letter) in head.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if letter.is_whitespace() && !quoted => start = at + letter.len_utf8(),
            _ => {}
        }
    }
    start
}

type Offer = (String, &'static str);

fn fields() -> Vec<Offer> {
    let operator = |field| match field {
        Field::Span(_) | Field::Moment(_) => ">",
        Field::Payload => ".",
        _ => ":",
    };
    FIELDS.iter().map(|entry| (format!("{}{}", entry.name, operator(entry.field)), entry.about)).collect()
}

fn values(entry: &Entry, known: &Vocabulary<'_>) -> Vec<Offer> {
    let words = |words: &[&'static str]| words.iter().map(|word| ((*word).to_owned(), "")).collect();
    let names = |names: &[String]| names.iter().map(|name| (value(name), "")).collect();
    match entry.field {
        Field::State => StateWord::all().map(|word| (word.as_str().to_owned(), "")).collect(),
        Field::Has => {
            HAS.iter().map(|(word, _)| ((*word).to_owned(), "")).chain([("payload.".to_owned(), "")]).collect()
        }
        Field::Kind => KINDS.iter().map(|(word, _)| ((*word).to_owned(), "")).collect(),
        Field::Text(TextField::Queue) => names(known.queues),
        Field::Text(TextField::Worker) => names(known.workers),
        Field::Span(_) => words(&["1m", "5m", "1h", "1d"]),
        Field::Moment(_) => words(&["-5m", "-1h", "-1d", "now", "+1h"]),
        _ => Vec::new(),
    }
}

fn fitting(typed: &str, offers: Vec<Offer>, span: Range<usize>) -> Vec<Completion> {
    let typed = typed.to_lowercase();
    let plain = |text: &str| text.trim_start_matches('"').to_lowercase();
    let (begin, rest): (Vec<Offer>, Vec<Offer>) =
        offers.into_iter().partition(|(text, _)| plain(text).starts_with(&typed));
    let rest = rest.into_iter().filter(|(text, _)| plain(text).contains(&typed));
    begin
        .into_iter()
        .chain(rest)
        .take(MOST)
        .map(|(text, about)| Completion { span: span.clone(), text, about })
        .collect()
}
