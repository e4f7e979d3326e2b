//! A local effect exactly once: the effect and its job's id are written in one transaction, and the id is unique. A job that
//! comes a second time (its worker died before it could say that it was done) finds its mark and changes nothing.
//!
//! ```text
//! cargo run --example effect_once -- postgresql:///mydb
//! ```

use tokio_postgres::{Client, Error};
use uuid::Uuid;

/// Makes the tables of this example.
///
/// # Errors
/// What the server says.
pub(crate) async fn prepare(client: &Client) -> Result<(), Error> {
    client
        .batch_execute(
            "create table if not exists accounts (name text primary key, cents bigint not null);
             create table if not exists effects (job_id uuid primary key, done_at timestamptz not null default now());
             insert into accounts values ('ada', 0) on conflict do nothing",
        )
        .await
}

/// Books money for a job; false when that job has booked it before. `effect_id` is `ClaimedJob::effect_id`: the same for every
/// attempt and every replay.
///
/// # Errors
/// What the server says; then nothing is booked.
pub(crate) async fn book(client: &mut Client, effect_id: Uuid, name: &str, cents: i64) -> Result<bool, Error> {
    let transaction = client.transaction().await?;
    let mark = "insert into effects (job_id) values ($1) on conflict (job_id) do nothing";
    if transaction.execute(mark, &[&effect_id]).await? == 0 {
        return Ok(false);
    }
    transaction.execute("update accounts set cents = cents + $2 where name = $1", &[&name, &cents]).await?;
    transaction.commit().await?;
    Ok(true)
}

#[cfg(not(test))]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dsn = std::env::args().nth(1).ok_or("usage: effect_once DSN")?;
    let (mut client, connection) = tokio_postgres::connect(&dsn, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    prepare(&client).await?;
    let job = Uuid::new_v4();
    for attempt in 1..=2 {
        println!("attempt {attempt}: booked {}", book(&mut client, job, "ada", 500).await?);
    }
    Ok(())
}
