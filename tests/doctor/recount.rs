//! Counters that nobody kept: found by the check-up, called `about` by the dashboard, mended while workers go on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use queuetop::backends::Backend as _;
use queuetop::backends::jobs::{Comparison, Jobs, detect};
use queuetop::db::{ConnInfo, Connector, Env, Purpose, Session, SqlLog};
use queuetop::diagnose::checks::Status::Warning;
use queuetop::model::{Known, Reading};
use tokio_postgres::Client;

use super::{assert_fine, assert_found, say};
use crate::support::pg::{self, Database};

const TRUTH: &str = include_str!("../data/counters_truth.sql");

/// What a restore, a replication tool or a careless session leaves behind: jobs in every state that nobody counted.
const UNCOUNTED: &str = "
    set session_replication_role = replica;
    insert into jobs (queue, payload) select 'dark', '{}' from generate_series(1, 5);
    insert into jobs (queue, payload, run_at) select 'dark', '{}', now() + interval '1 h' from generate_series(1, 4);
    insert into jobs (queue, payload, attempts, max_attempts) select 'dark', '{}', 3, 3 from generate_series(1, 3);
    insert into jobs (queue, payload, status, attempts, locked_by, lease_until)
      select 'dark', '{}', 'running', 1, gen_random_uuid(), now() + interval '1 h' from generate_series(1, 2);
    insert into jobs (queue, payload, status, attempts, locked_by, lease_until)
      values ('dark', '{}', 'running', 1, gen_random_uuid(), now() - interval '1 h');
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, original_created_at)
      select gen_random_uuid(), 'dark', '{}', 1, 1, now() from generate_series(1, 6);
    reset session_replication_role";

async fn session(database: &Database) -> Session {
    let nothing = Env { vars: BTreeMap::new(), home: None, ..Env::of_process() };
    let info = ConnInfo::resolve(Some(&database.dsn()), &nothing).expect("a good DSN");
    Connector::new(info, SqlLog::default()).connect(Purpose::Act).await.expect("a session")
}

async fn jobs(session: &Session) -> Jobs {
    detect(session, None).await.expect("detection").expect("a queue")
}

async fn compare(session: &Session) -> Comparison {
    jobs(session).await.compare(session).await.expect("asked").expect("allowed")
}

async fn run(client: &Client, sql: &str) {
    client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

async fn assert_true(client: &Client) {
    let rows = client.query(TRUTH, &[]).await.expect("a comparison");
    let wrong: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn told(comparison: &Comparison) -> Vec<(&str, &str, i64, u64)> {
    let rows = comparison.differences.iter();
    rows.map(|one| (one.queue.as_str(), one.figure.as_str(), one.counted, one.truth)).collect()
}

#[tokio::test]
async fn what_nobody_counted_is_said_by_state_and_mended() {
    let database = pg::database().await;
    let client = database.client().await;
    let session = session(&database).await;
    run(&client, "select enqueue_job('dark', '{}')").await;
    assert_fine(&say(&database.dsn(), "drift").await);
    let exact = jobs(&session).await.core(&session).await.expect("numbers");
    assert_eq!(exact.queues[0].ready, Reading::Exact(1));
    run(&client, UNCOUNTED).await;
    // The check-up says so, and so do the numbers.
    assert_found(&say(&database.dsn(), "drift").await, Warning, "the counters are wrong for 1 queue: dark");
    let core = jobs(&session).await.core(&session).await.expect("numbers");
    assert_eq!(core.queues[0].ready.known(), Known::About);
    let before = compare(&session).await;
    let wanted = [
        ("dark", "ready", 1, 6),
        ("dark", "scheduled", 0, 4),
        ("dark", "running", 0, 2),
        ("dark", "expired", 0, 1),
        ("dark", "exhausted", 0, 3),
        ("dark", "dead", 0, 6),
        ("dark", "attempts", 1, 0),
        ("dark", "times", 1, 0),
    ];
    assert_eq!(told(&before), wanted);
    jobs(&session).await.recount(&session).await.expect("mended");
    assert_eq!(told(&compare(&session).await), []);
    assert_true(&client).await;
    assert_fine(&say(&database.dsn(), "drift").await);
    let core = jobs(&session).await.core(&session).await.expect("numbers");
    assert_eq!(core.queues[0].ready, Reading::Exact(6));
}

#[tokio::test]
async fn sums_that_are_right_may_hide_what_is_wrong() {
    let database = pg::database().await;
    let client = database.client().await;
    let session = session(&database).await;
    run(
        &client,
        "insert into jobs (queue, payload, run_at) values ('a', '{}', now() + interval '1 h'), ('b', '{}', now())",
    )
    .await;
    run(
        &client,
        "set session_replication_role = replica; update jobs set run_at = run_at + interval '1 h' where queue = 'a'",
    )
    .await;
    run(&client, "update jobs set attempts = 2 where queue = 'b'").await;
    let wrong = compare(&session).await;
    assert_eq!(told(&wrong), [("a", "times", 1, 0), ("b", "attempts", 1, 0)]);
    jobs(&session).await.recount(&session).await.expect("mended");
    assert_eq!(told(&compare(&session).await), []);
    assert_true(&client).await;
    run(&client, "update counter_fold set suspect = true").await;
    assert!(compare(&session).await.suspect);
    jobs(&session).await.recount(&session).await.expect("mended");
    assert!(!compare(&session).await.suspect);
}

/// A worker by the functions, until it is told to stop; answers with how many calls it made.
async fn work(client: Client, queue: &'static str, stop: Arc<AtomicBool>) -> u32 {
    let mut calls = 0;
    while !stop.load(Ordering::Relaxed) {
        let each = [
            format!("select enqueue_job('{queue}', '{{}}', p_run_at => now() + (i - 3) * interval '1 s') from generate_series(1, 6) i"),
            format!("select claim_jobs('{queue}', '00000000-0000-0000-0000-000000000001', 4, '200 ms')"),
            format!(
                "select complete_job(id, locked_by) from (select * from jobs where queue = '{queue}' and status = 'running'
                 limit 3 for update skip locked) as few"
            ),
            "select reap_expired_jobs(10)".to_owned(),
        ];
        for sql in &each {
            run(&client, sql).await;
            calls += 1;
        }
    }
    calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_go_on_while_their_counters_are_mended() {
    let database = pg::database().await;
    let client = database.client().await;
    let session = session(&database).await;
    run(&client, "insert into queue_settings (name, value) values ('fold_every_ms', '100')").await;
    let stop = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = [("a", 2), ("b", 1)]
        .into_iter()
        .flat_map(|(queue, count)| std::iter::repeat_n(queue, count))
        .map(|queue| (queue, Arc::clone(&stop)))
        .collect();
    let mut tasks = Vec::new();
    for (queue, stop) in workers {
        tasks.push(tokio::spawn(work(database.client().await, queue, stop)));
    }
    for _ in 0..8 {
        run(&client, UNCOUNTED).await;
        // Only the dark queue is wrong, whatever the others do meanwhile: figures and rows are of one moment.
        let before = compare(&session).await;
        let queues: BTreeSet<&str> = before.differences.iter().map(|one| one.queue.as_str()).collect();
        assert_eq!(queues, BTreeSet::from(["dark"]), "{before:?}");
        jobs(&session).await.recount(&session).await.expect("mended");
        let after = compare(&session).await;
        assert_eq!(told(&after), []);
    }
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        assert!(task.await.expect("no call failed") > 20);
    }
    assert_true(&client).await;
    assert!(client.query("select * from recount_counters()", &[]).await.expect("a recount").is_empty());
}
