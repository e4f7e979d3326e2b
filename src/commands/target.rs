//! Which database: a connection string, or `@NAME` for a target of the settings file.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::backends::{self, Backend};
use crate::config::{self, Overrides, Safety, Settings, Source, Target};
use crate::db::{Connector, DbError, Purpose, Secret, Session, Target as Server};
use crate::text::Safe;

use super::{CommandError, dashboard, nothing_there};

/// A database that was chosen.
pub struct Chosen {
    /// The way there.
    pub connector: Arc<Connector>,
    /// The target's name, without `@`; `None`: a connection string.
    pub name: Option<String>,
    /// What the settings say of it; nothing for a connection string.
    pub target: Target,
}

impl Chosen {
    /// The schema: what the command line says, else what the settings do.
    #[must_use]
    pub fn schema(&self, argument: Option<String>) -> Option<String> {
        argument.or_else(|| self.target.schema.clone())
    }

    /// Refuses what changes a database that the settings want to be left alone.
    ///
    /// # Errors
    /// As wrong usage, naming the setting.
    pub fn may_change(&self) -> Result<(), CommandError> {
        let Some(name) = self.name.as_ref().filter(|_| self.target.read_only) else { return Ok(()) };
        Err(CommandError::Usage(format!("@{name} is read-only: targets.{name}.read_only of the settings file")))
    }
}

/// Takes a connection string, or looks a target up in the settings file (`file`, else the usual one).
///
/// # Errors
/// As wrong usage: the settings, the target or the connection string, with its place.
pub fn choose(dsn: Option<&str>, file: Option<&Path>) -> Result<Chosen, CommandError> {
    match name_in(dsn) {
        Some(name) => {
            let (settings, source) = settings(file)?;
            named(name, &settings, &source)
        }
        None => by_string(dsn),
    }
}

/// Chooses a database to act on, with what the settings say of acting.
///
/// # Errors
/// As [`choose`]; also when the settings, or `QUEUETOP_READ_ONLY`, want nothing to be changed.
pub fn choose_to_act(dsn: Option<&str>) -> Result<(Chosen, Safety), CommandError> {
    let (settings, source) = settings(None)?;
    let chosen = name_in(dsn).map_or_else(|| by_string(dsn), |name| named(name, &settings, &source))?;
    chosen.may_change()?;
    if settings.safety.read_only {
        let why = "everything is read-only: safety.read_only of the settings file, or QUEUETOP_READ_ONLY";
        return Err(CommandError::Usage(why.to_owned()));
    }
    Ok((chosen, settings.safety))
}

fn name_in(dsn: Option<&str>) -> Option<&str> {
    dsn.and_then(|dsn| dsn.strip_prefix('@'))
}

fn settings(file: Option<&Path>) -> Result<(Settings, Source), CommandError> {
    let overrides = Overrides { file: file.map(Path::to_owned), ..Overrides::default() };
    config::load(&overrides, &|name| std::env::var(name).ok()).map_err(|error| CommandError::Usage(error.to_string()))
}

fn by_string(dsn: Option<&str>) -> Result<Chosen, CommandError> {
    Ok(Chosen { connector: dashboard::connector(dsn)?, name: None, target: Target::default() })
}

fn named(name: &str, settings: &Settings, source: &Source) -> Result<Chosen, CommandError> {
    let found = config::find_target(&settings.targets, name, source);
    let target = found.map_err(|error| CommandError::Usage(error.to_string()))?.clone();
    let connector = dashboard::quiet_connector(Some(&target.dsn))
        .map_err(|error| CommandError::Usage(format!("settings file {source}: targets.{name}.dsn: {error}")))?;
    Ok(Chosen { connector, name: Some(name.to_owned()), target })
}

/// A session for a command without a screen. Where a password is wanted and none was given, it is asked for once, as `psql` does;
/// without a terminal the refusal says where to put it.
///
/// # Errors
/// Why there is no session.
pub async fn session(connector: &Connector, purpose: Purpose) -> Result<Session, CommandError> {
    let connected = if File::open("/dev/tty").is_ok() {
        connector.connect_asking(purpose, ask_password).await
    } else {
        connector.connect(purpose).await
    };
    connected.map_err(|error: DbError| CommandError::Failed(error.to_string()))
}

/// A reading session and what it finds; nothing is an error.
///
/// # Errors
/// Why there is no session, what cannot be read, or that no queue is there.
pub async fn queues(
    connector: &Connector,
    schema: Option<&str>,
) -> Result<(Session, Vec<Box<dyn Backend>>), CommandError> {
    let session = session(connector, Purpose::Read).await?;
    let found = backends::all(&session, schema).await.map_err(|error| CommandError::Failed(error.to_string()))?;
    if found.is_empty() {
        return Err(CommandError::Failed(nothing_there(connector, schema)));
    }
    Ok((session, found))
}

/// Asks for the password on the terminal.
///
/// # Errors
/// When the terminal cannot be asked.
pub(super) fn ask_password(server: &Server) -> io::Result<Secret> {
    rpassword::prompt_password(format!("Password for user {}: ", Safe::new(&server.user))).map(Secret::new)
}
