//! Acting on a session of its own that exists only while acting. One call is one transaction; what was seen goes along, and
//! every job is answered for.

use crate::backends::ActRequest;
use crate::db::{Connector, Purpose};
use crate::model::{Action, ActionReport, Fence, JobRef};

use super::browse::{self, BrowseError, Sessions};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActFailure {
    /// In plain words.
    pub reason: String,
    /// The question was sent and the answer lost: it may have happened.
    pub unknown: bool,
}

impl From<BrowseError> for ActFailure {
    fn from(error: BrowseError) -> Self {
        let unknown = matches!(&error, BrowseError::Db(db) if db.maybe_done);
        Self { reason: error.to_string(), unknown }
    }
}

/// Acts on the targets, all of one backend.
///
/// # Errors
/// When no session could be had, the database refused the call as a whole (then nothing changed), or the answer was lost
/// (then it says so).
pub async fn act(
    connector: &Connector,
    sessions: &Sessions,
    action: Action,
    targets: Vec<(JobRef, Fence)>,
) -> Result<ActionReport, ActFailure> {
    let asked: Vec<JobRef> = targets.iter().map(|(job, _)| job.clone()).collect();
    let Some(first) = asked.first() else {
        return Err(ActFailure { reason: "no job was named".into(), unknown: false });
    };
    let live = sessions.current()?;
    let backend = browse::backend(&live, first.queue.backend)?;
    let session = connector.connect(Purpose::Act).await.map_err(BrowseError::Db)?;
    let request = ActRequest { action, targets, reason: None };
    let (at, results) = backend.act(&session, &request).await.map_err(BrowseError::Db)?;
    Ok(ActionReport { action, asked, results, at: Some(at) })
}
