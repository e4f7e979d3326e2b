//! What stands in a journal: plain values, independent of how the program holds them.

use serde::{Deserialize, Serialize};

use crate::model::{Action, BackendKind, Fence, JobRef, Outcome, QueueId, TargetResult, Time};

/// An action.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ActionRecord {
    Requeue {
        force: bool,
    },
    DeadLetter {
        force: bool,
    },
    Reap {},
    Replay {
        force: bool,
    },
    /// Microseconds since 2000-01-01 UTC, as PostgreSQL has it.
    Reschedule {
        run_at: i64,
    },
    SetPriority {
        priority: i32,
    },
    Undo {
        audit: i64,
    },
}

impl From<Action> for ActionRecord {
    fn from(action: Action) -> Self {
        match action {
            Action::Requeue { force } => Self::Requeue { force },
            Action::DeadLetter { force } => Self::DeadLetter { force },
            Action::Reap => Self::Reap {},
            Action::Replay { force } => Self::Replay { force },
            Action::Reschedule { run_at } => Self::Reschedule { run_at: run_at.to_pg_micros() },
            Action::SetPriority { priority } => Self::SetPriority { priority },
            Action::Undo { audit } => Self::Undo { audit },
        }
    }
}

impl TryFrom<ActionRecord> for Action {
    type Error = String;

    fn try_from(record: ActionRecord) -> Result<Self, String> {
        Ok(match record {
            ActionRecord::Requeue { force } => Self::Requeue { force },
            ActionRecord::DeadLetter { force } => Self::DeadLetter { force },
            ActionRecord::Reap {} => Self::Reap,
            ActionRecord::Replay { force } => Self::Replay { force },
            ActionRecord::Reschedule { run_at } => Self::Reschedule { run_at: Time::from_pg_micros(run_at) },
            ActionRecord::SetPriority { priority } => Self::SetPriority { priority },
            ActionRecord::Undo { .. } => return Err("an undo is no run".into()),
        })
    }
}

/// A target as it was seen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetRecord {
    backend: String,
    queue: String,
    id: String,
    #[serde(default)]
    dead: bool,
    seen: serde_json::Value,
}

impl TargetRecord {
    pub(super) fn of((job, fence): &(JobRef, Fence)) -> Self {
        Self {
            backend: job.queue.backend.to_string(),
            queue: job.queue.name.clone(),
            id: job.id.clone(),
            dead: job.dead,
            seen: fence.0.clone(),
        }
    }

    pub(super) fn into_target(self) -> Result<(JobRef, Fence), String> {
        let backend = match self.backend.as_str() {
            "jobs" => BackendKind::Jobs,
            "pgmq" => BackendKind::Pgmq,
            other => return Err(format!("no such kind of queue: {other}")),
        };
        let queue = QueueId { backend, name: self.queue };
        Ok((JobRef { queue, id: self.id, dead: self.dead }, Fence(self.seen)))
    }
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultRecord {
    id: String,
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_now: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl ResultRecord {
    pub(super) fn of(result: &TargetResult) -> Self {
        Self {
            id: result.id.clone(),
            outcome: result.outcome.as_str().to_owned(),
            state_now: result.state_now.clone(),
            detail: result.detail.clone(),
        }
    }

    pub(super) fn into_result(self) -> TargetResult {
        let outcome = Outcome::parse(&self.outcome);
        TargetResult { id: self.id, outcome, state_now: self.state_now, detail: self.detail }
    }
}
