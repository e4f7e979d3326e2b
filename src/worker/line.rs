//! The worker's session: being made, in use, or lost. Never gives up on its own; whether a failure is final is for the
//! caller to say.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Connect;
use crate::db::{Backoff, Class, DbError, Listener, Listening, Session, listen};

/// The channel of the database's words; the payload is the schema.
const CHANNEL: &str = "queuetop";

/// A session, and what arrives on it by itself.
#[derive(Debug)]
pub(super) struct Up {
    pub(super) session: Session,
    listener: Option<Listener>,
    /// Why notifications do not arrive.
    pub(super) poll_only: Option<String>,
}

#[derive(Debug)]
enum State {
    Down { until: Instant },
    Connecting { task: JoinHandle<Result<Up, DbError>>, since: Instant },
    Up(Box<Up>),
}

/// Something happened to the line.
#[derive(Debug)]
pub(super) enum LineEvent {
    /// It is up.
    Connected,
    /// There is no session; the next try comes by itself.
    Failed(DbError),
    /// The database says that something changed in the schema.
    Notified(String),
}

/// The line.
pub(super) struct Line {
    connect: Arc<dyn Connect>,
    backoff: Backoff,
    /// The session in use has answered a call.
    good: bool,
    state: State,
}

impl Line {
    pub(super) fn new(connect: Arc<dyn Connect>, now: Instant) -> Self {
        Self { connect, backoff: Backoff::default(), good: false, state: State::Down { until: now } }
    }

    pub(super) fn up(&self) -> Option<&Up> {
        match &self.state {
            State::Up(up) => Some(up),
            _ => None,
        }
    }

    /// The session is of no more use. Another is made: at once if this one had been good.
    pub(super) fn drop_session(&mut self, now: Instant) {
        let pause = if self.good { Duration::ZERO } else { self.pause(Duration::ZERO) };
        self.good = false;
        self.state = State::Down { until: now + pause };
    }

    /// The session has answered a call.
    pub(super) fn proved(&mut self) {
        self.good = true;
        self.backoff.reset();
    }

    fn pause(&mut self, took: Duration) -> Duration {
        self.backoff.after_failure(took, fastrand::f64())
    }

    /// Waits for the next event. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> LineEvent {
        loop {
            match &mut self.state {
                State::Down { until } => {
                    tokio::time::sleep_until(*until).await;
                    let connect = Arc::clone(&self.connect);
                    let task = tokio::spawn(async move { open(connect.as_ref()).await });
                    self.state = State::Connecting { task, since: Instant::now() };
                }
                State::Connecting { task, since } => {
                    let since = *since;
                    let made = task.await;
                    return self.made(made, since);
                }
                State::Up(up) => {
                    let event = up.next().await;
                    if let LineEvent::Failed(_) = event {
                        self.drop_session(Instant::now());
                    }
                    return event;
                }
            }
        }
    }

    fn made(&mut self, made: Result<Result<Up, DbError>, tokio::task::JoinError>, since: Instant) -> LineEvent {
        let error = match made {
            Ok(Ok(up)) => {
                self.state = State::Up(Box::new(up));
                return LineEvent::Connected;
            }
            Ok(Err(error)) => error,
            Err(died) => DbError::new(Class::Unreachable, format!("connecting died: {died}"), ""),
        };
        let pause = self.pause(since.elapsed());
        self.state = State::Down { until: Instant::now() + pause };
        LineEvent::Failed(error)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let State::Connecting { task, .. } = &self.state {
            task.abort();
        }
    }
}

impl Up {
    async fn next(&mut self) -> LineEvent {
        let Some(listener) = &mut self.listener else {
            return LineEvent::Failed(self.session.end().await);
        };
        match listener.next().await {
            Some(notice) if notice.channel == CHANNEL => LineEvent::Notified(notice.payload),
            Some(_) => LineEvent::Notified(String::new()),
            None => LineEvent::Failed(self.session.end().await),
        }
    }
}

/// A session that listens. A second one proves that notifications arrive, and goes away again; without it we poll.
async fn open(connect: &dyn Connect) -> Result<Up, DbError> {
    let session = connect.connect().await?;
    let heard = match connect.connect().await {
        Ok(other) => listen(&session, &other, &[CHANNEL.to_owned()]).await?,
        Err(error) => Listening::PollOnly(error.message),
    };
    Ok(match heard {
        Listening::Live(listener) => Up { session, listener: Some(listener), poll_only: None },
        Listening::PollOnly(reason) => Up { session, listener: None, poll_only: Some(reason) },
    })
}
