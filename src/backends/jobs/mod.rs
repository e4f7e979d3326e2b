//! The `jobs` backend: one table of jobs with leases, one of dead letters, and, where our migrations are in, counters.
//!
//! Everything adapts to what the role may read: with our counters the numbers are exact and cost the same at any size;
//! on the bare tables they are cut at a limit and say so; what may not be read is denied, by itself. It must not write
//! anything but through the operator functions.

mod act;
mod ask;
mod bare;
mod clause;
mod core;
mod detail;
mod detect;
mod drift;
mod facts;
mod failures;
mod groups;
mod handling;
mod history;
mod key;
mod leases;
mod named;
mod page;
mod params;
mod parts;
mod queued;
mod recount;
mod row;
mod texts;
mod walk;
mod workers;

use std::sync::Mutex;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use uuid::Uuid;

use self::drift::Drift;
use self::facts::Facts;
use self::texts::Texts;
use super::{ActRequest, Acted, Backend, Core, Handlings, Minutes};
use crate::db::{DbError, Limits, Session};
use crate::model::{
    BackendKind, DetailRequest, Failures, JobDetail, Lease, Page, PageRequest, Panel, PanelKind, PartRead, PartRequest,
    QueueId, Reading,
};

pub use self::detect::detect;
pub use self::recount::{Comparison, Difference};

/// For the numbers of a frame; they are due every second.
const CORE_LIMITS: Limits = Limits::within(Duration::from_secs(5));
/// For lists and details that somebody waits for.
const LIST_LIMITS: Limits = Limits::within(Duration::from_secs(10));
/// For actions.
const ACT_LIMITS: Limits = Limits::within(Duration::from_secs(30));

/// A `jobs` table that was found, what is around it, and what this role may do with it.
#[derive(Debug)]
pub struct Jobs {
    facts: Facts,
    texts: Texts,
    drift: Mutex<Drift>,
}

impl Jobs {
    fn new(facts: Facts) -> Self {
        let texts = Texts::new(&facts);
        Self { facts, texts, drift: Mutex::default() }
    }
}

/// A queue of this backend.
fn queue_id(name: String) -> QueueId {
    QueueId { backend: BackendKind::Jobs, name }
}

impl Backend for Jobs {
    fn kind(&self) -> BackendKind {
        BackendKind::Jobs
    }

    fn schema(&self) -> &str {
        &self.facts.schema
    }

    fn notes(&self) -> Vec<String> {
        self.facts.notes()
    }

    fn may_act(&self) -> Result<(), String> {
        self.facts.may_act()
    }

    fn channel(&self) -> Option<String> {
        self.facts.notifies().then(|| "queuetop".to_owned())
    }

    fn core<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Core, DbError>> {
        self::core::read(self, session).boxed()
    }

    fn leases<'a>(&'a self, session: &'a Session, limit: u32) -> BoxFuture<'a, Result<Reading<Vec<Lease>>, DbError>> {
        leases::read(self, session, limit).boxed()
    }

    fn failures<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Failures, DbError>> {
        failures::read(self, session).boxed()
    }

    fn handling<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Handlings, DbError>> {
        handling::read(self, session).boxed()
    }

    fn history<'a>(
        &'a self,
        session: &'a Session,
        back: Duration,
        span: Duration,
    ) -> BoxFuture<'a, Result<Minutes, DbError>> {
        history::read(self, session, back, span).boxed()
    }

    fn page<'a>(&'a self, session: &'a Session, request: &'a PageRequest) -> BoxFuture<'a, Result<Page, DbError>> {
        page::read(self, session, request).boxed()
    }

    fn panel<'a>(&'a self, session: &'a Session, kind: PanelKind) -> BoxFuture<'a, Result<Panel, DbError>> {
        match kind {
            PanelKind::Workers => workers::read(self, session).map(|read| read.map(Panel::Workers)).boxed(),
            PanelKind::Groups => groups::read(self, session).map(|read| read.map(Panel::Groups)).boxed(),
        }
    }

    fn detail<'a>(
        &'a self,
        session: &'a Session,
        request: &'a DetailRequest,
    ) -> BoxFuture<'a, Result<Option<JobDetail>, DbError>> {
        detail::read(self, session, request).boxed()
    }

    fn part<'a>(&'a self, session: &'a Session, request: &'a PartRequest) -> BoxFuture<'a, Result<PartRead, DbError>> {
        detail::part(self, session, request).boxed()
    }

    fn act<'a>(&'a self, session: &'a Session, request: &'a ActRequest) -> BoxFuture<'a, Result<Acted, DbError>> {
        act::act(self, session, request).boxed()
    }

    fn lookup<'a>(&'a self, session: &'a Session, token: Uuid) -> BoxFuture<'a, Result<Option<Acted>, DbError>> {
        act::lookup(self, session, token).boxed()
    }

    fn set_paused<'a>(
        &'a self,
        session: &'a Session,
        queue: &'a str,
        paused: bool,
        reason: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, DbError>> {
        act::set_paused(self, session, queue, paused, reason).boxed()
    }
}
