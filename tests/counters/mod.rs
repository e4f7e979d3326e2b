//! The counters on a real PostgreSQL: after whatever work, by whoever, they equal the tables.

mod adoption;
mod events;
mod notify;
mod races;
mod truncate;

use tokio_postgres::Client;

use crate::support::pg::Database;

const TRUTH: &str = include_str!("../data/counters_truth.sql");

async fn run(client: &Client, sql: &str) {
    client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

/// Fails with every figure that differs from the tables.
async fn assert_true(client: &Client) {
    let rows = client.query(TRUTH, &[]).await.expect("a comparison");
    let wrong: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Folds everything that waits, now.
async fn fold(client: &Client) {
    run(client, "select setval('fold_clock', 0); select fold_counters_step()").await;
    let waiting = "select count(*) from counter_deltas";
    while client.query_one(waiting, &[]).await.expect("a count").get::<_, i64>(0) > 0 {
        run(client, "select setval('fold_clock', 0); select fold_counters_step()").await;
    }
}

/// One number.
async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
}

/// A database and a client.
async fn start() -> (Database, Client) {
    let database = crate::support::pg::database().await;
    let client = database.client().await;
    (database, client)
}
