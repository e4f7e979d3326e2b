//! What a field takes: its operator and its values.

use std::ops;

use super::field::{Entry, Field, HAS, KINDS};
use super::parse::key;
use super::scan::{Scan, Value};
use super::values::{Typed, decimal, moment, number, span};
use super::{FilterError, Match, Moment, Numbers, PayloadTest, Range, StateWord, Test, TextField, Words};

/// What stands between a field and its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Usual,
    Whole,
    Part,
    Above,
    From,
    Below,
    To,
}

/// Longer ones first.
const OPERATORS: [(&str, Operator); 7] = [
    (">=", Operator::From),
    ("<=", Operator::To),
    (">", Operator::Above),
    ("<", Operator::Below),
    (":", Operator::Usual),
    ("=", Operator::Whole),
    ("~", Operator::Part),
];

/// An operator and where it stands.
type Placed = (Operator, ops::Range<usize>);

/// Reads what follows a field.
pub(super) fn test(scan: &mut Scan<'_>, entry: &Entry, path: Vec<String>) -> Result<Test, FilterError> {
    let ordered = matches!(entry.field, Field::Number(_) | Field::Span(_) | Field::Moment(_));
    let (operator, at) = operator(scan, ordered);
    match entry.field {
        Field::Text(field) => text(scan, entry, field, (operator, at)),
        Field::State => {
            equality(entry, operator, &at, "")?;
            let state = |value: &Value| {
                let word = StateWord::all().find(|word| word.as_str().eq_ignore_ascii_case(&value.text));
                word.ok_or_else(|| FilterError::new(value.span.clone(), format!("expected {}", entry.about)))
            };
            Ok(Test::State(list(scan, entry)?.iter().map(state).collect::<Result<_, _>>()?))
        }
        Field::Number(field) => {
            equality(entry, operator, &at, "<>")?;
            let numbers = match range(scan, operator, |value| read(value, number))? {
                Some(range) => Numbers::In(range),
                None => Numbers::Is(list(scan, entry)?.iter().map(|v| read(v, number)).collect::<Result<_, _>>()?),
            };
            Ok(Test::Number(field, numbers))
        }
        Field::Span(field) => {
            equality(entry, operator, &at, "<>")?;
            let range = range(scan, operator, |value| read(value, span))?.ok_or_else(|| {
                FilterError::new(at, format!("expected >, >=, <, <= or a range, as in {}", entry.example))
            })?;
            Ok(Test::Span(field, range))
        }
        Field::Moment(field) => {
            equality(entry, operator, &at, "<>")?;
            Ok(Test::Moment(field, moments(scan, operator)?))
        }
        Field::Has => has(scan, entry, operator, &at),
        Field::Payload => payload(scan, entry, path, (operator, at)),
        Field::Kind => {
            equality(entry, operator, &at, "")?;
            let value = some(scan.value(false)?, entry)?;
            let kind = KINDS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(&value.text));
            let kind = kind.ok_or_else(|| FilterError::new(value.span, format!("expected {}", entry.about)))?;
            Ok(Test::Kind(kind.1))
        }
    }
}

/// The operator that comes next. Where values are ordered, `:>=` is read as `>=`.
fn operator(scan: &mut Scan<'_>, ordered: bool) -> Placed {
    let start = scan.at;
    let mut next = || OPERATORS.into_iter().find(|(text, _)| scan.eat(text)).map(|(_, operator)| operator);
    let mut found = next().unwrap_or(Operator::Usual);
    if ordered && found == Operator::Usual {
        found = next().unwrap_or(found);
    }
    (found, start..scan.at)
}

/// Refuses operators that a field does not take: `more` says which it takes besides `:` and `=`.
fn equality(entry: &Entry, operator: Operator, at: &ops::Range<usize>, more: &str) -> Result<(), FilterError> {
    let allowed = match operator {
        Operator::Usual | Operator::Whole => true,
        Operator::Part => more.contains('~'),
        _ => more.contains('<'),
    };
    let expected = match more {
        "<>" => ":, >, >=, < or <=",
        "~" => ":, = or ~",
        "~<>" => ":, =, ~, >, >=, < or <=",
        _ => ":",
    };
    let message = || format!("expected {expected} behind {}, as in {}", entry.name, entry.example);
    if allowed { Ok(()) } else { Err(FilterError::new(at.clone(), message())) }
}

/// A value that is there.
fn some(value: Value, entry: &Entry) -> Result<Value, FilterError> {
    if value.text.is_empty() && !value.quoted {
        return Err(FilterError::new(value.span, format!("expected a value: {}", entry.about)));
    }
    Ok(value)
}

fn read<T>(value: &Value, reader: impl Fn(&str) -> Result<T, &'static str>) -> Result<T, FilterError> {
    reader(&value.text).map_err(|message| FilterError::new(value.span.clone(), message))
}

