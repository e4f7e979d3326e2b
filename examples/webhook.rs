//! Incoming webhooks: the provider sends an event again when our answer was late. Its event id is the idempotency key, so
//! each event becomes one job, however often and however many at once it comes.
//!
//! ```text
//! cargo run --example webhook -- postgresql:///mydb
//! ```

use serde_json::Value;
use tokio_postgres::types::Json;
use tokio_postgres::{Client, Error};
use uuid::Uuid;

/// What to answer the provider.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The event is new.
    Enqueued(Uuid),
    /// It came before, as this job. The answer is the same: we have it.
    Known(Uuid),
}

/// Takes an event in. The key protects as long as the job is kept: prune completed jobs later than the provider gives up.
///
/// # Errors
/// What the server says. Then answer with an error, and the provider tries again.
pub(crate) async fn receive(client: &Client, event_id: &str, event: &Value) -> Result<Received, Error> {
    let row = client
        .query_one(
            "select id, created from enqueue_job('webhooks', $1, p_idempotency_key => $2)",
            &[&Json(event), &event_id],
        )
        .await?;
    let job = row.get("id");
    Ok(if row.get("created") { Received::Enqueued(job) } else { Received::Known(job) })
}

#[cfg(not(test))]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dsn = std::env::args().nth(1).ok_or("usage: webhook DSN")?;
    let (client, connection) = tokio_postgres::connect(&dsn, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    let event = serde_json::json!({"type": "order.paid", "order": 1});
    for _ in 0..2 {
        println!("{:?}", receive(&client, "evt_1", &event).await?);
    }
    Ok(())
}
