//! From tree to text: one way to write each filter, which reads back as the same tree.

use std::fmt::{self, Display};

use super::field::{Field, HAS, KINDS, name};
use super::scan::quoted;
use super::values::{moment_words, span_words};
use super::{Filter, Match, Numbers, PayloadTest, Range, StateWord, Term, Test, TextField, Words};

impl Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.terms().iter().map(Term::to_string).collect();
        f.write_str(&terms.join(" "))
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negated { "-" } else { "" }, self.test)
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anywhere(text) => f.write_str(&value(text)),
            Self::Kind(kind) => write!(f, "{}:{}", name(Field::Kind), word(&KINDS, kind)),
            Self::State(words) => {
                let words: Vec<&str> = words.iter().map(|word| StateWord::as_str(*word)).collect();
                write!(f, "{}:{}", name(Field::State), words.join(","))
            }
            Self::Text(field, words) => {
                write!(f, "{}{}{}", name(Field::Text(*field)), operator(*field, words), values(&words.any))
            }
            Self::Number(field, Numbers::Is(numbers)) => {
                let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
                write!(f, "{}:{}", name(Field::Number(*field)), numbers.join(","))
            }
            Self::Number(field, Numbers::In(range)) => {
                write!(f, "{}{}", name(Field::Number(*field)), range_words(range, i32::to_string))
            }
            Self::Span(field, range) => {
                write!(f, "{}{}", name(Field::Span(*field)), range_words(range, |span| span_words(*span)))
            }
            Self::Moment(field, range) => {
                write!(f, "{}{}", name(Field::Moment(*field)), range_words(range, |moment| moment_words(*moment)))
            }
            Self::Has(has) => write!(f, "{}:{}", name(Field::Has), word(&HAS, has)),
            Self::Payload(path, test) => payload(f, path, test),
        }
    }
}

fn payload(f: &mut fmt::Formatter<'_>, path: &[String], test: &PayloadTest) -> fmt::Result {
    let mut field = name(Field::Payload).to_owned();
    for key in path {
        let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        field.push('.');
        field.push_str(&if bare { key.clone() } else { quoted(key) });
    }
    match test {
        PayloadTest::Whole(any) => write!(f, "{field}:{}", values(any)),
        PayloadTest::Part(any) if path.is_empty() => write!(f, "{field}:{}", values(any)),
        PayloadTest::Part(any) => write!(f, "{field}~{}", values(any)),
        PayloadTest::In(range) => write!(f, "{field}{}", range_words(range, String::clone)),
        PayloadTest::Present => write!(f, "{}:{field}", name(Field::Has)),
    }
}

fn operator(field: TextField, words: &Words) -> char {
    match words.how {
        how if how == field.usual() => ':',
        Match::Part => '~',
        Match::Whole | Match::Begin => '=',
    }
}

fn word<T: PartialEq>(words: &[(&'static str, T)], wanted: &T) -> &'static str {
    words.iter().find(|(_, meaning)| meaning == wanted).map_or("", |(word, _)| word)
}

fn range_words<T>(range: &Range<T>, words: impl Fn(&T) -> String) -> String {
    match range {
        Range::Above(low) => format!(">{}", words(low)),
        Range::From(low) => format!(">={}", words(low)),
        Range::Below(high) => format!("<{}", words(high)),
        Range::To(high) => format!("<={}", words(high)),
        Range::Between(low, high) => format!(":{}..{}", words(low), words(high)),
    }
}

fn values(any: &[String]) -> String {
    any.iter().map(|text| value(text)).collect::<Vec<_>>().join(",")
}

/// A text as it is typed: bare where nothing in it could mean something else.
pub(super) fn value(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+' | '%' | '#' | '…');
    let bare = !text.is_empty() && !text.starts_with('-') && !text.contains("..") && text.chars().all(plain);
    if bare { text.to_owned() } else { quoted(text) }
}
