//! A session that comes back by itself, for the parts of the workload that are no workers.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use tokio_util::sync::CancellationToken;

use crate::db::{Backoff, Connector, Limits, Purpose, Session, Statement};

const LIMITS: Limits = Limits::within(Duration::from_secs(5));

/// One connection of one part.
pub(super) struct Link {
    connector: Arc<Connector>,
    stop: CancellationToken,
    session: Option<Session>,
    backoff: Backoff,
}

impl Link {
    pub(super) fn new(connector: Arc<Connector>, stop: CancellationToken) -> Self {
        Self { connector, stop, session: None, backoff: Backoff::default() }
    }

    /// Calls something, after connecting where that is needed. `None`: it did not go well (the next call tries again) or the
    /// demo stops. The workload goes on without; what is wrong shows on the screen and stands in the log.
    pub(super) async fn call(&mut self, label: &'static str, statement: Statement) -> Option<Vec<Row>> {
        let stop = self.stop.clone();
        Box::pin(stop.run_until_cancelled(self.try_call(label, statement))).await.flatten()
    }

    async fn try_call(&mut self, label: &'static str, statement: Statement) -> Option<Vec<Row>> {
        let began = Instant::now();
        let session = match self.session.take() {
            Some(session) => Ok(session),
            None => self.connector.connect(Purpose::Act).await,
        };
        let error = match session {
            Ok(session) => match session.call(label, &statement, LIMITS).await {
                Ok(rows) => {
                    self.backoff.reset();
                    self.session = Some(session);
                    return Some(rows);
                }
                Err(error) => error,
            },
            Err(error) => error,
        };
        tracing::warn!(label, %error, "a part of the demo's workload failed");
        sleep(self.backoff.after_failure(began.elapsed(), fastrand::f64())).await;
        None
    }

    /// Waits; false when the demo stops meanwhile.
    pub(super) async fn pause(&self, span: Duration) -> bool {
        self.stop.run_until_cancelled(sleep(span)).await.is_some()
    }
}
