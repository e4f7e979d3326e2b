//! What a rule found: something an operator should know, with the proof and the next step. Finding it is `diagnose`'s work.

use super::QueueId;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; nothing is wrong.
    Info,
    /// Look at this when there is time.
    Look,
    /// Act on this now.
    Act,
}

impl Severity {
    /// The stable word, as written to JSON and shown in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Look => "warning",
            Self::Act => "critical",
        }
    }
}

/// One thing that a rule found. All texts are safe to print: foreign parts went through `text::Safe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the rule, as in `expired-leases`.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The queue it is about; `None`: the whole server or several queues.
    pub queue: Option<QueueId>,
    /// One plain sentence without the queue's name: `3 leases expired, oldest 4m12s ago, no reaper seen for 4m`.
    pub sentence: String,
    /// The same for a narrow line: `3 leases expired, no reaper for 4m`.
    pub brief: String,
    /// The proof: what was measured and its value with unit and time.
    pub evidence: Vec<(String, String)>,
    /// What to do about it: a key, a command or a place to look at. Several statements stand on lines of their own.
    pub next_step: String,
    /// How much of it there is, for the order among findings of one rule (jobs, mostly).
    pub weight: u64,
}
