//! Acting: one call of an operator function, an answer for each target.

use std::collections::HashMap;

use serde_json::Value;
use tokio_postgres::Row;

use super::row::{get, text};
use super::texts::fill;
use super::{ACT_LIMITS, Jobs};
use crate::backends::ActRequest;
use crate::db::{DbError, Session, Statement};
use crate::model::{Action, Outcome, TargetResult, Time};

/// Acts on all targets in one transaction.
pub(super) async fn act(
    jobs: &Jobs,
    session: &Session,
    request: &ActRequest,
) -> Result<(Time, Vec<TargetResult>), DbError> {
    let rows = session.call("act", &statement(jobs, request), ACT_LIMITS).await?;
    let Some(first) = rows.first() else {
        return Err(DbError::shape("the action has no answer"));
    };
    let at = get(first, "at")?;
    let mut answers = HashMap::new();
    for row in &rows {
        if let Some(answer) = answer(row)? {
            answers.insert(answer.id.clone(), answer);
        }
    }
    let none = |id: &str| TargetResult { id: id.to_owned(), outcome: Outcome::Unknown, state_now: None, detail: None };
    let results = request.targets.iter().map(|(job, _)| answers.remove(&job.id).unwrap_or_else(|| none(&job.id)));
    Ok((at, results.collect()))
}

fn statement(jobs: &Jobs, request: &ActRequest) -> Statement {
    let (function, force) = match request.action {
        Action::Requeue { force } => ("operator_requeue", Some(force)),
        Action::DeadLetter { force } => ("operator_dead_letter", Some(force)),
        Action::Reap => ("operator_reap", None),
    };
    let arguments = if force.is_some() { "$1, $2, $3" } else { "$1, $2" };
    let more = [("{function}", function), ("{arguments}", arguments)];
    let sql = fill(include_str!("sql/act.sql"), &jobs.texts.schema, &more);
    let targets = Value::Array(request.targets.iter().map(|(_, fence)| fence.0.clone()).collect());
    let statement = Statement::new(sql).json(targets).text(request.reason.clone());
    match force {
        Some(force) => statement.bool(force),
        None => statement,
    }
}

fn answer(row: &Row) -> Result<Option<TargetResult>, DbError> {
    let Some(id) = text(row, "id")? else {
        return Ok(None);
    };
    let outcome = Outcome::parse(&text(row, "outcome")?.unwrap_or_default());
    Ok(Some(TargetResult { id, outcome, state_now: text(row, "state_now")?, detail: text(row, "detail")? }))
}
