//! Push: one session that listens and wakes the poll. It also is the session for lists and details. The poll stays the
//! truth: a notification only says "look", and after each new LISTEN the poll is woken, so that nothing that happened in
//! between is missed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{mpsc, watch},
    time::{sleep, sleep_until, timeout},
};

use super::{
    event::Event,
    live::{Live, LiveView},
    poll::Wake,
};
use crate::db::{
    Backoff, Connector, DbError, Limits, Listener, Listening, Purpose, Session, Statement, listen, stop_listening,
};

/// The server tells at most ten times a second and may swallow the last change of a burst, so we look once more after it.
const AFTER_LAST: Duration = Duration::from_millis(150);
/// A silent link is tried this often: not every network that drops packets says so.
const PROVE_ALIVE: Duration = Duration::from_secs(30);

/// What push needs.
pub struct Push {
    /// Makes the session.
    pub connector: Arc<Connector>,
    /// The poll's session: says which backends there are, and proves that notifications arrive.
    pub polled: LiveView,
    /// Where others find the session for lists and details.
    pub live: watch::Sender<Option<Arc<Live>>>,
    /// The poll's bell.
    pub wake: Arc<Wake>,
    /// True while the program is about to be suspended or is: then nobody reads, and nothing may listen.
    pub asleep: watch::Receiver<bool>,
    /// Whether LISTEN is in force.
    pub listens: watch::Sender<bool>,
    /// What happens. When nobody listens any more, push ends.
    pub events: mpsc::Sender<Event>,
}

/// Nobody listens any more.
struct Deserted;

impl Push {
    /// Listens until nobody wants to know any more.
    pub async fn run(mut self) {
        let mut backoff = Backoff::default();
        // While the poll has no session there is nothing to wake; it says so itself.
        while let Ok(polled) = self.poll_is_connected().await {
            let tried = Instant::now();
            let Ok(error) = self.one_session(&polled, &mut backoff).await else {
                return;
            };
            self.live.send_replace(None);
            if let Some(error) = error {
                if self.tell(false, Some(error.to_string())).await.is_err() {
                    return;
                }
                sleep(backoff.after_failure(tried.elapsed(), fastrand::f64())).await;
            }
        }
    }

    async fn poll_is_connected(&mut self) -> Result<Arc<Live>, Deserted> {
        tokio::select! {
            polled = self.polled.wait_for(Option::is_some) => polled.ok().and_then(|live| live.clone()).ok_or(Deserted),
            () = self.events.closed() => Err(Deserted),
        }
    }

    async fn tell(&self, live: bool, note: Option<String>) -> Result<(), Deserted> {
        self.events.send(Event::PushState { live, note }).await.map_err(|_| Deserted)
    }

    /// From connecting to the end of the session, or (`None`) to a change of backends.
    async fn one_session(&mut self, polled: &Arc<Live>, backoff: &mut Backoff) -> Result<Option<DbError>, Deserted> {
        let session = match self.connector.connect(Purpose::Read).await {
            Ok(session) => Arc::new(session),
            Err(error) => return Ok(Some(error)),
        };
        let live = Live { session: Arc::clone(&session), backends: Arc::clone(&polled.backends) };
        self.live.send_replace(Some(Arc::new(live)));
        let channels: Vec<String> = polled.backends.iter().filter_map(|backend| backend.channel()).collect();
        if channels.is_empty() {
            self.tell(false, Some("the database sends no notifications".to_owned())).await?;
            return self.keep(&session, None, polled).await;
        }
        match listen(&session, &polled.session, &channels).await {
            Ok(Listening::Live(listener)) => {
                backoff.reset();
                self.tell(true, None).await?;
                // What changed before LISTEN was in force was told to nobody.
                self.wake.changed.notify_one();
                self.listens.send_replace(true);
                let kept = self.keep(&session, Some(listener), polled).await;
                self.listens.send_replace(false);
                kept
            }
            Ok(Listening::PollOnly(reason)) => {
                backoff.reset();
                self.tell(false, Some(reason)).await?;
                self.keep(&session, None, polled).await
            }
            Err(error) => Ok(Some(error)),
        }
    }

    /// Waits until the program goes on; false: it ends.
    async fn wake_up(&mut self) -> bool {
        tokio::select! {
            awake = self.asleep.wait_for(|asleep| !*asleep) => awake.is_ok(),
            () = self.events.closed() => false,
        }
    }

    /// Keeps the session until it ends or the poll has found other backends.
    async fn keep(
        &mut self,
        session: &Session,
        mut listener: Option<Listener>,
        polled: &Arc<Live>,
    ) -> Result<Option<DbError>, Deserted> {
        let mut look_again: Option<tokio::time::Instant> = None;
        loop {
            let next = async {
                if let Some(listener) = &mut listener {
                    return timeout(PROVE_ALIVE, listener.next()).await.is_ok();
                }
                sleep(PROVE_ALIVE).await;
                false
            };
            let last_look = async {
                match look_again {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                error = session.end() => return Ok(Some(error)),
                () = self.events.closed() => return Err(Deserted),
                true = falls_asleep(&mut self.asleep) => {
                    // A backend that sends to nobody would hold the server's queue of notifications.
                    stop_listening(session).await;
                    self.listens.send_replace(false);
                    return if self.wake_up().await { Ok(None) } else { Err(Deserted) };
                }
                () = last_look => {
                    look_again = None;
                    self.wake.changed.notify_one();
                }
                told = next => {
                    if told {
                        self.wake.changed.notify_one();
                        look_again = Some(tokio::time::Instant::now() + AFTER_LAST);
                    } else if let Err(error) = prove_alive(session).await {
                        session.end().await;
                        return Ok(Some(error));
                    }
                }
                other = other_backends(&mut self.polled, polled) => return if other { Ok(None) } else { Err(Deserted) },
            }
        }
    }
}

/// Waits until the program is about to be suspended; never, when nobody can suspend it.
async fn falls_asleep(asleep: &mut watch::Receiver<bool>) -> bool {
    if asleep.wait_for(|asleep| *asleep).await.is_err() {
        std::future::pending::<()>().await;
    }
    true
}

/// Asks the server for a sign of life.
async fn prove_alive(session: &Session) -> Result<(), DbError> {
    let ask = Statement::new("select 1");
    session.read_one("alive", ask, Limits::within(Duration::from_secs(5))).await.map(drop)
}

/// Waits until the poll has found something else than `known`; false: the poll has ended.
async fn other_backends(polled: &mut LiveView, known: &Arc<Live>) -> bool {
    let other = |live: &Option<Arc<Live>>| {
        live.as_ref().is_some_and(|live| !Arc::ptr_eq(&live.backends, &known.backends) && !same(live, known))
    };
    polled.wait_for(other).await.is_ok()
}

fn same(one: &Live, other: &Live) -> bool {
    // A standby that was promoted has notifications now.
    let standby = |live: &Live| live.session.facts().standby;
    let names = |live: &Live| -> Vec<_> {
        live.backends.iter().map(|backend| (backend.kind(), backend.schema().to_owned(), backend.channel())).collect()
    };
    standby(one) == standby(other) && names(one) == names(other)
}
