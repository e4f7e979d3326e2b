//! What is to be told of an attempt's end: what the handler said, in a form that the queue can take. Pure.

use std::time::Duration;

use super::backoff::RetryDelay;
use super::handler::JobError;

/// More of an error is never sent; the database keeps as much.
const LETTERS: usize = 8000;

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Done,
    Failed { error: String, wait: Duration },
    Permanent { error: String },
}

impl Said {
    /// What the handler said, of the attempt with this number.
    pub(super) fn by_handler(result: Result<(), JobError>, attempt: i32, delay: &RetryDelay, chance: f64) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(JobError::Retry(error)) => Self::Failed { error: storable(&error), wait: delay.after(attempt, chance) },
            Err(JobError::Permanent(error)) => Self::Permanent { error: storable(&error) },
        }
    }

    /// The worker ended it, not the work: tried again as soon as the queue allows.
    pub(super) fn given_back(error: &str) -> Self {
        Self::Failed { error: storable(error), wait: Duration::ZERO }
    }

    /// The same in letters that every encoding of a database has.
    pub(super) fn in_ascii(self) -> Self {
        match self {
            Self::Done => Self::Done,
            Self::Failed { error, wait } => Self::Failed { error: ascii(&error), wait },
            Self::Permanent { error } => Self::Permanent { error: ascii(&error) },
        }
    }
}

/// Without the one letter that PostgreSQL's text cannot hold; an error must never make its own report fail.
fn storable(error: &str) -> String {
    error.chars().take(LETTERS).map(|letter| if letter == '\0' { '\u{fffd}' } else { letter }).collect()
}

fn ascii(error: &str) -> String {
    let mut text = String::with_capacity(error.len());
    for letter in error.chars() {
        if letter.is_ascii() {
            text.push(letter);
        } else {
            text.extend(letter.escape_unicode());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_any_kind_can_be_stored() {
        assert_eq!(storable("a\0b"), "a\u{fffd}b");
        assert_eq!(storable(&"😀".repeat(10_000)).chars().count(), LETTERS);
        let said = Said::Permanent { error: "naïve 😀\n".to_owned() }.in_ascii();
        assert_eq!(said, Said::Permanent { error: "na\\u{ef}ve \\u{1f600}\n".to_owned() });
    }
}
