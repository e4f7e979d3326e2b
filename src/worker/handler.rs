//! What a program gives the worker, and what it gets: a handler, and jobs.

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::db::DbError;
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

    /// True when a failure of this attempt ends in the dead letters.
    #[must_use]
    pub fn is_last_attempt(&self) -> bool {
        self.attempt >= self.max_attempts
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
    /// The job is not ours any more; what the handler said counts for nothing. After a cut it may also mean that the queue
    /// had been told already and only its answer was lost.
    Lost,
    /// The queue could not be told. The lease runs out, and the job is tried again.
    Untold,
}

/// Something that happened to a worker or to one of its jobs.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// There is a session. `poll_only` says why the database's notifications do not arrive, where they do not.
    Connected {
        /// Why only polling tells of new jobs.
        poll_only: Option<&'a str>,
    },
    /// The session is gone, or none came about; the worker tries again.
    Disconnected(&'a DbError),
    /// The database refused a call; the worker goes on.
    Refused {
        /// Which call.
        call: &'static str,
        /// Why.
        error: &'a DbError,
    },
    /// Somebody else has the job, or may have it by now; its handler is asked to stop.
    LeaseLost {
        /// The job.
        job: Uuid,
        /// Which attempt.
        attempt: i32,
    },
}

/// What to do with a job.
pub trait Handler: Send + Sync + 'static {
    /// Does the job. `stop` is cancelled when the job is lost and when the worker's grace time is over: then whatever is
    /// still possible should be left undone. [`Settings::cut_after`] later the future is dropped where it stands. A panic
    /// counts as [`JobError::Retry`].
    ///
    /// [`Settings::cut_after`]: super::Settings::cut_after
    fn handle(&self, job: ClaimedJob, stop: CancellationToken) -> BoxFuture<'_, Result<(), JobError>>;

    /// Told when it is settled how an attempt ended, for statistics. Must not block.
    fn ended(&self, job: Uuid, attempt: i32, end: AttemptEnd) {
        let _ = (job, attempt, end);
    }

    /// Told what else happens, for logs and statistics. Must not block.
    fn happened(&self, event: Event<'_>) {
        let _ = event;
    }
}
