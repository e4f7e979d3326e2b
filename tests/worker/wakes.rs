//! How a worker begins: what wakes it, where it works, what it needs, what it says of itself.

use std::time::Duration;

use queuetop::worker::{AttemptEnd, Settings, Worker};
use tokio_util::sync::CancellationToken;

use super::ends::ask;
use super::setup::{AtWork, Event, Record, connector, settings, until};
use crate::support::pg;
use crate::support::queue::{one, state};

#[tokio::test]
async fn a_word_from_the_database_wakes_it_long_before_the_poll() {
    let database = pg::database().await;
    let client = database.client().await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), Settings { poll: Duration::from_hours(1), ..settings("q") }, &record);
    until("it listens", async || record.has(&Event::Connected(true))).await;
    for _ in 0..5 {
        let job = ask(&client, "q", "finish", 8).await;
        until("it is done", async || record.has(&Event::Ended(job, 1, AttemptEnd::Completed))).await;
    }
    worker.stop().await;
}

#[tokio::test]
async fn works_in_a_schema_of_any_name_with_the_workers_role_only() {
    let database = pg::bare_database().await;
    let mut client = database.client().await;
    let schema = "Odd \"schema\"".to_owned();
    let installed = queuetop::engine::migrate::Options { schema: schema.clone(), ..Default::default() };
    queuetop::engine::migrate::run(&mut client, &installed).await.expect("installed");
    let role = format!("just_a_worker_{}", database.name());
    let sql = format!(
        "create role {role} login; grant queue_worker to {role};
         select \"Odd \"\"schema\"\"\".enqueue_job('q', '{{\"do\": \"finish\"}}')"
    );
    client.batch_execute(&sql).await.expect("a role and a job");
    let record = Record::default();
    let worker = AtWork::start(&database.dsn_as(&role), Settings { schema, ..settings("q") }, &record);
    until("it is done", async || record.ends() == [AttemptEnd::Completed]).await;
    assert!(record.has(&Event::Connected(true)));
    let seen = "select count(*) from \"Odd \"\"schema\"\"\".workers";
    until("it said who it is", async || one::<i64>(&client, seen, &[]).await == 1).await;
    assert!(!record.all().iter().any(|event| matches!(event, Event::Refused(_))), "{:?}", record.all());
    worker.stop().await;
    client.batch_execute(&format!("drop owned by {role}; drop role {role}")).await.expect("removed");
}

#[tokio::test]
async fn a_missing_right_is_said_at_once() {
    let database = pg::database().await;
    let client = database.client().await;
    let role = format!("a_stranger_{}", database.name());
    client.batch_execute(&format!("create role {role} login")).await.expect("a role");
    let worker = Worker::new(settings("q"), connector(&database.dsn_as(&role)), Record::default());
    let error = worker.run(CancellationToken::new()).await.expect_err("it may not claim");
    assert!(error.is_denied(), "{error}");
    client.batch_execute(&format!("drop role {role}")).await.expect("removed");
}

#[tokio::test]
async fn a_paused_queue_rests_and_goes_on() {
    let database = pg::database().await;
    let client = database.client().await;
    client.execute("select pause_queue('q')", &[]).await.expect("paused");
    let job = ask(&client, "q", "finish", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("it has looked", async || record.has(&Event::Connected(true))).await;
    assert_eq!(state(&client, job).await, "ready");
    client.execute("select resume_queue('q')", &[]).await.expect("resumed");
    until("it is done", async || record.has(&Event::Ended(job, 1, AttemptEnd::Completed))).await;
    worker.stop().await;
}

#[tokio::test]
async fn payloads_reach_the_handler_as_they_are() {
    let database = pg::database().await;
    let client = database.client().await;
    // Far too deep for a JSON reader that keeps within its stack: the handler's own text, not the worker's end.
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    client.execute("select enqueue_job('q', $1::text::jsonb)", &[&deep]).await.expect("enqueued");
    let job = ask(&client, "q", "finish", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("both end", async || record.ends().len() == 2).await;
    assert!(record.has(&Event::Ended(job, 1, AttemptEnd::Completed)));
    let error: String = one(&client, "select last_error from dead_letter_jobs", &[]).await;
    assert!(error.starts_with("the payload cannot be read"), "{error}");
    worker.stop().await;
}
