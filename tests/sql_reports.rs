//! What has gone wrong in other queues, as far as it can go wrong in SQL, each with its test. Numbers are those of the
//! collected reports; where another file proves it, it is named.
//!
//! | report | proof |
//! |---|---|
//! | 51, 52 infinite and far times | `infinite_and_far_times_survive_every_action` |
//! | 54 numbers at the end of their type | `sql_operator::requeue_at_the_limit_gives_one_more_attempt` |
//! | 55 NUL and surrogates in payloads | `sql_bad_input` |
//! | 66, 74 crash on the last attempt, crashes count | `a_worker_that_dies_on_every_claim_uses_the_attempts_up` |
//! | 67 attempts above the limit | `every_row_is_in_exactly_one_state` |
//! | 68 killed workers | `jobs_of_sessions_that_were_cut_are_taken_over` |
//! | 69 reap touches expired leases only | `sql_operator::each_action_does_in_each_state_what_the_rules_say`; the view is the dashboard's |
//! | 70, 71 stale workers | `sql_worker::every_call_of_a_stale_worker_…`, `sql_worker::a_late_heartbeat_…` |
//! | 72 long but live | `a_live_job_is_never_reaped_however_long_it_runs` |
//! | 73, 78 taken by force | `sql_operator::a_job_taken_away_by_force_is_lost_to_its_worker` |
//! | 75 endless retries | `retries_end_at_the_limit` |
//! | 76 herds | the jitter is the worker's, tested there |
//! | 77 immediate retry | `a_retry_without_delay_waits_all_the_same`, `sql_bad_input` |
//! | 79 one bad row in a fetch | `a_row_at_its_limit_stops_no_claim` |
//! | 80, 84 one key in several states | `one_key_in_every_pair_of_states_gets_an_answer` |
//! | 81 a replay cut in the middle | `a_replay_that_was_cut_never_happened` |
//! | 82 requeue at the limit | `sql_operator::requeue_at_the_limit_gives_one_more_attempt` |
//! | 83 the dead-letter table refuses | `a_dead_letter_that_cannot_be_written_changes_nothing` |
//! | 85 deadlocks | `sql_crowd` |
//! | 86, 87, 88 plans, one `run_at`, temporary files | `sql_claim` |
//! | 89, 90 priority of recovered jobs, order of ties | `a_recovered_job_keeps_its_priority`, `sql_claim` |
//! | 91, 92 notifications | the tests of the counters and of the listener; figures in the benchmark |
//! | 93 large payloads and notifications | `a_large_payload_is_enqueued_and_the_notification_stays_small` |
//! | 94 letters and bytes | `sql_bad_input::names_of_queues_and_keys_may_be_anything_that_fits` |
//! | 95 replay at a pace | the pace is the dashboard's; a call takes at most 10,000 and commits |
//! | 96 a snapshot held open | the benchmark |
//! | 97 retention | `sql_sweeps` |
//! | 98 autovacuum | `the_jobs_table_asks_for_frequent_vacuum` |
//! | 99 clocks | no function takes a time of the caller's but `p_run_at`, which says when, not how long |

use serde_json::{Value, json};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{
    claim, claim_one, count, enqueue, enqueue_with_attempts, expire, failure, one, operate, operate_one, running, state,
};

