//! The session of a run: made when it is needed, made anew when it was lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::backends::{ActRequest, Acted, Backend, Core};
use crate::db::{Backoff, Class, Connector, DbError, Purpose, Session};
use crate::engine::live::Backends;
use crate::model::BackendKind;

/// A way to the database that lasts as long as the run.
pub(super) struct Acting {
    connector: Arc<Connector>,
    backends: Backends,
    kind: BackendKind,
    session: Option<Session>,
    backoff: Backoff,
    tried: Instant,
    /// The server's process behind the last call, where it can be known.
    process: Option<i32>,
}

impl Acting {
    pub(super) fn new(connector: Arc<Connector>, backends: Backends, kind: BackendKind) -> Self {
        Self {
            connector,
            backends,
            kind,
            session: None,
            backoff: Backoff::default(),
            tried: Instant::now(),
            process: None,
        }
    }

    pub(super) async fn act(&mut self, request: &ActRequest) -> Result<Acted, DbError> {
        let backends = Arc::clone(&self.backends);
        let backend = self.backend(&backends)?;
        self.process = None;
        let session = self.session().await?;
        let process = session.server_process();
        let acted = backend.act(session, request).await;
        self.process = process;
        self.forget_when_dead(acted)
    }

    pub(super) async fn lookup(&mut self, token: Uuid) -> Result<Option<Acted>, DbError> {
        let backends = Arc::clone(&self.backends);
        let backend = self.backend(&backends)?;
        let session = self.session().await?;
        let found = backend.lookup(session, token).await;
        self.forget_when_dead(found)
    }

    /// Whether the server is seen to be done with the last call: its process is gone. False where that cannot be known.
    pub(super) async fn is_over(&mut self) -> bool {
        let Some(process) = self.process else { return false };
        let Ok(session) = self.session().await else { return false };
        let there = session.has_process(process).await;
        self.forget_when_dead(there).is_ok_and(|there| !there)
    }

    pub(super) async fn core(&mut self) -> Result<Core, DbError> {
        let backends = Arc::clone(&self.backends);
        let backend = self.backend(&backends)?;
        let session = self.session().await?;
        let core = backend.core(session).await;
        self.forget_when_dead(core)
    }

    /// How long to wait before the next try after a failure.
    pub(super) fn pause(&mut self) -> Duration {
        if self.session.is_some() {
            Duration::ZERO
        } else {
            self.backoff.after_failure(self.tried.elapsed(), fastrand::f64())
        }
    }

    fn backend<'a>(&self, backends: &'a Backends) -> Result<&'a dyn Backend, DbError> {
        let found = backends.iter().find(|backend| backend.kind() == self.kind);
        found
            .map(AsRef::as_ref)
            .ok_or_else(|| DbError::new(Class::Undefined, format!("no {} queue here", self.kind), ""))
    }

    async fn session(&mut self) -> Result<&Session, DbError> {
        if self.session.is_none() {
            self.tried = Instant::now();
            self.session = Some(self.connector.connect(Purpose::Act).await?);
            self.backoff.reset();
        }
        self.session.as_ref().ok_or_else(|| DbError::new(Class::LinkLost, "the session was given up", ""))
    }

    /// A session that failed may be out of step with its server: the next call gets a new one.
    fn forget_when_dead<T>(&mut self, answer: Result<T, DbError>) -> Result<T, DbError> {
        if answer.as_ref().is_err_and(|error| error.is_link_lost() || error.maybe_done) {
            self.session = None;
        }
        answer
    }
}
