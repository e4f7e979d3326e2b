//! The poll and the push on a real server, with a backend as small as can be: one table of numbers.

mod cuts;
mod push;
mod standby;
mod tiny;

use std::{sync::Arc, time::Duration};

use queuetop::db::{ConnInfo, Connector, Env, SqlLog};
use queuetop::engine::{Event, LiveView, Pace, Poll, Push, Wake};
use queuetop::model::Snapshot;
use tiny::Tiny;
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

use crate::support::{LIMIT, pg};

/// A running engine and what it tells.
struct Engine {
    events: mpsc::Receiver<Event>,
    wake: Arc<Wake>,
    pace: watch::Sender<Pace>,
    polled: LiveView,
    pushed: LiveView,
    asleep: watch::Sender<bool>,
    listens: watch::Sender<bool>,
    connector: Arc<Connector>,
}

const CALM: Pace = Pace { interval: Duration::from_mins(10), load: 1.0 };
const QUICK: Pace = Pace { interval: Duration::from_millis(100), load: 1.0 };

/// Starts the poll, and the push where wanted.
fn start(dsn: &str, pace: Pace, with_push: bool) -> Engine {
    let mut env = Env::of_process();
    env.vars.clear();
    let info = ConnInfo::resolve(Some(dsn), &env).expect("a good DSN");
    let connector = Arc::new(Connector::new(info, SqlLog::default()));
    let (sender, events) = mpsc::channel(64);
    let (pace_sender, pace) = watch::channel(pace);
    let (live, polled) = watch::channel(None);
    let wake = Arc::new(Wake::default());
    let poll = Poll {
        connector: Arc::clone(&connector),
        detect: Arc::new(Tiny),
        pace,
        wake: Arc::clone(&wake),
        live,
        events: sender.clone(),
    };
    tokio::spawn(poll.run());
    let (live, pushed) = watch::channel(None);
    let (asleep, falls_asleep) = watch::channel(false);
    let (listens, _) = watch::channel(false);
    if with_push {
        let (connector, polled, wake) = (Arc::clone(&connector), polled.clone(), Arc::clone(&wake));
        let (asleep, listens) = (falls_asleep, listens.clone());
        tokio::spawn(Push { connector, polled, live, wake, asleep, listens, events: sender }.run());
    }
    Engine { events, wake, pace: pace_sender, polled, pushed, asleep, listens, connector }
}

impl Engine {
    /// Waits for an event that `wanted` takes.
    async fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(Event) -> Option<T>) -> T {
        let mut seen = Vec::new();
        let found = timeout(LIMIT, async {
            loop {
                let event = self.events.recv().await.expect("the engine is running");
                seen.push(format!("{event:?}").chars().take(160).collect::<String>());
                if let Some(found) = wanted(event) {
                    return found;
                }
            }
        });
        let Ok(found) = found.await else {
            let latest = seen.split_off(seen.len().saturating_sub(8));
            panic!("not within {LIMIT:?}: {what}; the latest events: {latest:#?}");
        };
        found
    }

    async fn reading(&mut self, what: &str) -> Box<Snapshot> {
        self.until(what, |event| if let Event::Polled(snapshot) = event { Some(snapshot) } else { None }).await
    }

    /// A reading in which the tiny backend's number is `number`.
    async fn number(&mut self, number: u64) {
        let what = format!("a reading of {number}");
        self.until(&what, |event| match event {
            Event::Polled(snapshot) => (tiny::number(&snapshot) == Some(number)).then_some(()),
            _ => None,
        })
        .await;
    }

    async fn lost(&mut self) -> (String, Option<Duration>) {
        self.until("a loss", |event| match event {
            Event::Lost { reason, retry_in, .. } => Some((reason, retry_in)),
            _ => None,
        })
        .await
    }

    async fn push_state(&mut self) -> (bool, Option<String>) {
        self.until("a push state", |event| match event {
            Event::PushState { live, note } => Some((live, note)),
            _ => None,
        })
        .await
    }
}

