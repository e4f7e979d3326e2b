//! Makes existing tables ready, step by step and without long locks, before the migrations run on them.
//!
//! Each step can be repeated and is harmless by itself: an interrupted adoption is continued by the next one.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::error::describe;
use super::files::{Names, first, index_statements};
use super::{MigrateError, PAUSE, Plan, TRIES, inspect};

/// Builds the indexes that are missing, while everybody goes on writing.
pub(super) async fn build_indexes(client: &Client, names: &Names, plan: &Plan) -> Result<(), MigrateError> {
    // Building waits for every transaction that is older; with a lock_timeout it would give up half way.
    client.batch_execute("set lock_timeout = 0").await?;
    for index in &plan.indexes {
        let statement = index_statements(names).into_iter().find(|one| one.contains(&format!(" {index}\n")));
        let Some(statement) = statement else { continue };
        if inspect::indexes(client, &plan.schema).await?.iter().any(|(name, whole)| name == index && !whole) {
            drop_index(client, names, index).await?;
        }
        let concurrently = statement.replacen("index if not exists", "index concurrently if not exists", 1);
        if let Err(error) = client.batch_execute(&concurrently).await {
            drop_index(client, names, index).await?;
            return Err(match error.as_db_error() {
                Some(db) if *db.code() == SqlState::UNIQUE_VIOLATION => {
                    MigrateError::Index { index: index.clone(), why: describe(db) }
                }
                _ => error.into(),
            });
        }
    }
    client.batch_execute("set lock_timeout = '2s'").await?;
    Ok(())
}

/// What an interrupted build leaves is of no use and slows every write.
async fn drop_index(client: &Client, names: &Names, index: &str) -> Result<(), MigrateError> {
    Ok(client.batch_execute(&format!("drop index concurrently if exists {}.{index}", names.schema)).await?)
}

/// Adds the columns, each of them without touching a row. The strongest lock, but only for a moment; whoever waits for it
/// makes everybody else wait, so it is tried briefly and often.
pub(super) async fn add_columns(client: &mut Client, names: &Names) -> Result<(), MigrateError> {
    let mut tries = 1;
    loop {
        let transaction = client.transaction().await?;
        let result = match transaction.batch_execute(&first(names)).await {
            Ok(()) => transaction.commit().await,
            Err(error) => Err(error),
        };
        match result.map_err(MigrateError::from) {
            Err(MigrateError::TableLocked(_)) if tries < TRIES => {
                tokio::time::sleep(PAUSE * tries).await;
                tries += 1;
            }
            result => return result,
        }
    }
}
