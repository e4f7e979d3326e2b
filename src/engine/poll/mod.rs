//! The poll: one session that reads the numbers in a rhythm that the load budget allows, never two readings at once,
//! and that comes back by itself after any cut.

mod crowd;
mod facts;
mod reading;
mod rhythm;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub use facts::server_facts;
use reading::Parts;
pub use reading::{fill_handling, read_core, read_failures, read_whole};
use rhythm::FLOOR;
pub use rhythm::Pace;
use tokio::{
    sync::{Notify, mpsc, watch},
    time::{sleep, timeout},
};

use super::{
    event::Event,
    live::{Detect, Live},
};
use crate::db::{Backoff, Class, Connector, DbError, Purpose, Session};

/// How far back the database's own history is read.
const HISTORY: Duration = Duration::from_hours(6);
const MINUTE: Duration = Duration::from_mins(1);
/// A failed reading on a live session is tried again after this, or later where the load asks for it.
const AFTER_FAILURE: Duration = Duration::from_secs(2);
/// The longest of these pauses.
const LONGEST_REST: Duration = Duration::from_secs(30);
/// How often to look for backends where there was none.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The two ways to ask for a reading.
#[derive(Debug, Default)]
pub struct Wake {
    /// The user wants one now; also ends the pause before the next try to connect.
    pub now: Notify,
    /// Something changed: one soon, as far as the load allows.
    pub changed: Notify,
}

/// What the poll needs.
pub struct Poll {
    /// Makes the session.
    pub connector: Arc<Connector>,
    /// Finds the backends.
    pub detect: Arc<dyn Detect>,
    /// How often; may change at any time.
    pub pace: watch::Receiver<Pace>,
    /// Asks for readings out of turn.
    pub wake: Arc<Wake>,
    /// Where others find the session and the backends.
    pub live: watch::Sender<Option<Arc<Live>>>,
    /// What happens. When nobody listens any more, the poll ends.
    pub events: mpsc::Sender<Event>,
}

/// Nobody listens any more.
struct Deserted;

impl Poll {
    /// Polls until nobody listens any more.
    pub async fn run(mut self) {
        let mut backoff = Backoff::default();
        loop {
            let tried = Instant::now();
            let Ok(error) = self.one_session(&mut backoff).await else {
                return;
            };
            self.live.send_replace(None);
            let took = tried.elapsed();
            let pause = backoff.after_failure(took, fastrand::f64());
            let retry_in = (!error.is_final()).then_some(pause);
            if self.tell(Event::Lost { reason: error.to_string(), retry_in, connected: false }).await.is_err() {
                return;
            }
            let least = Duration::from_secs(1).saturating_sub(took);
            match retry_in {
                Some(pause) => {
                    sleep(least.min(pause)).await;
                    let _ = timeout(pause.saturating_sub(least), self.wake.now.notified()).await;
                }
                // Trying again would only repeat the refusal, and may lock the account.
                None => self.wake.now.notified().await,
            }
        }
    }

    async fn tell(&self, event: Event) -> Result<(), Deserted> {
        self.events.send(event).await.map_err(|_| Deserted)
    }

    /// From connecting to the end of the session; says why it ended.
    async fn one_session(&mut self, backoff: &mut Backoff) -> Result<DbError, Deserted> {
        let attempt = backoff.failures().saturating_add(1);
        self.tell(Event::Connecting { target: self.connector.target().host, attempt }).await?;
        let session = match self.connector.connect(Purpose::Read).await {
            Ok(session) => Arc::new(session),
            Err(error) => return Ok(error),
        };
        let mut told = None;
        loop {
            let backends = match self.detect.detect(&session).await {
                Ok(found) => Arc::new(found),
                Err(error) => return Ok(error),
            };
            let live = Arc::new(Live { session: Arc::clone(&session), backends });
            self.live.send_replace(Some(Arc::clone(&live)));
            let facts = server_facts(&live);
            if told.as_ref() != Some(&facts) {
                self.tell(Event::Connected(Box::new(facts.clone()))).await?;
                self.tell_history(&live).await?;
                told = Some(facts);
            }
            if let Some(error) = self.readings(&live, backoff).await? {
                return Ok(error);
            }
        }
    }

