//! One attempt at a job: runs the handler, whatever it does, to an answer.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::handler::{ClaimedJob, Handler, JobError};
use super::held::{Key, Said};

/// How long a handler may go on after it was asked to stop; then it is dropped where it stands.
pub(super) const AFTER_STOP: Duration = Duration::from_secs(2);

/// Runs the handler. A panic is a failure like any other.
pub(super) async fn attempt(handler: Arc<dyn Handler>, job: ClaimedJob, stop: CancellationToken) -> (Key, Said) {
    let key = Key { id: job.id, attempt: job.attempt };
    let work = AssertUnwindSafe(async { handler.handle(job, stop.clone()).await }).catch_unwind();
    let too_late = async {
        stop.cancelled().await;
        sleep(AFTER_STOP).await;
    };
    let said = tokio::select! {
        biased;
        result = work => match result {
            Ok(Ok(())) => Said::Done,
            Ok(Err(JobError::Retry(why))) if stop.is_cancelled() => Said::GivenBack(why),
            Ok(Err(error)) => Said::Failed(error),
            Err(panic) => Said::Failed(JobError::Retry(format!("the handler panicked: {}", words(&*panic)))),
        },
        () = too_late => Said::GivenBack("the worker stopped before the job was done".to_owned()),
    };
    (key, said)
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
