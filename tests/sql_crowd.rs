//! Many sessions at once on the same rows.

use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{claim_as, count, one};

/// Claimers, reapers, heartbeats, completions and operators' bulk actions on the same rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_at_once_and_no_deadlock() {
    let database = pg::database().await;
    let client = database.client().await;
    client
        .batch_execute(
            "insert into jobs (queue, payload, max_attempts) select 'q', '{}', 3 from generate_series(1, 300)",
        )
        .await
        .expect("jobs");
    let worker = Uuid::new_v4();
    let mut sessions = tokio::task::JoinSet::new();
    let targets = "coalesce((select jsonb_agg(jsonb_build_object('id', id)) from TABLE), '[]'), 'x', true";
    let all = targets.replace("TABLE", "jobs where status <> 'completed'");
    let some = targets.replace("TABLE", "(select id from jobs limit 40) s");
    let dead = targets.replace("TABLE", "dead_letter_jobs");
    let one_running = "(select id from jobs where status = 'running' order by random() limit 1) s";
    let calls = [
        "select from heartbeat_jobs(array(select id from jobs where status = 'running'), $1)".to_owned(),
        "select from reap_expired_jobs(50) where $1::uuid is not null".to_owned(),
        format!("select from operator_requeue({all}) where $1::uuid is not null"),
        format!("select from operator_dead_letter({some}) where $1::uuid is not null"),
        format!("select from operator_replay({dead}) where $1::uuid is not null"),
        format!("select retry_job(id, $1, 'x', '1 s') from {one_running}"),
        format!("select complete_job(id, $1) from {one_running}"),
    ];
    for call in calls {
        let session = database.client().await;
        sessions.spawn(async move {
            for _ in 0..25 {
                session.query(&call, &[&worker]).await.unwrap_or_else(|error| panic!("{call}: {error:?}"));
            }
        });
    }
    for _ in 0..4 {
        let session = database.client().await;
        sessions.spawn(async move {
            for _ in 0..50 {
                claim_as(&session, "q", worker, 10).await;
            }
        });
    }
    while let Some(ended) = sessions.join_next().await {
        ended.expect("no deadlock, no error");
    }
    let sql = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(one::<i64>(&client, sql, &[]).await, 0);
    assert_eq!(count(&client, "select from jobs join dead_letter_jobs using (id)").await, 0);
    assert_eq!(count(&client, "select from jobs where attempts > max_attempts").await, 0);
}
