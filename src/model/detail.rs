//! One job in full. Its payload and its error may be huge: they travel in parts, and what is known already does not travel
//! again.

use std::time::Duration;

use super::{Job, JobRef, Reading, Time};

/// A text of a job that may be huge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The payload, as JSON text.
    Payload,
    /// The last error.
    Error,
}

impl Part {
    /// The word for it, as in "the payload".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Error => "error",
        }
    }
}

/// What a question about a job knows already: a text whose stamp is still the same is left out of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamps {
    /// Of the payload that was read.
    pub payload: Option<String>,
    /// Of the error that was read.
    pub error: Option<String>,
}

/// A question about a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailRequest {
    /// Which job.
    pub job: JobRef,
    /// What need not be sent again.
    pub known: Stamps,
}

/// A text, or a piece of it, with its true size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The piece.
    pub text: String,
    /// Bytes of the whole.
    pub bytes: u64,
    /// Where there is more: how many of the whole's characters end with this piece.
    pub next: Option<u64>,
    /// Tells whether the whole is still the same.
    pub stamp: String,
}

/// A text of a job as an answer holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// Still the one that was asked with.
    Same,
    /// Its beginning, or all of it.
    Read(Excerpt),
}

/// One attempt that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: i32,
    /// Who ran it.
    pub worker: Option<String>,
    /// When it was claimed.
    pub begun_at: Option<Time>,
    /// When it ended.
    pub ended_at: Option<Time>,
    /// `failed`, `expired`, `fenced` or `operator`.
    pub outcome: String,
    /// What it said, cut.
    pub error: Option<String>,
}

/// Everything the detail view shows of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobDetail {
    /// The row. It may lie in the other table than the question thought: then it was moved meanwhile.
    pub job: Job,
    /// Payload as JSON text.
    pub payload: Reading<Preview>,
    /// The last error; `None`: there is none.
    pub error: Reading<Option<Preview>>,
    /// Attempts that did not complete, oldest first; of many, the latest.
    pub attempts: Reading<Vec<Attempt>>,
    /// When the present or last attempt was claimed, where the table says it.
    pub claimed_at: Option<Time>,
    /// When it was completed.
    pub completed_at: Option<Time>,
    /// The job that a dead letter was replayed as.
    pub replayed_as: Option<String>,
    /// Further columns worth showing, in order: label and value.
    pub more: Vec<(String, String)>,
    /// When it was read, by the server's clock.
    pub taken_at: Time,
    /// Database time that the reading took.
    pub cost: Duration,
}

/// A question for more of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRequest {
    /// Which job.
    pub job: JobRef,
    /// Which text.
    pub part: Part,
    /// How many of its characters are known.
    pub from: u64,
    /// At most so many more are wanted.
    pub chars: u32,
}

/// The answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRead {
    /// The next piece; `None`: the job, or the text, is gone.
    pub piece: Option<Excerpt>,
    /// Database time that it took.
    pub cost: Duration,
}
