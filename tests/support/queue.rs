//! A jobs queue in a test's database, by its functions, and direct looks at its rows.
//!
//! It must not hide what a function answers: each helper is one call.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

/// A claimed job, as its worker knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) id: Uuid,
    pub(crate) worker: Uuid,
    pub(crate) attempt: i32,
}

/// Enqueues a job with defaults.
pub(crate) async fn enqueue(client: &Client, queue: &str) -> Uuid {
    one(client, "select id from enqueue_job($1, '{}')", &[&queue]).await
}

/// Enqueues a job that may be tried so often.
pub(crate) async fn enqueue_with_attempts(client: &Client, queue: &str, max_attempts: i32) -> Uuid {
    one(client, "select id from enqueue_job($1, '{}', p_max_attempts => $2)", &[&queue, &max_attempts]).await
}

/// Claims for a new worker.
pub(crate) async fn claim(client: &Client, queue: &str, batch: i32) -> Vec<Claimed> {
    claim_as(client, queue, Uuid::new_v4(), batch).await
}

/// Claims for a worker.
pub(crate) async fn claim_as(client: &Client, queue: &str, worker: Uuid, batch: i32) -> Vec<Claimed> {
    let rows = client
        .query("select id, attempts from claim_jobs($1, $2, $3)", &[&queue, &worker, &batch])
        .await
        .expect("claimed");
    rows.iter().map(|row| Claimed { id: row.get(0), worker, attempt: row.get(1) }).collect()
}

/// Claims the only job there is.
pub(crate) async fn claim_one(client: &Client, queue: &str) -> Claimed {
    let claimed = claim(client, queue, 10).await;
    assert_eq!(claimed.len(), 1, "one job is claimable in {queue}");
    claimed[0]
}

/// Enqueues a job and claims it.
pub(crate) async fn running(client: &Client, queue: &str) -> Claimed {
    enqueue(client, queue).await;
    claim_one(client, queue).await
}

/// Lets a job's lease run out.
pub(crate) async fn expire(client: &Client, id: Uuid) {
    let sql = "update jobs set lease_until = now() - interval '1 second' where id = $1";
    assert_eq!(client.execute(sql, &[&id]).await.expect("expired"), 1);
}

/// What a job is now, in the dashboard's words: ready, scheduled, exhausted, running, expired, completed, dead, gone.
pub(crate) async fn state(client: &Client, id: Uuid) -> String {
    let sql = "select coalesce(
        (select job_state(status, run_at, attempts, max_attempts, lease_until) from jobs where id = $1),
        (select 'dead' from dead_letter_jobs where id = $1), 'gone')";
    one(client, sql, &[&id]).await
}

/// The first column of the only row.
pub(crate) async fn one<T>(client: &Client, sql: &str, params: &[&(dyn ToSql + Sync)]) -> T
where
    T: for<'a> tokio_postgres::types::FromSql<'a>,
{
    client.query_one(sql, params).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
}

/// How many rows a query has.
pub(crate) async fn count(client: &Client, sql: &str) -> usize {
    client.query(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).len()
}

/// What an operator's function answered about one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) id: Uuid,
    pub(crate) outcome: String,
    pub(crate) state: String,
    pub(crate) detail: String,
}

impl Answer {
    fn read(row: &Row) -> Self {
        Self {
            id: row.get(0),
            outcome: row.get(1),
            state: row.get(2),
            detail: row.get::<_, Option<String>>(3).unwrap_or_default(),
        }
    }
}

/// Calls an operator's function: `call` is the function's name and its arguments after the targets, as SQL.
pub(crate) async fn operate(client: &Client, function: &str, ids: &[Uuid], more: &str) -> Vec<Answer> {
    let targets: Vec<_> = ids.iter().map(|id| serde_json::json!({ "id": id })).collect();
    operate_on(client, function, &serde_json::Value::from(targets), more).await
}

/// The same with the fence as given.
pub(crate) async fn operate_on(
    client: &Client,
    function: &str,
    targets: &serde_json::Value,
    more: &str,
) -> Vec<Answer> {
    let sql = format!("select id, outcome, state_now, detail from {function}($1{more})");
    let rows = client.query(&sql, &[targets]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    rows.iter().map(Answer::read).collect()
}

/// Calls an operator's function for one job and returns outcome and state.
pub(crate) async fn operate_one(client: &Client, function: &str, id: Uuid, more: &str) -> (String, String) {
    let answers = operate(client, function, &[id], more).await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].id, id);
    (answers[0].outcome.clone(), answers[0].state.clone())
}

/// SQLSTATE and message of a statement that must fail.
pub(crate) async fn failure(client: &Client, sql: &str) -> (String, String) {
    let error = match client.batch_execute(sql).await {
        Ok(()) => panic!("this should fail: {sql}"),
        Err(error) => error,
    };
    let error = error.as_db_error().unwrap_or_else(|| panic!("{sql}: {error:?}"));
    (error.code().code().to_owned(), error.message().to_owned())
}
