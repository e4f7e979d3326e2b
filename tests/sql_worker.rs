//! The workers' functions: what they answer, what they change, and that a stale worker changes nothing and is told so.

use tokio_postgres::Client;
use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{
    Claimed, claim, claim_as, claim_one, count, enqueue, enqueue_with_attempts, expire, one, operate_one, running,
    state,
};

async fn complete(client: &Client, job: Claimed) -> bool {
    one(client, "select complete_job($1, $2, $3)", &[&job.id, &job.worker, &job.attempt]).await
}

async fn retry(client: &Client, job: Claimed, error: &str) -> String {
    let sql = "select retry_job($1, $2, $3, '1 minute', $4)";
    one(client, sql, &[&job.id, &job.worker, &error, &job.attempt]).await
}

async fn bury(client: &Client, job: Claimed, error: &str) -> String {
    let sql = "select move_to_dead_letter($1, $2, $3, $4)";
    one(client, sql, &[&job.id, &job.worker, &error, &job.attempt]).await
}

async fn heartbeat(client: &Client, job: Claimed) -> bool {
    let sql = "select count(*) = 1 from heartbeat_jobs(array[$1::uuid], $2, '5 minutes', array[$3::integer])";
    one(client, sql, &[&job.id, &job.worker, &job.attempt]).await
}

#[tokio::test]
async fn a_job_is_enqueued_claimed_and_completed() {
    let database = pg::database().await;
    let client = database.client().await;
    let id = enqueue(&client, "mail").await;
    assert_eq!(state(&client, id).await, "ready");
    let job = claim_one(&client, "mail").await;
    assert_eq!((job.id, job.attempt), (id, 1));
    assert_eq!(state(&client, id).await, "running");
    assert!(heartbeat(&client, job).await);
    assert!(complete(&client, job).await);
    assert_eq!(state(&client, id).await, "completed");
    let kept: bool = one(
        &client,
        "select claimed_at <= completed_at and locked_by is null and lease_until is null from jobs where id = $1",
        &[&id],
    )
    .await;
    assert!(kept, "begin and end stay on the row, the lease does not");
    assert!(!complete(&client, job).await, "only once");
}

/// Two sessions that enqueue the same keys in opposite order wait for each other's rows, not in a circle.
#[tokio::test]
async fn claims_follow_priority_then_time() {
    let database = pg::database().await;
    let client = database.client().await;
    let sql = "insert into jobs (queue, payload, priority, run_at, created_at)
        select 'q', jsonb_build_object('n', n), priority, now() - late, now() - late
        from (values (4, 0, interval '3 h'), (5, 0, '2 h'), (2, 5, '1 h'), (1, 5, '4 h'), (6, -3, '9 h'), (3, 1, '1 m'))
            as v (n, priority, late)";
    client.execute(sql, &[]).await.expect("rows");
    client
        .execute(
            "insert into jobs (queue, payload, priority, run_at) values ('q', '{}', 9, now() + interval '1 h')",
            &[],
        )
        .await
        .expect("a scheduled row");
    let order = |batch: i32| {
        let client = &client;
        async move {
            let sql = "select (payload->>'n')::integer from claim_jobs('q', gen_random_uuid(), $1)";
            let rows = client.query(sql, &[&batch]).await.expect("claimed");
            rows.iter().map(|row| row.get::<_, i32>(0)).collect::<Vec<_>>()
        }
    };
    assert_eq!(order(1).await, [1]);
    assert_eq!(order(3).await, [2, 3, 4]);
    assert_eq!(order(100).await, [5, 6]);
    assert!(order(100).await.is_empty());
}

