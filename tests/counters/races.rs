//! Many writers, folding and readers at once, at every isolation level.

use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio_postgres::Client;

use super::{assert_true, fold, number, run, start};

/// How long the work goes on.
const WORK: Duration = Duration::from_secs(4);

/// Statements that together do everything that can be done to a job; `{w}` is the writer's number, `{k}` grows.
const FUNCTIONS: &[&str] = &[
    "select enqueue_job('q' || {k} % 3, '{}', p_priority => {k} % 4, p_max_attempts => 1 + {k} % 3,
        p_run_at => now() + ({k} % 7 - 4) * interval '1 s') from generate_series(1, 1 + {k} % 9)",
    "select claim_jobs('q' || {k} % 3, '00000000-0000-0000-0000-00000000000{w}', 1 + {k} % 8, '400 ms')",
    "select complete_job(id, locked_by) from (select * from jobs where status = 'running' and locked_by is not null limit 1 + {k} % 5 for update skip locked) as few",
    "select retry_job(id, locked_by, 'no', '1 s') from (select * from jobs where status = 'running' and locked_by is not null limit 2 for update skip locked) as few",
    "select move_to_dead_letter(id, locked_by, 'no') from (select * from jobs where status = 'running' and locked_by is not null limit 1 for update skip locked) as few",
    "select heartbeat_jobs(array(select id from jobs where locked_by = '00000000-0000-0000-0000-00000000000{w}' for update skip locked),
        '00000000-0000-0000-0000-00000000000{w}')",
    "select reap_expired_jobs(20)",
];
const PLAIN: &[&str] = &[
    "insert into jobs (queue, payload) select 'p' || i % 2, '{}' from generate_series(1, 12) as i",
    "begin; insert into jobs (queue, payload) values ('p0', '{}'); savepoint s; delete from jobs where queue = 'p0'
        and id = any(array(select id from jobs where queue = 'p0' limit 5 for update skip locked)); rollback to s; commit",
    "update jobs set status = 'running', attempts = attempts + 1, lease_until = now() where id = any(array(
        select id from jobs where queue = 'p0' and status = 'queued' limit 6 for update skip locked))",
    "update jobs set status = 'completed', completed_at = now() where id = any(array(
        select id from jobs where queue = 'p0' and status = 'running' limit 4 for update skip locked))",
    "delete from jobs where id = any(array(select id from jobs where status = 'completed' limit 9 for update skip locked))",
    "update jobs set queue = 'p1' where id = any(array(select id from jobs where queue = 'p0' limit 1 for update skip locked))",
    "delete from dead_letter_jobs where id = any(array(select id from dead_letter_jobs limit 1 for update skip locked))",
    "begin isolation level repeatable read; select claim_jobs('p1', gen_random_uuid(), 3, '1 s');
        insert into jobs (queue, payload) values ('r', '{}'); commit",
    "begin isolation level serializable; insert into jobs (queue, payload) values ('s', '{}');
        update jobs set priority = 1 where queue = 's' and id = any(array(
        select id from jobs where queue = 's' and status = 'queued' limit 2 for update skip locked)); commit",
    "select fold_counters_step()",
];
/// One statement, one snapshot: what a reader sees of the counters is what it sees of the tables.
const READER: &str = "select
    (select coalesce(sum(n), 0) from (
        select n from job_counts
        union all select n from {waiting} as w where status in ('queued', 'running')) as c)
    - (select count(*) from jobs where status in ('queued', 'running'))
    + 1000000 * ((select coalesce(sum(n), 0) from (
        select dead_rows + replayed_rows as n from queue_counters
        union all select n from {waiting} as w where status in ('dead', 'replayed')) as d)
      - (select count(*) from dead_letter_jobs))";
/// The deltas that are not folded: those that the floor leaves, and those that `top` and `open` leave.
const FROM_FLOOR: &str = "(select * from counter_deltas where txid >= counter_floor())";
const FROM_TOP: &str = "(select * from counter_deltas where txid >= (select top from counter_fold)
    union all select * from counter_deltas where txid = any((select open from counter_fold)::bigint[]))";

async fn write(client: Client, writer: usize, statements: &'static [&'static str]) -> usize {
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < WORK {
        let sql = statements[(done * 7 + writer) % statements.len()];
        let sql = sql.replace("{w}", &writer.to_string()).replace("{k}", &done.to_string());
        if let Err(error) = client.batch_execute(&sql).await {
            let code = error.code().map(|code| code.code().to_owned()).unwrap_or_default();
            assert_eq!(code, "40001", "{sql}: {error:?}"); // what REPEATABLE READ may say
            run(&client, "rollback").await;
        }
        done += 1;
    }
    done
}

