//! The reaper and pruning: what they take, that nothing stops them and that they wait for nobody.

use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{claim, claim_one, enqueue, enqueue_with_attempts, expire, one, running, state};

#[tokio::test]
async fn the_reaper_ends_what_expired_and_moves_what_nobody_can_claim() {
    let database = pg::database().await;
    let client = database.client().await;
    let live = running(&client, "live").await;
    let expired = running(&client, "expired").await;
    expire(&client, expired.id).await;
    let orphan = running(&client, "orphan").await;
    client.execute("update jobs set lease_until = null where id = $1", &[&orphan.id]).await.expect("no lease");
    let last = enqueue_with_attempts(&client, "last", 1).await;
    claim_one(&client, "last").await;
    expire(&client, last).await;
    let stuck = enqueue(&client, "stuck").await;
    client.execute("update jobs set attempts = 8 where id = $1", &[&stuck]).await.expect("exhausted");

    let other = client.query_one("select * from reap_expired_jobs(p_queue => 'other')", &[]).await.expect("reaped");
    assert_eq!((other.get::<_, i64>(0), other.get::<_, i64>(1)), (0, 0));
    let all = client.query_one("select * from reap_expired_jobs()", &[]).await.expect("reaped");
    assert_eq!((all.get::<_, i64>(0), all.get::<_, i64>(1)), (2, 2));
    for (id, now) in
        [(live.id, "running"), (expired.id, "ready"), (orphan.id, "ready"), (last, "dead"), (stuck, "dead")]
    {
        assert_eq!(state(&client, id).await, now);
    }
    let reasons = "select string_agg(queue || ' ' || reason, ', ' order by queue) from dead_letter_jobs";
    assert_eq!(one::<String>(&client, reasons, &[]).await, "last expired, stuck unclaimable");
    let ran = "select did->>'requeued' || ' ' || (did->>'dead') || ' ' || last_by || ' ' || runs
        from maintenance_runs where task = 'reap_expired_jobs' and last_run_at > now() - interval '1 minute'";
    assert_eq!(one::<String>(&client, ran, &[]).await, "2 2 postgres 2");
}

#[tokio::test]
async fn a_row_that_cannot_be_changed_stops_no_sweep() {
    let database = pg::database().await;
    let client = database.client().await;
    for queue in ["good", "bad", "better"] {
        let job = running(&client, queue).await;
        expire(&client, job.id).await;
    }
    client
        .batch_execute(
            "alter table jobs add constraint no_way_back check (queue <> 'bad' or status = 'running') not valid",
        )
        .await
        .expect("somebody's constraint");
    let reaped = client.query_one("select * from reap_expired_jobs()", &[]).await.expect("reaped");
    assert_eq!(reaped.get::<_, i64>(0), 2);
    let said: String = one(
        &client,
        "select did->>'failed' || (did->>'error') from maintenance_runs where task = 'reap_expired_jobs'",
        &[],
    )
    .await;
    assert!(said.starts_with('1') && said.contains("no_way_back"), "{said}");
}

#[tokio::test]
async fn claims_and_sweeps_do_not_wait_for_locked_rows() {
    let database = pg::database().await;
    let client = database.client().await;
    let held = enqueue(&client, "q").await;
    let expired = running(&client, "other").await;
    expire(&client, expired.id).await;
    let free = enqueue(&client, "q").await;
    let mut holder = database.client().await;
    let transaction = holder.transaction().await.expect("a transaction");
    transaction
        .execute("select from jobs where id in ($1, $2) for update", &[&held, &expired.id])
        .await
        .expect("locked");
    client.batch_execute("set lock_timeout = '1ms'").await.expect("set");
    let claimed: Vec<Uuid> = claim(&client, "q", 10).await.iter().map(|job| job.id).collect();
    assert_eq!(claimed, [free]);
    let reaped = client.query_one("select * from reap_expired_jobs()", &[]).await.expect("reaped");
    assert_eq!(reaped.get::<_, i64>(0), 0);
    let pruned: i64 = one(&client, "select prune_completed_jobs('0')", &[]).await;
    assert_eq!(pruned, 0);
}