#[tokio::test]
async fn every_call_of_a_stale_worker_is_refused_and_changes_nothing() {
    let database = pg::database().await;
    let client = database.client().await;
    let stale = running(&client, "q").await;
    expire(&client, stale.id).await;
    let reaped = client.query_one("select requeued, dead from reap_expired_jobs()", &[]).await.expect("reaped");
    assert_eq!((reaped.get::<_, i64>(0), reaped.get::<_, i64>(1)), (1, 0));
    // The same worker claims it again: only the attempt tells its two lives apart.
    let fresh = claim_as(&client, "q", stale.worker, 1).await[0];
    assert_eq!(fresh.attempt, 2);
    let before: String = one(&client, "select jobs::text from jobs", &[]).await;
    assert!(!heartbeat(&client, stale).await);
    assert!(!complete(&client, stale).await);
    assert_eq!(retry(&client, stale, "late").await, "lost");
    assert_eq!(bury(&client, stale, "late").await, "lost");
    let other = Claimed { worker: Uuid::new_v4(), ..fresh };
    assert!(!heartbeat(&client, other).await);
    assert!(!complete(&client, other).await);
    assert_eq!(retry(&client, other, "not mine").await, "lost");
    assert_eq!(bury(&client, other, "not mine").await, "lost");
    assert_eq!(one::<String>(&client, "select jobs::text from jobs", &[]).await, before);
    let fenced: String = one(&client, "select fenced_call from job_failures where outcome = 'fenced'", &[]).await;
    assert_eq!(fenced, "complete_job", "that it came back, and with what, is in the history");
    assert!(complete(&client, fresh).await);
}

#[tokio::test]
async fn a_late_heartbeat_counts_until_the_job_is_taken() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = running(&client, "q").await;
    expire(&client, job.id).await;
    assert_eq!(state(&client, job.id).await, "expired");
    assert!(heartbeat(&client, job).await, "the worker is alive and nobody has taken the job");
    assert_eq!(state(&client, job.id).await, "running");
    expire(&client, job.id).await;
    client.execute("select reap_expired_jobs()", &[]).await.expect("reaped");
    assert!(!heartbeat(&client, job).await);
    assert_eq!(state(&client, job.id).await, "ready");
}

#[tokio::test]
async fn a_heartbeat_names_those_that_are_still_owned() {
    let database = pg::database().await;
    let client = database.client().await;
    for _ in 0..4 {
        enqueue(&client, "q").await;
    }
    let worker = Uuid::new_v4();
    let jobs = claim_as(&client, "q", worker, 4).await;
    assert!(complete(&client, jobs[1]).await);
    let mut ids: Vec<Uuid> = jobs.iter().map(|job| job.id).collect();
    ids.push(Uuid::new_v4());
    let attempts = [1, 1, 2, 1, 1];
    let owned = |attempts: Option<Vec<i32>>| {
        let (client, ids) = (&client, &ids);
        async move {
            let sql = "select * from heartbeat_jobs($1, $2, '1 hour', $3)";
            let rows = client.query(sql, &[ids, &worker, &attempts]).await.expect("heartbeats");
            let mut owned: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
            owned.sort();
            owned
        }
    };
    let mut expected = vec![jobs[0].id, jobs[2].id, jobs[3].id];
    expected.sort();
    assert_eq!(owned(None).await, expected);
    let mut expected = vec![jobs[0].id, jobs[3].id];
    expected.sort();
    assert_eq!(owned(Some(attempts.to_vec())).await, expected, "the third has another attempt");
}

#[tokio::test]
async fn the_last_attempt_ends_in_the_dead_letters() {
    let database = pg::database().await;
    let client = database.client().await;
    let id = enqueue_with_attempts(&client, "q", 2).await;
    let first = claim_one(&client, "q").await;
    assert_eq!(retry(&client, first, "boom").await, "queued");
    assert_eq!(state(&client, id).await, "scheduled");
    client.execute("update jobs set run_at = now()", &[]).await.expect("due");
    let second = claim_one(&client, "q").await;
    assert_eq!(retry(&client, second, "boom again").await, "dead");
    assert_eq!(state(&client, id).await, "dead");
    let sql = "select reason || ': ' || last_error from dead_letter_jobs";
    assert_eq!(one::<String>(&client, sql, &[]).await, "exhausted: boom again");
    let sql = "select string_agg(format('%s %s %s %s', attempt, outcome, became, error), ', ' order by id)
        from job_failures where worker is not null and began_at <= ended_at";
    assert_eq!(
        one::<String>(&client, sql, &[]).await,
        "1 failed queued boom, 2 failed dead boom again",
        "each attempt is in the history"
    );
    assert_eq!(retry(&client, second, "and again").await, "lost");
}