/// Transactions that stay open over several folds, write before and after one of their own, and end either way.
async fn write_long(client: Client) -> usize {
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < WORK {
        run(&client, "begin; insert into jobs (queue, payload) values ('long', '{}')").await;
        if done % 2 == 0 {
            run(&client, "select setval('fold_clock', 0); select fold_counters_step()").await;
        }
        run(&client, "insert into jobs (queue, payload) select 'long', '{}' from generate_series(1, 3)").await;
        run(&client, "select pg_sleep(0.03)").await;
        run(&client, if done % 3 == 0 { "rollback" } else { "commit" }).await;
        done += 1;
    }
    done
}

async fn read(client: Client) -> usize {
    let began = Instant::now();
    let mut reads = 0;
    while began.elapsed() < WORK {
        let isolation = if reads % 2 == 0 { "read committed" } else { "repeatable read" };
        let waiting = if reads % 3 == 0 { FROM_FLOOR } else { FROM_TOP };
        run(&client, &format!("begin isolation level {isolation} read only")).await;
        assert_eq!(number(&client, &format!("select ({})::bigint", READER.replace("{waiting}", waiting))).await, 0);
        run(&client, "commit").await;
        reads += 1;
    }
    reads
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_counted_twice() {
    let (database, client) = start().await;
    run(&client, "insert into queue_settings (name, value) values ('fold_every_ms', '100')").await;
    let mut work = Vec::new();
    for writer in 1..=3 {
        work.push(tokio::spawn(write(database.client().await, writer, FUNCTIONS)));
    }
    for writer in 4..=5 {
        work.push(tokio::spawn(write(database.client().await, writer, PLAIN)));
    }
    work.push(tokio::spawn(write_long(database.client().await)));
    work.push(tokio::spawn(read(database.client().await)));
    for done in join_all(work).await {
        assert!(done.expect("no failure") > 10);
    }
    assert!(number(&client, "select sum(claimed)::bigint from queue_counters").await > 0, "nothing was folded");
    assert_true(&client).await;
    fold(&client).await;
    assert_true(&client).await;
    let mended = client.query("select * from recount_counters()", &[]).await.expect("a recount");
    assert!(mended.is_empty(), "a recount had to mend {mended:?}");
}

#[tokio::test]
async fn folding_waits_for_nobody_and_raises_nothing() {
    let (database, client) = start().await;
    let other = database.client().await;
    run(&client, "select enqueue_job('mail', '{}')").await;
    run(&other, "begin; select from counter_fold for update").await;
    run(&client, "set lock_timeout = '1 s'; select setval('fold_clock', 0); select fold_counters_step()").await;
    assert_eq!(number(&client, "select count(*) from counter_deltas").await, 1);
    run(&other, "commit").await;
    for level in ["repeatable read", "serializable"] {
        run(&client, &format!("begin isolation level {level}; select fold_counters_step(); commit")).await;
        assert_eq!(number(&client, "select count(*) from counter_deltas").await, 1);
    }
    fold(&client).await;
    assert_true(&client).await;
}

#[tokio::test]
async fn a_long_writing_transaction_does_not_hold_the_top_and_loses_nothing() {
    let (database, client) = start().await;
    let long = database.client().await;
    run(&long, "begin; select enqueue_job('mail', '{}')").await;
    run(&client, "select enqueue_job('mail', '{}') from generate_series(1, 5)").await;
    run(&client, "select setval('fold_clock', 0); select fold_counters_step()").await;
    let passed = "select count(*) from counter_fold
        where top > txid_snapshot_xmin(txid_current_snapshot()) and txid_snapshot_xmin(txid_current_snapshot()) = any(open)";
    assert_eq!(number(&client, passed).await, 1);
    assert_eq!(
        number(&client, "select floor - txid_snapshot_xmin(txid_current_snapshot()) from counter_fold").await,
        0
    );
    run(&long, "select enqueue_job('mail', '{}'); commit").await;
    let waiting = format!("select count(*) from {FROM_TOP} as w");
    assert_eq!(number(&client, &waiting).await, 2, "what it wrote before and after the fold");
    assert_true(&client).await;
    fold(&client).await;
    assert_true(&client).await;
}

#[tokio::test]
async fn who_folds_may_go_on_writing() {
    let (_database, client) = start().await;
    run(
        &client,
        "begin; select enqueue_job('mail', '{}'); select setval('fold_clock', 0); select fold_counters_step()",
    )
    .await;
    run(&client, "select enqueue_job('mail', '{}'); commit; select enqueue_job('mail', '{}')").await;
    assert_eq!(number(&client, &format!("select count(*) from {FROM_TOP} as w")).await, 2);
    fold(&client).await;
    assert_true(&client).await;
}
