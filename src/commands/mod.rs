//! One file or folder a subcommand. Here the screen's side and the database's side meet.

pub mod act;
pub mod config;
pub mod dashboard;
pub mod demo;
pub mod doctor;
pub mod jobs;
pub mod log;
pub mod migrate;
pub mod reaper;
pub mod signals;
pub mod snapshot;
pub mod target;
pub mod tell;

use crate::args::{Cli, Command, ScreenArgs};
use crate::config::{self as settings, Overrides, Settings};
use crate::db::Connector;
use crate::model::Action;
use crate::text::Safe;

/// How a command ends, besides well.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Wrong usage, or no terminal: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// It failed for a reason outside of the program: exit status 1.
    #[error("{0}")]
    Failed(String),
    /// A defect of the program: exit status 1 and a full report.
    #[error(transparent)]
    Defect(#[from] color_eyre::Report),
}

impl CommandError {
    /// What to print: one harmless line, or the full report of a defect.
    #[must_use]
    pub fn report(&self) -> String {
        match self {
            Self::Defect(report) => format!("{report:?}"),
            Self::Usage(text) | Self::Failed(text) => Safe::full(text).to_string(),
        }
    }

    /// Exit status: 1 a failure, 2 wrong usage or no terminal.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) | Self::Defect(_) => 1,
        }
    }
}

/// Runs what the command line asks for; answers with the exit status.
///
/// # Errors
/// What went wrong, ready to be printed after the terminal is restored.
pub async fn run(cli: Cli, crash: &dashboard::crash::Crash) -> Result<u8, CommandError> {
    match cli.command {
        None => dashboard::run(cli.dashboard, crash).await,
        Some(Command::Config(args)) => config::run(&args),
        Some(Command::Migrate(args)) => migrate::run(args).await,
        Some(Command::Reaper(args)) => Box::pin(reaper::run(args)).await,
        Some(Command::Snapshot(args)) => snapshot::run(args).await,
        Some(Command::Jobs(args)) => jobs::run(args).await,
        Some(Command::Requeue(args)) => act::run(args.act, &|_| Ok(Action::Requeue { force: args.force })).await,
        Some(Command::DeadLetter(args)) => act::run(args.act, &|_| Ok(Action::DeadLetter { force: args.force })).await,
        Some(Command::Reap(args)) => act::run(args, &|_| Ok(Action::Reap)).await,
        Some(Command::Replay(args)) => act::run(args.act, &|_| Ok(Action::Replay { force: args.force })).await,
        Some(Command::Reschedule(args)) => act::run(args.act, &|now| act::at(args.at.as_deref(), now)).await,
        Some(Command::SetPriority(args)) => {
            act::run(args.act, &|_| Ok(Action::SetPriority { priority: args.to.unwrap_or_default() })).await
        }
        Some(Command::Pause(args)) => act::queues::run(args, true).await,
        Some(Command::Resume(args)) => act::queues::run(args, false).await,
        Some(Command::Doctor(args)) => Box::pin(doctor::run(args)).await,
        Some(Command::Demo(args)) => Box::pin(demo::run(args, crash)).await,
    }
}

/// What to say where no queue is found.
fn nothing_there(connector: &Connector, schema: Option<&str>) -> String {
    let place = schema.map(|schema| format!(" in schema {schema}")).unwrap_or_default();
    format!("no queue found in {}{place}: `queuetop migrate` installs one", connector.target())
}

/// The settings with what the command line says.
///
/// # Errors
/// As wrong usage, naming the place.
pub fn load_settings(args: &ScreenArgs) -> Result<Settings, CommandError> {
    let overrides = Overrides {
        file: args.config.clone(),
        interval: args.interval,
        load: args.load,
        ascii: args.ascii,
        read_only: args.read_only,
    };
    let (settings, _) = settings::load(&overrides, &|name| std::env::var(name).ok())
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    Ok(settings)
}
