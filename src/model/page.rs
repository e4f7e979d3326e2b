//! Asking for a page of jobs, and the page. Paged by key, never by offset.

use std::time::Duration;

use super::{Filter, Job, Reading, Sort, Time};

/// Where no index serves a filter or a sort, so many rows are looked at for one page.
pub const WINDOW_ROWS: i64 = 10_000;
/// Or rows for so many seconds.
pub const WINDOW_SECONDS: i64 = 2;

/// Where a page begins: the opaque key of the row before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCursor(pub serde_json::Value);

/// A request for one page. A list pages back by keeping the cursors it went forward with: each is the key of a row as it was,
/// so it stays right when rows come and go, and the page in front of it is asked for as it was asked for before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// Which jobs.
    pub filter: Filter,
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
    /// The rows, in order; `Denied` when the role may not read them. It can be empty while `next` goes on.
    pub jobs: Reading<Vec<Job>>,
    /// Where the next page begins; `None`: this is the last one.
    pub next: Option<PageCursor>,
    /// When it was read, by the server's clock.
    pub taken_at: Time,
    /// How long the server was busy with it.
    pub cost: Duration,
    /// A limit that was met, in words ("looked at 10,000 rows; the next page goes on behind them").
    pub note: Option<String>,
}
