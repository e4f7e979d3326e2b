//! The rules of the verdict line, run once: what is wrong with single queues belongs into a check-up, too.

use std::time::Duration;

use crate::backends;
use crate::db::{DbError, Session};
use crate::diagnose::checks::Checked;
use crate::diagnose::{self, NOT_CHECKED};
use crate::engine::read_whole;
use crate::model::checkup::Surroundings;
use crate::model::{Finding, History, Snapshot, Time};
use crate::text::Safe;

/// The rules look back five minutes.
const HISTORY: Duration = Duration::from_mins(10);
/// Rates are those of the last minutes that are over.
const RATES: Duration = Duration::from_secs(150);
/// The verdict may be as long as it is.
const COLUMNS: usize = 500;

/// When the numbers were read, and what the rules say; nothing where there is no queue.
pub(super) async fn check(session: &Session, around: &Surroundings) -> (String, Option<Checked>) {
    let schema = around.schema.as_deref();
    match read(session, schema).await {
        Ok((snapshot, history)) => {
            (snapshot.taken_at.to_rfc3339(), schema.map(|_| judge(&snapshot, &history, &around.notes)))
        }
        Err(error) => (
            Time::NegInfinity.to_rfc3339(),
            Some(checked(String::new(), Vec::new(), Some(Safe::full(&error.message).into()))),
        ),
    }
}

async fn read(session: &Session, schema: Option<&str>) -> Result<(Snapshot, History), DbError> {
    let backends = if schema.is_some() { backends::all(session, schema).await? } else { Vec::new() };
    let mut history = History::default();
    for backend in &backends {
        // Where none is kept, rules that need it say so.
        for (queue, minutes) in backend.history(session, HISTORY, Duration::from_mins(1)).await.unwrap_or_default() {
            history.preload(&queue, minutes);
        }
    }
    let mut snapshot = read_whole(session, &backends).await?;
    for queue in &mut snapshot.queues {
        queue.rates = history.rates_over(&queue.id, snapshot.taken_at, RATES);
    }
    Ok((snapshot, history))
}

fn judge(snapshot: &Snapshot, history: &History, notes: &[String]) -> Checked {
    if snapshot.queues.is_empty() && !notes.is_empty() {
        // None were seen, which is not the same as that there are none.
        return checked(String::new(), Vec::new(), Some(Safe::full(&notes.join("; ")).into()));
    }
    // What this role may do is a check of its own.
    let all = diagnose::findings(snapshot, history, None);
    let fine = diagnose::verdict(&all, snapshot, COLUMNS).text;
    let (unseen, findings): (Vec<_>, Vec<_>) = all.into_iter().partition(|finding| finding.id == NOT_CHECKED);
    checked(fine, findings, unseen.into_iter().next().map(|finding| finding.sentence))
}

fn checked(fine: String, findings: Vec<Finding>, unseen: Option<String>) -> Checked {
    Checked::new("queues", "queues", fine, findings, unseen)
}
