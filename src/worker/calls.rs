//! The worker's calls, each one statement in a transaction of its own (`migrations/V4__worker.sql`, `V8__enqueue.sql`).

use std::time::Duration;

use tokio_postgres::{Row, types::FromSql, types::Type};
use uuid::Uuid;

use super::handler::{AttemptEnd, ClaimedJob};
use super::held::Key;
use crate::db::{DbError, Limits, Session, Statement, Text};

const LIMITS: Limits = Limits::within(Duration::from_secs(5));

/// The calls of one worker in one schema.
#[derive(Debug)]
pub(super) struct Calls {
    /// Quoted.
    schema: String,
    worker: Uuid,
}

/// What a worker says of itself.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) name: Option<String>,
    pub(super) host: Option<String>,
    pub(super) pid: Option<i32>,
}

impl Identity {
    pub(super) fn of_process(name: Option<String>) -> Self {
        // Linux tells its host's name here; elsewhere the shell may have left it in the environment.
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
        let host = host.map(|host| host.trim().to_owned());
        Self { name, host, pid: i32::try_from(std::process::id()).ok() }
    }
}

impl Calls {
    pub(super) fn new(schema: &str, worker: Uuid) -> Self {
        Self { schema: format!("\"{}\"", schema.replace('"', "\"\"")), worker }
    }

    fn statement(&self, sql: &str) -> Statement {
        Statement::new(sql.replace("{schema}", &self.schema))
    }

    pub(super) async fn claim(
        &self,
        session: &Session,
        queue: &str,
        batch: usize,
        lease: Duration,
    ) -> Result<Vec<ClaimedJob>, DbError> {
        // The payload as text: a value nested too deep for our JSON reader must not make the claim fail.
        let sql = "select id, queue, payload::text, priority, attempts, max_attempts, idempotency_key, replay_of, \
                   origin_key, created_at, run_at \
                   from {schema}.claim_jobs($1, $2, $3, pg_catalog.make_interval(secs => $4))";
        let statement = self
            .statement(sql)
            .text(queue.to_owned())
            .uuid(self.worker)
            .int4(i32::try_from(batch).unwrap_or(i32::MAX))
            .bind(lease.as_secs_f64(), Type::FLOAT8);
        session.call("claim", &statement, LIMITS).await?.iter().map(claimed).collect()
    }

    /// The ids among `held` that are still ours.
    pub(super) async fn heartbeat(
        &self,
        session: &Session,
        held: &[Key],
        lease: Duration,
    ) -> Result<Vec<Uuid>, DbError> {
        let sql = "select * from {schema}.heartbeat_jobs($1, $2, pg_catalog.make_interval(secs => $3), $4)";
        let attempts: Vec<i32> = held.iter().map(|key| key.attempt).collect();
        let statement = self
            .statement(sql)
            .uuids(held.iter().map(|key| key.id).collect())
            .uuid(self.worker)
            .bind(lease.as_secs_f64(), Type::FLOAT8)
            .bind(attempts, Type::INT4_ARRAY);
        session.call("heartbeat", &statement, LIMITS).await?.iter().map(|row| get(row, 0)).collect()
    }

    pub(super) async fn complete(&self, session: &Session, key: Key) -> Result<AttemptEnd, DbError> {
        let sql = "select {schema}.complete_job($1, $2, $3)";
        let statement = self.statement(sql).uuid(key.id).uuid(self.worker).int4(key.attempt);
        let completed: bool = one(&session.call("complete", &statement, LIMITS).await?)?;
        Ok(if completed { AttemptEnd::Completed } else { AttemptEnd::Lost })
    }

    pub(super) async fn retry(
        &self,
        session: &Session,
        key: Key,
        error: String,
        delay: Duration,
    ) -> Result<AttemptEnd, DbError> {
        let sql = "select {schema}.retry_job($1, $2, $3, pg_catalog.make_interval(secs => $4), $5)";
        let statement = self
            .statement(sql)
            .uuid(key.id)
            .uuid(self.worker)
            .text(storable(error))
            .bind(delay.as_secs_f64(), Type::FLOAT8)
            .int4(key.attempt);
        end(&session.call("retry", &statement, LIMITS).await?)
    }

    pub(super) async fn dead_letter(&self, session: &Session, key: Key, error: String) -> Result<AttemptEnd, DbError> {
        let sql = "select {schema}.move_to_dead_letter($1, $2, $3, $4)";
        let statement = self.statement(sql).uuid(key.id).uuid(self.worker).text(storable(error)).int4(key.attempt);
        end(&session.call("dead letter", &statement, LIMITS).await?)
    }

    pub(super) async fn seen(&self, session: &Session, identity: &Identity) -> Result<(), DbError> {
        let sql = "select {schema}.worker_seen($1, $2, $3, $4, $5)";
        let statement = self
            .statement(sql)
            .uuid(self.worker)
            .text(identity.name.clone())
            .text(identity.host.clone())
            .int4(identity.pid)
            .text(env!("CARGO_PKG_VERSION").to_owned());
        session.call("worker", &statement, LIMITS).await.map(|_| ())
    }
}

/// The one byte that PostgreSQL's text cannot hold; an error must never make its own report fail.
fn storable(error: String) -> String {
    if error.contains('\0') { error.replace('\0', "\u{fffd}") } else { error }
}

fn claimed(row: &Row) -> Result<ClaimedJob, DbError> {
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

fn end(rows: &[Row]) -> Result<AttemptEnd, DbError> {
    let word: String = one(rows)?;
    match word.as_str() {
        "queued" => Ok(AttemptEnd::Retried),
        "dead" => Ok(AttemptEnd::Dead),
        "lost" => Ok(AttemptEnd::Lost),
        other => Err(DbError::shape(format!("a failed job ended as {other}"))),
    }
}

fn one<'a, T: FromSql<'a>>(rows: &'a [Row]) -> Result<T, DbError> {
    get(rows.first().ok_or_else(|| DbError::shape("a call gave no answer"))?, 0)
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, DbError> {
    row.try_get(at).map_err(|error| DbError::shape(format!("a job cannot be read: {error}")))
}
