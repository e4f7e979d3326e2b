//! The worker's loop: one task that looks what is due, does one thing in the database at a time, and waits otherwise.
//! Handlers run on tasks of their own and never wait for it.

mod talk;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Connect;
use super::calls::{Calls, Identity};
use super::handler::{AttemptEnd, Event, Handler, JobError};
use super::held::{Held, Key, Overdue};
use super::line::{Line, LineEvent};
use super::rhythm::Rhythm;
use super::said::Said;
use super::settings::Settings;
use super::tasks::{Finished, Tasks};
use crate::db::DbError;

/// Looked up at least so often, whatever is due.
const IDLE: Duration = Duration::from_secs(30);
/// After the last handler was cut off: how long it is tried to tell what there is to tell.
const TELLING: Duration = Duration::from_secs(5);

/// How far the end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Working,
    /// No more claims; handlers may go on until then.
    Draining(Instant),
    /// Handlers were asked to stop; at this time it is over.
    Ending(Instant),
}

/// What the loop wakes up for.
enum Woke {
    Finished(Finished),
    Line(LineEvent),
    Stop,
    Time,
}

/// A running worker.
pub(super) struct Running {
    settings: Settings,
    identity: Identity,
    handler: Arc<dyn Handler>,
    calls: Calls,
    line: Line,
    held: Held,
    tasks: Tasks,
    rhythm: Rhythm,
    phase: Phase,
    next_beat: Instant,
    next_seen: Instant,
    /// A claim went well once: from then on every error is waited out.
    proven: bool,
}

impl Running {
    pub(super) fn new(settings: Settings, connect: Arc<dyn Connect>, handler: Arc<dyn Handler>) -> Self {
        let now = Instant::now();
        Self {
            identity: Identity::of_process(settings.name.clone()),
            calls: Calls::new(&settings.schema, settings.id),
            rhythm: Rhythm::new(settings.poll(), now),
            line: Line::new(connect, now),
            settings,
            handler,
            held: Held::default(),
            tasks: Tasks::default(),
            phase: Phase::Working,
            next_beat: now,
            next_seen: now,
            proven: false,
        }
    }

    pub(super) async fn until(mut self, stop: CancellationToken) -> Result<(), DbError> {
        loop {
            let now = Instant::now();
            self.move_on(now, &stop);
            self.mind_the_time(now);
            if self.is_over(now) {
                self.leave();
                return Ok(());
            }
            if self.line.up().is_some() && self.talk(now, &stop).await? {
                while let Some(finished) = self.tasks.next().now_or_never() {
                    self.finished(finished);
                }
                continue;
            }
            match self.wait(&stop).await {
                Woke::Finished(finished) => self.finished(finished),
                Woke::Line(event) => self.line_event(event)?,
                Woke::Stop | Woke::Time => {}
            }
        }
    }

