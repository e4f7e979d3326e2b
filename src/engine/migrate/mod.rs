//! Installs and upgrades the `jobs` backend's SQL.
//!
//! refinery keeps the history and compares checksums, but takes no lock and quotes nothing. Around it stand an advisory
//! lock, so that two at once are safe, quoted names, and one transaction for all files, so that a failure leaves nothing
//! half done. It must not decide anything about a dashboard's session: it works on a connection of its own.

mod error;
mod files;

use std::time::{Duration, Instant};

use refinery::Runner;
use tokio_postgres::Client;

pub use error::MigrateError;
pub use files::{HISTORY_TABLE, latest_version, quote_ident, quote_literal};
use files::{Names, migrations};

/// Advisory locks of ours have this as their first key; the second is a hash of the schema's name.
const LOCK_CLASS: i32 = 0x7174_6f70;
/// How long another `migrate` may take before this one gives up waiting.
const LOCK_WAIT: Duration = Duration::from_mins(1);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(200);
/// Tries when a table's lock is not to be had within `lock_timeout`.
const TRIES: u32 = 10;
/// The oldest server that has everything the files use.
const OLDEST_SERVER: i32 = 13_00_00;

/// Where and how to install.
#[derive(Clone, Debug)]
pub struct Options {
    /// Schema of all objects; created when missing.
    pub schema: String,
    /// Put before the roles' names, which are known to the whole server.
    pub role_prefix: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { schema: "public".to_owned(), role_prefix: String::new() }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The schema's version now.
    pub version: i32,
    /// Names of the migrations that were applied; empty when there was nothing to do.
    pub applied: Vec<String>,
}

/// Brings a schema to the version of this program.
///
/// # Errors
/// When the server cannot take it, another `migrate` does not end, the schema is newer than this program, or a statement
/// fails; nothing is half done then.
pub async fn run(client: &mut Client, options: &Options) -> Result<Report, MigrateError> {
    let names = Names::new(options)?;
    check_server(client).await?;
    client
        .batch_execute(
            "set lock_timeout = '3s'; set statement_timeout = 0; set client_min_messages = warning;
             set standard_conforming_strings = on",
        )
        .await?;
    lock(client, &options.schema).await?;
    let result = apply_with_retries(client, options, &names).await;
    let unlocked = unlock(client, &options.schema).await;
    let report = result?;
    unlocked?;
    Ok(report)
}

/// The version installed in a schema; none where we are not installed.
///
/// # Errors
/// When the question cannot be asked, for instance because the history may not be read.
pub async fn installed_version(client: &Client, schema: &str) -> Result<Option<i32>, tokio_postgres::Error> {
    let table = format!("{}.{HISTORY_TABLE}", quote_ident(schema));
    let found = client.query_one("select to_regclass($1) is not null", &[&table]).await?;
    if !found.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = client.query_one(&format!("select max(version) from {table}"), &[]).await?;
    Ok(row.get(0))
}

async fn check_server(client: &Client) -> Result<(), MigrateError> {
    let row = client
        .query_one(
            "select current_setting('server_version_num')::integer, current_setting('server_version'),
                    pg_is_in_recovery()",
            &[],
        )
        .await?;
    if row.get::<_, i32>(0) < OLDEST_SERVER {
        return Err(MigrateError::OldServer(row.get(1)));
    }
    if row.get(2) {
        return Err(MigrateError::Standby);
    }
    Ok(())
}

/// Asks again and again instead of waiting inside the server: a waiting statement holds a snapshot, and an index that the
/// other one builds concurrently would wait for that.
async fn lock(client: &Client, schema: &str) -> Result<(), MigrateError> {
    let began = Instant::now();
    loop {
        let row = client.query_one("select pg_try_advisory_lock($1, hashtext($2))", &[&LOCK_CLASS, &schema]).await?;
        if row.get(0) {
            return Ok(());
        }
        if began.elapsed() > LOCK_WAIT {
            return Err(MigrateError::Busy(LOCK_WAIT.as_secs()));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn unlock(client: &Client, schema: &str) -> Result<(), MigrateError> {
    client.execute("select pg_advisory_unlock($1, hashtext($2))", &[&LOCK_CLASS, &schema]).await?;
    client
        .batch_execute(
            "reset lock_timeout; reset statement_timeout; reset client_min_messages;
             reset standard_conforming_strings",
        )
        .await?;
    Ok(())
}

async fn apply_with_retries(client: &mut Client, options: &Options, names: &Names) -> Result<Report, MigrateError> {
    let mut tries = 1;
    loop {
        match apply(client, options, names).await {
            Err(MigrateError::TableLocked(_)) if tries < TRIES => {
                tries += 1;
                tokio::time::sleep(PAUSE * tries).await;
            }
            result => return result,
        }
    }
}

async fn apply(client: &mut Client, options: &Options, names: &Names) -> Result<Report, MigrateError> {
    let installed = installed_version(client, &options.schema).await?;
    if let Some(version) = installed.filter(|version| *version > latest_version()) {
        return Err(MigrateError::Newer { schema: options.schema.clone(), version, ours: latest_version() });
    }
    let new_schema = create_schema(client, &options.schema, names).await?;
    let mut runner = Runner::new(&migrations(names)?).set_grouped(true);
    runner.set_migration_table_name(names.history_table());
    match runner.run_async(client).await {
        Ok(report) => Ok(Report {
            version: latest_version(),
            applied: report.applied_migrations().iter().map(ToString::to_string).collect(),
        }),
        Err(error) => {
            if installed.is_none() {
                take_back(client, names, new_schema).await?;
            }
            Err(error.into())
        }
    }
}

/// Creates the schema when it is missing, and says whether it was. Asked first: `create schema if not exists` wants the
/// right to create schemas even where there is nothing to create.
async fn create_schema(client: &Client, schema: &str, names: &Names) -> Result<bool, MigrateError> {
    let there =
        client.query_one("select exists (select from pg_catalog.pg_namespace where nspname = $1)", &[&schema]).await?;
    if there.get(0) {
        return Ok(false);
    }
    client.batch_execute(&format!("create schema {}", names.schema)).await?;
    Ok(true)
}

/// The schema and refinery's empty table are committed before the files run: when those fail, they go too.
async fn take_back(client: &Client, names: &Names, new_schema: bool) -> Result<(), MigrateError> {
    client.batch_execute(&format!("drop table if exists {}", names.history_table())).await?;
    if new_schema {
        client.batch_execute(&format!("drop schema {}", names.schema)).await?;
    }
    Ok(())
}
