//! Installs and upgrades the `jobs` backend's SQL.
//!
//! refinery keeps the history and compares checksums, but takes no lock and quotes nothing. Around it stand an advisory
//! lock, so that two at once are safe, quoted names, and one transaction for everything, so that a failure leaves nothing
//! half done. It must not decide anything about a dashboard's session: it works on a connection of its own.

mod adopt;
mod contents;
mod error;
mod files;
mod inspect;
mod lock;
mod plan;
mod print;
mod transaction;

use std::time::Duration;

use refinery_core::Runner;
use tokio_postgres::Client;

pub use contents::{contents, group_roles};
pub use error::MigrateError;
pub use files::{HISTORY_TABLE, latest_version, quote_ident, quote_literal};
use files::{Names, migrations};
pub use inspect::{installed_schemas, installed_version, is_pooled};
pub use plan::{Adopted, Plan};
pub use print::{print, print_for};
use transaction::InTransaction;

/// Tries when a table's lock is not to be had in time.
const TRIES: u32 = 10;
/// Pause after the first of them; it grows.
const PAUSE: Duration = Duration::from_millis(200);

/// Where and how to install.
#[derive(Clone, Debug)]
pub struct Options {
    /// Schema of all objects; created when missing.
    pub schema: String,
    /// Put before the roles' names, which are known to the whole server. None: as installed, else nothing.
    pub role_prefix: Option<String>,
    /// Replace functions of our names that somebody else made.
    pub replace_functions: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { schema: "public".to_owned(), role_prefix: None, replace_functions: false }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The schema's version now.
    pub version: i32,
    /// Names of the migrations that were applied; empty when there was nothing to do.
    pub applied: Vec<String>,
    /// Indexes that were built on existing tables, without blocking writers.
    pub indexes: Vec<String>,
    /// What whoever runs the database should know.
    pub warnings: Vec<String>,
}

/// What [`run`] would do. Changes nothing.
///
/// # Errors
/// What [`run`] would refuse, except for foreign functions: those are listed in the plan.
pub async fn plan(client: &Client, options: &Options) -> Result<Plan, MigrateError> {
    let prefix = inspect::role_prefix(client, options).await?;
    let names = Names::new(&options.schema, &prefix)?;
    plan::make(client, options, &names).await
}

/// Brings a schema to the version of this program.
///
/// # Errors
/// When the server or what is in the schema cannot take it, another `migrate` does not end, the schema is newer than this
/// program, or a statement fails. Nothing is half done then; an existing table may have new indexes and empty columns.
pub async fn run(client: &mut Client, options: &Options) -> Result<Report, MigrateError> {
    let prefix = inspect::role_prefix(client, options).await?;
    let names = Names::new(&options.schema, &prefix)?;
    inspect::check_server(client).await?;
    lock::take(client, &options.schema).await?;
    let result = locked(client, options, &names).await;
    let released = lock::release(client, &options.schema).await;
    let report = result?;
    released?;
    Ok(report)
}

async fn locked(client: &mut Client, options: &Options, names: &Names) -> Result<Report, MigrateError> {
    let plan = plan::make(client, options, names).await?;
    if !plan.foreign_functions.is_empty() && !options.replace_functions {
        return Err(MigrateError::ForeignFunctions(plan.foreign_functions));
    }
    if !plan.adopts.is_empty() {
        adopt::build_indexes(client, names, &plan).await?;
        adopt::add_columns(client, names).await?;
    }
    let mut tries = 1;
    let applied = loop {
        match apply(client, names, &plan).await {
            Err(MigrateError::TableLocked(_)) if tries < TRIES => {
                tokio::time::sleep(PAUSE * tries).await;
                tries += 1;
            }
            result => break result?,
        }
    };
    count_what_was_there(client, names).await?;
    Ok(Report { version: latest_version(), applied, indexes: plan.indexes, warnings: plan.warnings })
}

/// Counts the rows of tables that were taken over, where that was not done yet: after the commit, because it reads every
/// row and nobody is to wait for that.
async fn count_what_was_there(client: &Client, names: &Names) -> Result<(), MigrateError> {
    for (fold, recount) in [("counter_fold", "recount_counters"), ("signature_fold", "recount_signatures")] {
        let asked = format!("select suspect from {}.{fold}", names.schema);
        if client.query_one(&asked, &[]).await?.get(0) {
            client.batch_execute(&format!("select {}.{recount}()", names.schema)).await?;
        }
    }
    Ok(())
}

/// All of it in one transaction.
async fn apply(client: &mut Client, names: &Names, plan: &Plan) -> Result<Vec<String>, MigrateError> {
    let transaction = client.transaction().await?;
    if plan.create_schema {
        transaction.batch_execute(&format!("create schema {}", names.schema)).await?;
    }
    for function in &plan.foreign_functions {
        transaction.batch_execute(&format!("drop function {function}")).await?;
    }
    let mut runner = Runner::new(&migrations(names)?);
    runner.set_migration_table_name(names.history_table());
    let report = runner.run_async(&mut InTransaction(&transaction)).await?;
    transaction.commit().await?;
    Ok(report.applied_migrations().iter().map(ToString::to_string).collect())
}
