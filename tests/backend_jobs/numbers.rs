//! The numbers of a frame, from the counters.

use std::time::Duration;

use queuetop::model::{JobState, Reading, Time};

use super::{backend, queue, run, session};
use crate::support::pg::database;

const SOME_JOBS: &str = "
    select enqueue_job('mail', '{}', p_run_at => now() - interval '90 s') from generate_series(1, 5);
    select enqueue_job('mail', '{}', p_run_at => now() + interval '1 h') from generate_series(1, 3);
    select enqueue_job('mail', '{}', p_max_attempts => 1, p_priority => 1) from generate_series(1, 2);
    select claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 2);
    update jobs set attempts = 8 where id = any(array(select id from jobs where run_at > now() limit 1));
    update jobs set lease_until = now() - interval '1 m'
    where id = any(array(select id from jobs where status = 'running' limit 1));
";

#[tokio::test]
async fn they_are_what_was_done() {
    let database = database().await;
    run(&database, SOME_JOBS).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    assert_eq!(jobs.notes(), Vec::<String>::new());
    assert_eq!(jobs.channel().as_deref(), Some("queuetop"));
    for step in ["as they come", "folded"] {
        let core = jobs.core(&session).await.expect("numbers");
        let mail = queue(&core, "mail");
        assert_eq!(mail.ready, Reading::Exact(5), "{step}");
        assert_eq!(mail.scheduled, Reading::Exact(2), "{step}");
        assert_eq!(mail.exhausted, Reading::Exact(1), "{step}");
        assert_eq!(mail.running, Reading::Exact(1), "{step}");
        assert_eq!(mail.expired, Reading::Exact(1), "{step}");
        assert_eq!(mail.dead_total, Reading::Exact(0), "{step}");
        assert_eq!(mail.attempts, Reading::Exact(vec![(0, 7), (1, 2), (8, 1)]), "{step}");
        assert_eq!(mail.last_attempt, Reading::Exact(2), "{step}: both running ones have a limit of 1");
        assert_eq!((mail.max_attempts, mail.paused), (Some(8), Some(false)), "{step}");
        let totals = mail.totals.get().expect("totals");
        assert_eq!((totals.enqueued, totals.claimed, totals.completed), (10, 2, 0), "{step}");
        let waited = mail.oldest_ready_seconds(core.taken_at).get().flatten().expect("an age");
        assert!((90.0..100.0).contains(&waited), "{step}: {waited}");
        assert_eq!(core.reaper_last, Reading::Exact(None), "{step}");
        run(&database, "select setval('fold_clock', 0); select fold_counters_step()").await;
    }
}

#[tokio::test]
async fn the_oldest_is_found_whatever_was_folded() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (queue, payload, run_at) select 'a', '{}', now() - i * interval '10 s' from generate_series(1, 9) as i;
         insert into jobs (queue, payload, run_at) values ('b', '{}', '-infinity'), ('c', '{}', now() + interval '1 h');
         select setval('fold_clock', 0); select fold_counters_step();
         delete from jobs where queue = 'a' and run_at < now() - interval '35 s';",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let core = jobs.core(&session).await.expect("numbers");
    let waited = queue(&core, "a").oldest_ready_seconds(core.taken_at).get().flatten().expect("an age");
    assert!((30.0..40.0).contains(&waited), "{waited}");
    assert_eq!(queue(&core, "b").oldest_ready, Reading::Exact(Some(Time::NegInfinity)));
    assert_eq!(queue(&core, "c").oldest_ready, Reading::Exact(None));
}

#[tokio::test]
async fn lapsed_leases_and_ripe_jobs_show_without_any_folding() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (queue, payload, run_at) values ('a', '{}', now() + interval '2 s');
         insert into jobs (queue, payload, status, attempts, lease_until) values ('a', '{}', 'running', 1, now() + interval '1 s');
         select setval('fold_clock', 0); select fold_counters_step();",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let mut waiting = true;
    while waiting {
        let core = jobs.core(&session).await.expect("numbers");
        let a = queue(&core, "a");
        let sums = [a.ready.combine(a.scheduled, |x, y| x + y), a.running.combine(a.expired, |x, y| x + y)];
        assert_eq!(sums, [Reading::Exact(1), Reading::Exact(1)], "a job is in exactly one state");
        waiting = a.ready != Reading::Exact(1) || a.expired != Reading::Exact(1);
    }
}

#[tokio::test]
async fn an_empty_installation_has_no_queues_and_a_paused_one_says_so() {
    let database = database().await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let core = jobs.core(&session).await.expect("numbers");
    assert!(core.queues.is_empty() && core.taken_at.micros().is_some());
    run(&database, "select enqueue_job('mail', '{}'); select pause_queue('mail', 'why'); select reap_expired_jobs()")
        .await;
    let core = jobs.core(&session).await.expect("numbers");
    assert_eq!(queue(&core, "mail").paused, Some(true));
    assert!(matches!(core.reaper_last, Reading::Exact(Some(_))));
}

#[tokio::test]
async fn counts_that_nobody_kept_are_called_about() {
    let database = database().await;
    run(&database, "set session_replication_role = replica; insert into jobs (queue, payload) values ('a', '{}')")
        .await;
    run(&database, "insert into jobs (queue, payload) values ('a', '{}')").await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let core = jobs.core(&session).await.expect("numbers");
    assert_eq!(queue(&core, "a").ready, Reading::About(1));
}