#[tokio::test]
async fn a_permanent_error_needs_no_more_attempts() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = running(&client, "q").await;
    assert_eq!(bury(&client, job, "no such address").await, "dead");
    let sql = "select format('%s %s %s of %s', reason, last_error, attempts, max_attempts) from dead_letter_jobs";
    assert_eq!(one::<String>(&client, sql, &[]).await, "permanent no such address 1 of 8");
    assert_eq!(count(&client, "select from jobs").await, 0, "in exactly one of the two tables");
}

#[tokio::test]
async fn a_paused_queue_gives_nothing_out_and_lets_running_jobs_end() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = running(&client, "q").await;
    enqueue(&client, "q").await;
    assert!(one::<bool>(&client, "select pause_queue('q', 'the bank is down')", &[]).await);
    assert!(claim(&client, "q", 10).await.is_empty());
    assert!(complete(&client, job).await);
    assert!(one::<bool>(&client, "select resume_queue('q')", &[]).await);
    assert_eq!(claim(&client, "q", 10).await.len(), 1);
}

/// A worker that never heard of our functions leaves the same history.
#[tokio::test]
async fn plain_statements_are_recorded_too() {
    let database = pg::database().await;
    let client = database.client().await;
    let id = enqueue(&client, "q").await;
    let worker = Uuid::new_v4();
    let claim = "update jobs set status = 'running', locked_by = $2, lease_until = now() + interval '1 minute',
        attempts = attempts + 1 where id = $1";
    client.execute(claim, &[&id, &worker]).await.expect("claimed");
    let begun: bool = one(&client, "select claimed_at >= created_at from jobs", &[]).await;
    assert!(begun, "when it began is known");
    let fail =
        "update jobs set status = 'queued', run_at = now(), locked_by = null, lease_until = null, last_error = $2
        where id = $1";
    client.execute(fail, &[&id, &"boom"]).await.expect("failed");
    client.execute(claim, &[&id, &worker]).await.expect("claimed");
    client.execute("delete from jobs where id = $1", &[&id]).await.expect("deleted");
    let sql = "select string_agg(format('%s %s %s %s', attempt, outcome, became, error), ', ' order by id)
        from job_failures where worker = $1 and began_at is not null";
    assert_eq!(
        one::<String>(&client, sql, &[&worker]).await,
        "1 failed queued boom, 2 operator deleted taken away by an operator"
    );
}

#[tokio::test]
async fn workers_say_that_they_are_alive() {
    let database = pg::database().await;
    let client = database.client().await;
    let worker = Uuid::new_v4();
    for version in ["1.0", "1.1"] {
        client.execute("select worker_seen($1, 'mailer', 'host1', 42, $2)", &[&worker, &version]).await.expect("seen");
    }
    let sql = "select format('%s %s %s %s %s', name, host, pid, version, last_seen >= started_at) from workers";
    assert_eq!(one::<String>(&client, sql, &[]).await, "mailer host1 42 1.1 t");
}

#[tokio::test]
async fn an_unknown_id_reaches_no_row() {
    let database = pg::database().await;
    let client = database.client().await;
    let mine = running(&client, "q").await;
    let unknown = Claimed { id: Uuid::new_v4(), ..mine };
    let before: String = one(&client, "select jobs::text from jobs", &[]).await;
    assert!(!complete(&client, unknown).await);
    assert!(!heartbeat(&client, unknown).await);
    assert_eq!(retry(&client, unknown, "x").await, "lost");
    assert_eq!(bury(&client, unknown, "x").await, "lost");
    for function in ["operator_requeue", "operator_dead_letter", "operator_reap", "operator_replay"] {
        assert_eq!(operate_one(&client, function, unknown.id, "").await, ("gone".to_owned(), "gone".to_owned()));
    }
    for more in [", p_run_at => now()", ", p_priority => 1"] {
        let function = if more.contains("run_at") { "operator_reschedule" } else { "operator_set_priority" };
        assert_eq!(operate_one(&client, function, unknown.id, more).await.0, "gone");
    }
    assert_eq!(one::<String>(&client, "select jobs::text from jobs", &[]).await, before);
    assert_eq!(count(&client, "select from job_failures").await, 0);
}
