//! What a program gives the worker, and what it gets: a handler, and jobs.

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::model::Time;

/// A job under our lease.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedJob {
    /// Its id.
    pub id: Uuid,
    /// Its queue.
    pub queue: String,
    /// The payload as JSON text, as the database writes it.
    pub payload: String,
    /// Higher runs first.
    pub priority: i32,
    /// The number of this attempt, from 1.
    pub attempt: i32,
    /// With this attempt's failure the job is dead.
    pub max_attempts: i32,
    /// The key it was enqueued with.
    pub idempotency_key: Option<String>,
    /// The first ancestor, where this is a replay of a dead letter.
    pub replay_of: Option<Uuid>,
    /// That ancestor's key.
    pub origin_key: Option<String>,
    /// When it was put in, by the database's clock.
    pub created_at: Time,
    /// When it was due, by the database's clock.
    pub run_at: Time,
}

impl ClaimedJob {
    /// The payload as a type of the program's.
    ///
    /// # Errors
    /// A permanent one, since another attempt reads the same text.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        serde_json::from_str(&self.payload)
            .map_err(|error| JobError::Permanent(format!("the payload cannot be read: {error}")))
    }

    /// The same for every attempt and for every replay of the job: the key to give to services that do a thing once a key.
    #[must_use]
    pub fn effect_id(&self) -> Uuid {
        self.replay_of.unwrap_or(self.id)
    }
}

/// Why a job was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// It may go well later.
    #[error("{0}")]
    Retry(String),
    /// It never will: straight to the dead letters.
    #[error("{0}")]
    Permanent(String),
}

/// How an attempt ended for the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptEnd {
    /// The queue has it as completed.
    Completed,
    /// It is queued again.
    Retried,
    /// It is in the dead letters.
    Dead,
    /// Somebody took the job from us; what the handler said counts for nothing.
    Lost,
    /// The queue could not be told. The lease runs out, and the job is tried again.
    Untold,
}

/// What to do with a job.
pub trait Handler: Send + Sync + 'static {
    /// Does the job. `stop` is cancelled when the job is lost and when the worker stops: then whatever is still possible
    /// should be left undone. Two seconds later the future is dropped where it stands.
    fn handle(&self, job: ClaimedJob, stop: CancellationToken) -> BoxFuture<'_, Result<(), JobError>>;

    /// Told when it is settled how an attempt ended, for statistics. Must not block.
    fn ended(&self, job: Uuid, attempt: i32, end: AttemptEnd) {
        let _ = (job, attempt, end);
    }
}
