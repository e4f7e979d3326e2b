//! The journals of runs: private files in the XDG state folder, so that a run that was interrupted can be gone on with.

use std::fs;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

use crate::engine::bulk::{Found, Journal, read_journal};
use crate::model::bulk::Plan;
use crate::text::Safe;

use super::super::{CommandError, tell};

/// `$XDG_STATE_HOME/queuetop/runs`.
fn folder() -> Result<PathBuf, CommandError> {
    let none = "there is no folder for journals: set HOME or XDG_STATE_HOME";
    let dirs = choose_base_strategy().map_err(|_| CommandError::Failed(none.to_owned()))?;
    // Where the system has no folder for states, the one for data.
    Ok(dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).join("queuetop/runs"))
}

/// Begins the journal of a run.
///
/// # Errors
/// When it cannot be written: then nothing may be done.
pub(super) fn create(plan: &Plan, place: &str) -> Result<Journal, CommandError> {
    Journal::create(&folder()?, plan, place).map_err(|error| CommandError::Failed(error.to_string()))
}

/// Opens one to go on with.
///
/// # Errors
/// When it is none.
pub(super) fn open(path: &Path) -> Result<(Journal, Found), CommandError> {
    Journal::open(path).map_err(|error| CommandError::Usage(error.to_string()))
}

/// A run that came to its end needs no journal.
pub(super) fn remove(path: &Path) {
    // What is left behind says of itself that it has ended.
    let _kept = fs::remove_file(path);
}

/// Says which runs on the same database were interrupted. What cannot be read is not said: it is another program's affair.
pub(super) fn tell_of_unfinished(place: &str) {
    let Ok(entries) = folder().and_then(|path| fs::read_dir(path).map_err(|e| CommandError::Failed(e.to_string())))
    else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if let Ok(found) = read_journal(&path)
            && !found.ended
            && found.database == place
        {
            let (verb, tally) = (found.bulk.plan().action.verb(), found.bulk.tally());
            tell::note(format_args!(
                "an earlier run was interrupted ({verb}, {} of {} left): --continue {}",
                tally.left,
                tally.total(),
                Safe::full(&path.display().to_string())
            ));
        }
    }
}
