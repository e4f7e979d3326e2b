//! Which database: a connection string, or `@NAME` for a target of the settings file.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::config::{self, Overrides, Target};
use crate::db::{Connector, DbError, Purpose, Secret, Session, Target as Server};
use crate::text::Safe;

use super::{CommandError, dashboard};

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
    let Some(name) = dsn.and_then(|dsn| dsn.strip_prefix('@')) else {
        return Ok(Chosen { connector: dashboard::connector(dsn)?, name: None, target: Target::default() });
    };
    let usage = |error: config::ConfigError| CommandError::Usage(error.to_string());
    let overrides = Overrides { file: file.map(Path::to_owned), ..Overrides::default() };
    let (settings, source) = config::load(&overrides, &|name| std::env::var(name).ok()).map_err(usage)?;
    let target = config::find_target(&settings.targets, name, &source).map_err(usage)?.clone();
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

/// Asks for the password on the terminal.
///
/// # Errors
/// When the terminal cannot be asked.
pub(super) fn ask_password(server: &Server) -> io::Result<Secret> {
    rpassword::prompt_password(format!("Password for user {}: ", Safe::new(&server.user))).map(Secret::new)
}
