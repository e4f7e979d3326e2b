//! The worker's calls as statements, one function each (`migrations/V4__worker.sql`, `V8__enqueue.sql`), and their answers.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

use super::handler::{AttemptEnd, ClaimedJob};
use super::held::Key;
use super::said::Said;
use crate::db::{DbError, Statement, Text};

/// The calls of one worker in one schema.
#[derive(Debug)]
pub(super) struct Calls {
    worker: Uuid,
    claim: Arc<str>,
    heartbeat: Arc<str>,
    complete: Arc<str>,
    retry: Arc<str>,
    dead_letter: Arc<str>,
    seen: Arc<str>,
}

/// What a worker says of itself.
#[derive(Debug)]
pub(super) struct Identity {
    name: Option<String>,
    host: Option<String>,
    pid: Option<i32>,
}

impl Identity {
    pub(super) fn of_process(name: Option<String>) -> Self {
        let host = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
        Self { name, host, pid: i32::try_from(std::process::id()).ok() }
    }
}

impl Calls {
    pub(super) fn new(schema: &str, worker: Uuid) -> Self {
        let schema = format!("\"{}\"", schema.replace('"', "\"\""));
        let text = |sql: &str| Arc::from(sql.replace("{schema}", &schema));
        Self {
            worker,
            // The payload as text: a value nested too deep for our JSON reader must not make the claim fail.
            claim: text(
                "select id, queue, payload::text, priority, attempts, max_attempts, idempotency_key, replay_of, \
                 origin_key, created_at, run_at \
                 from {schema}.claim_jobs($1, $2, $3, pg_catalog.make_interval(secs => $4))",
            ),
            heartbeat: text("select * from {schema}.heartbeat_jobs($1, $2, pg_catalog.make_interval(secs => $3), $4)"),
            complete: text("select {schema}.complete_job($1, $2, $3)"),
            retry: text("select {schema}.retry_job($1, $2, $3, pg_catalog.make_interval(secs => $4), $5)"),
            dead_letter: text("select {schema}.move_to_dead_letter($1, $2, $3, $4)"),
            seen: text("select {schema}.worker_seen($1, $2, $3, $4, $5)"),
        }
    }

    pub(super) fn claim(&self, queue: &str, batch: usize, lease: Duration) -> Statement {
        Statement::new(Arc::clone(&self.claim))
            .text(queue.to_owned())
            .uuid(self.worker)
            .int4(i32::try_from(batch).unwrap_or(i32::MAX))
            .bind(lease.as_secs_f64(), Type::FLOAT8)
    }

    /// For all of them at once.
    pub(super) fn heartbeat(&self, held: &[Key], lease: Duration) -> Statement {
        let attempts: Vec<i32> = held.iter().map(|key| key.attempt).collect();
        Statement::new(Arc::clone(&self.heartbeat))
            .uuids(held.iter().map(|key| key.id).collect())
            .uuid(self.worker)
            .bind(lease.as_secs_f64(), Type::FLOAT8)
            .bind(attempts, Type::INT4_ARRAY)
    }

    /// Tells an end.
    pub(super) fn end(&self, key: Key, said: &Said) -> Statement {
        let sql = match said {
            Said::Done => &self.complete,
            Said::Failed { .. } => &self.retry,
            Said::Permanent { .. } => &self.dead_letter,
        };
        let call = Statement::new(Arc::clone(sql)).uuid(key.id).uuid(self.worker);
        let call = match said {
            Said::Done => call,
            Said::Failed { error, wait } => call.text(error.clone()).bind(wait.as_secs_f64(), Type::FLOAT8),
            Said::Permanent { error } => call.text(error.clone()),
        };
        call.int4(key.attempt)
    }

    pub(super) fn seen(&self, identity: &Identity) -> Statement {
        Statement::new(Arc::clone(&self.seen))
            .uuid(self.worker)
            .text(identity.name.clone())
            .text(identity.host.clone())
            .int4(identity.pid)
            .text(env!("CARGO_PKG_VERSION").to_owned())
    }
}

/// One row of the answer to a claim.
pub(super) fn claimed(row: &Row) -> Result<ClaimedJob, DbError> {
    let key = |text: Option<Text>| text.map(String::from);
    Ok(ClaimedJob {
        id: get(row, 0)?,
        queue: get::<Text>(row, 1)?.into(),
        payload: get::<Text>(row, 2)?.into(),
        priority: get(row, 3)?,
        attempt: get(row, 4)?,
        max_attempts: get(row, 5)?,
        idempotency_key: key(get(row, 6)?),
        replay_of: get(row, 7)?,
        origin_key: key(get(row, 8)?),
        created_at: get(row, 9)?,
        run_at: get(row, 10)?,
    })
}

/// The ids in the answer to a heartbeat.
pub(super) fn owned(rows: &[Row]) -> Result<Vec<Uuid>, DbError> {
    rows.iter().map(|row| get(row, 0)).collect()
}

/// The answer to an end.
pub(super) fn ended(said: &Said, rows: &[Row]) -> Result<AttemptEnd, DbError> {
    let row = rows.first().ok_or_else(|| DbError::shape("a call gave no answer"))?;
    if *said == Said::Done {
        return Ok(if get(row, 0)? { AttemptEnd::Completed } else { AttemptEnd::Lost });
    }
    match get::<&str>(row, 0)? {
        "queued" => Ok(AttemptEnd::Retried),
        "dead" => Ok(AttemptEnd::Dead),
        "lost" => Ok(AttemptEnd::Lost),
        other => Err(DbError::shape(format!("a failed job ended as {other}"))),
    }
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, DbError> {
    row.try_get(at).map_err(|error| DbError::shape(format!("a job cannot be read: {error}")))
}
