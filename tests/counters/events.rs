//! What happened, as totals and as minutes.

use super::{assert_true, fold, number, run, start};

const W1: &str = "'00000000-0000-0000-0000-000000000001'";
const TOTALS: &str =
    "select format('%s enqueued, %s claimed by %s, %s completed, %s retried, %s expired, %s dead, %s fenced',
    enqueued, claimed, claims, completed, retried, expired, dead, fenced) from queue_counters where queue = 'mail'";

#[tokio::test]
async fn every_event_counts_once() {
    let (_database, client) = start().await;
    run(
        &client,
        &format!(
            "select enqueue_job('mail', '{{}}') from generate_series(1, 10);
             select claim_jobs('mail', {W1}, 6);
             select claim_jobs('mail', {W1}, 2);
             select complete_job(id, locked_by) from (select * from jobs where status = 'running' order by id limit 3) as few;
             select retry_job(id, locked_by, 'no route', '1 s') from (select * from jobs where status = 'running' order by id limit 2) as few;
             select move_to_dead_letter(id, locked_by, 'bad') from (select * from jobs where status = 'running' limit 1) as few;
             update jobs set lease_until = now() - interval '1 s' where id = (select id from jobs where status = 'running' limit 1);
             create temp table late as select id from jobs where lease_until < now();
             select reap_expired_jobs();
             select complete_job(id, {W1}) from late;"
        ),
    )
    .await;
    fold(&client).await;
    let totals: String = client.query_one(TOTALS, &[]).await.expect("totals").get(0);
    assert_eq!(totals, "10 enqueued, 8 claimed by 2, 3 completed, 2 retried, 1 expired, 1 dead, 1 fenced");
    assert_true(&client).await;
    let buckets = "select sum(n) from queue_history, unnest(durations) as n where queue = 'mail'";
    assert_eq!(number(&client, buckets).await, 3);
}

#[tokio::test]
async fn heartbeats_edits_and_purges_are_no_events() {
    let (_database, client) = start().await;
    run(
        &client,
        &format!(
            "select enqueue_job('mail', '{{}}') from generate_series(1, 10);
             select complete_job(id, locked_by) from claim_jobs('mail', {W1}, 4);
             select claim_jobs('mail', {W1}, 2);"
        ),
    )
    .await;
    fold(&client).await;
    let before: String = client.query_one(TOTALS, &[]).await.expect("totals").get(0);
    run(
        &client,
        &format!(
            "select heartbeat_jobs(array(select id from jobs where status = 'running'), {W1}, '1 h');
             update jobs set priority = priority + 1;
             update jobs set max_attempts = 20 where status = 'running';
             update jobs set run_at = run_at + interval '1 m' where status = 'queued';
             delete from jobs where status = 'completed';
             delete from jobs where status = 'queued' and id = (select id from jobs where status = 'queued' limit 1);"
        ),
    )
    .await;
    fold(&client).await;
    assert_true(&client).await;
    let after: String = client.query_one(TOTALS, &[]).await.expect("totals").get(0);
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_replay_is_an_enqueue_and_the_dead_letter_stays() {
    let (_database, client) = start().await;
    run(
        &client,
        &format!(
            "select enqueue_job('mail', '{{}}');
             select move_to_dead_letter(id, locked_by, 'bad') from claim_jobs('mail', {W1}, 1);
             select operator_replay((select jsonb_agg(jsonb_build_object('id', id)) from dead_letter_jobs));"
        ),
    )
    .await;
    fold(&client).await;
    assert_true(&client).await;
    assert_eq!(number(&client, "select enqueued from queue_counters").await, 2);
    assert_eq!(number(&client, "select dead from queue_counters").await, 1);
    assert_eq!(number(&client, "select dead_rows + 10 * replayed_rows from queue_counters").await, 10);
}

#[tokio::test]
async fn the_seeds_own_statements_count_like_the_functions() {
    let (_database, client) = start().await;
    run(
        &client,
        &format!(
            "insert into jobs (queue, payload) select 'mail', '{{}}' from generate_series(1, 4);
             update jobs set status = 'running', attempts = attempts + 1, locked_by = {W1}, lease_until = now() + interval '5 m',
               updated_at = now() where id in (select id from jobs limit 3);
             update jobs set status = 'completed', completed_at = now(), locked_by = null, lease_until = null
             where id = (select id from jobs where status = 'running' limit 1);
             update jobs set status = 'queued', run_at = now() + interval '1 m', locked_by = null, lease_until = null,
               last_error = 'x' where id = (select id from jobs where status = 'running' limit 1);
             with moved as (delete from jobs where status = 'running' returning *)
             insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
             select id, queue, payload, attempts, max_attempts, 'y', created_at from moved;"
        ),
    )
    .await;
    fold(&client).await;
    assert_true(&client).await;
    let totals: String = client.query_one(TOTALS, &[]).await.expect("totals").get(0);
    assert_eq!(totals, "4 enqueued, 3 claimed by 1, 1 completed, 1 retried, 0 expired, 1 dead, 0 fenced");
}

#[tokio::test]
async fn infinite_times_and_missing_leases_have_their_place() {
    let (_database, client) = start().await;
    run(
        &client,
        "insert into jobs (queue, payload, run_at) values ('a', '{}', 'infinity'), ('a', '{}', '-infinity');
         insert into jobs (queue, payload, status, attempts, lease_until)
         values ('a', '{}', 'running', 1, null), ('a', '{}', 'running', 1, 'infinity'), ('a', '{}', 'running', 1, '-infinity')",
    )
    .await;
    fold(&client).await;
    assert_true(&client).await;
    assert_eq!(number(&client, "select due from queue_counters").await, 1);
    assert_eq!(number(&client, "select lapsed from queue_counters").await, 2);
}

#[tokio::test]
async fn old_minutes_go_after_the_days_that_are_set() {
    let (_database, client) = start().await;
    run(
        &client,
        "insert into queue_settings (name, value) values ('history_days', '2');
         insert into queue_history (minute, queue, completed) values (now() - interval '3 days', 'old', 1), (now() - interval '1 day', 'old', 1);
         insert into history_minutes values (now() - interval '3 days');
         select enqueue_job('mail', '{}');",
    )
    .await;
    fold(&client).await;
    assert_eq!(number(&client, "select count(*) from queue_history where queue = 'old'").await, 1);
    assert_eq!(number(&client, "select count(*) from history_minutes").await, 1);
    assert_eq!(number(&client, "select ready from queue_history where queue = 'mail' and ready is not null").await, 1);
}
