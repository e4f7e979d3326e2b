//! The filter language: one line that says which jobs a list shows. Pure text and data: it knows no SQL and no screen.
//!
//! ```text
//! filter   = { term }                                  every term must hold
//! term     = [ "-" ] ( test | word | phrase )          "-" leaves out what the term matches
//! test     = field operator values
//! field    = name | "payload" { "." key }              a key may be quoted: payload."a b".c
//! operator = ":" | "=" | "~" | ">" | ">=" | "<" | "<=" ":" is each field's usual one, "=" the whole value, "~" a part of it
//! values   = value { "," value }                       one of them
//!          | value ".." value | value ".." | ".." value     both ends included
//! value    = bare | phrase                             bare: up to a space, a comma or ".."
//! phrase   = '"' text '"'                              \" is a quote and \\ a backslash in it; all else stands for itself
//! ```
//!
//! A word or phrase without a field is looked for in id, error, worker and key. What is typed is literal: `%`, `_`, `*`
//! and a backslash outside of a phrase have no meaning. Parts are found whatever their case, whole values only as they are.
//!
//! Without a `state:` a filter shows live jobs (queued and running). Two things widen that: a whole id or key names one
//! job, in whatever state; and what only exists in other states (`failed>-1h`, `completed>-1h`, `reason:`) shows those.
//!
//! [`Filter`] parses (`str::parse`) and prints (`Display`); what is printed reads back as the same filter. The fields are
//! declared once, in `field`: parser, printer, completion, help and the README's table all come from there.

#[cfg(test)]
pub(crate) mod arbitrary;
mod complete;
mod error;
mod field;
mod help;
mod judge;
mod operands;
mod parse;
mod print;
mod reach;
mod scan;
mod states;
#[cfg(test)]
mod tests;
mod tree;
mod values;

pub use complete::{Completion, Vocabulary, complete};
pub use error::FilterError;
pub use help::{FILTER_HELP, help_text, markdown_table};
pub use reach::Reach;
pub(crate) use reach::thousands;
pub use states::{StateSet, StateWord};
pub use tree::{
    Has, Match, Moment, MomentField, NumberField, Numbers, PayloadTest, Range, Span, SpanField, Term, Test, TextField,
    Words, begin_and_end, id_range,
};

use uuid::Uuid;

use super::{BackendKind, JobState, QueueId};

/// Which jobs a list shows: terms that must all hold. The default, without terms, shows every live job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    terms: Vec<Term>,
}

impl Filter {
    /// A filter of these terms.
    #[must_use]
    pub fn new(terms: Vec<Term>) -> Self {
        Self { terms }
    }

    /// Live jobs of one queue.
    #[must_use]
    pub fn of_queue(queue: &QueueId) -> Self {
        let kind = (queue.backend != BackendKind::Jobs).then_some(Test::Kind(queue.backend));
        let name = Test::Text(TextField::Queue, Words::new(TextField::Queue, &queue.name));
        Self { terms: kind.into_iter().chain([name]).map(Term::plain).collect() }
    }

    /// The same with this state instead of any other.
    #[must_use]
    pub fn with_state(self, state: JobState) -> Self {
        self.with_states(vec![StateWord::One(state)])
    }

    /// The same with one of these states instead of any other; none: live jobs.
    #[must_use]
    pub fn with_states(mut self, states: Vec<StateWord>) -> Self {
        self.terms.retain(|term| !matches!(term.test, Test::State(_)));
        self.terms.extend((!states.is_empty()).then(|| Term::plain(Test::State(states))));
        self
    }

    /// The same with this text to be found in id, error, worker or key, instead of any other; empty: without one.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        self.terms.retain(|term| !matches!(term.test, Test::Anywhere(_)));
        self.terms.extend((!text.is_empty()).then(|| Term::plain(Test::Anywhere(text.to_owned()))));
        self
    }

    /// The same with one more condition on a text.
    #[must_use]
    pub fn and(mut self, field: TextField, value: &str) -> Self {
        self.terms.push(Term::plain(Test::Text(field, Words::new(field, value))));
        self
    }

    /// The same, of jobs that were begun before.
    #[must_use]
    pub fn and_tried(mut self) -> Self {
        self.terms.push(Term::plain(Test::Number(NumberField::Attempts, Numbers::In(Range::From(1)))));
        self
    }

    /// Its terms, as written.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The tests that must hold; not those that must not.
    pub fn wanted(&self) -> impl Iterator<Item = &Test> {
        self.terms.iter().filter(|term| !term.negated).map(|term| &term.test)
    }

    /// The kind of queue that is asked.
    #[must_use]
    pub fn backend(&self) -> BackendKind {
        let named = self.wanted().find_map(|test| if let Test::Kind(kind) = test { Some(*kind) } else { None });
        named.unwrap_or(BackendKind::Jobs)
    }

    /// The names that the queue must have, where whole names are given; `None`: any queue, or by a part of the name.
    #[must_use]
    pub fn queues(&self) -> Option<Vec<&str>> {
        self.whole(TextField::Queue)
    }

    /// The one queue that the jobs are of; `None`: of several, or not known from the filter alone.
    #[must_use]
    pub fn one_queue(&self) -> Option<QueueId> {
        match self.queues()?.as_slice() {
            [name] => Some(QueueId { backend: self.backend(), name: (*name).to_owned() }),
            _ => None,
        }
    }

    /// The keys that the jobs must have, where whole keys are given.
    #[must_use]
    pub fn keys(&self) -> Option<Vec<&str>> {
        self.whole(TextField::Key)
    }

    /// The ids that jobs must have or begin with, where that is asked: ranges of ids, both ends included. An empty list: no
    /// id can be like that. Words that are whole ids count.
    #[must_use]
    pub fn ids(&self) -> Option<Vec<(Uuid, Uuid)>> {
        self.wanted().find_map(|test| match test {
            Test::Text(TextField::Id, words) if words.how != Match::Part => {
                Some(words.any.iter().filter_map(|text| tree::id_range(text, words.how)).collect())
            }
            Test::Anywhere(text) => Uuid::parse_str(text.trim()).ok().map(|id| vec![(id, id)]),
            _ => None,
        })
    }

    /// The free text, where there is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.wanted().find_map(|test| if let Test::Anywhere(text) = test { Some(text.as_str()) } else { None })
    }

    /// What it asks besides state, kind and one whole queue, as it is typed; `None`: nothing.
    #[must_use]
    pub fn more(&self) -> Option<String> {
        let one_queue = self.one_queue().is_some();
        let told = |term: &&Term| match &term.test {
            Test::State(_) | Test::Kind(_) => true,
            Test::Text(TextField::Queue, words) => one_queue && !term.negated && words.how == Match::Whole,
            _ => false,
        };
        let terms: Vec<String> = self.terms.iter().filter(|term| !told(term)).map(Term::to_string).collect();
        (!terms.is_empty()).then(|| terms.join(" "))
    }

    /// Whole values of a field that all its terms allow.
    fn whole(&self, wanted: TextField) -> Option<Vec<&str>> {
        let lists = self.wanted().filter_map(|test| match test {
            Test::Text(field, words) if *field == wanted && words.how == Match::Whole => Some(words),
            _ => None,
        });
        lists.fold(None, |found: Option<Vec<&str>>, words| {
            let allowed = words.any.iter().map(String::as_str);
            let mut names: Vec<&str> = match found {
                Some(found) => allowed.filter(|name| found.contains(name)).collect(),
                None => allowed.collect(),
            };
            names.sort_unstable();
            names.dedup();
            Some(names)
        })
    }
}