async fn reap(client: &Client) -> (i64, i64) {
    let row = client.query_one("select requeued, dead from reap_expired_jobs()", &[]).await.expect("reaped");
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn a_worker_that_dies_on_every_claim_uses_the_attempts_up() {
    let database = pg::database().await;
    let client = database.client().await;
    let id = enqueue_with_attempts(&client, "q", 3).await;
    for attempt in 1..=3 {
        assert_eq!(claim_one(&client, "q").await.attempt, attempt, "it counts when it is claimed");
        expire(&client, id).await;
        assert_eq!(reap(&client).await, if attempt < 3 { (1, 0) } else { (0, 1) });
    }
    let sql = "select format('%s %s %s', reason, attempts, last_error) from dead_letter_jobs";
    assert_eq!(one::<String>(&client, sql, &[]).await, "expired 3 lease expired");
    assert_eq!(count(&client, "select from job_failures where outcome = 'expired'").await, 3);
}

#[tokio::test]
async fn every_row_is_in_exactly_one_state() {
    let database = pg::database().await;
    let client = database.client().await;
    let sql = "insert into jobs (queue, payload, status, attempts, max_attempts, run_at, lease_until)
        select 'q', '{}', s, a, 8, r, l
        from unnest(array['queued', 'running', 'completed']) s, unnest(array[0, 7, 8, 9, 2147483647]) a,
            unnest(array['-infinity', now(), now() + interval '1 h', 'infinity']::timestamptz[]) r,
            unnest(array[null, '-infinity', now() + interval '1 h', 'infinity']::timestamptz[]) l";
    client.execute(sql, &[]).await.expect("rows");
    let states = "select string_agg(state || ' ' || n, ', ' order by state) from (
        select job_state(status, run_at, attempts, max_attempts, lease_until) state, count(*) n from jobs group by 1) s";
    assert_eq!(
        one::<String>(&client, states, &[]).await,
        "completed 80, exhausted 48, expired 40, ready 16, running 40, scheduled 16"
    );
    assert_eq!(count(&client, "select from claim_jobs('q', gen_random_uuid(), 1000)").await, 16, "the ready ones");
    let refused = failure(&client, "insert into jobs (queue, payload, max_attempts) values ('q', '{}', 0)").await;
    assert_eq!(refused.0, "23514", "a limit below one cannot be stored");
}

#[tokio::test]
async fn jobs_of_sessions_that_were_cut_are_taken_over() {
    let database = pg::database().await;
    let client = database.client().await;
    for _ in 0..30 {
        enqueue(&client, "q").await;
    }
    for round in 0..20 {
        let mut worker = database.client().await;
        let pid: i32 = one(&worker, "select pg_backend_pid()", &[]).await;
        let transaction = worker.transaction().await.expect("a transaction");
        claim(transaction.client(), "q", 3).await;
        if round % 2 == 0 {
            transaction.commit().await.expect("claimed");
        }
        client.execute("select pg_terminate_backend($1, 10000)", &[&pid]).await.expect("killed");
        client
            .execute("update jobs set lease_until = now() - interval '1 s' where status = 'running'", &[])
            .await
            .expect("");
        reap(&client).await;
    }
    while let [job, ..] = claim(&client, "q", 1).await[..] {
        assert!(one::<bool>(&client, "select complete_job($1, $2)", &[&job.id, &job.worker]).await);
    }
    let sql = "select (select count(*) from jobs where status = 'completed') + (select count(*) from dead_letter_jobs)";
    assert_eq!(one::<i64>(&client, sql, &[]).await, 30, "none is in between");
}

#[tokio::test]
async fn a_live_job_is_never_reaped_however_long_it_runs() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = running(&client, "q").await;
    client.execute("update jobs set claimed_at = now() - interval '1 day'", &[]).await.expect("long ago");
    for _ in 0..20 {
        expire(&client, job.id).await;
        let beat = "select from heartbeat_jobs(array[$1::uuid], $2, '30 s')";
        assert_eq!(client.query(beat, &[&job.id, &job.worker]).await.expect("a heartbeat").len(), 1);
        assert_eq!(reap(&client).await, (0, 0));
    }
    expire(&client, job.id).await;
    assert_eq!(reap(&client).await, (1, 0), "without heartbeats, within one lease");
}

#[tokio::test]
async fn retries_end_at_the_limit() {
    let database = pg::database().await;
    let client = database.client().await;
    enqueue_with_attempts(&client, "q", 2).await;
    let mut answers = Vec::new();
    for _ in 0..50 {
        client.batch_execute("update jobs set run_at = now() where status = 'queued'").await.expect("due");
        let Some(job) = claim(&client, "q", 1).await.pop() else { continue };
        let answer: String = one(&client, "select retry_job($1, $2, 'later', '0')", &[&job.id, &job.worker]).await;
        answers.push(answer);
    }
    assert_eq!(answers, ["queued", "dead"]);
    assert_eq!(count(&client, "select from job_failures where error = 'later'").await, 2);
}

#[tokio::test]
async fn a_retry_without_delay_waits_all_the_same() {
    let database = pg::database().await;
    let client = database.client().await;
    for (backoff, waits) in [("0", "1 second"), ("1 ms", "1 second"), ("90 s", "90 seconds"), ("300 days", "7 days")] {
        let job = running(&client, "q").await;
        let sql = format!("select retry_job('{}', '{}', 'x', '{backoff}')", job.id, job.worker);
        client.batch_execute(&sql).await.expect("retried");
        let waited: bool =
            one(&client, &format!("select run_at - updated_at = interval '{waits}' from jobs"), &[]).await;
        assert!(waited, "{backoff}");
        let other = enqueue(&client, "q").await;
        assert_eq!(claim_one(&client, "q").await.id, other, "the job that has just failed is not preferred");
        client.batch_execute("delete from jobs").await.expect("clean");
    }
}

