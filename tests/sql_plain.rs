//! The table queue's own statements and calls, unchanged, on our schema: a worker that was written for the plain design
//! runs on ours.

use tokio_postgres::{Client, SimpleQueryMessage};
use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{count, enqueue, enqueue_with_attempts, one, state};
use crate::support::table_queue::statement;

/// Runs a statement as psql would and returns how many rows it gave or changed.
async fn run(client: &Client, name: &str, job: Uuid, worker: Uuid) -> u64 {
    let (job, worker) = (format!("'{job}'"), format!("'{worker}'"));
    let values = [
        ("job_id", job.as_str()),
        ("worker_id", worker.as_str()),
        ("backoff", "interval '90 seconds'"),
        ("error_message", "'connection refused'"),
    ];
    let sql = statement(name, &values);
    let messages = client.simple_query(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let rows = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
        _ => None,
    };
    messages.iter().filter_map(rows).max().unwrap_or_default()
}

/// The value of a call that answers with one.
async fn call(client: &Client, name: &str, job: Uuid, worker: Uuid) -> String {
    let (job, worker) = (format!("'{job}'"), format!("'{worker}'"));
    let values = [
        ("job_id", job.as_str()),
        ("worker_id", worker.as_str()),
        ("backoff", "'90 seconds'"),
        ("error_message", "'connection refused'"),
    ];
    one(client, &statement(name, &values), &[]).await
}

#[tokio::test]
async fn a_plain_worker_runs_unchanged() {
    let database = pg::database().await;
    let client = database.client().await;
    let worker = Uuid::new_v4();
    let stranger = Uuid::new_v4();

    let done = enqueue(&client, "emails").await;
    assert_eq!(run(&client, "call claim", done, worker).await, 1);
    assert_eq!(run(&client, "heartbeat", done, stranger).await, 0);
    assert_eq!(run(&client, "heartbeat", done, worker).await, 1);
    assert_eq!(run(&client, "stuck in running", done, worker).await, 1);
    assert_eq!(run(&client, "complete", done, stranger).await, 0);
    assert_eq!(run(&client, "complete", done, worker).await, 1);
    assert_eq!(state(&client, done).await, "completed");

    let failing = enqueue_with_attempts(&client, "emails", 2).await;
    assert_eq!(run(&client, "piling up", failing, worker).await, 1);
    assert_eq!(run(&client, "call claim", failing, worker).await, 1);
    assert_eq!(run(&client, "move to dead letters", failing, worker).await, 0, "it has attempts left");
    assert_eq!(run(&client, "retry", failing, stranger).await, 0);
    assert_eq!(run(&client, "retry", failing, worker).await, 1);
    assert_eq!(state(&client, failing).await, "scheduled");
    client.execute("update jobs set run_at = now() where id = $1", &[&failing]).await.expect("due");
    assert_eq!(run(&client, "call claim", failing, worker).await, 1);
    assert_eq!(run(&client, "move to dead letters", failing, stranger).await, 0);
    assert_eq!(run(&client, "move to dead letters", failing, worker).await, 1);
    assert_eq!(state(&client, failing).await, "dead");
    let history = "select string_agg(format('%s %s %s %s', attempt, outcome, became, error), ', ' order by id)
        from job_failures";
    assert_eq!(
        one::<String>(&client, history, &[]).await,
        "1 failed queued connection refused, 2 failed dead connection refused"
    );
}

#[tokio::test]
async fn the_calls_of_its_worker_loop_run_unchanged() {
    let database = pg::database().await;
    let client = database.client().await;
    let worker = Uuid::new_v4();
    let job = enqueue_with_attempts(&client, "emails", 2).await;
    assert_eq!(run(&client, "call claim", job, worker).await, 1);
    assert_eq!(call(&client, "call retry", job, worker).await, "queued");
    let waits: bool = one(
        &client,
        "select run_at - updated_at = interval '90 seconds' and last_error = 'connection refused' from jobs",
        &[],
    )
    .await;
    assert!(waits);
    client.execute("update jobs set run_at = now()", &[]).await.expect("due");
    assert_eq!(run(&client, "call claim", job, worker).await, 1);
    assert_eq!(call(&client, "call dead letter", job, worker).await, "dead");
    assert_eq!(call(&client, "call dead letter", job, worker).await, "lost");
    assert_eq!(count(&client, "select from dead_letter_jobs where reason = 'exhausted'").await, 1);
}

/// The plain claim itself, beside our functions, feeds the same history and obeys the same fences.
#[tokio::test]
async fn the_plain_claim_works_beside_ours() {
    let database = pg::database().await;
    let client = database.client().await;
    let plain = statement("claim function", &[]).replace("public.claim_jobs(", "public.plain_claim(");
    client.batch_execute(&plain).await.expect("the plain function");
    let worker = Uuid::new_v4();
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(enqueue(&client, "emails").await);
    }
    let rows =
        client.query("select id, attempts from plain_claim('emails', $1, 3)", &[&worker]).await.expect("claimed");
    assert_eq!(rows.len(), 3);
    assert_eq!(count(&client, "select from jobs where status = 'running' and claimed_at is not null").await, 3);
    assert_eq!(count(&client, "select from claim_jobs('emails', gen_random_uuid())").await, 2);
    let id: Uuid = rows[0].get(0);
    assert!(one::<bool>(&client, "select complete_job($1, $2, 1)", &[&id, &worker]).await);
}

async fn texts(client: &Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).await.expect("asked").iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn columns_types_defaults_and_indexes_are_the_same() {
    let database = pg::database().await;
    let client = database.client().await;
    let bare = pg::bare_database().await;
    let plain = bare.client().await;
    for name in ["jobs", "indexes", "dead letters"] {
        plain.batch_execute(&statement(name, &[])).await.expect("the plain tables");
    }
    let columns =
        "select format('%s %s %s %s %s', c.table_name, c.column_name, c.data_type, c.column_default, c.is_nullable)
        from information_schema.columns c where c.table_name in ('jobs', 'dead_letter_jobs')
        order by c.table_name, c.ordinal_position";
    let indexes = "select indexdef from pg_indexes where tablename in ('jobs', 'dead_letter_jobs')";
    let checks = "select format('%s %s', conname, pg_get_constraintdef(oid)) from pg_constraint
        where conrelid in ('jobs'::regclass, 'dead_letter_jobs'::regclass)";
    for sql in [columns, indexes, checks] {
        let (theirs, ours) = (texts(&plain, sql).await, texts(&client, sql).await);
        assert!(theirs.len() > 3);
        for one in theirs {
            assert!(ours.contains(&one), "{one} is not ours");
        }
    }
}
