//! Lost connections: nothing is lost, nothing is done twice, and the worker comes back by itself.

use std::time::Duration;

use queuetop::private_pg::{PrivatePg, Shutdown};
use queuetop::worker::{AttemptEnd, Settings};

use super::ends::ask;
use super::setup::{AtWork, Event, Record, settings, until};
use crate::support::pg;
use crate::support::queue::{one, state};

#[tokio::test]
async fn a_terminated_session_costs_no_attempt() {
    let database = pg::database().await;
    let client = database.client().await;
    let record = Record::default();
    let worker = AtWork::start(&database.dsn(), settings("q"), &record);
    let first = ask(&client, "q", "wait", 8).await;
    let terminate = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
    for round in 1..=3 {
        until("it runs", async || record.open() == 1).await;
        until("it is connected", async || record.count(&Event::Connected(true)) == round).await;
        assert_eq!(one::<i64>(&client, terminate, &[]).await, 1, "one session is all it keeps");
        until("it noticed", async || record.count(&Event::Disconnected) == round).await;
    }
    record.go.cancel();
    until("it is done", async || record.has(&Event::Ended(first, 1, AttemptEnd::Completed))).await;
    let second = ask(&client, "q", "finish", 8).await;
    until("it claims again", async || record.has(&Event::Ended(second, 1, AttemptEnd::Completed))).await;
    worker.stop().await;
    assert_eq!(one::<i64>(&client, "select count(*) from job_failures", &[]).await, 0);
}

/// A server of its own with the queue installed. What was answered must survive the worst here.
async fn durable_server() -> (PrivatePg, String) {
    let mut options = pg::options();
    options.settings.push(("synchronous_commit".into(), "on".into()));
    let server = PrivatePg::start(&options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let dsn = server.dsn("postgres");
    let mut client = pg::connect(&dsn).await;
    queuetop::engine::migrate::run(&mut client, &queuetop::engine::migrate::Options::default())
        .await
        .expect("installed");
    (server, dsn)
}

#[tokio::test]
async fn ends_wait_for_a_server_that_restarts() {
    let (mut server, dsn) = durable_server().await;
    for how in [Shutdown::Fast, Shutdown::Immediate, Shutdown::Kill] {
        let job = ask(&pg::connect(&dsn).await, "q", "wait", 8).await;
        let record = Record::default();
        let worker = AtWork::start(&dsn, settings("q"), &record);
        until("it runs", async || record.open() == 1).await;
        server.shut_down(how).expect("down");
        // It ends while nobody can be told.
        record.go.cancel();
        server.start_again().expect("up");
        until("it is told", async || record.has(&Event::Ended(job, 1, AttemptEnd::Completed))).await;
        assert_eq!(state(&pg::connect(&dsn).await, job).await, "completed", "{how:?}");
        worker.stop().await;
    }
}

#[tokio::test]
async fn a_handler_is_asked_to_stop_when_its_lease_runs_out_and_nobody_can_be_asked() {
    let (mut server, dsn) = durable_server().await;
    let client = pg::connect(&dsn).await;
    let polite = ask(&client, "q", "wait", 8).await;
    let deaf = ask(&client, "q", "deaf", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&dsn, Settings { lease: Duration::from_millis(900), ..settings("q") }, &record);
    until("both run", async || record.open() == 2).await;
    server.shut_down(Shutdown::Immediate).expect("down");
    until("it is asked", async || record.has(&Event::Stopped(polite, 1))).await;
    assert!(record.has(&Event::LeaseLost(polite, 1)) && record.has(&Event::LeaseLost(deaf, 1)));
    server.start_again().expect("up");
    // Nobody took them meanwhile, so they go back in good order.
    for job in [polite, deaf] {
        until("it is given back", async || record.has(&Event::Ended(job, 1, AttemptEnd::Retried))).await;
    }
    record.go.cancel();
    for job in [polite, deaf] {
        until("it is done", async || record.has(&Event::Ended(job, 2, AttemptEnd::Completed))).await;
    }
    worker.stop().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_left_and_found_again() {
    let (server, dsn) = durable_server().await;
    let job = ask(&pg::connect(&dsn).await, "q", "wait", 8).await;
    let record = Record::default();
    let worker = AtWork::start(&dsn, settings("q"), &record);
    until("it runs", async || record.open() == 1).await;
    server.halt().expect("halted");
    until("the session is given up", async || record.has(&Event::Disconnected)).await;
    record.go.cancel();
    server.resume().expect("resumed");
    until("it is told", async || record.has(&Event::Ended(job, 1, AttemptEnd::Completed))).await;
    worker.stop().await;
}
