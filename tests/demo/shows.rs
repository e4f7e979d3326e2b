//! What the demo gives the dashboard to show, within 20 s.

use std::time::{Duration, Instant};

use queuetop::backends;
use queuetop::commands::demo::{Demo, DemoOptions};
use queuetop::db::Purpose;
use queuetop::model::Reading;
use tokio_postgres::Client;

use crate::support::pg;
use crate::support::queue::one;

/// From the start of the program to something in every pane.
const SOON: Duration = Duration::from_secs(20);

async fn start(seed: u64) -> Demo {
    let fetch = pg::options();
    let options = DemoOptions { seed, rate: 1.0, pg_bin: fetch.bin_dir, fetch: fetch.fetch };
    Demo::start(options, &mut |line| eprintln!("{line}")).await.expect("the demo")
}

/// Waits for a query to answer true.
async fn wait(client: &Client, what: &str, sql: &str) {
    let began = Instant::now();
    while !one::<bool>(client, sql, &[]).await {
        assert!(began.elapsed() < SOON, "not within {} s: {what}", SOON.as_secs());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_pane_has_something_to_say() {
    let demo = start(1).await;
    let client = pg::connect(&demo.dsn()).await;
    let session = demo.connector().expect("a way").connect(Purpose::Read).await.expect("a session");
    let backend = backends::all(&session, None).await.expect("backends").pop().expect("one");
    assert_eq!(backend.notes(), [] as [&str; 0]);

    wait(
        &client,
        "an expired lease",
        "select exists (select from jobs where status = 'running' and lease_until < now())",
    )
    .await;
    // All depths, with attempts up to the edge, and a queue that is paused.
    let core = backend.core(&session).await.expect("numbers");
    let queue = |name: &str| core.queues.iter().find(|queue| queue.id.name == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(core.queues.len(), 6);
    assert_eq!(queue("newsletter").paused, Some(true));
    let edge = |counts: &Vec<(i32, u64)>| counts.iter().any(|(attempts, jobs)| *attempts == 3 && *jobs > 0);
    assert!(queue("webhooks").attempts.value().is_some_and(edge));
    // Leases, some of them past their end.
    let leases = backend.leases(&session, 100).await.expect("leases");
    assert!(leases.value().is_some_and(|leases| leases.len() > 2));
    // Failures by signature.
    let failures = backend.failures(&session).await.expect("failures");
    let Reading::Exact(signatures) = &failures.signatures else { panic!("{:?}", failures.signatures) };
    for words in ["503 Service Unavailable", "connection timed out", "TLS handshake with <v>"] {
        let found = signatures.iter().find(|one| one.text.contains(words));
        let found = found.unwrap_or_else(|| panic!("{words} is not among {signatures:?}"));
        assert!(found.dead.get().is_some_and(|dead| dead > 0), "{found:?}");
    }
    // A past for the lines.
    let minutes = backend.history(&session, Duration::from_mins(15), Duration::from_mins(1)).await.expect("history");
    assert_eq!(minutes.len(), 6);
    assert!(minutes.iter().all(|(_, points)| points.len() >= 14));
    // And it lives.
    wait(&client, "urgent, ordinary and patient jobs", "select count(distinct priority) >= 3 from jobs").await;
    wait(&client, "completions", "select count(*) > 20 from jobs where status = 'completed'").await;
    wait(&client, "dead letters of today's workers", "select count(distinct d.id) > 0 from dead_letter_jobs d join job_failures f on f.job_id = d.id join workers w on w.id = f.worker where w.name = 'webhooks-1'").await;
    let unicode: bool = one(&client, "select bool_or(payload::text ~ '[^ -~]') from jobs", &[]).await;
    assert!(unicode);
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_seed_puts_in_the_same_jobs() {
    let sql = "select md5(string_agg(queue || (payload - 'none')::text || priority, '|' order by (payload ->> 'n')::integer))
               from (select queue, payload, priority from jobs union all select queue, payload, priority from dead_letter_jobs) as all_jobs
               where (payload ->> 'n')::integer < 10000";
    let mut sums = Vec::new();
    for seed in [3, 3, 4] {
        let demo = start(seed).await;
        let client = pg::connect(&demo.dsn()).await;
        sums.push(one::<String>(&client, sql, &[]).await);
        demo.stop().await;
    }
    assert_eq!(sums[0], sums[1]);
    assert_ne!(sums[0], sums[2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_comes_back_when_its_sessions_are_ended() {
    let demo = start(2).await;
    let client = pg::connect(&demo.dsn()).await;
    let sessions = "pg_stat_activity where application_name = 'queuetop-demo'";
    wait(&client, "everybody is connected", &format!("select count(*) > 8 from {sessions}")).await;
    let ended: i64 = one(&client, &format!("select count(pg_terminate_backend(pid)) from {sessions}"), &[]).await;
    assert!(ended > 8);
    let done = "select count(*) from jobs where status = 'completed' and completed_at > $1::text::timestamptz";
    let cut: String = one(&client, "select clock_timestamp()::text", &[]).await;
    let began = Instant::now();
    while one::<i64>(&client, done, &[&cut]).await < 20 {
        assert!(began.elapsed() < SOON, "the workload goes on");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    demo.stop().await;
}
