//! What failed lately and what died, grouped by errors that look alike.

use tokio_postgres::Row;

use super::facts::{Access, DEAD_COLUMNS};
use super::row::{count, get, text};
use super::{Jobs, LIST_LIMITS, queue_id};
use crate::db::{DbError, Session, Statement};
use crate::model::{Failures, Reading, Signature};

/// The latest so many failures and dead letters are looked at.
const MOST_ROWS: i64 = 5_000;

/// Which of the two were more than that.
#[derive(Debug, Clone, Copy)]
struct Cut {
    failed: bool,
    dead: bool,
}

/// Failures of the last 15 minutes and the latest dead letters. What may not be read is denied, what is not recorded unknown.
pub(super) async fn read(jobs: &Jobs, session: &Session) -> Result<Failures, DbError> {
    let recent = jobs.facts.access("job_failures", &["queue", "signature", "became", "outcome", "ended_at"]);
    let dead = jobs.facts.access("dead_letter_jobs", DEAD_COLUMNS);
    let by_time = jobs.facts.has_index("dead_letter_jobs", &["(failed_at)"]);
    let ask = [Statement::new(jobs.texts.failures.clone()).int8(MOST_ROWS)];
    let batch = session.read_many("failures", &ask, LIST_LIMITS).await?;
    let rows = batch.rows.first().map(Vec::as_slice).unwrap_or_default();
    let Some(first) = rows.first() else {
        return Err(DbError::shape("the failures have no row"));
    };
    let cut = Cut { failed: get(first, "failed_cut")?, dead: get(first, "dead_cut")? };
    // Without that index the latest ones are anywhere: a part of them says nothing of the last hour.
    let dead_1h = if by_time {
        up_to(count(first, "dead_1h")?, get(first, "dead_1h_cut")?)
    } else if cut.dead {
        Reading::Unknown
    } else {
        Reading::Exact(count(first, "dead_1h")?)
    };
    let signatures: Vec<Signature> =
        rows.iter().filter_map(|row| signature(row, recent, dead, cut).transpose()).collect::<Result<_, _>>()?;
    Ok(Failures {
        failed_15m: allowed(recent, up_to(count(first, "failed")?, cut.failed)),
        dead_1h: allowed(dead, dead_1h),
        signatures: match (recent, dead) {
            (Access::Denied, _) | (_, Access::Denied) if signatures.is_empty() => Reading::Denied,
            (Access::Yes, Access::Yes) if !cut.failed && !cut.dead => Reading::Exact(signatures),
            _ => Reading::AtLeast(signatures),
        },
        taken_at: Some(batch.server_time),
    })
}

fn signature(row: &Row, recent: Access, dead: Access, cut: Cut) -> Result<Option<Signature>, DbError> {
    let Some(queue) = text(row, "queue")? else {
        return Ok(None);
    };
    let part = cut.failed || cut.dead || recent != Access::Yes || dead != Access::Yes;
    let per_s = |column| get::<Option<f64>>(row, column).map(Option::unwrap_or_default);
    Ok(Some(Signature {
        text: text(row, "signature")?.unwrap_or_default(),
        queue: queue_id(queue),
        count: up_to(count(row, "n")?, part),
        dead: allowed(dead, up_to(count(row, "dead")?, cut.dead)),
        last_seen: get(row, "last_seen")?,
        retried_per_s: allowed(recent, up_to(per_s("retried_per_s")?, cut.failed)),
        dead_per_s: allowed(dead, up_to(per_s("dead_per_s")?, cut.dead)),
    }))
}

fn allowed<T>(access: Access, reading: Reading<T>) -> Reading<T> {
    match access {
        Access::Yes => reading,
        Access::Denied => Reading::Denied,
        Access::Missing => Reading::Unknown,
    }
}

fn up_to<T>(value: T, cut: bool) -> Reading<T> {
    if cut { Reading::AtLeast(value) } else { Reading::Exact(value) }
}