fn list(scan: &mut Scan<'_>, entry: &Entry) -> Result<Vec<Value>, FilterError> {
    let mut values = Vec::new();
    loop {
        values.push(some(scan.value(false)?, entry)?);
        if !scan.eat(",") {
            return Ok(values);
        }
    }
}

fn text(scan: &mut Scan<'_>, entry: &Entry, field: TextField, (operator, at): Placed) -> Result<Test, FilterError> {
    equality(entry, operator, &at, "~")?;
    let how = match operator {
        Operator::Whole => Match::Whole,
        Operator::Part => Match::Part,
        _ => field.usual(),
    };
    Ok(Test::Text(field, Words { how, any: list(scan, entry)?.into_iter().map(|value| value.text).collect() }))
}

/// A range, by its operator or by `..`; `None`: it is none, and the place is before the values again.
fn range<T>(
    scan: &mut Scan<'_>,
    operator: Operator,
    reader: impl Fn(&Value) -> Result<T, FilterError>,
) -> Result<Option<Range<T>>, FilterError> {
    let start = *scan;
    let low = scan.value(true)?;
    let found = match operator {
        Operator::Above => Range::Above(reader(&low)?),
        Operator::From => Range::From(reader(&low)?),
        Operator::Below => Range::Below(reader(&low)?),
        Operator::To => Range::To(reader(&low)?),
        _ if !scan.eat("..") => {
            *scan = start;
            return Ok(None);
        }
        _ => {
            let high = scan.value(true)?;
            match (low.text.is_empty(), high.text.is_empty()) {
                (false, false) => Range::Between(reader(&low)?, reader(&high)?),
                (false, true) => Range::From(reader(&low)?),
                (true, _) => Range::To(reader(&high)?),
            }
        }
    };
    Ok(Some(found))
}

/// Points in time: as a range, or one value, which stands for itself or for a whole day.
fn moments(scan: &mut Scan<'_>, operator: Operator) -> Result<Range<Moment>, FilterError> {
    let first = |typed| match typed {
        Typed::Moment(moment) => moment,
        Typed::Day(first, _) => Moment::At(first),
    };
    let last = |typed| match typed {
        Typed::Moment(moment) => moment,
        Typed::Day(_, last) => Moment::At(last),
    };
    let read_moment = |value: &Value| read(value, moment);
    if let Some(typed) = range(scan, operator, read_moment)? {
        return Ok(match typed {
            // "After a day" begins when it is over, "up to a day" ends with it.
            Range::Above(low) => Range::Above(last(low)),
            Range::From(low) => Range::From(first(low)),
            Range::Below(high) => Range::Below(first(high)),
            Range::To(high) => Range::To(last(high)),
            Range::Between(low, high) => Range::Between(first(low), last(high)),
        });
    }
    Ok(match read_moment(&scan.value(true)?)? {
        Typed::Moment(moment) => Range::Between(moment, moment),
        Typed::Day(first, last) => Range::Between(Moment::At(first), Moment::At(last)),
    })
}

fn has(scan: &mut Scan<'_>, entry: &Entry, operator: Operator, at: &ops::Range<usize>) -> Result<Test, FilterError> {
    equality(entry, operator, at, "")?;
    let start = scan.at;
    let mut ahead = *scan;
    if ahead.take_while(char::is_alphabetic).eq_ignore_ascii_case("payload") && ahead.peek() == Some('.') {
        *scan = ahead;
        let mut path = Vec::new();
        while scan.eat(".") {
            path.push(key(scan)?);
        }
        return Ok(Test::Payload(path, PayloadTest::Present));
    }
    let value = some(scan.value(false)?, entry)?;
    let found = HAS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(&value.text));
    let found = found.ok_or_else(|| FilterError::new(start..value.span.end, format!("expected {}", entry.about)))?;
    Ok(Test::Has(found.1))
}

fn payload(scan: &mut Scan<'_>, entry: &Entry, path: Vec<String>, (operator, at): Placed) -> Result<Test, FilterError> {
    if path.is_empty() && !matches!(operator, Operator::Usual | Operator::Part) {
        return Err(FilterError::new(at, "expected : or ~, or a key, as in payload.user.id=42"));
    }
    let whole = !path.is_empty() && matches!(operator, Operator::Usual | Operator::Whole);
    let decimals = |value: &Value| read(value, decimal);
    if whole {
        // `5..10` is a range; two texts with dots between them are one text.
        let mut ahead = *scan;
        if let Ok(Some(range)) = range(&mut ahead, operator, decimals)
            && ahead.at_boundary()
        {
            *scan = ahead;
            return Ok(Test::Payload(path, PayloadTest::In(range)));
        }
    } else if operator != Operator::Part
        && operator != Operator::Usual
        && let Some(range) = range(scan, operator, decimals)?
    {
        return Ok(Test::Payload(path, PayloadTest::In(range)));
    }
    let values = list(scan, entry)?.into_iter().map(|value| value.text).collect();
    Ok(Test::Payload(path, if whole { PayloadTest::Whole(values) } else { PayloadTest::Part(values) }))
}
