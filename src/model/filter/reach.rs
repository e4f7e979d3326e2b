//! How far a filter has to look, known before anything is asked.

use super::{Filter, Match, MomentField, NumberField, SpanField, StateSet, Term, Test, TextField};
use crate::model::page::{WINDOW_ROWS, WINDOW_SECONDS};

/// What is read of the rows that are looked at; each reads what those before it read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// An index leads to the jobs.
    Index,
    /// Rows are looked at one by one.
    Rows,
    /// And the errors of each.
    Errors,
    /// And the payload of each.
    Payloads,
}

impl Test {
    /// What it reads of a row, where no index serves it.
    #[must_use]
    pub fn reads(&self) -> Reach {
        match self {
            Self::Payload(..) => Reach::Payloads,
            Self::Anywhere(_) | Self::Text(TextField::Error | TextField::Signature, _) => Reach::Errors,
            _ => Reach::Rows,
        }
    }
}

impl Filter {
    /// What its lists read.
    #[must_use]
    pub fn reach(&self) -> Reach {
        // Where ids or keys lead to the rows, those are few, and no term matters.
        if self.ids().is_some() || self.keys().is_some() {
            return Reach::Index;
        }
        let states = self.states();
        let served = |negated: bool, test: &Test| match test {
            Test::State(_) | Test::Kind(_) => true,
            // Negated or not: lists of queued jobs go from queue to queue and from priority to priority.
            Test::Text(TextField::Queue, words) => {
                states.is_within(StateSet::QUEUED)
                    || (!negated && states == StateSet::DEAD && words.how == Match::Whole && words.any.len() == 1)
            }
            Test::Number(NumberField::Priority, _) => states.is_within(StateSet::QUEUED),
            Test::Span(SpanField::Lease | SpanField::Due | SpanField::Overdue, _)
            | Test::Moment(MomentField::Failed | MomentField::Completed, _) => !negated,
            Test::Moment(MomentField::RunAt, _) => !negated && states.is_within(StateSet::QUEUED),
            _ => false,
        };
        let reads = |term: &Term| if served(term.negated, &term.test) { Reach::Index } else { term.test.reads() };
        self.terms().iter().map(reads).max().unwrap_or(Reach::Index)
    }

    /// What a page of it may cost, in words; `None`: an index serves it.
    #[must_use]
    pub fn cost_note(&self) -> Option<String> {
        let rows = format!("{} rows or {WINDOW_SECONDS} s a page", thousands(WINDOW_ROWS));
        match self.reach() {
            Reach::Index => None,
            Reach::Rows => Some(format!("no index serves this filter: it looks at each row, at most {rows}")),
            Reach::Errors => Some(format!("text search reads the error of each row: at most {rows}")),
            Reach::Payloads => Some(format!("payload search reads the payload of each row: at most {rows}")),
        }
    }

    /// Whether payloads have to be read.
    #[must_use]
    pub fn reads_payloads(&self) -> bool {
        self.terms().iter().any(|term| matches!(term.test, Test::Payload(..)))
    }
}

/// `10,000`.
pub(crate) fn thousands(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
