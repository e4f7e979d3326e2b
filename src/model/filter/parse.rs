//! From text to tree: terms and fields. What a field takes is read in `operands`.

use super::field::{Entry, Field, meant, named};
use super::operands::test;
use super::scan::Scan;
use super::{Filter, FilterError, Term, Test};

/// The letters that begin an operator.
pub(super) const OPERATOR_LETTERS: [char; 5] = [':', '=', '~', '<', '>'];

impl std::str::FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        if let Some(at) = text.find('\0') {
            return Err(FilterError::new(at..at + 1, "expected text: no text in a database holds a zero byte"));
        }
        let mut scan = Scan::new(text);
        let mut terms = Vec::new();
        loop {
            scan.skip_spaces();
            if scan.peek().is_none() {
                return Ok(Self { terms });
            }
            terms.push(term(&mut scan)?);
        }
    }
}

fn term(scan: &mut Scan<'_>) -> Result<Term, FilterError> {
    let negated = scan.eat("-");
    if negated && scan.at_boundary() {
        return Err(FilterError::new(scan.at - 1..scan.at, "expected what to leave out right behind the minus"));
    }
    if scan.peek() == Some('"') {
        let phrase = scan.phrase()?;
        if phrase.text.is_empty() {
            return Err(FilterError::new(phrase.span, "expected text between the quotes"));
        }
        end_of_term(scan)?;
        return Ok(Term { negated, test: Test::Anywhere(phrase.text) });
    }
    let start = *scan;
    if let Some((entry, path)) = field(scan)? {
        let test = test(scan, entry, path)?;
        end_of_term(scan)?;
        return Ok(Term { negated, test });
    }
    *scan = start;
    let word = scan.take_while(|c| !c.is_whitespace());
    Ok(Term { negated, test: Test::Anywhere(word.to_owned()) })
}

/// A field that is followed by an operator, with the keys of a payload; `None`: it is a word.
fn field(scan: &mut Scan<'_>) -> Result<Option<(&'static Entry, Vec<String>)>, FilterError> {
    let start = *scan;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = scan.take_while(letter);
    let entry = named(name);
    let mut path = Vec::new();
    while scan.rest().starts_with('.') && (entry.is_some_and(|entry| entry.field == Field::Payload)) {
        scan.eat(".");
        path.push(key(scan)?);
    }
    if !scan.peek().is_some_and(|c| OPERATOR_LETTERS.contains(&c)) {
        return Ok(None);
    }
    if let Some(entry) = entry {
        return Ok(Some((entry, path)));
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.is_empty() {
        return Ok(None);
    }
    if name.is_empty() {
        let message = "expected a field in front of it; to look for it as text, put it in quotes";
        return Err(FilterError::new(start.word_span(), message));
    }
    let close = meant(name).map_or_else(String::new, |close| format!(": did you mean {close}?"));
    let message = format!("no field is called {name}{close}; to look for it as text, put it in quotes");
    Err(FilterError::new(start.at..start.at + name.len(), message))
}

/// One key of a payload, which may stand in quotes.
pub(super) fn key(scan: &mut Scan<'_>) -> Result<String, FilterError> {
    if scan.peek() == Some('"') {
        return Ok(scan.phrase()?.text);
    }
    let start = scan.at;
    let inside = |c: char| !(c.is_whitespace() || matches!(c, '.' | ',' | '"') || OPERATOR_LETTERS.contains(&c));
    let text = scan.take_while(inside);
    if text.is_empty() {
        return Err(FilterError::new(start..start, "expected a key of the payload"));
    }
    Ok(text.to_owned())
}

fn end_of_term(scan: &Scan<'_>) -> Result<(), FilterError> {
    if scan.at_boundary() { Ok(()) } else { Err(FilterError::new(scan.word_span(), "expected a space here")) }
}
