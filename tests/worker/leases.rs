//! Leases: kept by heartbeats, lost to others, kept across cuts.

use std::time::Duration;

use queuetop::private_pg::Shutdown;
use queuetop::worker::{AttemptEnd, Settings};

use super::ends::ask;
use super::setup::{AtWork, Event, Record, settings, until};
use crate::support::pg;
use crate::support::queue::{one, state};

const SHORT: Duration = Duration::from_millis(900);

#[tokio::test]
async fn heartbeats_keep_a_job_far_longer_than_its_lease() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = ask(&client, "q", "wait", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), Settings { lease: SHORT, ..settings("q") }, &record);
    until("it runs", async || record.open() == 1).await;
    // The row's age by the database's clock, while the reaper looks all the time.
    until("three leases have passed", async || {
        one::<i64>(&client, "select requeued + dead from reap_expired_jobs()", &[]).await;
        let sql = "select now() - claimed_at > interval '2.7 seconds' from jobs where id = $1";
        one::<bool>(&client, sql, &[&job]).await
    })
    .await;
    assert_eq!(state(&client, job).await, "running");
    let said: String = one(&client, "select host || pid from workers", &[]).await;
    assert!(said.ends_with(&std::process::id().to_string()), "{said}");
    record.go.cancel();
    until("it is done", async || record.has(&Event::Ended(job, 1, AttemptEnd::Completed))).await;
    worker.stop().await;
}

#[tokio::test]
async fn a_lost_lease_stops_the_handler_and_its_end_is_dropped() {
    let database = pg::database().await;
    let client = database.client().await;
    let waits = ask(&client, "q", "wait", 8).await;
    let deaf = ask(&client, "q", "deaf", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), Settings { lease: SHORT, ..settings("q") }, &record);
    until("both run", async || record.open() == 2).await;
    let pause = "select pause_queue('q')";
    client.execute(pause, &[]).await.expect("paused");
    let sql = "select operator_requeue(jsonb_build_array(jsonb_build_object('id', $1::uuid)), p_force => true)";
    client.execute(sql, &[&waits]).await.expect("requeued");
    client.execute(sql, &[&deaf]).await.expect("requeued");
    until("the handler is told", async || record.has(&Event::Stopped(waits, 1))).await;
    record.go.cancel();
    for job in [waits, deaf] {
        until("its end is dropped", async || record.has(&Event::Ended(job, 1, AttemptEnd::Lost))).await;
        assert_eq!(state(&client, job).await, "ready");
    }
    worker.stop().await;
}

#[tokio::test]
async fn an_end_that_comes_too_late_is_refused() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = ask(&client, "q", "deaf", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    until("it runs", async || record.open() == 1).await;
    client.execute("select pause_queue('q')", &[]).await.expect("paused");
    let sql = "select operator_requeue(jsonb_build_array(jsonb_build_object('id', $1::uuid)), p_force => true)";
    client.execute(sql, &[&job]).await.expect("requeued");
    // No heartbeat comes before the handler ends: the fence alone refuses.
    record.go.cancel();
    until("it is told", async || record.has(&Event::Ended(job, 1, AttemptEnd::Lost))).await;
    let outcome: String = one(&client, "select outcome from job_failures where job_id = $1", &[&job]).await;
    assert_eq!(outcome, "fenced");
    assert_eq!(state(&client, job).await, "ready");
    worker.stop().await;
}

#[tokio::test]
async fn goes_on_after_its_session_was_ended_and_the_server_restarted() {
    let mut server = pg::own_server();
    let admin = pg::connect(&server.dsn("postgres")).await;
    admin.batch_execute("create database q").await.expect("a database");
    let dsn = server.dsn("q");
    let mut client = pg::connect(&dsn).await;
    queuetop::engine::migrate::run(&mut client, &queuetop::engine::migrate::Options::default())
        .await
        .expect("migrated");
    let held = ask(&client, "q", "wait", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&dsn, settings("q"), &record);
    until("it runs", async || record.open() == 1).await;
    let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
               where datname = 'q' and pid <> pg_backend_pid() and backend_type = 'client backend'";
    assert_eq!(one::<i64>(&client, sql, &[]).await, 1);
    let second = ask(&client, "q", "finish", 8).await;
    until("it claims again", async || record.has(&Event::Ended(second, 1, AttemptEnd::Completed))).await;
    let mut server = tokio::task::spawn_blocking(move || {
        server.restart(Shutdown::Immediate).expect("restarted");
        server
    })
    .await
    .expect("restarted");
    let client = pg::connect(&dsn).await;
    // What was held through both cuts is completed by the same attempt.
    record.go.cancel();
    until("the held one is done", async || record.has(&Event::Ended(held, 1, AttemptEnd::Completed))).await;
    assert_eq!(state(&client, held).await, "completed");
    // Stopped while the server is away: it ends, and nothing hangs.
    ask(&client, "q", "finish", 8).await;
    tokio::task::spawn_blocking(move || server.shut_down(Shutdown::Fast).map(|()| server))
        .await
        .expect("down")
        .expect("down");
    worker.stop().await;
}
