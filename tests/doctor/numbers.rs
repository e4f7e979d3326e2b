//! Counters, folding, the reaper, housekeeping and history: what their rows say.

use queuetop::diagnose::checks::Status::{self, Info, Warning};
use queuetop::engine::doctor::Look;

use super::{Patient, assert_fine, assert_found, follow, say};
use crate::support::{pg, wait_until_async};

/// A check, what makes it speak, what it then says, and what is nearby and all right.
type Scene = (&'static str, &'static str, Status, &'static str, &'static str);

const UNCOUNTED: &str = "set session_replication_role = replica";

const SCENES: &[Scene] = &[
        (
            "drift",
            "set session_replication_role = replica; insert into jobs (queue, payload) select 'a', '{}' from generate_series(1, 7)",
            Warning,
            "the counters are wrong for 1 queue: a",
            "insert into jobs (queue, payload) select 'a', '{}' from generate_series(1, 7); select claim_jobs('a', gen_random_uuid(), 2);
             select fold_counters_step(); delete from jobs where status = 'queued'",
        ),
        (
            "drift",
            "select enqueue_job('b', '{}'); select claim_jobs('b', gen_random_uuid(), 1);
             set session_replication_role = replica; delete from jobs",
            Warning,
            "the counters are wrong for 1 queue: b",
            "select enqueue_job('b', '{}'); select claim_jobs('b', gen_random_uuid(), 1); delete from jobs",
        ),
        (
            "drift",
            "set session_replication_role = replica; insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts,
               original_created_at) values (gen_random_uuid(), 'c', '{}', 1, 1, now())",
            Warning,
            "the counters are wrong for 1 queue: c",
            "insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, original_created_at)
             values (gen_random_uuid(), 'c', '{}', 1, 1, now())",
        ),
        (
            "folding",
            "insert into counter_deltas (queue, status) select 'a', 'queued' from generate_series(1, 20000)",
            Warning,
            "20,000 changes are not summed up yet",
            "insert into counter_deltas (queue, status) select 'a', 'queued' from generate_series(1, 19999)",
        ),
        (
            "folding",
            "update counter_fold set suspect = true",
            Warning,
            "the counters may be off",
            "truncate jobs, dead_letter_jobs",
        ),
        (
            "folding",
            "begin isolation level repeatable read; select 1; truncate jobs; commit",
            Warning,
            "the counters may be off",
            "begin isolation level repeatable read; select 1; delete from jobs; commit",
        ),
        (
            "reaper",
            "update maintenance_runs set last_run_at = now() - interval '10 minutes', last_by = 'x', runs = 5
             where task = 'reap_expired_jobs'",
            Warning,
            "no reaper seen for 10m",
            "select reap_expired_jobs(); update maintenance_runs set last_run_at = now() - interval '10 minutes'
             where task <> 'reap_expired_jobs'",
        ),
        (
            "reaper",
            "select reap_expired_jobs(); update maintenance_runs set did = '{\"failed\": 2, \"error\": \"some trigger\"}'
             where task = 'reap_expired_jobs'",
            Warning,
            "the last run of reap_expired_jobs had to leave 2 rows",
            "select reap_expired_jobs(); update maintenance_runs set did = '{\"failed\": 0}' where task = 'reap_expired_jobs'",
        ),
        (
            "housekeeping",
            "insert into jobs (queue, payload, status, completed_at) values ('a', '{}', 'completed', now() - interval '40 days')",
            Info,
            "completed jobs are kept since 40d",
            "insert into jobs (queue, payload, status, completed_at) values ('a', '{}', 'completed', now() - interval '29 days')",
        ),
        (
            "housekeeping",
            "insert into jobs (queue, payload, status, completed_at)
             select 'a', '{}', 'completed', now() - interval '40 days' from generate_series(1, 100000); analyze jobs",
            Warning,
            "completed jobs are kept since 40d",
            "insert into jobs (queue, payload, status, completed_at) values ('a', '{}', 'completed', now() - interval '40 days');
             select prune_completed_jobs('90 days')",
        ),
        (
            "housekeeping",
            "insert into operator_actions (action, session_user_name, acted_at) values ('x', 'y', now() - interval '40 days')",
            Info,
            "operator actions are kept since 40d",
            "insert into operator_actions (action, session_user_name, acted_at) values ('x', 'y', now())",
        ),
        (
            "history",
            "insert into queue_history (minute, queue) values (now() - interval '20 days', 'a')",
            Warning,
            "the history reaches back 20d, though 7 days are to be kept",
            "insert into queue_history (minute, queue) values (now() - interval '20 days', 'a');
             insert into queue_settings (name, value) values ('history_days', '30')",
        ),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_check_speaks_of_its_trouble_and_is_silent_nearby() {
    for (check, trouble, status, says, nearby) in SCENES {
        let (sick, well) = (pg::database().await, pg::database().await);
        // A reaper has run, so that its own check has nothing to say where it is not asked for.
        sick.client().await.batch_execute(trouble).await.unwrap_or_else(|error| panic!("{trouble}: {error:?}"));
        assert_found(&say(&sick.dsn(), check).await, *status, says);
        well.client().await.batch_execute(nearby).await.unwrap_or_else(|error| panic!("{nearby}: {error:?}"));
        assert_fine(&say(&well.dsn(), check).await);
    }
}

