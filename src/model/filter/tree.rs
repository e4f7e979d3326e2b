//! The tree of a filter: what its terms say, whatever the way they were typed.

use std::time::Duration;

use uuid::Uuid;

use super::StateWord;
use crate::model::{BackendKind, Time};

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// What the test matches is left out.
    pub negated: bool,
    /// What a job is tested for.
    pub test: Test,
}

impl Term {
    /// A term that must hold.
    #[must_use]
    pub fn plain(test: Test) -> Self {
        Self { negated: false, test }
    }
}

/// What a job is tested for. Where a job has no value, a test does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// The text is a part of id, error, worker or key.
    Anywhere(String),
    /// It is in a queue of this kind.
    Kind(BackendKind),
    /// It is in one of these states.
    State(Vec<StateWord>),
    /// A text is or has one of these.
    Text(TextField, Words),
    /// A number is one of these or in a range.
    Number(NumberField, Numbers),
    /// A length of time.
    Span(SpanField, Range<Span>),
    /// A point in time.
    Moment(MomentField, Range<Moment>),
    /// There is something at all.
    Has(Has),
    /// A value of the payload: the keys that lead to it (none: the payload as text) and what it must be.
    Payload(Vec<String>, PayloadTest),
}

/// Fields that are texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextField {
    /// The job's id.
    Id,
    /// The queue's name.
    Queue,
    /// Who holds it.
    Worker,
    /// The last error.
    Error,
    /// The last error without what differs from case to case.
    Signature,
    /// The idempotency key.
    Key,
    /// Why it died.
    Reason,
}

/// How a text is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// The whole text, letter for letter.
    Whole,
    /// How it begins; `8c1f…e2`, as screens shorten ids, also how it ends.
    Begin,
    /// A part, in any case of letters.
    Part,
}

/// Texts, one of which must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// How they are compared.
    pub how: Match,
    /// The texts; never none.
    pub any: Vec<String>,
}

impl Words {
    /// One text, compared as `:` does for the field.
    #[must_use]
    pub fn new(field: TextField, text: &str) -> Self {
        Self { how: field.usual(), any: vec![text.to_owned()] }
    }
}

impl TextField {
    /// How `:` compares.
    #[must_use]
    pub fn usual(self) -> Match {
        match self {
            Self::Id | Self::Worker => Match::Begin,
            Self::Queue | Self::Signature | Self::Key => Match::Whole,
            Self::Error | Self::Reason => Match::Part,
        }
    }
}

/// Fields that are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberField {
    /// Higher runs first.
    Priority,
    /// Attempts begun.
    Attempts,
    /// The limit of attempts.
    Max,
    /// Attempts left.
    Left,
}

/// What a number must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbers {
    /// One of these; never none.
    Is(Vec<i32>),
    /// In a range.
    In(Range<i32>),
}

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range<T> {
    /// More than this.
    Above(T),
    /// This or more.
    From(T),
    /// Less than this.
    Below(T),
    /// This or less.
    To(T),
    /// From the first to the second, both included.
    Between(T, T),
}

impl<T> Range<T> {
    /// The same range of other values.
    pub fn map<U>(&self, mut to: impl FnMut(&T) -> U) -> Range<U> {
        match self {
            Self::Above(low) => Range::Above(to(low)),
            Self::From(low) => Range::From(to(low)),
            Self::Below(high) => Range::Below(to(high)),
            Self::To(high) => Range::To(to(high)),
            Self::Between(low, high) => Range::Between(to(low), to(high)),
        }
    }
}

impl<T: PartialOrd> Range<T> {
    /// Whether a value is in it.
    pub fn holds(&self, value: &T) -> bool {
        match self {
            Self::Above(low) => value > low,
            Self::From(low) => value >= low,
            Self::Below(high) => value < high,
            Self::To(high) => value <= high,
            Self::Between(low, high) => value >= low && value <= high,
        }
    }
}

/// A length of time in milliseconds, which may be below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub i64);

/// Fields that are lengths of time, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanField {
    /// Since it was put in.
    Age,
    /// Left of the lease; below zero when it is over, and least when there is none.
    Lease,
    /// Until a queued job may run; below zero when it is overdue.
    Due,
    /// Since a queued job may run.
    Overdue,
    /// Since a running job's last sign of life.
    Beat,
}

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// This one.
    At(Time),
    /// So long from now; below zero: ago.
    FromNow(Span),
}

impl Moment {
    /// The point in time, `now` being the server's.
    #[must_use]
    pub fn at(self, now: Time) -> Time {
        match self {
            Self::At(time) => time,
            Self::FromNow(Span(ms)) if ms < 0 => now.minus(Duration::from_millis(ms.unsigned_abs())),
            Self::FromNow(Span(ms)) => now.plus(Duration::from_millis(ms.unsigned_abs())),
        }
    }
}

/// Fields that are points in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentField {
    /// When it may run.
    RunAt,
    /// When it was put in.
    Created,
    /// When it died.
    Failed,
    /// When it was done.
    Completed,
}

/// What a job may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Has {
    /// A last error.
    Error,
    /// A holder.
    Worker,
    /// A lease.
    Lease,
    /// An idempotency key.
    Key,
    /// A dead letter that was replayed.
    Replay,
}

/// What a value of the payload must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadTest {
    /// One of these as text, letter for letter; never none.
    Whole(Vec<String>),
    /// One of these is a part, in any case of letters; never none.
    Part(Vec<String>),
    /// A number in this range; the numbers as decimals that SQL reads (`-1.5`).
    In(Range<String>),
    /// There, and not null.
    Present,
}

/// How a shortened text begins and ends: `8c1f…e2`.
#[must_use]
pub fn begin_and_end(text: &str) -> (&str, &str) {
    text.split_once('…').unwrap_or((text, ""))
}

/// The ids that begin with a text (without dashes: hex digits), or are it; `None`: none can.
#[must_use]
pub fn id_range(text: &str, how: Match) -> Option<(Uuid, Uuid)> {
    const DIGITS: usize = 32;
    let (begin, end) = if how == Match::Begin { begin_and_end(text) } else { (text, "") };
    if !end.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
        return None;
    }
    let digits: String = begin.chars().filter(|c| *c != '-').collect();
    let whole = digits.len() == DIGITS;
    if digits.len() > DIGITS || (how == Match::Whole && !whole) {
        return None;
    }
    let fill = |with: char| {
        let rest = std::iter::repeat_n(with, DIGITS - digits.len());
        u128::from_str_radix(&digits.chars().chain(rest).collect::<String>(), 16).ok()
    };
    let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| Some((Uuid::from_u128(fill('0')?), Uuid::from_u128(fill('f')?)))).flatten()
}
