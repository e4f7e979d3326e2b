//! One `migrate` at a time for each schema, and the session's settings while it runs.
//!
//! It must not wait inside the server: a waiting statement holds a snapshot, and an index that the other `migrate` builds
//! concurrently would wait for that snapshot, for ever.

use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::MigrateError;

/// Advisory locks of ours have this as their first key; the second is a hash of the schema's name.
const CLASS: i32 = 0x7174_6f70;
/// How long another `migrate` may take before this one gives up.
const WAIT: Duration = Duration::from_mins(1);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes the lock and makes the session ready: a lock on a table is waited for briefly, since everybody else queues up
/// behind the waiting one.
pub(super) async fn take(client: &Client, schema: &str) -> Result<(), MigrateError> {
    let began = Instant::now();
    let question = "select pg_catalog.pg_try_advisory_lock($1, pg_catalog.hashtext($2))";
    while !client.query_one(question, &[&CLASS, &schema]).await?.get::<_, bool>(0) {
        if began.elapsed() > WAIT {
            return Err(MigrateError::Busy(WAIT.as_secs()));
        }
        tokio::time::sleep(PAUSE).await;
    }
    let settings = "set lock_timeout = '2s'; set statement_timeout = 0; set client_min_messages = warning;
        set standard_conforming_strings = on; set search_path = pg_catalog, pg_temp;
        set default_transaction_isolation = 'read committed'";
    Ok(client.batch_execute(settings).await?)
}

/// Puts the settings back and gives the lock up.
pub(super) async fn release(client: &Client, schema: &str) -> Result<(), MigrateError> {
    let settings = "reset lock_timeout; reset statement_timeout; reset client_min_messages;
        reset standard_conforming_strings; reset search_path; reset default_transaction_isolation";
    client.batch_execute(settings).await?;
    let answer = "select pg_catalog.pg_advisory_unlock($1, pg_catalog.hashtext($2))";
    client.execute(answer, &[&CLASS, &schema]).await?;
    Ok(())
}
