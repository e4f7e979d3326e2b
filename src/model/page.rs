//! Asking for a page of jobs, and the page. Paged by key, never by offset.

use super::{Job, JobState, QueueId, Reading, Time};

/// Which states a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateFilter {
    /// Live jobs of every state (queued and running).
    #[default]
    Live,
    /// One state.
    Only(JobState),
}

/// What a list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// One queue, or all.
    pub queue: Option<QueueId>,
    /// Which states.
    pub state: StateFilter,
    /// Literal text looked for in id and error.
    pub text: Option<String>,
}

/// The order of a list. Each is served by an index or works on the loaded page only and says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// As a claim would take them: priority, `run_at`, `created_at` (leases: soonest end first; dead: latest first).
    #[default]
    Natural,
}

/// Where a page begins: the opaque key of the row before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCursor(pub serde_json::Value);

/// A request for one page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// Which jobs.
    pub filter: JobFilter,
    /// In which order.
    pub sort: Sort,
    /// After this row; `None`: from the top.
    pub after: Option<PageCursor>,
    /// At most so many rows.
    pub limit: u32,
}

/// One page of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// What was asked.
    pub request: PageRequest,
    /// The rows, in order; `Denied` when the role may not read them.
    pub jobs: Reading<Vec<Job>>,
    /// Where the next page begins; `None`: this is the last one.
    pub next: Option<PageCursor>,
    /// When it was read, by the server's clock.
    pub taken_at: Time,
    /// A limit that was met, in words ("looked at the first 10,000 rows").
    pub note: Option<String>,
}