    /// From working to draining to ending.
    fn move_on(&mut self, now: Instant, stop: &CancellationToken) {
        match self.phase {
            Phase::Working if stop.is_cancelled() => {
                self.phase = Phase::Draining(now + Settings::within_reason(self.settings.grace));
            }
            Phase::Draining(until) if until <= now => {
                let cut = self.cut_time(now);
                self.held.stop_all(cut);
                self.phase = Phase::Ending(cut + TELLING);
            }
            _ => {}
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        match self.phase {
            Phase::Working => false,
            Phase::Draining(_) => self.held.is_empty(),
            Phase::Ending(until) => self.held.is_empty() || until <= now,
        }
    }

    /// When a handler that is asked to stop now is cut off.
    fn cut_time(&self, now: Instant) -> Instant {
        now + Settings::within_reason(self.settings.cut_after)
    }

    /// Leases that ran out, and handlers that did not stop.
    fn mind_the_time(&mut self, now: Instant) {
        for overdue in self.held.overdue(now, self.cut_time(now)) {
            match overdue {
                Overdue::LeaseOver(key) => self.lease_lost(key),
                Overdue::Cut(key) => self.cut(key, now),
            }
        }
    }

    fn lease_lost(&self, key: Key) {
        self.tell(Event::LeaseLost { job: key.id, attempt: key.attempt });
    }

    fn cut(&mut self, key: Key, now: Instant) {
        self.tasks.cut(key);
        if self.held.is_lost(key) {
            // It has nothing to say that anybody would want to know.
            self.held.free(key);
            self.settled(key, AttemptEnd::Lost);
            return;
        }
        let why = match self.phase {
            Phase::Ending(_) => "the worker stopped before the job was done",
            _ => "the lease ran out while the database was away",
        };
        self.held.end(key, Said::given_back(why), now);
    }

    fn finished(&mut self, (key, result): Finished) {
        let said = match result {
            // It ended early because it was asked to: no reason to wait.
            Err(JobError::Retry(error)) if self.held.was_asked(key) => Said::given_back(&error),
            result => Said::by_handler(result, key.attempt, &self.settings.retry, fastrand::f64()),
        };
        self.held.end(key, said, Instant::now());
    }

    fn settled(&self, key: Key, end: AttemptEnd) {
        tracing::debug!(queue = self.settings.queue, job = %key.id, attempt = key.attempt, ?end, "attempt ended");
        self.handler.ended(key.id, key.attempt, end);
    }

    fn tell(&self, event: Event<'_>) {
        let queue = &self.settings.queue;
        match event {
            Event::Connected { poll_only } => tracing::info!(queue, poll_only, "the worker has a session"),
            Event::Disconnected(error) => tracing::warn!(queue, %error, "the worker cannot reach its queue"),
            Event::Refused { call, error } => tracing::warn!(queue, call, %error, "the queue refused a call"),
            Event::LeaseLost { job, attempt } => tracing::warn!(queue, %job, attempt, "a lease is lost"),
        }
        self.handler.happened(event);
    }

    fn line_event(&mut self, event: LineEvent) -> Result<(), DbError> {
        let now = Instant::now();
        match event {
            LineEvent::Connected => {
                let poll_only = self.line.up().and_then(|up| up.poll_only.as_deref());
                self.tell(Event::Connected { poll_only });
                self.rhythm.reconnected(now);
                (self.next_beat, self.next_seen) = (now, now);
            }
            LineEvent::Failed(error) if error.is_final() && !self.proven => return Err(error),
            LineEvent::Failed(error) => self.tell(Event::Disconnected(&error)),
            LineEvent::Notified(schema) if schema == self.settings.schema => self.rhythm.notified(now),
            LineEvent::Notified(_) => {}
        }
        Ok(())
    }

    /// Slots that a claim may fill.
    fn free_slots(&self) -> usize {
        match self.phase {
            Phase::Working => self.settings.slots().saturating_sub(self.held.len()),
            _ => 0,
        }
    }

    async fn wait(&mut self, stop: &CancellationToken) -> Woke {
        let until = self.next_moment();
        let working = self.phase == Phase::Working;
        tokio::select! {
            finished = self.tasks.next() => Woke::Finished(finished),
            event = self.line.next() => Woke::Line(event),
            () = stop.cancelled(), if working => Woke::Stop,
            () = sleep_until(until) => Woke::Time,
        }
    }

    /// When time alone makes something due.
    fn next_moment(&self) -> Instant {
        let phase = match self.phase {
            Phase::Working => None,
            Phase::Draining(until) | Phase::Ending(until) => Some(until),
        };
        let always = [phase, self.held.next_overdue()];
        let connected = [
            self.held.next_untold(),
            (!self.held.is_empty()).then_some(self.next_beat),
            (self.free_slots() > 0).then(|| self.rhythm.when()),
            Some(self.next_seen),
        ];
        let connected = connected.into_iter().filter(|_| self.line.up().is_some());
        always.into_iter().chain(connected).flatten().min().unwrap_or_else(|| Instant::now() + IDLE)
    }

    /// What could not be told stays untold; those leases run out.
    fn leave(&mut self) {
        for key in self.held.keys() {
            self.held.free(key);
            self.settled(key, AttemptEnd::Untold);
        }
    }
}
