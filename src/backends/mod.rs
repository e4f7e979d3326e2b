//! Kinds of queues. One folder a backend and one line in `all`; nothing else names them.

pub mod jobs;

use std::time::Duration;

use futures::future::BoxFuture;
use uuid::Uuid;

use crate::db::{DbError, Session};
use crate::model::{
    Action, BackendKind, DetailRequest, Failures, Fence, Handling, JobDetail, JobRef, Lease, Page, PageRequest, Panel,
    PanelKind, PartRead, PartRequest, Point, QueueId, QueueStats, Reading, TargetResult, Time,
};

/// The core numbers of one frame: one statement, so that they agree with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Core {
    /// The server's clock (`clock_timestamp()`) at reading.
    pub taken_at: Time,
    /// Every queue.
    pub queues: Vec<QueueStats>,
    /// When the reaper last ran; `Exact(None)`: never.
    pub reaper_last: Reading<Option<Time>>,
}

/// How jobs are handled, by queue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Handlings {
    /// Queues of which something is known.
    pub queues: Vec<(QueueId, Handling)>,
    /// What holds for every other queue.
    pub others: Handling,
}

/// Per-minute history by queue, oldest first.
pub type Minutes = Vec<(QueueId, Vec<Point>)>;

/// What an action needs: which jobs, as they were seen, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct ActRequest {
    /// What to do.
    pub action: Action,
    /// The jobs with their fences, in the order of the answers.
    pub targets: Vec<(JobRef, Fence)>,
    /// The operator's reason, for the audit.
    pub reason: Option<String>,
    /// Names this call, and no other: by it a lost answer is looked up.
    pub token: Uuid,
}

/// The answer to an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Acted {
    /// The server's time.
    pub at: Time,
    /// One for each target, in the order they were asked.
    pub results: Vec<TargetResult>,
    /// The audit row, by which it can be undone; `None` where it could not be read.
    pub audit: Option<i64>,
}

/// A kind of queue on a live session. Implementations hold what detection found (schema, columns, rights) and no
/// connection. Reading goes through [`Session`]'s read-only batches, acting through its `call`.
pub trait Backend: Send + Sync {
    /// Which kind this is.
    fn kind(&self) -> BackendKind;

    /// The schema it lives in.
    fn schema(&self) -> &str;

    /// What is missing or limited, in words with the next step, for the header ("no counters: numbers are estimates").
    fn notes(&self) -> Vec<String>;

    /// `Ok(())` when this role may act, else the reason with the missing GRANT.
    ///
    /// # Errors
    /// The reason in words.
    fn may_act(&self) -> Result<(), String>;

    /// The channel that tells of changes, where there is one.
    fn channel(&self) -> Option<String>;

    /// The core numbers of a frame.
    fn core<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Core, DbError>>;

    /// Leases, soonest end first, at most `limit`.
    fn leases<'a>(&'a self, session: &'a Session, limit: u32) -> BoxFuture<'a, Result<Reading<Vec<Lease>>, DbError>>;

    /// Failures of the last 15 minutes and dead letters by signature.
    fn failures<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Failures, DbError>>;

    /// How jobs were handled in the last 15 minutes.
    fn handling<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Handlings, DbError>>;

    /// History of the last `back` in spans of `span` (whole minutes), oldest first, per queue.
    fn history<'a>(
        &'a self,
        session: &'a Session,
        back: Duration,
        span: Duration,
    ) -> BoxFuture<'a, Result<Minutes, DbError>>;

    /// One page of jobs.
    fn page<'a>(&'a self, session: &'a Session, request: &'a PageRequest) -> BoxFuture<'a, Result<Page, DbError>>;

    /// What a full view shows.
    fn panel<'a>(&'a self, session: &'a Session, kind: PanelKind) -> BoxFuture<'a, Result<Panel, DbError>>;

    /// Everything about one job, also where it was moved meanwhile; `None`: it is gone.
    fn detail<'a>(
        &'a self,
        session: &'a Session,
        request: &'a DetailRequest,
    ) -> BoxFuture<'a, Result<Option<JobDetail>, DbError>>;

    /// More of a payload or an error.
    fn part<'a>(&'a self, session: &'a Session, request: &'a PartRequest) -> BoxFuture<'a, Result<PartRead, DbError>>;

    /// Acts on jobs: one answer per target, in order.
    fn act<'a>(&'a self, session: &'a Session, request: &'a ActRequest) -> BoxFuture<'a, Result<Acted, DbError>>;

    /// What became of the call with this token; `None`: nothing, as far as is known now.
    fn lookup<'a>(&'a self, session: &'a Session, token: Uuid) -> BoxFuture<'a, Result<Option<Acted>, DbError>>;

    /// Pauses a queue, or lets it go on; false: it was so already.
    fn set_paused<'a>(
        &'a self,
        session: &'a Session,
        queue: &'a str,
        paused: bool,
        reason: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, DbError>>;
}

/// Finds the backends that are installed in the session's database, in this schema only where one is given.
///
/// # Errors
/// When the database cannot be asked. "Nothing found" is an empty list, not an error.
pub async fn all(session: &Session, schema: Option<&str>) -> Result<Vec<Box<dyn Backend>>, DbError> {
    let mut found: Vec<Box<dyn Backend>> = Vec::new();
    if let Some(jobs) = jobs::detect(session, schema).await? {
        found.push(Box::new(jobs));
    }
    Ok(found)
}
