//! `queuetop snapshot`: one reading of all numbers to standard output, for scripts and people without a screen.

mod json;
mod table;
mod take;

use std::io::{self, Write};

use crate::args::{SnapshotArgs, SnapshotFormat};

use super::CommandError;
use super::dashboard::connector;

pub use json::to_json;
pub use take::{Taken, take};

/// Runs `queuetop snapshot`.
///
/// # Errors
/// Wrong usage; a database that cannot be reached or has no queue.
pub async fn run(args: SnapshotArgs) -> Result<u8, CommandError> {
    let connector = connector(args.target.dsn.as_deref())?;
    let taken = take(&connector, args.target.schema.as_deref()).await?;
    let text = match args.format {
        SnapshotFormat::Json => to_json(&taken)?,
        SnapshotFormat::Table => table::to_table(&taken),
    };
    print(&text)
}

/// Writes to standard output; a reader that went away is no failure.
pub(super) fn print(text: &str) -> Result<u8, CommandError> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError::Failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(0),
    }
}
