//! Judging a job by what a list shows of it, where that is enough.

use super::tree::{begin_and_end, id_range};
use super::{Filter, Has, Match, MomentField, NumberField, Numbers, SpanField, Test, TextField, Words};
use crate::model::{Job, Time};
use uuid::Uuid;

impl Filter {
    /// Whether a job is in the list at the server's time `now`; `None`: only the server can tell (payload, key, signature,
    /// what an error says behind its first line).
    #[must_use]
    pub fn matches(&self, job: &Job, now: Time) -> Option<bool> {
        if !self.states().has(job.state) {
            return Some(false);
        }
        self.terms
            .iter()
            .try_fold(Some(true), |all, term| match term.test.holds(job, now).map(|is| is != term.negated) {
                Some(false) => Err(Some(false)),
                Some(true) => Ok(all),
                None => Ok(None),
            })
            .unwrap_or_else(|no| no)
    }
}

impl Test {
    /// Whether it holds for a job as listed.
    fn holds(&self, job: &Job, now: Time) -> Option<bool> {
        if !self.states().has(job.state) {
            return Some(false);
        }
        match self {
            Self::State(_) => Some(true),
            Self::Kind(kind) => Some(*kind == job.at.queue.backend),
            Self::Anywhere(text) => anywhere(text, job),
            Self::Text(field, words) => text(*field, words, job),
            Self::Number(field, numbers) => Some(number(*field, numbers, job)),
            Self::Span(field, range) => {
                let range = range.map(|span| span.0.saturating_mul(1000));
                Some(span(*field, job, now).is_some_and(|micros| range.holds(&micros)))
            }
            // Not shown in lists.
            Self::Moment(MomentField::Completed, _) | Self::Has(Has::Key | Has::Replay) | Self::Payload(..) => None,
            Self::Moment(field, range) => {
                let range = range.map(|moment| moment.at(now));
                Some(moment(*field, job).is_some_and(|at| range.holds(&at)))
            }
            Self::Has(Has::Worker) => Some(job.worker.is_some()),
            Self::Has(Has::Lease) => Some(job.lease_until.is_some()),
            Self::Has(Has::Error) => job.error.as_ref().map(|_| true),
        }
    }
}

/// A part, in any case of letters; servers differ in what they take for the same letter beyond ASCII.
fn part(whole: &str, wanted: &str) -> Option<bool> {
    if whole.contains(wanted) {
        return Some(true);
    }
    let plain = whole.is_ascii() && wanted.is_ascii();
    plain.then(|| whole.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase()))
}

/// Yes where one says yes, no where all say no.
fn one_of(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(false);
    for answer in answers {
        match answer {
            Some(true) => return answer,
            Some(false) => {}
            None => all = None,
        }
    }
    all
}

fn anywhere(text: &str, job: &Job) -> Option<bool> {
    if let Ok(id) = Uuid::parse_str(text.trim()) {
        return Some(Uuid::parse_str(&job.at.id).is_ok_and(|own| own == id));
    }
    let shown = [Some(job.at.id.as_str()), job.worker.as_deref(), error_shown(job)];
    // The key and the rest of the error are not shown.
    one_of(shown.into_iter().flatten().map(|shown| part(shown, text)).chain([None]))
}

fn text(field: TextField, words: &Words, job: &Job) -> Option<bool> {
    let compared = |own: &str| one_of(words.any.iter().map(|wanted| compare(own, wanted, words.how)));
    match field {
        TextField::Id => one_of(words.any.iter().map(|wanted| id(&job.at.id, wanted, words.how))),
        TextField::Queue => compared(&job.at.queue.name),
        TextField::Worker => job.worker.as_deref().map_or(Some(false), compared),
        TextField::Error => one_of(words.any.iter().map(|wanted| error(error_shown(job), wanted, words.how))),
        TextField::Signature | TextField::Key | TextField::Reason => None,
    }
}

fn compare(own: &str, wanted: &str, how: Match) -> Option<bool> {
    match how {
        Match::Whole => Some(own == wanted),
        Match::Part => part(own, wanted),
        Match::Begin => {
            let (begin, end) = begin_and_end(wanted);
            Some(own.starts_with(begin) && own.ends_with(end))
        }
    }
}

fn id(own: &str, wanted: &str, how: Match) -> Option<bool> {
    match (Uuid::parse_str(own), how) {
        (Ok(id), Match::Whole | Match::Begin) => {
            let range = id_range(wanted, how);
            let end = begin_and_end(wanted).1.to_ascii_lowercase();
            Some(range.is_some_and(|(first, last)| first <= id && id <= last) && own.ends_with(&end))
        }
        _ => compare(own, wanted, how),
    }
}

/// The error without the ellipsis that tells of a cut.
fn error_shown(job: &Job) -> Option<&str> {
    job.error.as_deref().map(|line| line.trim_end_matches('…'))
}

/// Of the error only the beginning of its first line is shown.
fn error(shown: Option<&str>, wanted: &str, how: Match) -> Option<bool> {
    match (shown?, how) {
        (shown, Match::Part) => part(shown, wanted).filter(|found| *found),
        (shown, _) if !wanted.starts_with(shown) => Some(false),
        _ => None,
    }
}

fn number(field: NumberField, numbers: &Numbers, job: &Job) -> bool {
    let attempts = i64::from(job.attempts);
    let max = job.max_attempts.map(i64::from);
    let own = match field {
        NumberField::Priority => job.priority.map(i64::from),
        NumberField::Attempts => Some(attempts),
        NumberField::Max => max,
        NumberField::Left => max.map(|max| max - attempts),
    };
    own.is_some_and(|own| match numbers {
        Numbers::Is(any) => any.iter().any(|number| i64::from(*number) == own),
        Numbers::In(range) => range.map(|number| i64::from(*number)).holds(&own),
    })
}

/// A length of time in microseconds; those without an end are longer or shorter than any other.
fn span(field: SpanField, job: &Job, now: Time) -> Option<i64> {
    let until = |at: Time| match at {
        Time::NegInfinity => i64::MIN,
        Time::Infinity => i64::MAX,
        Time::At(_) => at.micros_since(now).unwrap_or(0),
    };
    match field {
        SpanField::Age => job.created_at.map(|at| until(at).saturating_neg()),
        SpanField::Lease => Some(job.lease_until.map_or(i64::MIN, until)),
        SpanField::Due => Some(until(job.run_at)),
        SpanField::Overdue => Some(until(job.run_at).saturating_neg()),
        SpanField::Beat => job.updated_at.map(|at| until(at).saturating_neg()),
    }
}

/// A point in time that lists show; dead letters show in place of `run_at` when they died.
fn moment(field: MomentField, job: &Job) -> Option<Time> {
    match field {
        MomentField::Created => job.created_at,
        MomentField::RunAt | MomentField::Failed => Some(job.run_at),
        MomentField::Completed => None,
    }
}
