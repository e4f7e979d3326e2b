//! What a claim takes and what it costs: never more than asked for under any plan, and the same whatever waits behind.

use tokio_postgres::Client;

use crate::support::pg;
use crate::support::queue::{count, one};

/// Rows without triggers, as many as wanted at once.
async fn fill(client: &Client, rows: &str) {
    client
        .batch_execute(&format!(
            "set session_replication_role = replica;
             insert into jobs (queue, payload, priority, run_at, attempts) select 'q', '{{}}', {rows};
             reset session_replication_role"
        ))
        .await
        .expect("rows");
}

/// Pages that a claim of ten touches, after its plans are made and its path is warm.
async fn pages(client: &Client) -> i64 {
    let explain = "explain (analyze, buffers, format json) select id from claim_jobs('q', gen_random_uuid(), 10)";
    let mut pages = Vec::new();
    for _ in 0..12 {
        let plan: serde_json::Value = one(client, explain, &[]).await;
        let top = &plan[0]["Plan"];
        assert_eq!(top["Actual Rows"].as_f64(), Some(10.0));
        assert_eq!(top["Temp Written Blocks"], 0);
        pages.push(
            top["Shared Hit Blocks"].as_i64().expect("hits") + top["Shared Read Blocks"].as_i64().expect("reads"),
        );
    }
    pages.sort_unstable();
    pages[pages.len() / 2]
}

#[tokio::test]
async fn a_claim_costs_the_same_whatever_waits_behind_it() {
    let database = pg::database().await;
    let client = database.client().await;
    let ready = "0, now() - interval '1 hour', 0 from generate_series(1, 1000)";
    let alone = {
        fill(&client, ready).await;
        client.batch_execute("vacuum analyze jobs").await.expect("vacuum");
        pages(&client).await
    };
    for (what, rows) in [
        ("scheduled jobs of a higher priority", "5, now() + interval '1 hour', 0 from generate_series(1, 50000)"),
        ("exhausted jobs of a higher priority", "7, now() - interval '2 hours', 8 from generate_series(1, 50000)"),
        ("ready jobs", "0, now() - interval '1 minute', 0 from generate_series(1, 50000)"),
        ("jobs with one run_at", "0, '2020-01-01', 0 from generate_series(1, 50000)"),
    ] {
        client.batch_execute("truncate jobs").await.expect("empty");
        fill(&client, rows).await;
        fill(&client, ready).await;
        client.batch_execute("vacuum analyze jobs").await.expect("vacuum");
        let now = pages(&client).await;
        assert!(now <= alone * 2, "{what}: {now} pages, {alone} without");
    }
}

#[tokio::test]
async fn a_hundred_priorities_are_walked_and_more_are_still_found() {
    let database = pg::database().await;
    let client = database.client().await;
    for priorities in [90, 400] {
        client.batch_execute("truncate jobs").await.expect("empty");
        fill(&client, &format!("n % {priorities} + 1, now() + interval '1 hour', 0 from generate_series(1, 20000) n"))
            .await;
        fill(&client, "0, now(), 0 from generate_series(1, 25)").await;
        fill(&client, "-2147483648, now(), 0 from generate_series(1, 2)").await;
        fill(&client, "2147483647, now(), 0 from generate_series(1, 2)").await;
        for expected in [10, 10, 9, 0] {
            let sql = "select from claim_jobs('q', gen_random_uuid(), 10)";
            assert_eq!(count(&client, sql).await, expected, "{priorities} priorities");
        }
    }
}

#[tokio::test]
async fn a_big_batch_is_complete_and_in_order() {
    let database = pg::database().await;
    let client = database.client().await;
    fill(&client, "n % 3, now() - n * interval '1 second', 0 from generate_series(1, 700) n").await;
    let sql = "select priority, run_at from claim_jobs('q', gen_random_uuid(), 650)";
    let ordered = format!(
        "select count(*) = 650 and bool_and(ok) from (select (priority, -extract(epoch from run_at))
            <= lag((priority, -extract(epoch from run_at))) over () is not false as ok from ({sql}) claimed) checked"
    );
    assert!(one::<bool>(&client, &ordered, &[]).await);
    assert_eq!(count(&client, sql).await, 50);
}

/// The plain form, an update that joins its limited candidates, can take more than its limit in some plans.
#[tokio::test]
async fn never_more_than_the_batch_under_any_switch_of_the_planner() {
    let database = pg::database().await;
    let client = database.client().await;
    fill(&client, "n % 4, now() - interval '1 hour', 0 from generate_series(1, 3000) n").await;
    let switches = [
        "enable_seqscan",
        "enable_indexscan",
        "enable_bitmapscan",
        "enable_indexonlyscan",
        "enable_nestloop",
        "enable_hashjoin",
        "enable_mergejoin",
        "enable_sort",
        "enable_material",
        "enable_tidscan",
    ];
    for statistics in ["", "analyze jobs", "delete from pg_statistic where starelid = 'jobs'::regclass"] {
        client.batch_execute(statistics).await.expect("statistics");
        for (index, first) in switches.iter().enumerate() {
            for second in &switches[index..] {
                client
                    .batch_execute(&format!("set {first} = off; set {second} = off; discard plans"))
                    .await
                    .expect("switched");
                let claimed = count(&client, "select from claim_jobs('q', gen_random_uuid(), 5)").await;
                assert_eq!(claimed, 5, "without {first} and {second}, {statistics}");
                client.batch_execute(&format!("reset {first}; reset {second}")).await.expect("switched back");
            }
        }
    }
    for mode in ["force_generic_plan", "force_custom_plan"] {
        client.batch_execute(&format!("set plan_cache_mode = {mode}; discard plans")).await.expect("set");
        assert_eq!(count(&client, "select from claim_jobs('q', gen_random_uuid(), 5)").await, 5, "{mode}");
    }
}

#[tokio::test]
async fn claimers_at_once_share_the_jobs_and_none_twice() {
    let database = pg::database().await;
    let client = database.client().await;
    fill(&client, "n % 3, now() - interval '1 hour', 0 from generate_series(1, 2000) n").await;
    let mut claimers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let client = database.client().await;
        claimers.spawn(async move {
            let mut taken = 0;
            loop {
                let claimed = count(&client, "select from claim_jobs('q', gen_random_uuid(), 7)").await;
                if claimed == 0 {
                    return taken;
                }
                taken += claimed;
            }
        });
    }
    let taken: usize = claimers.join_all().await.iter().sum();
    // One that finds every row locked by the others ends early; what is left is still there.
    let left = count(&client, "select from jobs where status = 'queued'").await;
    assert_eq!(taken + left, 2000);
    assert_eq!(count(&client, "select from jobs where attempts > 1").await, 0);
}
