//! `queuetop doctor`: what is installed, which rights are missing, what is misconfigured; and mending the counters.

mod json;
mod queues;
mod recount;
mod table;

use std::sync::Arc;

use std::io::IsTerminal as _;

use crate::args::{DoctorArgs, DoctorFormat, FailOn};
use crate::db::{Connector, DbError, Purpose};
use crate::diagnose::checks::{self, Checked, Status};
use crate::engine::doctor::{Look, ask_all, look};
use crate::model::checkup::Surroundings;

use super::target;
use super::{CommandError, tell};

/// Everything that a check-up found.
struct Report {
    around: Surroundings,
    /// Whom it is about: database and host.
    target: String,
    /// When, by the server's clock.
    at: String,
    /// Worst first.
    checked: Vec<Checked>,
}

impl Report {
    fn count(&self, status: Status) -> usize {
        self.checked.iter().filter(|checked| checked.status == status).count()
    }

    /// The worst that was found; what could not be checked is not worse than anything.
    fn worst(&self) -> Option<Status> {
        let found = self.checked.iter().flat_map(|checked| &checked.findings);
        found.map(|finding| finding.severity.into()).max()
    }
}

/// Runs `queuetop doctor`.
///
/// # Errors
/// Wrong usage; a database that cannot be reached or asked; with `--recount` also a missing right.
pub async fn run(mut args: DoctorArgs) -> Result<u8, CommandError> {
    let chosen = target::choose(args.target.dsn.as_deref(), None)?;
    args.target.schema = chosen.schema(args.target.schema.take());
    let connector = Arc::clone(&chosen.connector);
    if args.recount {
        if !args.dry_run {
            chosen.may_change()?;
        }
        return recount::run(&connector, &args).await;
    }
    let report = check_up(&connector, &args).await?;
    let text = match args.format {
        DoctorFormat::Json => json::to_json(&report)?,
        DoctorFormat::Table => table::to_table(&report, columns()),
    };
    tell::out(text)?;
    let limit = match args.fail_on {
        FailOn::Warning => Status::Warning,
        FailOn::Critical => Status::Critical,
    };
    Ok(if report.worst().is_some_and(|worst| worst >= limit) { 3 } else { 0 })
}

/// As wide as the terminal; a pipe has no width.
fn columns() -> usize {
    let terminal = std::io::stdout().is_terminal();
    let size = if terminal { crossterm::terminal::size().ok() } else { None };
    size.map_or(usize::MAX, |(columns, _)| usize::from(columns))
}

async fn check_up(connector: &Connector, args: &DoctorArgs) -> Result<Report, CommandError> {
    let failed = |error: DbError| CommandError::Failed(error.to_string());
    let session = target::session(connector, Purpose::Read).await?;
    let wanted = Look { schema: args.target.schema.clone(), role: args.role.clone() };
    let around = look(connector, &session, &wanted).await.map_err(failed)?;
    let (at, queues) = queues::check(&session, &around).await;
    let answers = ask_all(connector, session, &checks::questions(&around)).await;
    let mut checked = checks::judge(&around, &answers);
    checked.extend(queues);
    checked.sort_by_key(|checked| std::cmp::Reverse(checked.status));
    Ok(Report { around, target: connector.target().to_string(), at, checked })
}
