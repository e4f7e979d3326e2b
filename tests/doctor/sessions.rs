//! Sessions, snapshots and the way to the server: what sits idle, what holds vacuum back, what is in between.

use std::io::{self, Write as _};

use queuetop::diagnose::checks::Status::{Critical, Info, Unknown, Warning};
use queuetop::engine::doctor::Look;
use queuetop::private_pg::{Options, PrivatePg};

use super::{Patient, assert_fine, assert_found, follow, say};
use crate::support::bouncer::Bouncer;
use crate::support::roles::Place;
use crate::support::{pg, wait_until_async};

async fn read(dsn: &str) -> Patient {
    Patient::read(dsn, &Look::default()).await
}

#[tokio::test]
async fn a_session_idle_in_a_transaction_is_found_when_it_stays() {
    let database = pg::database().await;
    let (idle, quiet) = (database.client().await, database.client().await);
    quiet.batch_execute("begin; select 1; commit").await.expect("idle, outside of any transaction");
    idle.batch_execute("begin; insert into jobs (queue, payload) values ('a', '{}')").await.expect("idle in one");
    let ages = ["idle", "open"];
    assert_fine(&read(&database.dsn()).await.say("idle-in-transaction"));
    assert_fine(&read(&database.dsn()).await.later(&ages, 50.0).say("idle-in-transaction"));
    let checked = read(&database.dsn()).await.later(&ages, 120.0).say("idle-in-transaction");
    assert_found(
        &checked,
        Warning,
        "1 session is idle in a transaction for up to 2m, holding locks on the queue's tables",
    );
    let told = &checked.findings[0].evidence[0].1;
    assert!(told.contains("role postgres") && told.contains("jobs"), "{told}");
    assert_eq!(read(&database.dsn()).await.later(&ages, 900.0).say("idle-in-transaction").status, Critical);
    follow(&database.client().await, &checked).await;
    let gone = async || read(&database.dsn()).await.later(&ages, 120.0).say("idle-in-transaction").findings.is_empty();
    wait_until_async("it is gone", gone).await;
}

#[tokio::test]
async fn an_old_snapshot_holds_vacuum_back_and_an_open_transaction_without_one_does_not() {
    let database = pg::database().await;
    let (old, open) = (database.client().await, database.client().await);
    open.batch_execute("begin").await.expect("no snapshot");
    assert_fine(&read(&database.dsn()).await.later(&["seconds"], 7200.0).say("horizon"));
    old.batch_execute("begin isolation level repeatable read; select 1").await.expect("a snapshot");
    assert_fine(&read(&database.dsn()).await.say("horizon"));
    let checked = read(&database.dsn()).await.later(&["seconds"], 600.0).say("horizon");
    assert_found(&checked, Warning, "has held vacuum back for 10m");
    assert_found(&read(&database.dsn()).await.later(&["seconds"], 7200.0).say("horizon"), Critical, "for 2h");
    follow(&database.client().await, &checked).await;
    let gone = async || read(&database.dsn()).await.later(&["seconds"], 600.0).say("horizon").findings.is_empty();
    wait_until_async("it is gone", gone).await;
}

#[tokio::test]
async fn a_forgotten_prepared_transaction_is_found_and_rolled_back() {
    let mut settings = pg::options().settings;
    settings.push(("max_prepared_transactions".into(), "5".into()));
    let options = Options { settings, ..pg::options() };
    let server = tokio::task::spawn_blocking(move || {
        PrivatePg::start(&options, &mut |line| writeln!(io::stderr(), "{line}").expect("standard error"))
    });
    let server = server.await.expect("no panic").expect("a server");
    let dsn = server.dsn("postgres");
    let client = pg::connect(&dsn).await;
    client
        .batch_execute(
            "create table t (id int); begin; insert into t values (1); prepare transaction 'it''s \"forgotten\"'",
        )
        .await
        .expect("prepared");
    assert_fine(&read(&dsn).await.say("horizon"));
    let checked = read(&dsn).await.later(&["seconds"], 300.0).say("horizon");
    assert_found(&checked, Warning, "prepared transaction it's \"forgotten\" has held vacuum back for 5m");
    follow(&client, &checked).await;
    assert_fine(&read(&dsn).await.later(&["seconds"], 300.0).say("horizon"));
}

#[tokio::test]
async fn a_role_that_cannot_see_other_sessions_is_not_told_that_there_are_none() {
    let place = Place::new("public").await;
    let other = place.as_role("postgres").await;
    other.batch_execute("begin isolation level repeatable read; select 1").await.expect("a snapshot");
    for check in ["idle-in-transaction", "horizon"] {
        let checked = say(&place.dsn("viewer"), check).await;
        assert_eq!(checked.status, Unknown, "{checked:#?}");
        let why = checked.unseen.expect("why");
        assert!(why.starts_with("limited view: ") && why.ends_with("GRANT pg_read_all_stats TO viewer"), "{why}");
    }
    place.as_role("postgres").await.batch_execute("grant pg_read_all_stats to viewer").await.expect("granted");
    let patient = read(&place.dsn("viewer")).await;
    assert_fine(&patient.say("horizon"));
    let later = patient.later(&["seconds", "idle"], 600.0);
    assert_found(&later.say("horizon"), Warning, "has held vacuum back");
    assert_found(&later.say("idle-in-transaction"), Warning, "1 session is idle in a transaction");
}

#[tokio::test(flavor = "multi_thread")]
async fn through_a_pooler_everything_is_checked_and_polling_is_said() {
    let database = pg::database().await;
    for (mode, works) in [("transaction", false), ("session", true)] {
        let Some(bouncer) = Bouncer::start(mode, 3) else { return };
        let patient = read(&bouncer.dsn(database.name())).await;
        let checked = patient.say("pooler");
        if works {
            assert_fine(&checked);
        } else {
            assert_found(&checked, Info, "changes are learned by polling only");
        }
        for check in ["installed", "functions", "triggers", "indexes", "drift", "groups", "clock", "dead-rows"] {
            assert_fine(&patient.say(check));
        }
    }
}
