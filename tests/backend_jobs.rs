//! The `jobs` backend reads and acts on a real PostgreSQL: with counters, on the bare tables of the seed, and with rights
//! missing. What it reads is compared with what was done, never with itself.

use std::time::Duration;

use queuetop::backends::{self, Backend, Core};
use queuetop::db::{ConnInfo, Connector, Env, Purpose, Session, SqlLog};
use queuetop::model::{JobState, PageRequest, QueueStats, Reading};

use crate::support::pg::{Database, database};

pub(crate) async fn session(dsn: &str) -> Session {
    let nothing = Env { vars: std::collections::BTreeMap::new(), home: None, ..Env::of_process() };
    let info = ConnInfo::resolve(Some(dsn), &nothing).expect("a good DSN");
    Connector::new(info, SqlLog::default()).connect(Purpose::Act).await.expect("a session")
}

pub(crate) async fn backend(session: &Session) -> Box<dyn Backend> {
    let mut found = backends::all(session, None).await.expect("detection");
    assert_eq!(found.len(), 1);
    found.remove(0)
}

async fn run(database: &Database, sql: &str) {
    database.client().await.batch_execute(sql).await.unwrap_or_else(|error| panic!("{error:?}"));
}

fn queue<'a>(core: &'a Core, name: &str) -> &'a QueueStats {
    core.queues.iter().find(|queue| queue.id.name == name).unwrap_or_else(|| panic!("no queue {name}"))
}

fn live() -> PageRequest {
    PageRequest { limit: 100, ..PageRequest::default() }
}

const SOME_JOBS: &str = "
    select enqueue_job('mail', '{}', p_run_at => now() - interval '90 s') from generate_series(1, 5);
    select enqueue_job('mail', '{}', p_run_at => now() + interval '1 h') from generate_series(1, 3);
    select enqueue_job('mail', '{}', p_max_attempts => 1) from generate_series(1, 2);
    select claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 2);
    update jobs set attempts = 8 where id = any(array(select id from jobs where run_at > now() limit 1));
    update jobs set lease_until = now() - interval '1 m' where id = any(array(select id from jobs where status = 'running' limit 1));
";

#[tokio::test]
async fn numbers_are_what_was_done() {
    let database = database().await;
    run(&database, SOME_JOBS).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    assert_eq!(jobs.notes(), Vec::<String>::new());
    let core = jobs.core(&session).await.expect("numbers");
    let mail = queue(&core, "mail");
    assert_eq!(mail.ready, Reading::Exact(5));
    assert_eq!(mail.scheduled, Reading::Exact(2));
    assert_eq!(mail.exhausted, Reading::Exact(1));
    assert_eq!(mail.running, Reading::Exact(1));
    assert_eq!(mail.expired, Reading::Exact(1));
    assert_eq!(mail.dead_total, Reading::Exact(0));
    assert_eq!(mail.attempts, Reading::Exact(vec![(0, 7), (1, 2), (8, 1)]));
    let totals = mail.totals.get().expect("totals");
    assert_eq!((totals.enqueued, totals.claimed, totals.completed), (10, 2, 0));
    let waited = mail.oldest_ready_seconds(core.taken_at).get().flatten().expect("an age");
    assert!((90.0..100.0).contains(&waited), "{waited}");
    let leases = jobs.leases(&session, 10).await.expect("leases").value().cloned().expect("leases");
    assert_eq!(leases.iter().map(|lease| lease.job.state).collect::<Vec<_>>(), [JobState::Expired, JobState::Running]);
    let page = jobs.page(&session, &live()).await.expect("a page");
    assert_eq!(page.jobs.value().map(Vec::len), Some(10));
    assert_eq!(page.next, None);
    jobs.history(&session, Duration::from_hours(1)).await.expect("history");
    jobs.failures(&session).await.expect("failures");
}
