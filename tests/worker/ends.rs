//! How attempts end, and how a worker ends.

use std::time::Duration;

use queuetop::db::Class;
use queuetop::worker::{AttemptEnd, Settings, Worker};
use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::setup::{AtWork, Event, Record, connector, settings, until};
use crate::support::pg;
use crate::support::queue::{one, state};

/// Enqueues a job that asks the handler for something.
pub(super) async fn ask(client: &Client, queue: &str, what: &str, max_attempts: i32) -> Uuid {
    let sql = "select id from enqueue_job($1, jsonb_build_object('do', $2::text), p_max_attempts => $3)";
    one(client, sql, &[&queue, &what, &max_attempts]).await
}

#[tokio::test]
async fn claims_no_more_than_it_has_free_slots() {
    let database = pg::database().await;
    let client = database.client().await;
    for _ in 0..8 {
        ask(&client, "q", "wait", 8).await;
    }
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("three run", async || record.open() == 3).await;
    assert_eq!(one::<i64>(&client, "select count(*) from jobs where status = 'running'", &[]).await, 3);
    record.go.cancel();
    until("all are done", async || record.ends() == [AttemptEnd::Completed; 8]).await;
    assert_eq!(one::<i64>(&client, "select count(*) from jobs where status = 'completed'", &[]).await, 8);
    worker.stop().await;
}

#[tokio::test]
async fn failures_are_tried_again_and_end_in_the_dead_letters() {
    let database = pg::database().await;
    let client = database.client().await;
    let fails = ask(&client, "q", "fail", 2).await;
    let never = ask(&client, "q", "never", 8).await;
    let panics = ask(&client, "q", "panic", 1).await;
    let unreadable: Uuid = one(&client, "select id from enqueue_job('q', '[1]')", &[]).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("the last attempt failed", async || record.has(&Event::Ended(fails, 2, AttemptEnd::Dead))).await;
    assert!(record.has(&Event::Ended(fails, 1, AttemptEnd::Retried)));
    for job in [never, panics, unreadable] {
        until("it is dead", async || record.has(&Event::Ended(job, 1, AttemptEnd::Dead))).await;
    }
    let error = |id: Uuid| {
        let client = &client;
        async move { one::<String>(client, "select last_error from dead_letter_jobs where id = $1", &[&id]).await }
    };
    assert_eq!(error(fails).await, "attempt 2 failed\u{fffd}");
    assert_eq!(error(never).await, "no such customer");
    assert_eq!(error(panics).await, "the handler panicked: out of cheese");
    assert!(error(unreadable).await.starts_with("the payload cannot be read"));
    worker.stop().await;
}

