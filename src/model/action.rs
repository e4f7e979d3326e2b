//! What an operator can do to jobs, and the answer for each one.

use serde::Serialize;

use super::{JobRef, Time};

/// An action on jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Make claimable now.
    Requeue {
        /// Also when a live lease holds it: the holder is fenced out.
        force: bool,
    },
    /// Move to the dead letters.
    DeadLetter {
        /// Also when a live lease holds it.
        force: bool,
    },
    /// Take back an expired lease.
    Reap,
    /// Make a new job of a dead letter.
    Replay {
        /// Also of one that was replayed before.
        force: bool,
    },
    /// Run a waiting job at another time.
    Reschedule {
        /// When.
        run_at: Time,
    },
    /// Let a job go before or behind others.
    SetPriority {
        /// Higher runs first.
        priority: i32,
    },
    /// Put back what an earlier action changed.
    Undo {
        /// That action's audit row.
        audit: i64,
    },
}

impl Action {
    /// The verb, as in "requeue 3 jobs".
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Requeue { force: false } => "requeue",
            Self::Requeue { force: true } => "force requeue",
            Self::DeadLetter { force: false } => "dead-letter",
            Self::DeadLetter { force: true } => "force dead-letter",
            Self::Reap => "reap",
            Self::Replay { force: false } => "replay",
            Self::Replay { force: true } => "force replay",
            Self::Reschedule { .. } => "reschedule",
            Self::SetPriority { .. } => "reprioritise",
            Self::Undo { .. } => "put back",
        }
    }

    /// The past form, as in "requeued 1 of 1".
    #[must_use]
    pub fn done(self) -> &'static str {
        match self {
            Self::Requeue { .. } => "requeued",
            Self::DeadLetter { .. } => "dead-lettered",
            Self::Reap => "reaped",
            Self::Replay { .. } => "replayed",
            Self::Reschedule { .. } => "rescheduled",
            Self::SetPriority { .. } => "reprioritised",
            Self::Undo { .. } => "put back",
        }
    }
}

/// What happened to one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Done as asked.
    Done,
    /// Not done: the row is no longer as it was seen.
    Changed,
    /// Not done: another session held the row.
    Locked,
    /// Not done: no such row.
    Gone,
    /// Not done: the action does not apply to its state.
    Refused,
    /// The answer was lost: it may or may not have happened.
    Unknown,
}

impl Outcome {
    /// The word the SQL functions answer with, read back. Anything else counts as unknown.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "done" => Self::Done,
            "changed" => Self::Changed,
            "locked" => Self::Locked,
            "gone" => Self::Gone,
            "refused" => Self::Refused,
            _ => Self::Unknown,
        }
    }

    /// The word shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Changed => "changed",
            Self::Locked => "locked",
            Self::Gone => "gone",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// The answer for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetResult {
    /// The job's id.
    pub id: String,
    /// What happened.
    pub outcome: Outcome,
    /// Its state now, where it is known.
    pub state_now: Option<String>,
    /// Why, in the database's words.
    pub detail: Option<String>,
}

/// The answer to one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionReport {
    /// What was asked.
    pub action: Action,
    /// Of which jobs.
    pub asked: Vec<JobRef>,
    /// One answer for each of `asked`.
    pub results: Vec<TargetResult>,
    /// When, by the server's clock; `None` when the answer was lost.
    pub at: Option<Time>,
    /// The audit row, by which it can be undone; `None` where it could not be read.
    pub audit: Option<i64>,
}

impl ActionReport {
    /// How many were done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.results.iter().filter(|r| r.outcome == Outcome::Done).count()
    }
}
