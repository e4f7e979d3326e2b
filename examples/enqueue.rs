//! Enqueue in the transaction of the business change: an order and the job that confirms it appear together, or neither does.
//!
//! ```text
//! cargo run --example enqueue -- postgresql:///mydb
//! ```

use serde_json::json;
use tokio_postgres::types::Json;
use tokio_postgres::{Client, Error};
use uuid::Uuid;

/// Makes the table of this example.
///
/// # Errors
/// What the server says.
pub(crate) async fn prepare(client: &Client) -> Result<(), Error> {
    client
        .batch_execute("create table if not exists orders (id bigint primary key, cents integer check (cents > 0))")
        .await
}

/// Places an order and enqueues its confirmation; answers with the job's id.
///
/// # Errors
/// What the server says. Then there is neither an order nor a job: dropping the transaction rolls both back.
pub(crate) async fn place_order(client: &mut Client, id: i64, cents: i32) -> Result<Uuid, Error> {
    let transaction = client.transaction().await?;
    let job = transaction
        .query_one("select id from enqueue_job('emails', $1, p_priority => 10)", &[&Json(json!({"order": id}))])
        .await?;
    // Also when something fails after the job was put in.
    transaction.execute("insert into orders (id, cents) values ($1, $2)", &[&id, &cents]).await?;
    transaction.commit().await?;
    Ok(job.get(0))
}

#[cfg(not(test))]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dsn = std::env::args().nth(1).ok_or("usage: enqueue DSN")?;
    let (mut client, connection) = tokio_postgres::connect(&dsn, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    prepare(&client).await?;
    println!("order 1: job {}", place_order(&mut client, 1, 4_900).await?);
    if let Err(error) = place_order(&mut client, 2, -1).await {
        println!("order 2: {error}; no order, no job");
    }
    Ok(())
}
