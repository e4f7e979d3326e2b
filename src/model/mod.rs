//! Plain data: what a queue, a job, a reading and a finding are. No IO, no clock, no screen.

pub mod action;
pub mod bulk;
pub mod checkup;
pub mod clock;
pub mod filter;
pub mod finding;
pub mod handling;
pub mod history;
pub mod job;
pub mod page;
pub mod panel;
pub mod queue;
pub mod reading;
pub mod redact;
pub mod server;
pub mod snapshot;
pub mod sort;
pub mod spelling;
pub mod time;

pub use action::{Action, ActionReport, Outcome, TargetResult};
pub use clock::ServerClock;
pub use filter::{Filter, FilterError, StateSet};
pub use finding::{Finding, Severity};
pub use handling::{Handling, Quantiles, Wave};
pub use history::{History, Point, Series};
pub use job::{Attempt, Fence, Job, JobDetail, JobRef, JobState, Lease, Preview};
pub use page::{Page, PageCursor, PageRequest};
pub use panel::{Group, Groups, Panel, PanelKind, WorkerStats, Workers};
pub use queue::{BackendKind, Drain, QueueId, QueueStats, Rates, Totals};
pub use reading::{Known, Reading};
pub use redact::Redaction;
pub use server::{Ability, ServerFacts, TlsState};
pub use snapshot::{Failures, Signature, Snapshot};
pub use sort::{Served, Sort, SortKey};
pub use time::Time;