#[tokio::test]
async fn minutes_come_with_gaps_and_what_is_not_folded_yet() {
    let database = database().await;
    run(
        &database,
        "insert into queue_history (minute, queue, enqueued, completed, retried, expired, ready, scheduled)
         select date_trunc('minute', now()) - i * interval '1 m', 'a', 60 * i, i, 2, 1, i, 5 from unnest(array[1, 2, 5]) as i;
         insert into history_minutes select date_trunc('minute', now()) - i * interval '1 m' from unnest(array[1, 2, 4, 5]) as i;
         insert into counter_deltas (at, queue, event, events)
         values (date_trunc('minute', now()) - interval '30 s', 'a', 'completed', 7)",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let minutes = jobs.history(&session, Duration::from_hours(1), Duration::from_mins(1)).await.expect("history");
    let (id, points) = minutes.first().expect("a queue");
    assert_eq!(id.name, "a");
    let done: Vec<_> =
        points.iter().rev().take(5).rev().map(|point| point.delta.map(|delta| delta.completed)).collect();
    assert_eq!(done, [Some(5), Some(0), None, Some(2), Some(8)]);
    assert_eq!(points.last().and_then(|point| point.delta).map(|delta| delta.retried), Some(3));
    let depth: Vec<_> = points.iter().rev().take(5).rev().map(|point| point.depth).collect();
    assert_eq!(depth[..4], [Some(0), None, Some(7), Some(6)]);
}

#[tokio::test]
async fn failures_and_dead_letters_are_grouped_by_what_they_say() {
    let database = database().await;
    run(
        &database,
        "select enqueue_job('mail', '{}') from generate_series(1, 6);
         select retry_job(id, locked_by, 'timeout after ' || (random() * 1000)::int || ' ms', '1 h')
         from claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 4);
         select move_to_dead_letter(id, locked_by, 'bad address \"x' || row_number() over () || '\"')
         from claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 2);",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let failures = jobs.failures(&session).await.expect("failures");
    assert_eq!((failures.failed_15m, failures.dead_1h), (Reading::Exact(6), Reading::Exact(2)));
    let signatures = failures.signatures.value().cloned().expect("signatures");
    let found: Vec<_> = signatures.iter().map(|s| (s.text.as_str(), s.count, s.dead)).collect();
    assert_eq!(
        found,
        [
            ("timeout after <n> ms", Reading::Exact(4), Reading::Exact(0)),
            ("bad address <v>", Reading::Exact(2), Reading::Exact(2)),
        ]
    );
    let rates: Vec<_> = signatures.iter().map(|s| (s.retried_per_s, s.dead_per_s)).collect();
    let per_s = |n: f64| Reading::Exact(n / 900.0);
    assert_eq!(rates, [(per_s(4.0), per_s(0.0)), (per_s(0.0), per_s(2.0))]);
}

#[tokio::test]
async fn leases_come_soonest_first_and_missing_ones_before_all() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (queue, payload, status, attempts, lease_until, priority)
         select 'a', '{}', 'running', 1, case when i > 0 then now() + (i - 3) * interval '1 m' end, i from generate_series(0, 5) as i;
         select setval('fold_clock', 0); select fold_counters_step();
         insert into jobs (queue, payload, status, attempts, lease_until, priority) values ('a', '{}', 'running', 1, 'infinity', 6)",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let leases = jobs.leases(&session, 10).await.expect("leases").value().cloned().expect("leases");
    let order: Vec<_> = leases.iter().map(|lease| lease.job.priority).collect();
    assert_eq!(order, (0..=6).map(Some).collect::<Vec<_>>());
    assert_eq!(leases.iter().filter(|lease| lease.job.state == JobState::Expired).count(), 4);
    let first = jobs.leases(&session, 2).await.expect("leases");
    assert!(matches!(first, Reading::AtLeast(ref some) if some.len() == 2), "{first:?}");
}

#[tokio::test]
async fn handlers_claims_and_the_next_wave_are_what_was_done() {
    let database = database().await;
    run(
        &database,
        "select enqueue_job('a', '{}') from generate_series(1, 20);
         select enqueue_job('a', '{}', p_run_at => date_trunc('minute', now()) + interval '10 minutes 5 s') from generate_series(1, 7);
         select enqueue_job('a', '{}', p_run_at => now() + interval '20 minutes');
         select enqueue_job('b', '{}', p_run_at => 'infinity');",
    )
    .await;
    for claim in 0..4 {
        // Two seconds each; the last claim's jobs take a minute.
        let took = if claim < 3 { 2 } else { 60 };
        run(
            &database,
            &format!(
                "select claim_jobs('a', '00000000-0000-0000-0000-000000000001', 5);
                 update jobs set claimed_at = now() - interval '{took} s' where status = 'running';
                 select complete_job(id, locked_by) from jobs where status = 'running'"
            ),
        )
        .await;
    }
    run(&database, "select setval('fold_clock', 0); select fold_counters_step();").await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let found = jobs.handling(&session).await.expect("numbers");
    let (_, a) = found.queues.iter().find(|(queue, _)| queue.name == "a").expect("queue a");
    let took = a.quantiles().get().flatten().expect("durations");
    for (found, truth) in [(took.p50, 2.0), (took.p95, 60.0), (took.p99, 60.0)] {
        assert!((found / truth - 1.0).abs() < 0.25, "{took:?}");
    }
    assert!(matches!(a.quantiles(), Reading::About(_)), "buckets are never exact");
    assert_eq!(a.batch(), Reading::Exact(Some(5.0)));
    assert_eq!(a.wave.get().flatten().map(|wave| wave.jobs), Some(7));
    // A queue in which nothing was handled has no durations, which is not the same as zero.
    let (_, b) = found.queues.iter().find(|(queue, _)| queue.name == "b").expect("queue b");
    for idle in [b, &found.others] {
        assert_eq!((idle.quantiles(), idle.batch()), (Reading::About(None), Reading::Exact(None)));
    }
}
