//! The poll comes back by itself after any cut.

use std::time::{Duration, Instant};

use queuetop::engine::Event;
use queuetop::private_pg::Shutdown;

use super::{Engine, QUICK, start, tiny};
use crate::support::pg;

/// A server of its own with the tiny table, and an engine that has read it.
async fn set_up() -> (queuetop::private_pg::PrivatePg, Engine) {
    let server = pg::own_server();
    tiny::install(&pg::connect(&server.dsn("postgres")).await).await;
    let mut engine = start(&server.dsn("postgres"), QUICK, false);
    engine.number(0).await;
    (server, engine)
}

#[tokio::test(flavor = "multi_thread")]
async fn restarts_of_every_kind() {
    let (mut server, mut engine) = set_up().await;
    for (round, how) in [Shutdown::Fast, Shutdown::Immediate, Shutdown::Kill].into_iter().enumerate() {
        server.shut_down(how).unwrap();
        let (reason, retry_in) = engine.lost().await;
        assert!(retry_in.is_some(), "{how:?}: {reason}");
        assert!(engine.polled.borrow().is_none(), "{how:?}");
        // The tries are counted, and at most one a second.
        let mut tries = Vec::new();
        while tries.len() < 3 {
            engine.until("a try", |event| matches!(event, Event::Connecting { .. }).then_some(())).await;
            tries.push(Instant::now());
        }
        assert!(tries.windows(2).all(|pair| pair[1] - pair[0] > Duration::from_millis(950)), "{how:?}: {tries:?}");
        server.start_again().unwrap();
        let number = round as u64 + 1;
        let admin = pg::connect(&server.dsn("postgres")).await;
        admin.batch_execute(&format!("update tiny set n = {number}")).await.unwrap();
        engine.wake.now.notify_one();
        engine.number(number).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_server_runs_into_our_own_deadline() {
    let (server, mut engine) = set_up().await;
    server.halt().unwrap();
    let started = Instant::now();
    let (reason, _) = engine.lost().await;
    server.resume().unwrap();
    assert!(reason.contains("queuetop's own limit of 3 s"), "{reason}");
    assert!(started.elapsed() < Duration::from_secs(6));
    engine.number(0).await;
    // The old session does not stay behind.
    let admin = pg::connect(&server.dsn("postgres")).await;
    let count = "select count(*) from pg_stat_activity where application_name = 'queuetop'";
    let mut sessions = i64::MAX;
    while sessions > 1 {
        sessions = admin.query_typed(count, &[]).await.unwrap()[0].get(0);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_ends_the_session() {
    let (server, mut engine) = set_up().await;
    let admin = pg::connect(&server.dsn("postgres")).await;
    let kill = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'queuetop'";
    for _ in 0..3 {
        admin.query_typed(kill, &[]).await.unwrap();
        let (reason, _) = engine.lost().await;
        assert!(reason.contains("administrator") && reason.contains("[57P01]"), "{reason}");
        engine.number(0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_database_is_not_tried_again_by_itself() {
    let mut engine = start(&pg::server().dsn("no such database"), QUICK, false);
    let (reason, retry_in) = engine.lost().await;
    assert!(reason.contains("no such database") && reason.contains("[3D000]"), "{reason}");
    assert_eq!(retry_in, None);
    engine.wake.now.notify_one();
    engine.lost().await;
}
