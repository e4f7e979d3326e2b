//! Failures and dead letters by error signature.

use super::{Jobs, LIST_LIMITS};
use crate::db::{DbError, Session};
use crate::model::{Groups, Reading};

/// Reads failures and dead letters by error signature.
pub(super) async fn read(_jobs: &Jobs, session: &Session) -> Result<Groups, DbError> {
    let batch = session.read_many("groups", &[], LIST_LIMITS).await?;
    Ok(Groups {
        groups: Reading::Unknown,
        dead: Reading::Unknown,
        taken_at: batch.server_time,
        cost: batch.cost,
        note: None,
    })
}
