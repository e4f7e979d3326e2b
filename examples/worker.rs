//! A worker: takes jobs from the queue `emails`, does them, and says how they ended. Stops cleanly on SIGTERM and Ctrl-C.
//!
//! ```text
//! cargo run --example worker -- postgresql:///mydb
//! psql mydb -c "select * from enqueue_job('emails', '{\"to\": \"ada@example.com\"}')"
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use queuetop::db::{ConnInfo, Connector, Env, SqlLog};
use queuetop::worker::{ClaimedJob, Handler, JobError, Settings, Worker};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// What `enqueue_job` was given as payload.
#[derive(Deserialize)]
struct Email {
    to: String,
}

/// Sends e-mails; here it only says so.
pub(crate) struct Mailer;

impl Handler for Mailer {
    fn handle(&self, job: ClaimedJob, stop: CancellationToken) -> BoxFuture<'_, Result<(), JobError>> {
        Box::pin(async move {
            // A payload that cannot be read is a permanent error: the job goes to the dead letters at once.
            let email: Email = job.json()?;
            if !email.to.contains('@') {
                return Err(JobError::Permanent(format!("`{}` is no address", email.to)));
            }
            // The lease is gone or the worker stops: leave undone what is not done yet. The job is tried again.
            if stop.is_cancelled() {
                return Err(JobError::Retry("stopped before sending".to_owned()));
            }
            // The service drops a second request with the same key. The key is the same for each attempt and each replay.
            println!("POST /send Idempotency-Key: {} to {}", job.effect_id(), email.to);
            Ok(())
        })
    }
}

/// Works until `stop` is cancelled.
///
/// # Errors
/// When the database cannot be used from the start.
pub(crate) async fn work(dsn: &str, stop: CancellationToken) -> Result<(), Box<dyn Error + Send + Sync>> {
    let info = ConnInfo::resolve(Some(dsn), &Env::of_process())?;
    let connector = Arc::new(Connector::new(info, SqlLog::default()));
    let settings = Settings {
        name: Some("mailer".to_owned()),
        // Longer than sending usually takes. Heartbeats extend it, so this is how long a dead worker's jobs wait.
        lease: Duration::from_mins(1),
        concurrency: 4,
        ..Settings::new("emails")
    };
    Ok(Worker::new(settings, connector, Mailer).run(stop).await?)
}

#[cfg(not(test))]
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    use tokio::signal::unix::{SignalKind, signal};

    let dsn = std::env::args().nth(1).ok_or("usage: worker DSN")?;
    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let asked = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        asked.cancel();
    });
    work(&dsn, stop).await
}
