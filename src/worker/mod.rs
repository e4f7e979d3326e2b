//! The reference worker: claims jobs of one queue, runs a handler for each, keeps their leases, and tells the queue how
//! they ended. A library: a Rust program brings a [`Handler`] and a way to connect; `demo` runs real ones.
//!
//! - **At least once.** A job runs again when its worker died, when its lease ran out, or when its end could not be told
//!   in time. What the fence keeps from happening twice is the end of a job, not what its handler did: handlers must be
//!   idempotent ([`ClaimedJob::effect_id`], and `examples/`).
//! - **No more than it can run.** A claim never asks for more jobs than there are free slots: a job that waits in a
//!   worker's memory loses its lease there.
//! - **Fenced.** Every call names worker and attempt. A job that the answer to a heartbeat does not name is lost: its
//!   handler is asked to stop, and cut off when it does not. What it says all the same is told, and refused, so that the
//!   history shows where something may have been done twice.
//! - **While the database is away** handlers go on until their leases would have run out, and what they said is told
//!   after the next connect.
//! - **The database's clock.** All times on rows are the database's; here only spans are measured.
//!
//! It needs no right but to execute the workers' functions. It must not know how connections are made, nor anything
//! about screens.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use futures::future::BoxFuture;
//! use queuetop::db::{Connector, DbError};
//! use queuetop::worker::{ClaimedJob, Handler, JobError, Settings, Worker};
//! use tokio_util::sync::CancellationToken;
//!
//! struct Mailer;
//!
//! impl Handler for Mailer {
//!     fn handle(&self, job: ClaimedJob, _stop: CancellationToken) -> BoxFuture<'_, Result<(), JobError>> {
//!         Box::pin(async move {
//!             let to: String = job.json()?;
//!             println!("to {to}, once a key: {}", job.effect_id());
//!             Ok(())
//!         })
//!     }
//! }
//!
//! # async fn run(connector: Arc<Connector>) -> Result<(), DbError> {
//! let stop = CancellationToken::new(); // cancelled by the program's signal handler
//! Worker::new(Settings::new("emails"), connector, Mailer).run(stop).await
//! # }
//! ```

mod backoff;
mod calls;
mod handler;
mod held;
mod line;
mod rhythm;
mod run;
mod said;
mod settings;
mod tasks;

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::db::{Connector, DbError, Purpose, Session};

pub use backoff::RetryDelay;
pub use handler::{AttemptEnd, ClaimedJob, Event, Handler, JobError};
pub use settings::Settings;

/// Makes sessions for a worker.
pub trait Connect: Send + Sync + 'static {
    /// A session that may write, in the queue's database.
    fn connect(&self) -> BoxFuture<'_, Result<Session, DbError>>;
}

impl Connect for Arc<Connector> {
    fn connect(&self) -> BoxFuture<'_, Result<Session, DbError>> {
        Box::pin(Connector::connect(self, Purpose::Act))
    }
}

/// A worker of one queue.
pub struct Worker {
    settings: Settings,
    connect: Arc<dyn Connect>,
    handler: Arc<dyn Handler>,
}

impl Worker {
    /// A worker that does not run yet.
    #[must_use]
    pub fn new(settings: Settings, connect: impl Connect, handler: impl Handler) -> Self {
        Self { settings, connect: Arc::new(connect), handler: Arc::new(handler) }
    }

    /// Works until `stop` is cancelled: then claims no more, lets running jobs go on for the grace time, asks the rest to
    /// stop and gives them back for another attempt at once. Comes back by itself after any cut.
    ///
    /// Dropping the future is how a worker dies: handlers end where they stand, nobody is told, and the leases run out.
    ///
    /// # Errors
    /// What nobody mends by waiting (a wrong password, a missing function or right), when it is so from the start. After
    /// the first claim every error is waited out.
    pub async fn run(self, stop: CancellationToken) -> Result<(), DbError> {
        Box::pin(run::Running::new(self.settings, self.connect, self.handler).until(stop)).await
    }
}
