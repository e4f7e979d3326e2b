//! Who holds which job until when.

use super::facts::{Access, JOB_COLUMNS};
use super::{Jobs, LIST_LIMITS, row};
use crate::db::{DbError, Session, Statement};
use crate::model::{Lease, Reading};

/// Leases, soonest end first, at most `limit`.
pub(super) async fn read(jobs: &Jobs, session: &Session, limit: u32) -> Result<Reading<Vec<Lease>>, DbError> {
    if jobs.facts.access("jobs", JOB_COLUMNS) != Access::Yes {
        return Ok(Reading::Denied);
    }
    if !jobs.facts.has_lease_index() {
        return Ok(Reading::Unknown);
    }
    let ask = [Statement::new(jobs.texts.leases.clone()).int8(i64::from(limit))];
    let batch = session.read_many("leases", &ask, LIST_LIMITS).await?;
    let found = row::jobs(batch.rows.first().map(Vec::as_slice).unwrap_or_default(), batch.server_time)?;
    let cut = found.len() >= limit as usize;
    let leases = found.into_iter().map(|job| Lease { job }).collect();
    Ok(if cut { Reading::AtLeast(leases) } else { Reading::Exact(leases) })
}
