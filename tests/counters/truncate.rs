//! TRUNCATE, triggers that are off, and the way back to the truth.

use super::{assert_true, fold, number, run, start};

const SOME: &str = "insert into jobs (queue, payload) select 'a', '{}' from generate_series(1, 5);
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, original_created_at)
    select gen_random_uuid(), 'a', '{}', 1, 1, now() from generate_series(1, 3);";

#[tokio::test]
async fn truncate_empties_the_counts_and_keeps_the_events() {
    let (_database, client) = start().await;
    run(&client, SOME).await;
    fold(&client).await;
    run(&client, SOME).await;
    run(&client, "begin; truncate jobs; rollback").await;
    assert_true(&client).await;
    run(&client, "truncate jobs; insert into jobs (queue, payload) values ('a', '{}')").await;
    assert_true(&client).await;
    run(&client, "truncate dead_letter_jobs").await;
    assert_true(&client).await;
    fold(&client).await;
    assert_true(&client).await;
    assert_eq!(number(&client, "select enqueued * 100 + dead from queue_counters").await, 1106);
    assert_eq!(number(&client, "select count(*) from counter_fold where suspect").await, 0);
}

#[tokio::test]
async fn truncate_under_an_old_snapshot_asks_for_a_recount() {
    let (database, client) = start().await;
    let other = database.client().await;
    run(&client, SOME).await;
    run(&other, "begin isolation level repeatable read; select 1").await;
    run(&other, "select count(*) from jobs").await;
    run(&client, SOME).await;
    fold(&client).await;
    run(&client, SOME).await;
    run(&other, "truncate jobs; commit").await;
    assert_eq!(number(&client, "select count(*) from job_counts where n <> 0").await, 0);
    fold(&client).await;
    assert_eq!(number(&client, "select count(*) from counter_fold where suspect").await, 1);
    run(&client, "select recount_counters()").await;
    assert_true(&client).await;
    assert_eq!(number(&client, "select count(*) from counter_fold where suspect").await, 0);
}

#[tokio::test]
async fn what_nobody_counted_is_found_and_mended() {
    let (_database, client) = start().await;
    run(&client, SOME).await;
    fold(&client).await;
    assert_eq!(number(&client, "select count(*) from counter_drift('a')").await, 0);
    run(&client, &format!("set session_replication_role = replica; {SOME} reset session_replication_role")).await;
    let drift = client.query_one("select figure, counted, truth from counter_drift('a')", &[]).await.expect("drift");
    assert_eq!((drift.get::<_, &str>(0), drift.get::<_, i64>(1), drift.get::<_, i64>(2)), ("queued", 5, 10));
    let mended = client.query("select figure, counted, truth from recount_counters()", &[]).await.expect("a recount");
    let mended: Vec<(&str, i64, i64)> = mended.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    assert_eq!(mended, [("dead", 3, 6), ("due", 5, 10), ("queued", 5, 10)]);
    assert_true(&client).await;
    assert_eq!(number(&client, "select count(*) from counter_drift('a')").await, 0);
}

#[tokio::test]
async fn a_recount_refuses_an_old_snapshot() {
    let (_database, client) = start().await;
    run(&client, "begin isolation level repeatable read").await;
    let error = client.query("select recount_counters()", &[]).await.expect_err("refused");
    assert!(error.as_db_error().is_some_and(|said| said.message().contains("READ COMMITTED")), "{error:?}");
}

#[tokio::test]
async fn a_copy_counts_like_an_insert() {
    use futures::SinkExt;
    let (_database, client) = start().await;
    let sink = client.copy_in("copy jobs (queue, payload) from stdin").await.expect("a copy");
    futures::pin_mut!(sink);
    sink.send(bytes::Bytes::from_static(b"a\t{}\na\t{}\nb\t{}\n")).await.expect("sent");
    sink.close().await.expect("done");
    assert_true(&client).await;
    fold(&client).await;
    assert_eq!(number(&client, "select sum(enqueued)::bigint from queue_counters").await, 3);
}
