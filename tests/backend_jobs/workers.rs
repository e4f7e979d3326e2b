//! Who works, read from a real server: leases by holder, registrations, and what is said where a right is missing.

use queuetop::backends::Backend;
use queuetop::db::Session;
use queuetop::model::{Panel, PanelKind, Reading, WorkerStats, Workers};

use super::{backend, run, session};
use crate::support::pg::{bare_database, database};
use crate::support::table_queue::tables;

async fn read(session: &Session, jobs: &dyn Backend) -> Workers {
    match jobs.panel(session, PanelKind::Workers).await.expect("an answer") {
        Panel::Workers(workers) => workers,
        other @ Panel::Groups(_) => panic!("{other:?}"),
    }
}

fn of(workers: &Workers, last: char) -> WorkerStats {
    let all = workers.workers.value().expect("workers");
    all.iter().find(|w| w.id.ends_with(last)).cloned().unwrap_or_else(|| panic!("no worker {last}: {all:?}"))
}

const WORK: &str = "
    select enqueue_job(q, '{}') from unnest(array['a', 'a', 'b', 'b']) as q;
    select claim_jobs('a', '00000000-0000-0000-0000-000000000001', 2, '5 minutes');
    select claim_jobs('b', '00000000-0000-0000-0000-000000000001', 1, '10 minutes');
    select claim_jobs('b', '00000000-0000-0000-0000-000000000002', 1, '1 minute');
    update jobs set lease_until = now() - interval '1 minute' where locked_by::text like '%2';
    select worker_seen('00000000-0000-0000-0000-000000000002', 'mailer', 'host-7', 4711, '1.2.3');
    select worker_seen('00000000-0000-0000-0000-000000000003', 'idler', 'host-8', 4712, '1.2.3');";

#[tokio::test]
async fn leases_are_counted_by_holder_and_joined_with_registrations() {
    let database = database().await;
    run(&database, WORK).await;
    let session = session(&database.dsn()).await;
    let workers = read(&session, &*backend(&session).await).await;
    assert_eq!(workers.workers.value().map(Vec::len), Some(3));
    let first = of(&workers, '1');
    assert_eq!((first.held, first.expired), (Reading::Exact(3), Reading::Exact(0)));
    assert_eq!(first.queues.iter().map(|q| q.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((first.name, first.last_seen), (None, Reading::Exact(None)));
    assert_eq!(first.lease.map(|lease| lease.as_secs()), Some(600));
    let second = of(&workers, '2');
    assert_eq!((second.held, second.expired), (Reading::Exact(1), Reading::Exact(1)));
    assert_eq!((second.name.as_deref(), second.pid), (Some("mailer"), Some(4711)));
    let idle = of(&workers, '3');
    assert_eq!((idle.held, idle.last_heartbeat, idle.lease), (Reading::Exact(0), None, None));
    assert!(matches!(idle.last_seen, Reading::Exact(Some(_))));
}

#[tokio::test]
async fn odd_leases_are_read_too() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (queue, payload, status, attempts, locked_by, lease_until, updated_at) values
           ('x', '{}', 'running', 1, null, null, now()),
           ('x', '{}', 'running', 1, '00000000-0000-0000-0000-000000000005', 'infinity', '-infinity'),
           (E'\\u202e\\u0007', '{}', 'running', 1, '00000000-0000-0000-0000-000000000005', '-infinity', 'infinity')",
    )
    .await;
    let session = session(&database.dsn()).await;
    let workers = read(&session, &*backend(&session).await).await;
    let nobody = workers.workers.value().expect("workers").iter().find(|w| w.id.is_empty()).expect("a lease of nobody");
    assert_eq!((nobody.held, nobody.expired), (Reading::Exact(1), Reading::Exact(1)));
    let odd = of(&workers, '5');
    assert_eq!((odd.held, odd.expired, odd.lease), (Reading::Exact(2), Reading::Exact(1), None));
}

#[tokio::test]
async fn a_bare_table_has_holders_without_names() {
    let database = bare_database().await;
    run(&database, &tables()).await;
    run(
        &database,
        "insert into jobs (queue, payload, status, attempts, locked_by, lease_until) values
           ('x', '{}', 'running', 1, '00000000-0000-0000-0000-000000000001', now() + interval '1 minute')",
    )
    .await;
    let session = session(&database.dsn()).await;
    let workers = read(&session, &*backend(&session).await).await;
    assert_eq!((of(&workers, '1').held, of(&workers, '1').last_seen), (Reading::Exact(1), Reading::Unknown));
}

#[tokio::test]
async fn who_may_not_read_leases_is_told_so() {
    let database = database().await;
    run(&database, WORK).await;
    run(&database, "drop role if exists workers_nobody; create role workers_nobody login").await;
    let session = session(&database.dsn_as("workers_nobody")).await;
    let workers = read(&session, &*backend(&session).await).await;
    assert_eq!(workers.workers, Reading::Denied);
    assert!(workers.note.is_some_and(|note| note.contains("workers_nobody may not read jobs")));
}