#[tokio::test]
async fn a_row_at_its_limit_stops_no_claim() {
    let database = pg::database().await;
    let client = database.client().await;
    for _ in 0..10 {
        enqueue(&client, "q").await;
    }
    client
        .batch_execute("update jobs set attempts = 8, priority = 100 where id = (select id from jobs limit 1)")
        .await
        .expect("one at its limit, in front");
    assert_eq!(claim(&client, "q", 10).await.len(), 9);
}

#[tokio::test]
async fn one_key_in_every_pair_of_states_gets_an_answer() {
    let database = pg::database().await;
    let client = database.client().await;
    let enqueue_key = "select id from enqueue_job('q', '{}', p_idempotency_key => 'k')";
    for first in ["queued", "running", "retried", "completed", "dead"] {
        let a: Uuid = one(&client, enqueue_key, &[]).await;
        if first != "queued" {
            let job = claim_one(&client, "q").await;
            let end = match first {
                "retried" => "select retry_job($1, $2, 'x', '1 hour')::text",
                "completed" => "select complete_job($1, $2)::text",
                "dead" => "select move_to_dead_letter($1, $2, 'x')",
                _ => "select $1::uuid::text || $2::uuid::text",
            };
            one::<String>(&client, end, &[&job.id, &job.worker]).await;
        }
        let b: Uuid = one(&client, enqueue_key, &[]).await;
        assert_eq!(b == a, first != "dead", "{first}: a job holds its key until it is dead or pruned");
        for function in
            ["operator_requeue", "operator_replay", "operator_dead_letter", "operator_replay", "operator_replay"]
        {
            operate(&client, function, &[a, b][..if a == b { 1 } else { 2 }], "").await;
            one::<Uuid>(&client, enqueue_key, &[]).await;
            let twice = "select from jobs where idempotency_key is not null group by queue, idempotency_key having count(*) > 1";
            assert_eq!(count(&client, twice).await, 0);
        }
        client.batch_execute("delete from jobs; delete from dead_letter_jobs").await.expect("clean");
    }
}

#[tokio::test]
async fn a_replay_that_was_cut_never_happened() {
    let database = pg::database().await;
    let client = database.client().await;
    let id = enqueue(&client, "q").await;
    operate_one(&client, "operator_dead_letter", id, "").await;
    let mut cut = database.client().await;
    let pid: i32 = one(&cut, "select pg_backend_pid()", &[]).await;
    let transaction = cut.transaction().await.expect("a transaction");
    assert_eq!(operate_one(transaction.client(), "operator_replay", id, "").await.0, "done");
    client.execute("select pg_terminate_backend($1, 10000)", &[&pid]).await.expect("killed");
    assert_eq!(count(&client, "select from jobs").await, 0);
    assert_eq!(count(&client, "select from dead_letter_jobs where replayed_at is null").await, 1);
    assert_eq!(operate_one(&client, "operator_replay", id, "").await.0, "done");
}

#[tokio::test]
async fn a_dead_letter_that_cannot_be_written_changes_nothing() {
    let database = pg::database().await;
    let client = database.client().await;
    let id = enqueue_with_attempts(&client, "q", 1).await;
    let job = claim_one(&client, "q").await;
    client.batch_execute("alter table dead_letter_jobs add constraint full_disk check (false)").await.expect("a fault");
    let row = "select jobs::text from jobs";
    let before: String = one(&client, row, &[]).await;
    for call in ["move_to_dead_letter($1, $2, 'x')", "retry_job($1, $2, 'x', '1 s')"] {
        let error = client.query(&format!("select {call}"), &[&id, &job.worker]).await.expect_err("refused");
        assert_eq!(error.as_db_error().expect("by the server").code().code(), "23514");
        assert_eq!(one::<String>(&client, row, &[]).await, before);
    }
    expire(&client, id).await;
    assert_eq!(reap(&client).await, (0, 0));
    assert_eq!(state(&client, id).await, "expired");
    client.batch_execute("alter table dead_letter_jobs drop constraint full_disk").await.expect("mended");
    assert_eq!(reap(&client).await, (0, 1), "a later sweep moves it");
}