#[tokio::test]
async fn pruning_takes_the_oldest_in_batches_until_nothing_is_left() {
    let database = pg::database().await;
    let client = database.client().await;
    let sql = "insert into jobs (queue, payload, status, completed_at, updated_at)
        select 'q', '{}', 'completed', now() - n * interval '1 day', now() - n * interval '1 day'
        from generate_series(1, 25) n";
    client.execute(sql, &[]).await.expect("completed jobs");
    client
        .batch_execute(
            "insert into jobs (queue, payload, status, updated_at) values ('q', '{}', 'completed', now() - interval '9 days');
             insert into jobs (queue, payload) values ('q', '{}');
             insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, failed_at, original_created_at)
                select gen_random_uuid(), 'q', '{}', 1, 1, now() - n * interval '1 day', now() from generate_series(1, 10) n;
             insert into job_failures (job_id, queue, attempt, max_attempts, outcome, became, ended_at)
                select gen_random_uuid(), 'q', 1, 1, 'failed', 'queued', now() - n * interval '1 day'
                from generate_series(1, 10) n;
             insert into workers (id, last_seen) values (gen_random_uuid(), now() - interval '30 days')",
        )
        .await
        .expect("old rows");
    for (call, removed) in [
        ("prune_completed_jobs('5 days 12 hours', 15)", 15),
        ("prune_completed_jobs('5 days 12 hours', 15)", 6),
        ("prune_completed_jobs('5 days 12 hours', 15)", 0),
        ("prune_dead_letters('5 days 12 hours')", 5),
        ("prune_history('5 days 12 hours')", 6),
        ("prune_history('5 days 12 hours')", 0),
    ] {
        assert_eq!(one::<i64>(&client, &format!("select {call}"), &[]).await, removed, "{call}");
    }
    let left = "select format('%s %s', count(*) filter (where status = 'completed'), count(*)) from jobs";
    assert_eq!(one::<String>(&client, left, &[]).await, "5 6");
    let told = "select did->>'removed' from maintenance_runs where task = 'prune_dead_letters'";
    assert_eq!(one::<String>(&client, told, &[]).await, "5");
}

#[tokio::test]
async fn a_job_that_a_foreign_key_holds_stops_no_pruning() {
    let database = pg::database().await;
    let client = database.client().await;
    for _ in 0..3 {
        let job = running(&client, "q").await;
        client
            .execute("select complete_job($1, $2, $3)", &[&job.id, &job.worker, &job.attempt])
            .await
            .expect("completed");
    }
    client
        .batch_execute(
            "create table invoices (job_id uuid unique references jobs (id));
             insert into invoices select id from jobs limit 1",
        )
        .await
        .expect("an effect table");
    assert_eq!(one::<i64>(&client, "select prune_completed_jobs('0')", &[]).await, 2);
    let told = "select did->>'failed' || (did->>'error') from maintenance_runs where task = 'prune_completed_jobs'";
    assert!(one::<String>(&client, told, &[]).await.contains("invoices"));
}

/// With nothing to take, a sweep must not read the table, whatever the planner believes about how much there is.
#[tokio::test]
async fn a_sweep_that_finds_nothing_reads_next_to_nothing() {
    let database = pg::database().await;
    let client = database.client().await;
    client
        .batch_execute(
            "set session_replication_role = replica;
             insert into jobs (queue, payload, status, lease_until, completed_at)
                select 'q', '{}', s, case s when 'running' then now() + interval '1 hour' end,
                    case s when 'completed' then now() end
                from unnest(array['queued', 'queued', 'queued', 'running', 'completed']) s, generate_series(1, 12000);
             reset session_replication_role; analyze jobs",
        )
        .await
        .expect("rows");
    for call in ["reap_expired_jobs()", "reap_expired_jobs(1, 'q')", "prune_completed_jobs('1 day')"] {
        let mut pages = 0;
        // The sixth call has the generic plan.
        for _ in 0..8 {
            let sql = format!("explain (analyze, buffers, format json) select * from {call}");
            let plan: serde_json::Value = one(&client, &sql, &[]).await;
            pages = plan[0]["Plan"]["Shared Hit Blocks"].as_i64().expect("pages");
        }
        assert!(pages < 200, "{call} touches {pages} pages");
    }
}
