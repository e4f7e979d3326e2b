//! Acting on a session of its own that exists only while acting. One call is one transaction; what was seen goes along, and
//! every job is answered for. An answer that was lost is looked up in the audit before it counts as unknown.

use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

use crate::backends::{ActRequest, Acted};
use crate::db::{Connector, DbError, Purpose, Session};
use crate::model::{Action, ActionReport, Fence, JobRef, QueueId};

use super::browse::{self, BrowseError, Sessions};

/// A lost answer is looked up so often, with this pause: the server may still be at it, or be starting again.
const LOOKUPS: u32 = 10;
const LOOKUP_PAUSE: Duration = Duration::from_millis(500);

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

/// What is asked of the jobs of one backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// What to do.
    pub action: Action,
    /// The jobs with their fences.
    pub targets: Vec<(JobRef, Fence)>,
    /// The operator's reason, for the audit.
    pub reason: Option<String>,
}

/// Acts on the targets.
///
/// # Errors
/// When no session could be had, the database refused the call as a whole (then nothing changed), or the answer was lost and
/// the audit does not tell (then it says so).
pub async fn act(connector: &Connector, sessions: &Sessions, order: Order) -> Result<ActionReport, ActFailure> {
    let Order { action, targets, reason } = order;
    let asked: Vec<JobRef> = targets.iter().map(|(job, _)| job.clone()).collect();
    let Some(first) = asked.first() else {
        return Err(ActFailure { reason: "no job was named".into(), unknown: false });
    };
    let live = sessions.current()?;
    let backend = browse::backend(&live, first.queue.backend)?;
    let session = connector.connect(Purpose::Act).await.map_err(BrowseError::Db)?;
    let request = ActRequest { action, targets, reason, token: Uuid::new_v4() };
    let acted = match backend.act(&session, &request).await {
        Ok(acted) => acted,
        Err(lost) if lost.maybe_done => {
            let look = |session: Session| async move { backend.lookup(&session, request.token).await };
            look_up(connector, look).await.ok_or_else(|| ActFailure::from(BrowseError::Db(lost)))?
        }
        Err(error) => return Err(BrowseError::Db(error).into()),
    };
    Ok(ActionReport { action, asked, results: acted.results, at: Some(acted.at), audit: acted.audit })
}

/// Asks the audit again and again what became of a call; `None`: it does not tell.
async fn look_up<F>(connector: &Connector, look: impl Fn(Session) -> F) -> Option<Acted>
where
    F: Future<Output = Result<Option<Acted>, DbError>>,
{
    for _ in 0..LOOKUPS {
        if let Ok(session) = connector.connect(Purpose::Read).await
            && let Ok(Some(acted)) = look(session).await
        {
            return Some(acted);
        }
        sleep(LOOKUP_PAUSE).await;
    }
    None
}

/// Pauses a queue, or lets it go on; false: it was so already.
///
/// # Errors
/// As [`act`].
pub async fn set_paused(
    connector: &Connector,
    sessions: &Sessions,
    queue: &QueueId,
    paused: bool,
    reason: Option<&str>,
) -> Result<bool, ActFailure> {
    let live = sessions.current()?;
    let backend = browse::backend(&live, queue.backend)?;
    let session = connector.connect(Purpose::Act).await.map_err(BrowseError::Db)?;
    Ok(backend.set_paused(&session, &queue.name, paused, reason).await.map_err(BrowseError::Db)?)
}
