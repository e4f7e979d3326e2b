//! The reference worker: claims jobs, runs a handler for each, keeps their leases, and tells the queue how they ended.
//! Usable as a library by any Rust program; `demo` runs real ones.
//!
//! - Never claims more than it has free slots: a job that waits in a worker's memory loses its lease there.
//! - Extends all leases at a third of their length. A job that the answer does not name is lost: its handler is asked to
//!   stop and what it says is dropped.
//! - A job is delivered at least once. What the fence keeps from being done twice is the end of a job, not what its
//!   handler did: handlers must be idempotent (see `examples/`).
//! - While the database is away the handlers go on, since nobody else can take their jobs either, and what they said is
//!   told after the next connect; the fence refuses it where somebody took the job meanwhile.
//!
//! It must not decide by this machine's clock when a job may run or whose it is: those times are the database's.

mod attempt;
mod backoff;
mod calls;
mod handler;
mod held;
mod run;
mod settings;
mod talk;

pub use backoff::RetryDelay;
pub use handler::{AttemptEnd, ClaimedJob, Handler, JobError};
pub use run::Worker;
pub use settings::Settings;
