//! The log: into a file of the operator's choice, never onto the screen.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use super::CommandError;

/// Starts logging into a file that only its owner may read; without a file there is no log. The level comes from
/// `QUEUETOP_LOG` (`debug`, `queuetop::db=trace`), else `info`.
///
/// # Errors
/// When the file cannot be opened.
pub fn start(file: Option<&Path>) -> Result<(), CommandError> {
    let Some(path) = file else {
        return Ok(());
    };
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| CommandError::Usage(format!("cannot write the log file {}: {error}", path.display())))?;
    let filter = EnvFilter::try_from_env("QUEUETOP_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Mutex::new(file));
    subscriber.try_init().map_err(|error| CommandError::Failed(format!("the log cannot be started: {error}")))
}