#[tokio::test]
async fn a_stop_lets_jobs_finish_and_gives_the_rest_back() {
    let database = pg::database().await;
    let client = database.client().await;
    let waits = ask(&client, "q", "wait", 8).await;
    let deaf = ask(&client, "q", "deaf", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("both run", async || record.open() == 2).await;
    let late = ask(&client, "other", "finish", 8).await;
    worker.stop().await;
    assert!(record.has(&Event::Ended(waits, 1, AttemptEnd::Retried)));
    assert!(record.has(&Event::Ended(deaf, 1, AttemptEnd::Retried)), "dropped where it stood");
    for job in [waits, deaf] {
        let status: String = one(&client, "select status from jobs where id = $1", &[&job]).await;
        assert_eq!(status, "queued");
    }
    assert_eq!(state(&client, late).await, "ready");
    // One that ends within the grace time is completed.
    let record = Record::default();
    let patient = Settings { grace: Duration::from_secs(20), ..settings("other") };
    let waits = ask(&client, "other", "wait", 8).await;
    let worker = AtWork::start(&database.dsn(), patient, &record);
    until("it runs", async || record.has(&Event::Began(waits, 1))).await;
    worker.stop.cancel();
    record.go.cancel();
    worker.stop().await;
    assert_eq!(state(&client, waits).await, "completed");
}

#[tokio::test]
async fn what_nobody_mends_by_waiting_is_said_at_once() {
    let database = pg::bare_database().await;
    let worker = Worker::new(settings("q"), connector(&database.dsn()), Record::default());
    let error = worker.run(CancellationToken::new()).await.expect_err("nothing is installed");
    assert_eq!(error.class, Class::Undefined);
    let gone = database.dsn().replace(database.name(), "no_such_database");
    let worker = Worker::new(settings("q"), connector(&gone), Record::default());
    let error = worker.run(CancellationToken::new()).await.expect_err("no such database");
    assert_eq!(error.class, Class::NoDatabase);
}

#[tokio::test]
async fn errors_of_any_length_and_letters_are_taken() {
    let database = pg::database().await;
    let client = database.client().await;
    let long = "😀\u{202e}\t".repeat(50_000);
    let sql = "select id from enqueue_job('q', jsonb_build_object('do', 'fail', 'say', $1::text), p_max_attempts => 1)";
    let job: Uuid = one(&client, sql, &[&long]).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("it is dead", async || record.has(&Event::Ended(job, 1, AttemptEnd::Dead))).await;
    let kept: String = one(&client, "select last_error from dead_letter_jobs where id = $1", &[&job]).await;
    assert!(long.starts_with(&kept) && kept.chars().count() == 8000);
    worker.stop().await;
}

#[tokio::test]
async fn an_encoding_that_lacks_a_letter_does_not_keep_a_job_running() {
    let database = pg::bare_database().await;
    let name = format!("{}_latin", database.name());
    let admin = database.client().await;
    let sql = format!("create database {name} template template0 encoding 'LATIN1' locale 'C'");
    admin.batch_execute(&sql).await.expect("a database of Latin letters");
    let dsn = pg::server().dsn(&name);
    let mut client = pg::connect(&dsn).await;
    let options = queuetop::engine::migrate::Options::default();
    queuetop::engine::migrate::run(&mut client, &options).await.expect("installed");
    let job = ask(&client, "q", "fail", 1).await;
    let record = Record::default();
    let worker = AtWork::start(&dsn, settings("q"), &record);
    until("it is dead", async || record.has(&Event::Ended(job, 1, AttemptEnd::Dead))).await;
    let error: String = one(&client, "select last_error from dead_letter_jobs where id = $1", &[&job]).await;
    assert_eq!(error, "attempt 1 failed\\u{fffd}");
    worker.stop().await;
    admin.batch_execute(&format!("drop database {name} with (force)")).await.expect("removed");
}

#[tokio::test]
async fn endless_handlers_are_failures_where_there_is_a_limit() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = ask(&client, "q", "deaf", 1).await;
    let record = Record::default();
    let limit = Some(Duration::from_millis(200));
    let worker = AtWork::start(&database.dsn(), Settings { attempt_limit: limit, ..settings("q") }, &record);
    until("it is dead", async || record.has(&Event::Ended(job, 1, AttemptEnd::Dead))).await;
    let error: String = one(&client, "select last_error from dead_letter_jobs where id = $1", &[&job]).await;
    assert_eq!(error, "took longer than 200ms");
    worker.stop().await;
}

#[tokio::test]
async fn a_retry_waits_as_long_as_the_settings_say() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = ask(&client, "q", "fail", 8).await;
    let record = Record::default();
    let slow = Settings { retry: queuetop::worker::RetryDelay::default(), ..settings("q") };
    let worker = AtWork::start(&database.dsn(), slow, &record);
    until("it failed", async || record.has(&Event::Ended(job, 1, AttemptEnd::Retried))).await;
    let sql = "select run_at - updated_at between interval '60 seconds' and interval '75 seconds' from jobs";
    assert!(one::<bool>(&client, sql, &[]).await, "a minute, and up to a quarter more");
    worker.stop().await;
}
