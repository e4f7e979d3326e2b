//! One session: batches under limits, their cost, their log. Reading happens in read-only transactions that begin, ask
//! and end in one go; nothing relies on session state, so that it works the same through every pooler.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use tokio::{sync::mpsc, time::timeout};
use tokio_postgres::{Client, Error, Row};

use super::{
    cancel::Canceller,
    errors::{Class, DbError, seconds},
    facts::SessionFacts,
    frame::{Clock, settings},
    link::{Link, Notice},
    pipeline::{Step, run},
    sqllog::SqlLog,
    statement::{Limits, Statement},
};
use crate::model::Time;

/// The answers of a batch.
#[derive(Debug)]
pub struct Batch {
    /// The rows of each statement, in order.
    pub rows: Vec<Vec<Row>>,
    /// The server's clock at the end of the batch.
    pub server_time: Time,
    /// How long the server was busy with it.
    pub cost: Duration,
}

/// A session with one server.
pub struct Session {
    pub(super) client: Client,
    pub(super) link: Link,
    pub(super) canceller: Canceller,
    pub(super) facts: SessionFacts,
    pub(super) log: SqlLog,
    pub(super) given_up: AtomicBool,
    /// The settings look like those of a pooler in transaction mode.
    pub(super) looks_pooled: bool,
    /// Whether the server was a standby when it was last asked.
    pub(super) standby: AtomicBool,
    /// Microseconds that the server was busy for us.
    pub(super) busy: AtomicU64,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// In front of and behind each statement of [`Session::read_each`]. Going back is right after a success, too: there is
/// nothing to keep.
const SAVE: &str = "savepoint queuetop";
const BACK: &str = "rollback to savepoint queuetop";

impl Session {
    /// The driver's own client, for the migrations, which need whole scripts and transactions. Nothing done through it is
    /// limited, logged or counted.
    pub fn driver(&mut self) -> &mut Client {
        &mut self.client
    }

    /// What is known of the session from its start.
    #[must_use]
    pub fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    /// Whether the server is a standby now, as of the latest batch; it can be promoted under a session.
    #[must_use]
    pub fn is_standby(&self) -> bool {
        self.standby.load(Ordering::Relaxed)
    }

    /// How long the server was busy with this session's batches so far, by its own clock (by ours where it could not say).
    #[must_use]
    pub fn busy(&self) -> Duration {
        Duration::from_micros(self.busy.load(Ordering::Relaxed))
    }

    /// Asks several things in one read-only transaction on one snapshot. All or nothing: the first failure is the
    /// failure of the batch.
    ///
    /// # Errors
    /// What the server or the link says, or [`Class::Deadline`]; then the session is dead.
    pub async fn read_many(
        &self,
        label: &'static str,
        statements: &[Statement],
        limits: Limits,
    ) -> Result<Batch, DbError> {
        let asks = statements.iter().map(Step::Ask).collect();
        let (answers, clock) = self.read(label, asks, limits).await?;
        let rows: Result<Vec<_>, _> = answers.into_iter().collect();
        let (rows, clock) = (rows?, clock?);
        Ok(Batch { rows, server_time: clock.now, cost: clock.cost })
    }

    /// Asks several things like [`Session::read_many`], but each on its own: where one fails (a missing right, say) the
    /// others still answer.
    ///
    /// # Errors
    /// When the whole batch came to nothing.
    pub async fn read_each(
        &self,
        label: &'static str,
        statements: &[Statement],
        limits: Limits,
    ) -> Result<Vec<Result<Vec<Row>, DbError>>, DbError> {
        let steps = statements.iter().flat_map(|ask| [Step::Control(SAVE), Step::Ask(ask), Step::Control(BACK)]);
        let (answers, clock) = self.read(label, steps.collect(), limits).await?;
        // Without this answer the transaction did not live to its end.
        clock?;
        Ok(answers.into_iter().skip(1).step_by(3).collect())
    }

    /// Asks one thing.
    ///
    /// # Errors
    /// As [`Session::read_many`].
    pub async fn read_one(
        &self,
        label: &'static str,
        statement: Statement,
        limits: Limits,
    ) -> Result<Vec<Row>, DbError> {
        let mut batch = self.read_many(label, &[statement], limits).await?;
        Ok(batch.rows.pop().unwrap_or_default())
    }

    /// The server's process behind this session; `None` through a pooler in transaction mode, where it changes.
    #[must_use]
    pub fn server_process(&self) -> Option<i32> {
        (!self.is_pooled()).then_some(self.facts.pid)
    }

    /// Whether the server has such a process, whoever it works for.
    ///
    /// # Errors
    /// As [`Session::read_many`].
    pub async fn has_process(&self, pid: i32) -> Result<bool, DbError> {
        let ask = Statement::new("select exists (select from pg_stat_activity where pid = $1)").int4(pid);
        let rows = self.read_one("is it over", ask, Limits::within(Duration::from_secs(5))).await?;
        rows.first().map_or(Ok(false), |row| row.try_get(0).map_err(|error| DbError::of_driver(&error)))
    }

