//! How a worker ends: in good order, against handlers that do not, suddenly, and without a server.

use std::time::Duration;

use queuetop::worker::{AttemptEnd, Settings};

use super::ends::ask;
use super::setup::{AtWork, Event, Record, settings, until};
use crate::support::pg;
use crate::support::queue::{one, state};

#[tokio::test]
async fn nothing_new_begins_after_the_stop() {
    let database = pg::database().await;
    let client = database.client().await;
    for _ in 0..9 {
        ask(&client, "q", "wait", 8).await;
    }
    let record = Record::default();
    let patient = Settings { grace: Duration::from_secs(20), ..settings("q") };
    let worker = AtWork::start(&database.dsn(), patient, &record);
    until("three run", async || record.open() == 3).await;
    worker.stop.cancel();
    record.go.cancel();
    worker.stop().await;
    assert_eq!(record.ends(), [AttemptEnd::Completed; 3]);
    let untouched = "select count(*) from jobs where status = 'queued' and attempts = 0";
    assert_eq!(one::<i64>(&client, untouched, &[]).await, 6);
}

#[tokio::test]
async fn who_is_cut_off_at_the_last_attempt_is_dead_and_the_others_go_back_at_once() {
    let database = pg::database().await;
    let client = database.client().await;
    let last = ask(&client, "q", "deaf", 1).await;
    let other = ask(&client, "q", "deaf", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("both run", async || record.open() == 2).await;
    worker.stop().await;
    assert!(record.has(&Event::Ended(last, 1, AttemptEnd::Dead)));
    assert!(record.has(&Event::Ended(other, 1, AttemptEnd::Retried)));
    let sql = "select last_error = 'the worker stopped before the job was done'
        and run_at <= updated_at + interval '1 second' from jobs where id = $1";
    assert!(one::<bool>(&client, sql, &[&other]).await);
}

#[tokio::test]
async fn a_sudden_death_leaves_its_jobs_to_the_reaper() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = ask(&client, "q", "wait", 8).await;
    let record = Record::default();
    let short = Settings { lease: Duration::from_millis(500), ..settings("q") };
    let worker = AtWork::start(&database.dsn(), short, &record);
    until("it runs", async || record.open() == 1).await;
    worker.kill().await;
    until("its lease ran out", async || state(&client, job).await == "expired").await;
    assert_eq!(one::<i64>(&client, "select requeued from reap_expired_jobs()", &[]).await, 1);
    record.go.cancel();
    let second = AtWork::start(&database.dsn(), settings("q"), &record);
    until("another does it", async || record.has(&Event::Ended(job, 2, AttemptEnd::Completed))).await;
    second.stop().await;
}

#[tokio::test]
async fn it_stops_at_once_where_there_is_no_server() {
    let record = Record::default();
    let worker = AtWork::start("host=/nowhere dbname=x user=x", settings("q"), &record);
    until("it tried", async || record.has(&Event::Disconnected)).await;
    worker.stop().await;
}