#[tokio::test]
async fn a_recovered_job_keeps_its_priority() {
    let database = pg::database().await;
    let client = database.client().await;
    let sql = "select id from enqueue_job('q', '{}', p_priority => 100)";
    let urgent: Uuid = one(&client, sql, &[]).await;
    claim_one(&client, "q").await;
    expire(&client, urgent).await;
    client
        .batch_execute("insert into jobs (queue, payload, priority) select 'q', '{}', 1 from generate_series(1, 50)")
        .await
        .expect("");
    reap(&client).await;
    assert_eq!(claim(&client, "q", 1).await[0].id, urgent);
}

#[tokio::test]
async fn a_large_payload_is_enqueued_and_the_notification_stays_small() {
    let database = pg::database().await;
    let client = database.client().await;
    let payload = json!({ "text": "\u{1F4A3}".repeat(300_000) });
    client.execute("select enqueue_job('q', $1)", &[&payload]).await.expect("enqueued");
    let id = claim_one(&client, "q").await.id;
    assert_eq!(one::<Value>(&client, "select payload from jobs", &[]).await, payload);
    operate_one(&client, "operator_dead_letter", id, ", p_force => true").await;
    operate_one(&client, "operator_replay", id, "").await;
    assert_eq!(one::<Value>(&client, "select payload from jobs", &[]).await, payload);
    let audit: i32 = one(&client, "select max(pg_column_size(rows)) from operator_actions", &[]).await;
    assert!(audit < 10_000, "the payload is not copied into the audit");
}

#[tokio::test]
async fn the_jobs_table_asks_for_frequent_vacuum() {
    let database = pg::database().await;
    let client = database.client().await;
    let options: Vec<String> = one(&client, "select reloptions from pg_class where oid = 'jobs'::regclass", &[]).await;
    assert!(options.contains(&"autovacuum_vacuum_scale_factor=0.02".to_owned()), "{options:?}");
}

#[tokio::test]
async fn infinite_and_far_times_survive_every_action() {
    let database = pg::database().await;
    let client = database.client().await;
    let sql = "insert into jobs (queue, payload, run_at, created_at, lease_until, status, locked_by)
        select 'q', '{}', r, c, l, case when l is null then 'queued' else 'running' end, gen_random_uuid()
        from (values ('infinity', '280000-01-01', null), ('-infinity', '4713-01-01 BC', null),
            ('2026-01-01', '-infinity', '-infinity'), ('infinity', 'infinity', 'infinity')) as v (r, c, l),
        lateral (select r::timestamptz, c::timestamptz, l::timestamptz) as cast_to (r2, c2, l2)";
    let sql = sql.replace("select 'q', '{}', r, c, l, case when l is", "select 'q', '{}', r2, c2, l2, case when l2 is");
    client.batch_execute(&sql).await.expect("rows");
    let rows = "select string_agg(j::text, '|' order by id) from jobs j";
    let before: String = one(&client, rows, &[]).await;
    let ids: Vec<Uuid> =
        client.query("select id from jobs", &[]).await.expect("ids").iter().map(|row| row.get(0)).collect();
    let seen: Value = one(
        &client,
        "select jsonb_agg(jsonb_build_object('id', id, 'run_at', run_at, 'lease_until', lease_until)) from jobs",
        &[],
    )
    .await;
    for function in ["operator_dead_letter", "operator_requeue"] {
        let answers = crate::support::queue::operate_on(&client, function, &seen, ", 'x', true").await;
        assert!(answers.iter().all(|answer| answer.outcome != "changed"), "{answers:?}");
        client.query("select operator_undo((select max(id) from operator_actions))", &[]).await.expect("undone");
        assert_eq!(one::<String>(&client, rows, &[]).await, before, "{function}");
    }
    operate(&client, "operator_dead_letter", &ids, ", 'x', true").await;
    let answers = operate(&client, "operator_replay", &ids, "").await;
    assert!(answers.iter().all(|answer| answer.outcome == "done"));
    let kept = "select count(*) from dead_letter_jobs where original_created_at in ('infinity', '-infinity', '280000-01-01', '4713-01-01 BC')";
    assert_eq!(one::<i64>(&client, kept, &[]).await, 4);
}
