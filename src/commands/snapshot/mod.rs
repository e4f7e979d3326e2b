//! `queuetop snapshot`: one reading of all numbers to standard output, for scripts and people without a screen.

mod json;
mod table;
mod take;

use crate::args::{SnapshotArgs, SnapshotFormat};

use super::target;
use super::{CommandError, tell};

pub use json::to_json;
pub use take::{Taken, take};

/// Runs `queuetop snapshot`.
///
/// # Errors
/// Wrong usage; a database that cannot be reached or has no queue.
pub async fn run(args: SnapshotArgs) -> Result<u8, CommandError> {
    let chosen = target::choose(args.target.dsn.as_deref(), None)?;
    let schema = chosen.schema(args.target.schema);
    let taken = take(&chosen.connector, schema.as_deref()).await?;
    let text = match args.format {
        SnapshotFormat::Json => to_json(&taken)?,
        SnapshotFormat::Table => table::to_table(&taken),
    };
    tell::out(text)?;
    Ok(0)
}
