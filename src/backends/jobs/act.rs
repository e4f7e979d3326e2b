//! Acting: one call of an operator function, an answer for each target, and what became of a call whose answer was lost.

use std::collections::HashMap;

use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::facts::Access;
use super::row::{get, text};
use super::texts::fill;
use super::{ACT_LIMITS, Jobs, LIST_LIMITS};
use crate::backends::{ActRequest, Acted};
use crate::db::{DbError, Session, Statement};
use crate::model::{Action, Fence, JobRef, Outcome, TargetResult};

/// Acts on all targets in one transaction.
pub(super) async fn act(jobs: &Jobs, session: &Session, request: &ActRequest) -> Result<Acted, DbError> {
    let (function, arguments) = call(request.action);
    let sql =
        fill(include_str!("sql/act.sql"), &jobs.texts.schema, &[("{function}", function), ("{arguments}", arguments)]);
    let targets = || Value::Array(request.targets.iter().map(|(_, fence)| compared(request.action, fence)).collect());
    let statement = Statement::new(sql).uuid(request.token).text(request.reason.clone());
    let statement = match request.action {
        Action::Requeue { force } | Action::DeadLetter { force } | Action::Replay { force } => {
            statement.json(targets()).bool(force)
        }
        Action::Reap => statement.json(targets()),
        Action::Reschedule { run_at } => statement.json(targets()).time(run_at),
        Action::SetPriority { priority } => statement.json(targets()).int4(priority),
        Action::Undo { audit } => statement.int8(audit),
    };
    let rows = session.call("act", &statement, ACT_LIMITS).await?;
    let asked: Vec<&JobRef> = request.targets.iter().map(|(job, _)| job).collect();
    acted(jobs, session, &rows, request.token, &asked).await
}

/// Pauses a queue or lets it go on; false: it was so already.
pub(super) async fn set_paused(
    jobs: &Jobs,
    session: &Session,
    queue: &str,
    paused: bool,
    reason: Option<&str>,
) -> Result<bool, DbError> {
    let function = if paused { "pause_queue" } else { "resume_queue" };
    let sql = fill("select {schema}.{function}($1, $2) as changed", &jobs.texts.schema, &[("{function}", function)]);
    let statement = Statement::new(sql).text(queue.to_owned()).text(reason.map(str::to_owned));
    let rows = session.call("pause", &statement, ACT_LIMITS).await?;
    rows.first().map(|row| get(row, "changed")).transpose()?.ok_or_else(|| DbError::shape("the call has no answer"))
}

/// What the audit says of the call with this token; `None`: it was not carried out, or not yet.
pub(super) async fn lookup(jobs: &Jobs, session: &Session, token: Uuid) -> Result<Option<Acted>, DbError> {
    let sql = fill(include_str!("sql/acted.sql"), &jobs.texts.schema, &[]);
    let rows = session.read_one("what became of it", Statement::new(sql).uuid(token), LIST_LIMITS).await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let mut results = Vec::new();
    for row in &rows {
        results.extend(answer(row)?);
    }
    Ok(Some(Acted { at: get(first, "at")?, results, audit: Some(get(first, "audit")?) }))
}

/// The function and its arguments beside the token and the reason.
fn call(action: Action) -> (&'static str, &'static str) {
    match action {
        Action::Requeue { .. } => ("operator_requeue", "p_targets => $3, p_force => $4"),
        Action::DeadLetter { .. } => ("operator_dead_letter", "p_targets => $3, p_force => $4"),
        Action::Reap => ("operator_reap", "p_targets => $3"),
        Action::Replay { .. } => ("operator_replay", "p_targets => $3, p_force => $4"),
        Action::Reschedule { .. } => ("operator_reschedule", "p_targets => $3, p_run_at => $4"),
        Action::SetPriority { .. } => ("operator_set_priority", "p_targets => $3, p_priority => $4"),
        Action::Undo { .. } => ("operator_undo", "p_action => $3"),
    }
}

/// What of the row as it was seen must still be so. Its time and priority matter to those who change them.
fn compared(action: Action, fence: &Fence) -> Value {
    let mut seen = fence.0.clone();
    if let Value::Object(keys) = &mut seen {
        if !matches!(action, Action::Reschedule { .. }) {
            keys.remove("run_at");
        }
        if !matches!(action, Action::SetPriority { .. }) {
            keys.remove("priority");
        }
    }
    seen
}

async fn acted(jobs: &Jobs, session: &Session, rows: &[Row], token: Uuid, asked: &[&JobRef]) -> Result<Acted, DbError> {
    let Some(first) = rows.first() else {
        return Err(DbError::shape("the action has no answer"));
    };
    let at = get(first, "at")?;
    let mut answers = HashMap::new();
    for row in rows {
        if let Some(answer) = answer(row)? {
            answers.insert(answer.id.clone(), answer);
        }
    }
    let none = |id: &str| TargetResult { id: id.to_owned(), outcome: Outcome::Unknown, state_now: None, detail: None };
    let results = asked.iter().map(|job| answers.remove(&job.id).unwrap_or_else(|| none(&job.id))).collect();
    Ok(Acted { at, results, audit: audit(jobs, session, token).await })
}

/// The audit row of a call that was carried out. It is only needed for an undo: without it there is none.
async fn audit(jobs: &Jobs, session: &Session, token: Uuid) -> Option<i64> {
    if jobs.facts.access("operator_actions", &["id", "token"]) != Access::Yes {
        return None;
    }
    let sql = fill("select id from {schema}.operator_actions where token = $1", &jobs.texts.schema, &[]);
    let rows = session.read_one("audit", Statement::new(sql).uuid(token), LIST_LIMITS).await.ok()?;
    rows.first().and_then(|row| get(row, "id").ok())
}

fn answer(row: &Row) -> Result<Option<TargetResult>, DbError> {
    let Some(id) = text(row, "id")? else {
        return Ok(None);
    };
    let outcome = Outcome::parse(&text(row, "outcome")?.unwrap_or_default());
    Ok(Some(TargetResult { id, outcome, state_now: text(row, "state_now")?, detail: text(row, "detail")? }))
}