    /// Changes something: one statement in a transaction of its own. All or nothing.
    ///
    /// # Errors
    /// What the server says: nothing was changed. Where [`DbError::maybe_done`] is set the answer was lost and
    /// nobody knows.
    pub async fn call(&self, label: &'static str, statement: &Statement, limits: Limits) -> Result<Vec<Row>, DbError> {
        self.check_alive()?;
        let begin = format!("begin; {}", settings(&self.facts, limits));
        let steps = [Step::Control(&begin), Step::Ask(statement), Step::Control("commit")];
        let sent = self.send(label, &steps, limits).await;
        let mut answers = sent.map_err(DbError::with_unknown_outcome)?;
        let failure = answers.iter().position(Result::is_err).map(|index| answers.swap_remove(index));
        if let Some(Err(error)) = failure {
            let error = self.explain(&error, limits);
            let unknown = error.is_link_lost();
            return Err(if unknown { error.with_unknown_outcome() } else { error });
        }
        Ok(answers.into_iter().nth(1).and_then(Result::ok).unwrap_or_default())
    }

    /// Sends one of our own settings or LISTEN, outside of any transaction. Only for sessions that keep their state.
    pub(super) async fn control(&self, label: &'static str, sql: &str, limits: Limits) -> Result<(), DbError> {
        self.check_alive()?;
        let answers = self.send(label, &[Step::Control(sql)], limits).await?;
        match answers.into_iter().next() {
            Some(Err(error)) => Err(self.explain(&error, limits)),
            _ => Ok(()),
        }
    }

    /// Cancels what the session is running now, if anything. Takes up to two seconds where the server does not answer.
    pub async fn cancel_running(&self) {
        self.canceller.cancel().await;
    }

    /// Why the session cannot be used any more, if so.
    #[must_use]
    pub fn ended(&self) -> Option<DbError> {
        self.link.ended()
    }

    /// True when the settings say that a pooler is in between, and nothing proves otherwise.
    pub(super) fn is_pooled(&self) -> bool {
        self.looks_pooled && !self.facts.direct
    }

    /// Waits until the session ends, and says why. After a deadline that takes up to two seconds: what runs is cancelled
    /// first.
    pub async fn end(&self) -> DbError {
        self.link.end().await
    }

    /// The notifications of this session; can be taken once.
    pub fn take_notices(&self) -> Option<mpsc::Receiver<Notice>> {
        self.link.take_notices()
    }

    /// Runs steps between the beginning and the end of a read-only transaction. The answers to the steps, and what the
    /// server's clock says of the whole.
    async fn read(
        &self,
        label: &'static str,
        asks: Vec<Step<'_>>,
        limits: Limits,
    ) -> Result<(Vec<Result<Vec<Row>, DbError>>, Result<Clock, DbError>), DbError> {
        self.check_alive()?;
        let begin = format!("begin isolation level repeatable read read only; {}", settings(&self.facts, limits));
        let started = Instant::now();
        let mut steps = vec![Step::Control(&begin)];
        steps.extend(asks);
        steps.extend([Step::Clock, Step::Control("commit")]);
        let mut answers = self.send(label, &steps, limits).await?.into_iter();
        if let Some(Err(error)) = answers.next() {
            return Err(self.explain(&error, limits));
        }
        let mut answers: Vec<_> = answers.map(|answer| answer.map_err(|error| self.explain(&error, limits))).collect();
        // Nothing was written, so how the commit went matters to nobody.
        answers.pop();
        let clock = answers.pop().unwrap_or_else(|| Err(DbError::shape("an answer is missing")));
        let clock = clock.and_then(|rows| Clock::read(&rows));
        self.charge(clock.as_ref().map_or_else(|_| started.elapsed(), |clock| clock.cost));
        if let Ok(clock) = &clock {
            self.standby.store(clock.standby, Ordering::Relaxed);
        }
        Ok((answers, clock))
    }

    async fn send(
        &self,
        label: &'static str,
        steps: &[Step<'_>],
        limits: Limits,
    ) -> Result<Vec<Result<Vec<Row>, Error>>, DbError> {
        if let Ok(answers) = timeout(limits.deadline, run(&self.client, steps, label, &self.log)).await {
            return Ok(answers);
        }
        self.charge(limits.deadline);
        self.give_up();
        Err(DbError::deadline(label, limits.deadline))
    }

    fn charge(&self, span: Duration) {
        self.busy.fetch_add(u64::try_from(span.as_micros()).unwrap_or(0), Ordering::Relaxed);
    }

    fn check_alive(&self) -> Result<(), DbError> {
        if self.given_up.load(Ordering::Relaxed) {
            return Err(DbError::new(Class::LinkLost, "the session was given up", ""));
        }
        self.link.ended().map_or(Ok(()), Err)
    }

    /// Cancels what runs and closes the socket, without waiting for either.
    fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
        let (canceller, cut) = (self.canceller.clone(), self.link.cutter());
        tokio::spawn(async move {
            canceller.cancel().await;
            cut.abort();
        });
    }

    /// An error with what only the session knows: why the link ended, and which limits were set.
    fn explain(&self, error: &Error, limits: Limits) -> DbError {
        let mut error = DbError::of_driver(error);
        match error.class {
            Class::LinkLost => return self.link.ended().unwrap_or(error),
            Class::StatementTimeout => {
                error.message = format!("took longer than queuetop's own limit of {}", seconds(limits.statement));
            }
            Class::LockTimeout => {
                error.message =
                    format!("waited for a lock longer than queuetop's own limit of {}", seconds(limits.lock));
            }
            _ => {}
        }
        error
    }
}
