//! A worker whose handler does what the test says, and a record of what happened.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use queuetop::db::{ConnInfo, Connector, DbError, Env, SqlLog};
use queuetop::worker::{AttemptEnd, ClaimedJob, Handler, JobError, RetryDelay, Settings, Worker};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::LIMIT;

/// What a job's payload asks of the handler: `{"do": "finish" | "fail" | "never" | "panic" | "wait" | "deaf"}`; `say` is
/// the error.
#[derive(Debug, serde::Deserialize)]
struct Payload {
    r#do: String,
    say: Option<String>,
}

/// What happened so far; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    events: Arc<Mutex<Vec<Event>>>,
    /// Lets jobs that wait finish.
    pub(super) go: CancellationToken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// True: the database's notifications arrive.
    Connected(bool),
    Disconnected,
    Refused(String),
    LeaseLost(Uuid, i32),
    Began(Uuid, i32),
    /// The handler was asked to stop.
    Stopped(Uuid, i32),
    Ended(Uuid, i32, AttemptEnd),
}

impl Record {
    fn push(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }

    pub(super) fn all(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    pub(super) fn has(&self, event: &Event) -> bool {
        self.all().contains(event)
    }

    /// How often it happened.
    pub(super) fn count(&self, event: &Event) -> usize {
        self.all().iter().filter(|had| *had == event).count()
    }

    /// How many have begun and not ended.
    pub(super) fn open(&self) -> usize {
        let all = self.all();
        let began = all.iter().filter(|event| matches!(event, Event::Began(..))).count();
        began - all.iter().filter(|event| matches!(event, Event::Ended(..))).count()
    }

    pub(super) fn ends(&self) -> Vec<AttemptEnd> {
        let end = |event: Event| if let Event::Ended(_, _, end) = event { Some(end) } else { None };
        self.all().into_iter().filter_map(end).collect()
    }
}

impl Handler for Record {
    fn handle(&self, job: ClaimedJob, stop: CancellationToken) -> BoxFuture<'_, Result<(), JobError>> {
        Box::pin(async move {
            self.push(Event::Began(job.id, job.attempt));
            let payload: Payload = job.json()?;
            match payload.r#do.as_str() {
                "fail" => {
                    let error = payload.say.unwrap_or_else(|| format!("attempt {} failed\0", job.attempt));
                    Err(JobError::Retry(error))
                }
                "never" => Err(JobError::Permanent("no such customer".to_owned())),
                "panic" => panic!("out of cheese"),
                "wait" => {
                    tokio::select! {
                        () = self.go.cancelled() => Ok(()),
                        () = stop.cancelled() => {
                            self.push(Event::Stopped(job.id, job.attempt));
                            Err(JobError::Retry("asked to stop".to_owned()))
                        }
                    }
                }
                "deaf" => {
                    self.go.cancelled().await;
                    Ok(())
                }
                _ => Ok(()),
            }
        })
    }

    fn ended(&self, job: Uuid, attempt: i32, end: AttemptEnd) {
        self.push(Event::Ended(job, attempt, end));
    }

    fn happened(&self, event: queuetop::worker::Event<'_>) {
        use queuetop::worker::Event as Told;
        self.push(match event {
            Told::Connected { poll_only } => Event::Connected(poll_only.is_none()),
            Told::Disconnected(_) => Event::Disconnected,
            Told::Refused { call, error } => Event::Refused(format!("{call}: {error}")),
            Told::LeaseLost { job, attempt } => Event::LeaseLost(job, attempt),
        });
    }
}

/// Small times, so that tests are quick; short enough delays that retries show.
pub(super) fn settings(queue: &str) -> Settings {
    Settings {
        lease: Duration::from_secs(30),
        concurrency: 3,
        poll: Duration::from_millis(20),
        grace: Duration::from_millis(50),
        cut_after: Duration::from_millis(300),
        retry: RetryDelay { base: Duration::from_millis(1), cap: Duration::from_millis(1), jitter: 0.0 },
        ..Settings::new(queue)
    }
}

pub(super) fn connector(dsn: &str) -> Arc<Connector> {
    let mut env = Env::of_process();
    env.vars.clear();
    let info = ConnInfo::resolve(Some(dsn), &env).expect("a good DSN");
    Arc::new(Connector::new(info, SqlLog::default()))
}

/// A worker at work.
pub(super) struct AtWork {
    pub(super) stop: CancellationToken,
    pub(super) task: JoinHandle<Result<(), DbError>>,
}

impl AtWork {
    pub(super) fn start(dsn: &str, settings: Settings, record: &Record) -> Self {
        let stop = CancellationToken::new();
        let worker = Worker::new(settings, connector(dsn), record.clone());
        let task = tokio::spawn(worker.run(stop.clone()));
        Self { stop, task }
    }

    /// Stops it and waits until it has ended.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        let ended = tokio::time::timeout(LIMIT, self.task).await.expect("it ends").expect("it does not panic");
        ended.expect("it ends well");
    }

    /// Sudden death.
    pub(super) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.is_err_and(|error| error.is_cancelled()), "it was alive");
    }
}

/// Waits until the condition holds.
pub(super) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let looked = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, looked).await.is_ok(), "not within {} s: {what}", LIMIT.as_secs());
}
