//! The worker's loop: waits for whatever is next (a handler's end, a claim, a heartbeat, a stop) and does what is due.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::attempt::{AFTER_STOP, attempt};
use super::calls::{Calls, Identity};
use super::handler::{AttemptEnd, Handler};
use super::held::{Held, Key, Said};
use super::settings::Settings;
use crate::db::{Backoff, Class, Connector, DbError, Purpose, Session};

/// Looked up at least so often, whatever is due.
const IDLE: Duration = Duration::from_secs(30);
/// After a stop: how long it is tried to tell what there is to tell.
const TELLING: Duration = Duration::from_secs(5);

/// A worker of one queue.
pub struct Worker {
    settings: Settings,
    connector: Arc<Connector>,
    handler: Arc<dyn Handler>,
}

impl Worker {
    /// A worker that does not run yet.
    #[must_use]
    pub fn new(settings: Settings, connector: Arc<Connector>, handler: impl Handler) -> Self {
        Self { settings, connector, handler: Arc::new(handler) }
    }

    /// Works until `stop` is cancelled: then claims no more, lets running jobs go on for the grace time, asks the rest to
    /// stop and gives them back for another attempt at once. Comes back by itself after any cut.
    ///
    /// Dropping the future is how a worker dies: nobody is told, and its leases run out.
    ///
    /// # Errors
    /// What nobody mends by waiting (a wrong password, a missing function or right), when it is so from the start. After the
    /// first claim every error is waited out.
    pub async fn run(self, stop: CancellationToken) -> Result<(), DbError> {
        let now = Instant::now();
        let running = Running {
            calls: Calls::new(&self.settings.schema, self.settings.id),
            identity: Identity::of_process(self.settings.name.clone()),
            connector: self.connector,
            handler: self.handler,
            session: None,
            held: Held::default(),
            tasks: JoinSet::new(),
            backoff: Backoff::default(),
            proven: false,
            phase: Phase::Working,
            due: Due { connect: now, tell: now, beat: now, claim: now, seen: now },
            settings: self.settings,
        };
        Box::pin(running.run(stop)).await
    }
}

/// When each thing is to be done next.
pub(super) struct Due {
    pub(super) connect: Instant,
    pub(super) tell: Instant,
    pub(super) beat: Instant,
    pub(super) claim: Instant,
    pub(super) seen: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Working,
    /// No more claims; handlers may go on until then.
    Draining(Instant),
    /// Handlers were asked to stop; at this time it is over.
    Ending(Instant),
}

pub(super) struct Running {
    pub(super) settings: Settings,
    pub(super) calls: Calls,
    pub(super) identity: Identity,
    connector: Arc<Connector>,
    pub(super) handler: Arc<dyn Handler>,
    session: Option<(Session, Instant)>,
    pub(super) held: Held,
    tasks: JoinSet<(Key, Said)>,
    backoff: Backoff,
    /// A claim went well once.
    pub(super) proven: bool,
    phase: Phase,
    pub(super) due: Due,
}

impl Running {
    async fn run(mut self, stop: CancellationToken) -> Result<(), DbError> {
        loop {
            if self.phase != Phase::Working && self.held.is_empty() {
                return Ok(());
            }
            let next = self.next();
            tokio::select! {
                biased;
                () = stop.cancelled(), if self.phase == Phase::Working => {
                    self.phase = Phase::Draining(Instant::now() + self.settings.grace);
                }
                Some(ended) = self.tasks.join_next() => self.ended(ended.ok()),
                () = sleep_until(next) => {}
            }
            while let Some(ended) = self.tasks.try_join_next() {
                self.ended(ended.ok());
            }
            if self.over() {
                return Ok(());
            }
            Box::pin(self.step(&stop)).await?;
        }
    }

    /// Moves on from one phase of the end to the next. True: it is over.
    fn over(&mut self) -> bool {
        let now = Instant::now();
        match self.phase {
            Phase::Draining(until) if until <= now => {
                self.held.stop_all();
                self.phase = Phase::Ending(now + AFTER_STOP + TELLING);
                false
            }
            Phase::Ending(until) if until <= now => {
                for key in self.held.kept() {
                    self.settled(key, AttemptEnd::Untold);
                }
                true
            }
            _ => false,
        }
    }

