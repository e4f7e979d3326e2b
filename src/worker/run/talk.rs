//! What a worker says to its queue when it is time, most urgent first: heartbeats, ends, claims, that it is alive.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_util::sync::CancellationToken;

use super::super::calls;
use super::super::handler::{AttemptEnd, ClaimedJob, Event};
use super::super::held::Key;
use super::super::said::Said;
use super::Running;
use crate::db::{Class, DbError, Limits, Statement};

/// So many ends are sent in one round trip.
const AT_ONCE: usize = 32;
/// From one `workers` row to the next.
const SEEN_EVERY: Duration = Duration::from_secs(30);
/// After a heartbeat that was refused.
const AGAIN: Duration = Duration::from_millis(200);

impl Running {
    /// Says the most urgent thing that is due; false: nothing is.
    ///
    /// # Errors
    /// When this worker can never work.
    pub(super) async fn talk(&mut self, now: Instant, stop: &CancellationToken) -> Result<bool, DbError> {
        if self.next_beat <= now && !self.held.is_empty() {
            self.beat(now).await;
        } else if self.held.next_untold().is_some_and(|due| due <= now) {
            self.tell_ends(now).await;
        } else if self.rhythm.when() <= now && self.free_slots() > 0 {
            self.claim(now, stop).await?;
        } else if self.next_seen <= now {
            self.sign_of_life(now).await;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// No call may take so long that all leases run out over it.
    fn limits(&self) -> Limits {
        Limits::within(self.settings.beat().clamp(Duration::from_millis(500), Duration::from_secs(5)))
    }

    async fn call(&self, label: &'static str, statement: &Statement) -> Result<Vec<Row>, DbError> {
        match self.line.up() {
            Some(up) => up.session.call(label, statement, self.limits()).await,
            None => Err(DbError::new(Class::LinkLost, "there is no session", "")),
        }
    }

    /// A call failed: says so, and gives the session up if it is of no more use.
    fn failed(&mut self, call: &'static str, error: &DbError) {
        if is_useless(error) {
            self.line.drop_session(Instant::now());
            self.tell(Event::Disconnected(error));
        } else {
            self.tell(Event::Refused { call, error });
        }
    }

    async fn beat(&mut self, now: Instant) {
        let kept = self.held.kept();
        self.next_beat = now + self.settings.beat();
        if kept.is_empty() {
            return;
        }
        let statement = self.calls.heartbeat(&kept, self.settings.lease());
        match self.call("heartbeat", &statement).await.and_then(|rows| calls::owned(&rows)) {
            Ok(owned) => {
                self.line.proved();
                let cut = self.cut_time(Instant::now());
                for key in self.held.extended(&kept, &owned, now + self.settings.lease(), cut) {
                    self.lease_lost(key);
                }
            }
            Err(error) => {
                self.failed("heartbeat", &error);
                self.next_beat = Instant::now() + AGAIN.min(self.settings.beat());
            }
        }
    }

    async fn tell_ends(&mut self, now: Instant) {
        let ends: Vec<(Key, Said, Statement)> = self
            .held
            .untold(now, AT_ONCE)
            .into_iter()
            .map(|(key, said)| {
                let statement = self.calls.end(key, &said);
                (key, said, statement)
            })
            .collect();
        let answers = join_all(ends.iter().map(|(_, _, statement)| self.call("end", statement))).await;
        let mut cut = None;
        for ((key, said, _), answer) in ends.into_iter().zip(answers) {
            match answer.and_then(|rows| calls::ended(&said, &rows)) {
                Ok(end) => {
                    self.held.free(key);
                    self.settled(key, end);
                }
                // Told again after the next connect. Where only the answer was lost, that is refused.
                Err(error) if is_useless(&error) => cut = Some(error),
                Err(error) => self.end_refused(key, &error),
            }
        }
        match cut {
            Some(error) => self.failed("end", &error),
            None => self.line.proved(),
        }
    }

    fn end_refused(&mut self, key: Key, error: &DbError) {
        self.tell(Event::Refused { call: "end", error });
        // Class 22, data exception: the database's encoding lacks a letter of the error.
        let bad_text = error.sqlstate.as_deref().is_some_and(|code| code.starts_with("22"));
        if !self.held.refused(key, bad_text, Instant::now()) {
            self.held.free(key);
            self.settled(key, AttemptEnd::Untold);
        }
    }

    async fn claim(&mut self, now: Instant, stop: &CancellationToken) -> Result<(), DbError> {
        let free = self.free_slots();
        let statement = self.calls.claim(&self.settings.queue, free, self.settings.lease());
        let rows = match self.call("claim", &statement).await {
            Ok(rows) => rows,
            Err(error) if !self.proven && !passes(&error) => return Err(error),
            Err(error) => {
                self.failed("claim", &error);
                self.rhythm.failed(Instant::now());
                return Ok(());
            }
        };
        self.proven = true;
        self.line.proved();
        self.rhythm.claimed(Instant::now(), free, rows.len(), fastrand::f64());
        if self.held.is_empty() {
            self.next_beat = now + self.settings.beat();
        }
        for row in &rows {
            match calls::claimed(row) {
                Ok(job) => self.begin(job, now + self.settings.lease(), stop),
                Err(error) => self.tell(Event::Refused { call: "claim", error: &error }),
            }
        }
        Ok(())
    }

    /// Starts a job. One that was claimed just as the worker was told to stop is given back instead. That costs an attempt,
    /// since attempts never go down; so not where there is no other.
    fn begin(&mut self, job: ClaimedJob, lease_end: Instant, stop: &CancellationToken) {
        let key = Key { id: job.id, attempt: job.attempt };
        let now = Instant::now();
        let token = CancellationToken::new();
        for lost in self.held.begin(key, token.clone(), lease_end, self.cut_time(now)) {
            self.lease_lost(lost);
        }
        if stop.is_cancelled() && !job.is_last_attempt() {
            self.held.end(key, Said::given_back("the worker stopped before the job began"), now);
            return;
        }
        self.tasks.start(Arc::clone(&self.handler), job, token, self.settings.attempt_limit);
    }

    /// Only for the eye: a queue that lacks it works as well.
    async fn sign_of_life(&mut self, now: Instant) {
        self.next_seen = now + SEEN_EVERY;
        match self.call("worker", &self.calls.seen(&self.identity)).await {
            Ok(_) => self.line.proved(),
            Err(error) => self.failed("worker", &error),
        }
    }
}

/// The session cannot be used any more. Read-only: the primary became a standby under it.
fn is_useless(error: &DbError) -> bool {
    error.is_link_lost() || error.class == Class::ReadOnly
}

/// Whether an error may go away by itself.
fn passes(error: &DbError) -> bool {
    error.is_retryable()
        || matches!(error.class, Class::StatementTimeout | Class::LockTimeout | Class::Cancelled | Class::ReadOnly)
}
