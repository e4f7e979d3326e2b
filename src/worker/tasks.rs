//! The handlers at work: one task each. All of them end with this, wherever they are.

use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::handler::{ClaimedJob, Handler, JobError};
use super::held::Key;

/// An attempt that has come to its end.
pub(super) type Finished = (Key, Result<(), JobError>);

/// The tasks.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    set: JoinSet<Finished>,
    handles: HashMap<Key, AbortHandle>,
}

impl Tasks {
    /// Starts a handler. `limit` is the most time it may take.
    pub(super) fn start(
        &mut self,
        handler: Arc<dyn Handler>,
        job: ClaimedJob,
        stop: CancellationToken,
        limit: Option<Duration>,
    ) {
        let key = Key { id: job.id, attempt: job.attempt };
        let task = async move {
            let work = AssertUnwindSafe(async { handler.handle(job, stop).await }).catch_unwind();
            let ended = match limit {
                None => work.await,
                Some(limit) => tokio::time::timeout(limit, work)
                    .await
                    .unwrap_or_else(|_| Ok(Err(JobError::Retry(format!("took longer than {limit:?}"))))),
            };
            (key, ended.unwrap_or_else(|panic| Err(JobError::Retry(words(&*panic)))))
        };
        self.handles.insert(key, self.set.spawn(task));
    }

    /// The next attempt that ends; never, when none runs. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> Finished {
        loop {
            match self.set.join_next().await {
                Some(Ok(finished)) => {
                    self.handles.remove(&finished.0);
                    return finished;
                }
                // Cut off: whoever did it has noted it.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Ends a handler at its next `await`.
    pub(super) fn cut(&mut self, key: Key) {
        if let Some(handle) = self.handles.remove(&key) {
            handle.abort();
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the handler panicked: {}", text.unwrap_or("no message"))
}
