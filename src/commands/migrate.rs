//! `queuetop migrate`: installs or upgrades the `jobs` queue's SQL, says what it would do, or prints the SQL.

use crate::args::MigrateArgs;
use crate::db::{Connector, Purpose, Session};
use crate::engine::migrate::{self, MigrateError, Options, Report};
use crate::text::Safe;

use super::target;
use super::{CommandError, tell};

/// Runs `queuetop migrate`.
///
/// # Errors
/// Wrong usage; a database that cannot be reached or cannot take the migration, in which case nothing is half done.
pub async fn run(args: MigrateArgs) -> Result<u8, CommandError> {
    let options = |schema: Option<String>| Options {
        schema: schema.unwrap_or_else(|| "public".to_owned()),
        role_prefix: args.role_prefix.clone(),
        replace_functions: args.replace_functions,
    };
    if args.print && args.dsn.is_none() {
        tell::out(migrate::print(&options(args.schema), None).map_err(|error| failed(&error))?)?;
        return Ok(0);
    }
    let chosen = target::choose(args.dsn.as_deref(), None)?;
    if !args.print && !args.dry_run {
        chosen.may_change()?;
    }
    let options = options(chosen.schema(args.schema));
    let connector = chosen.connector;
    let mut session = connect(&connector).await?;
    refuse_pooled(&connector, &mut session).await?;
    if args.print {
        tell::out(migrate::print_for(session.driver(), &options).await.map_err(|error| failed(&error))?)?;
        return Ok(0);
    }
    if args.dry_run {
        let plan = migrate::plan(session.driver(), &options).await.map_err(|error| failed(&error))?;
        let lines: Vec<String> = Safe::lines(&plan.to_string()).map(String::from).collect();
        tell::out(format_args!("{}\n", lines.join("\n")))?;
        return Ok(0);
    }
    let report = migrate::run(session.driver(), &options).await.map_err(|error| failed(&error))?;
    say(&report, &options, &connector)?;
    Ok(0)
}

async fn connect(connector: &Connector) -> Result<Session, CommandError> {
    target::session(connector, Purpose::Act).await
}

/// Through a transaction pooler the lock that keeps two migrations apart would not hold.
async fn refuse_pooled(connector: &Connector, session: &mut Session) -> Result<(), CommandError> {
    if session.facts().direct {
        return Ok(());
    }
    let mut second = connect(connector).await?;
    if migrate::is_pooled(session.driver(), second.driver()).await.map_err(|e| failed(&e.into()))? {
        return Err(failed(&MigrateError::Pooled));
    }
    Ok(())
}

fn say(report: &Report, options: &Options, connector: &Connector) -> Result<(), CommandError> {
    for warning in &report.warnings {
        tell::note(Safe::full(warning));
    }
    for index in &report.indexes {
        tell::out(format_args!("built index {}\n", Safe::full(index)))?;
    }
    for name in &report.applied {
        tell::out(format_args!("applied {}\n", Safe::full(name)))?;
    }
    let place = Safe::full(&format!("{}, schema {}", connector.target(), options.schema));
    let what = if report.applied.is_empty() { "nothing to do, version" } else { "now at version" };
    tell::out(format_args!("{place}: {what} {}\n", report.version))
}

fn failed(error: &MigrateError) -> CommandError {
    CommandError::Failed(error.to_string())
}