    async fn tell_history(&self, live: &Live) -> Result<(), Deserted> {
        for backend in live.backends.iter() {
            // Without it the lines begin now; the readings will say what is wrong.
            if let Ok(history) = backend.history(&live.session, HISTORY, MINUTE).await {
                self.tell(Event::HistoryRead(history)).await?;
            }
        }
        Ok(())
    }

    /// Reads again and again. `Some`: the session ended; `None`: look for the backends anew.
    async fn readings(&mut self, live: &Live, backoff: &mut Backoff) -> Result<Option<DbError>, Deserted> {
        let epoch = Instant::now();
        let mut parts = Parts::default();
        let mut failures = 0_u32;
        loop {
            let asked = *self.pace.borrow();
            let pace = parts.allowed(asked);
            let result = parts.read(live, pace, epoch).await;
            let mut rest = Duration::ZERO;
            let mut look_again = live.backends.is_empty() && epoch.elapsed() >= LOOK_AGAIN;
            match result {
                // The rights, the listener and the screen all follow from what the server is: begin anew.
                Ok(_) if live.session.is_standby() != live.session.facts().standby => {
                    return Ok(Some(DbError::other_role(live.session.is_standby())));
                }
                Ok(snapshot) => {
                    backoff.reset();
                    failures = 0;
                    let sharers = if pace.load < asked.load { parts.dashboards } else { 1 };
                    let (every, load) = (parts.core.every(pace), parts.load(pace));
                    self.tell(Event::Rhythm { every, load, cost: snapshot.cost, sharers }).await?;
                    self.tell(Event::Polled(Box::new(snapshot))).await?;
                }
                Err(error) => {
                    if error.class == Class::Deadline {
                        // Not before the old session is gone: there are never more than three.
                        live.session.end().await;
                    }
                    if error.is_link_lost() || live.session.ended().is_some() {
                        return Ok(Some(error));
                    }
                    failures += 1;
                    rest = AFTER_FAILURE.saturating_mul(failures).min(LONGEST_REST);
                    let retry_in = parts.core.every(pace).max(rest);
                    self.tell(Event::Lost { reason: error.to_string(), retry_in: Some(retry_in), connected: true })
                        .await?;
                    // The objects may have been changed under us: by a migration, say.
                    look_again = matches!(error.class, Class::Undefined | Class::Shape);
                }
            }
            if let Some(error) = self.wait(&mut parts, epoch, rest, &live.session).await? {
                return Ok(Some(error));
            }
            if look_again {
                return Ok(None);
            }
        }
    }

    /// Waits until the next reading is due, but at least for `rest`. `Some`: the session ended meanwhile.
    async fn wait(
        &mut self,
        parts: &mut Parts,
        epoch: Instant,
        rest: Duration,
        session: &Session,
    ) -> Result<Option<DbError>, Deserted> {
        let from = epoch.elapsed();
        let mut changed = false;
        let mut paced = true;
        loop {
            let pace = parts.allowed(*self.pace.borrow_and_update());
            let next = if changed { parts.core.soonest(pace) } else { parts.core.due(pace) };
            let pause = next.max(from.saturating_add(rest)).saturating_sub(epoch.elapsed());
            tokio::select! {
                biased;
                error = session.end() => return Ok(Some(error)),
                () = self.events.closed() => return Err(Deserted),
                () = self.wake.now.notified() => {
                    sleep(FLOOR).await;
                    parts.forget();
                    return Ok(None);
                }
                () = self.wake.changed.notified(), if !changed => changed = true,
                // When nobody can change the pace any more it stays as it is.
                still = self.pace.changed(), if paced => paced = still.is_ok(),
                () = sleep(pause) => return Ok(None),
            }
        }
    }
}