#[tokio::test]
async fn connects_says_what_is_there_and_reads() {
    let database = pg::bare_database().await;
    tiny::install(&database.client().await).await;
    let mut engine = start(&database.dsn(), CALM, false);
    engine.until("connecting", |event| matches!(event, Event::Connecting { attempt: 1, .. }).then_some(())).await;
    let facts = engine.until("connected", |e| if let Event::Connected(facts) = e { Some(facts) } else { None }).await;
    assert_eq!((facts.database.as_str(), facts.local, facts.backends.len()), (database.name(), true, 1));
    assert_eq!(facts.role_word(), "operator");
    let every =
        engine.until("a rhythm", |e| if let Event::Rhythm { every, .. } = e { Some(every) } else { None }).await;
    assert_eq!(every, CALM.interval);
    engine.number(0).await;
    // The pace can be changed under way, and a reading can be asked for.
    database.client().await.batch_execute("update tiny set n = 7").await.unwrap();
    engine.wake.now.notify_one();
    engine.number(7).await;
    database.client().await.batch_execute("update tiny set n = 8").await.unwrap();
    engine.pace.send(QUICK).unwrap();
    engine.number(8).await;
    // The session can be used in between, and reads only.
    let live = engine.polled.borrow().clone().expect("a live session");
    assert!(!live.session.is_standby() && !live.backends.is_empty());
    assert!(engine.connector.log().latest(1)[0].sql.contains("tiny"));
}

#[tokio::test]
async fn dear_readings_are_made_rarely_and_never_two_at_once() {
    let database = pg::bare_database().await;
    let admin = database.client().await;
    tiny::install(&admin).await;
    admin.batch_execute("update tiny set nap = 0.2").await.unwrap();
    let mut engine = start(&database.dsn(), Pace { interval: Duration::from_millis(100), load: 0.5 }, false);
    let mut at_most = 0;
    for _ in 0..4 {
        engine.reading("a reading").await;
        let rows = admin
            .query_typed(
                "select count(*) from pg_stat_activity where application_name = 'queuetop' and state = 'active'",
                &[],
            )
            .await
            .unwrap();
        at_most = at_most.max(rows[0].get::<_, i64>(0));
    }
    let every =
        engine.until("a rhythm", |e| if let Event::Rhythm { every, .. } = e { Some(every) } else { None }).await;
    // The core numbers have half of the load: 200 ms of work make 800 ms from reading to reading.
    assert!(every >= Duration::from_millis(800), "{every:?}");
    assert!(at_most <= 1, "{at_most}");
}

#[tokio::test]
async fn many_dashboards_share_what_the_server_may_lose_to_them() {
    let database = pg::bare_database().await;
    tiny::install(&database.client().await).await;
    let named = format!("{}&application_name=crowd", database.dsn());
    // Two sessions for each of the others.
    let mut others = Vec::new();
    for _ in 0..24 {
        let other = database.client().await;
        other.batch_execute("set application_name = 'crowd'").await.unwrap();
        others.push(other);
    }
    let mut engine = start(&named, Pace { interval: Duration::from_millis(100), load: 0.02 }, false);
    let shared =
        |event| if let Event::Rhythm { sharers, .. } = event { (sharers > 1).then_some(sharers) } else { None };
    assert_eq!(engine.until("a shared rhythm", shared).await, 13);
    drop(others);
    // Counted again every five seconds; nobody else has this name.
    let alone = |event| if let Event::Rhythm { sharers, .. } = event { (sharers == 1).then_some(()) } else { None };
    engine.until("the whole budget", alone).await;
}

#[tokio::test]
async fn a_reading_that_fails_says_why_and_goes_on() {
    let database = pg::bare_database().await;
    let admin = database.client().await;
    tiny::install(&admin).await;
    let mut engine = start(&database.dsn(), QUICK, false);
    engine.number(0).await;
    admin.batch_execute("alter table tiny rename to small").await.unwrap();
    let (reason, retry_in) = engine.lost().await;
    assert!(reason.contains("tiny") && reason.contains("[42P01]") && retry_in.is_some(), "{reason}");
    admin.batch_execute("alter table small rename to tiny; update tiny set n = 3").await.unwrap();
    engine.number(3).await;
    let count = "select count(*) from pg_stat_activity where application_name = 'queuetop' and state like 'idle in%'";
    assert_eq!(admin.query_typed(count, &[]).await.unwrap()[0].get::<_, i64>(0), 0);
}