#[tokio::test]
async fn a_reaper_that_never_ran_is_told_from_one_that_is_silent() {
    let database = pg::database().await;
    let client = database.client().await;
    assert_found(&say(&database.dsn(), "reaper").await, Warning, "no reaper has ever run");
    client.batch_execute("select reap_expired_jobs()").await.expect("a run");
    let patient = Patient::read(&database.dsn(), &Look::default()).await;
    assert_fine(&patient.say("reaper"));
    let patient = patient.later(&["ago"], 149.0);
    assert_fine(&patient.say("reaper"));
    assert_found(&patient.later(&["ago"], 3.0).say("reaper"), Warning, "no reaper seen for 2m3");
}

#[tokio::test]
async fn following_the_next_step_of_folding_folds() {
    let database = pg::database().await;
    let client = database.client().await;
    let many = "insert into counter_deltas (queue, status) select 'a', 'queued' from generate_series(1, 20500)";
    client.batch_execute(many).await.expect("changes");
    let checked = say(&database.dsn(), "folding").await;
    follow(&client, &checked).await;
    assert_fine(&say(&database.dsn(), "folding").await);
}

#[tokio::test]
async fn figures_of_a_queue_with_any_name_are_harmless() {
    let database = pg::database().await;
    let client = database.client().await;
    client.batch_execute(UNCOUNTED).await.expect("no triggers");
    let name = format!("a\u{1b}]0;x\u{7}\\n{}", "é".repeat(100));
    client.execute("insert into jobs (queue, payload) values ($1, '{}')", &[&name]).await.expect("a job");
    let checked = say(&database.dsn(), "drift").await;
    assert_found(&checked, Warning, r"for 1 queue: a\x1b]0;x\x07\\né");
    assert!(checked.findings[0].evidence[0].1.contains("0 counted, 1 true"), "{checked:#?}");
}

#[tokio::test]
async fn dead_rows_count_when_vacuum_had_time_and_did_not_come() {
    let database = pg::database().await;
    let (client, holder) = (database.client().await, database.client().await);
    let some = "insert into jobs (queue, payload) select 'a', '{}' from generate_series(1, 5000)";
    client.batch_execute(some).await.expect("jobs");
    // Should autovacuum come by, it cannot remove them.
    holder.batch_execute("begin isolation level repeatable read; select 1").await.expect("a snapshot");
    for _ in 0..4 {
        client.batch_execute("update jobs set priority = priority + 1").await.expect("dead rows");
    }
    let dead = "select coalesce(n_dead_tup, 0)::bigint from pg_stat_all_tables where relid = 'jobs'::regclass";
    wait_until_async("the statistics", async || {
        client.query_one(dead, &[]).await.expect("a count").get::<_, i64>(0) >= 20_000
    })
    .await;
    let patient = Patient::read(&database.dsn(), &Look::default()).await;
    assert_fine(&patient.say("dead-rows"));
    let checked = patient.later(&["vacuumed", "counted"], 600.0).say("dead-rows");
    assert_found(&checked, Warning, "jobs has 20000 dead rows");
    holder.batch_execute("commit").await.expect("the end");
    follow(&client, &checked).await;
    let gone = async || client.query_one(dead, &[]).await.expect("a count").get::<_, i64>(0) < 10_000;
    wait_until_async("vacuum's own statistics", gone).await;
    let after = Patient::read(&database.dsn(), &Look::default()).await;
    assert_fine(&after.later(&["vacuumed", "counted"], 600.0).say("dead-rows"));
}

#[tokio::test]
async fn an_index_is_unused_only_beside_busy_ones() {
    let database = pg::database().await;
    let client = database.client().await;
    client
        .batch_execute(
            "insert into jobs (queue, payload, status, completed_at)
             select 'a', '{}', 'completed', now() + i * interval '1 s' from generate_series(1, 60000) i",
        )
        .await
        .expect("completed jobs");
    assert_fine(&say(&database.dsn(), "indexes").await);
    let busy = "do $$ declare v uuid; begin for i in 1..10000 loop
        select id into v from jobs where id = '00000000-0000-0000-0000-000000000000'; end loop; end $$";
    client.batch_execute(busy).await.expect("scans");
    let used = "select idx_scan from pg_stat_all_indexes where indexrelid = 'jobs_pkey'::regclass";
    let enough = async || client.query_one(used, &[]).await.expect("a count").get::<_, i64>(0) >= 10_000;
    wait_until_async("the statistics", enough).await;
    assert_found(&say(&database.dsn(), "indexes").await, Info, "index jobs_completed_idx takes");
    let often = "set enable_seqscan = off; do $$ declare v timestamptz; begin for i in 1..100 loop
        select completed_at into v from jobs where status = 'completed' order by completed_at limit 1; end loop; end $$";
    client.batch_execute(often).await.expect("used");
    let used = "select idx_scan from pg_stat_all_indexes where indexrelid = 'jobs_completed_idx'::regclass";
    wait_until_async("used", async || client.query_one(used, &[]).await.expect("a count").get::<_, i64>(0) >= 100)
        .await;
    assert_fine(&say(&database.dsn(), "indexes").await);
}
