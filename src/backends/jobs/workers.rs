//! Who works, and what each holds.

use super::{Jobs, LIST_LIMITS};
use crate::db::{DbError, Session};
use crate::model::{Reading, Workers};

/// Reads who works, and what each holds.
pub(super) async fn read(_jobs: &Jobs, session: &Session) -> Result<Workers, DbError> {
    let batch = session.read_many("workers", &[], LIST_LIMITS).await?;
    Ok(Workers { workers: Reading::Unknown, taken_at: batch.server_time, cost: batch.cost, note: None })
}
