//! Taking over tables that have rows already.

use queuetop::engine::migrate;

use super::{assert_true, number, run};
use crate::support::pg::bare_database;
use crate::support::table_queue::tables;

#[tokio::test]
async fn counters_start_right_on_tables_with_rows() {
    let database = bare_database().await;
    let mut client = database.client().await;
    run(&client, &tables()).await;
    run(
        &client,
        "insert into jobs (queue, payload, status, attempts, run_at, lease_until)
         select 'q' || i % 3, '{}', (array['queued', 'running', 'completed'])[1 + i % 3], i % 9, now() + (i - 500) * interval '1 s',
                case when i % 6 = 1 then now() + interval '1 m' end
         from generate_series(1, 1000) as i;
         insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, original_created_at)
         select gen_random_uuid(), 'q1', '{}', 8, 8, now() from generate_series(1, 7)",
    )
    .await;
    migrate::run(&mut client, &migrate::Options::default()).await.expect("a migration");
    assert_true(&client).await;
    assert_eq!(number(&client, "select count(*) from counter_fold where suspect").await, 0);
    assert_eq!(number(&client, "select sum(n)::bigint from job_counts").await, 667);
    assert_eq!(
        number(&client, "select sum(enqueued)::bigint from queue_counters").await,
        0,
        "rows that were there are no events"
    );
}
