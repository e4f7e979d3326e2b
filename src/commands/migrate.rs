//! `queuetop migrate`: installs or upgrades the `jobs` queue's SQL, says what it would do, or prints the SQL.

use std::io::{ErrorKind, Write as _};

use crate::args::MigrateArgs;
use crate::db::{Connector, DbError, Purpose, Session};
use crate::engine::migrate::{self, MigrateError, Options, Report};
use crate::text::Safe;

use super::CommandError;
use super::dashboard::connector;

/// Runs `queuetop migrate`.
///
/// # Errors
/// Wrong usage; a database that cannot be reached or cannot take the migration, in which case nothing is half done.
pub async fn run(args: MigrateArgs) -> Result<u8, CommandError> {
    let options =
        Options { schema: args.schema, role_prefix: args.role_prefix, replace_functions: args.replace_functions };
    if args.print && args.dsn.is_none() {
        return say(&migrate::print(&options, None).map_err(|error| failed(&error))?);
    }
    let connector = connector(args.dsn.as_deref())?;
    let mut session = connect(&connector).await?;
    refuse_pooled(&connector, &mut session).await?;
    if args.print {
        return say(&migrate::print_for(session.driver(), &options).await.map_err(|error| failed(&error))?);
    }
    if args.dry_run {
        let plan = migrate::plan(session.driver(), &options).await.map_err(|error| failed(&error))?;
        let lines: Vec<String> = Safe::lines(&plan.to_string()).map(String::from).collect();
        return say(&format!("{}\n", lines.join("\n")));
    }
    let report = migrate::run(session.driver(), &options).await.map_err(|error| failed(&error))?;
    tell(&report, &options, &connector);
    Ok(0)
}

/// Writes to standard output. Whoever reads it may have read enough: `--print | head` is no failure.
fn say(text: &str) -> Result<u8, CommandError> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CommandError::Failed(format!("standard output: {error}")))
        }
        _ => Ok(0),
    }
}

async fn connect(connector: &Connector) -> Result<Session, CommandError> {
    connector.connect(Purpose::Act).await.map_err(|error: DbError| CommandError::Failed(error.to_string()))
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

fn tell(report: &Report, options: &Options, connector: &Connector) {
    let place = Safe::full(&format!("{}, schema {}", connector.target(), options.schema));
    for warning in &report.warnings {
        eprintln!("queuetop: {}", Safe::full(warning));
    }
    for index in &report.indexes {
        println!("built index {}", Safe::full(index));
    }
    for name in &report.applied {
        println!("applied {}", Safe::full(name));
    }
    if report.applied.is_empty() {
        println!("{place}: nothing to do, version {}", report.version);
    } else {
        println!("{place}: now at version {}", report.version);
    }
}

fn failed(error: &MigrateError) -> CommandError {
    CommandError::Failed(error.to_string())
}