    /// When something is to be done, if nothing happens.
    fn next(&self) -> Instant {
        let phase = match self.phase {
            Phase::Working => None,
            Phase::Draining(until) | Phase::Ending(until) => Some(until),
        };
        let times = if self.session.is_none() {
            [Some(self.due.connect), None, None, None]
        } else {
            let working = self.phase == Phase::Working;
            [
                self.held.has_untold().then_some(self.due.tell),
                (!self.held.is_empty()).then_some(self.due.beat),
                (working && self.free() > 0).then_some(self.due.claim),
                working.then_some(self.due.seen),
            ]
        };
        let far = Instant::now() + IDLE;
        times.into_iter().chain([phase]).flatten().min().unwrap_or(far)
    }

    fn ended(&mut self, ended: Option<(Key, Said)>) {
        // `None` is a task that was aborted, and nobody aborts these.
        if let Some((key, said)) = ended
            && !self.held.ended(key, said)
        {
            self.settled(key, AttemptEnd::Lost);
        }
    }

    pub(super) fn settled(&self, key: Key, end: AttemptEnd) {
        tracing::debug!(queue = self.settings.queue, job = %key.id, attempt = key.attempt, ?end, "attempt ended");
        self.handler.ended(key.id, key.attempt, end);
    }

    pub(super) fn free(&self) -> usize {
        self.settings.slots().saturating_sub(self.held.len())
    }

    pub(super) fn spawn(&mut self, job: super::ClaimedJob) {
        let stop = CancellationToken::new();
        let key = Key { id: job.id, attempt: job.attempt };
        for (lost, ended) in self.held.claimed(key, stop.clone()) {
            if ended {
                self.settled(lost, AttemptEnd::Lost);
            }
        }
        self.tasks.spawn(attempt(Arc::clone(&self.handler), job, stop));
    }

    /// Does what is due. An error ends the worker.
    async fn step(&mut self, stop: &CancellationToken) -> Result<(), DbError> {
        let began = Instant::now();
        let (session, since) = match self.session.take() {
            Some(session) => session,
            None if self.due.connect > began => return Ok(()),
            None => match self.connect(stop).await {
                None => return Ok(()),
                Some(Ok(session)) => {
                    self.due.beat = began;
                    self.due.seen = began;
                    (session, began)
                }
                Some(Err(error)) => return self.failed(error, began),
            },
        };
        match self.talk(&session, self.phase == Phase::Working && !stop.is_cancelled()).await {
            Ok(()) => {
                self.backoff.reset();
                self.session = Some((session, since));
                Ok(())
            }
            Err(error) if error.is_link_lost() => self.failed(error, since),
            Err(error) => {
                self.session = Some((session, since));
                self.failed(error, began)
            }
        }
    }

    /// A session; `None` when there is no time left for one.
    async fn connect(&self, stop: &CancellationToken) -> Option<Result<Session, DbError>> {
        let connecting = self.connector.connect(Purpose::Act);
        match self.phase {
            Phase::Working => stop.run_until_cancelled(connecting).await,
            Phase::Draining(until) | Phase::Ending(until) => timeout_at(until, connecting).await.ok(),
        }
    }

    /// Decides after an error: end, or wait.
    fn failed(&mut self, error: DbError, since: Instant) -> Result<(), DbError> {
        if !self.proven && !passes(&error) {
            return Err(error);
        }
        tracing::warn!(queue = self.settings.queue, %error, "the worker cannot reach its queue");
        let pause = self.backoff.after_failure(since.elapsed(), fastrand::f64());
        self.due.connect = Instant::now() + pause;
        self.due.claim = self.due.claim.max(self.due.connect);
        Ok(())
    }
}

/// Whether an error may go away by itself.
fn passes(error: &DbError) -> bool {
    error.is_retryable() || matches!(error.class, Class::StatementTimeout | Class::LockTimeout | Class::Cancelled)
}
