//! What the program knows: the last good reading, the server, the link, and the choices that all panes share. Plain state;
//! `update` changes it, panes see it through [`World::ctx`].

use std::time::Duration;

use ratatui::style::Color;

use crate::diagnose;
use crate::model::{Finding, History, QueueId, ServerClock, ServerFacts, Snapshot, Time};
use crate::panes::{Arrangement, Ctx, Marks, TimeStyle};
use crate::theme::Theme;

/// The state of the connection that reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// On its way, for the first time or again.
    Connecting {
        /// Where to, without secrets.
        target: String,
        /// 1 for the first try.
        attempt: u32,
    },
    /// Up.
    Up,
    /// Down, or up but without numbers.
    Lost {
        /// In plain words.
        reason: String,
        /// When the next try comes, in monotonic time; `None`: none by itself.
        retry_at: Option<Duration>,
        /// The session is up; only the reading failed.
        connected: bool,
    },
}

/// How changes are learned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Push {
    /// Notifications arrive.
    pub live: bool,
    /// Why not, in plain words.
    pub note: Option<String>,
}

/// The rhythm of polls as it is now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rhythm {
    /// What the operator asked for.
    pub asked: Duration,
    /// What the load budget allows.
    pub every: Duration,
    /// Database time as a share of wall time.
    pub load: f64,
    /// Database time of the last poll.
    pub cost: Duration,
    /// How many dashboards share what the server may lose to them all; 1: this one has what it asked for.
    pub sharers: u32,
}

/// The numbers as they stood when the screen was frozen.
#[derive(Debug, Clone)]
pub struct Frozen {
    now: Time,
    snapshot: Option<Snapshot>,
    history: History,
}

/// So much of the past is read at the start, by the minute.
pub const HISTORY_AT_START: Duration = Duration::from_hours(6);

/// The target as the settings call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name, without `@`.
    pub name: String,
    /// The colour of its name.
    pub colour: Option<Color>,
}

/// Shared state of the program.
#[derive(Debug)]
pub struct World {
    /// The last good reading, rates filled in.
    pub snapshot: Option<Snapshot>,
    /// What the rules say of it, worst first.
    pub findings: Vec<Finding>,
    /// What happened over time.
    pub history: History,
    /// The server, once connected.
    pub server: Option<ServerFacts>,
    /// The reading connection.
    pub link: Link,
    /// Push or poll.
    pub push: Push,
    /// Rhythm and cost.
    pub rhythm: Rhythm,
    /// Monotonic time since start, as last told.
    pub mono: Duration,
    /// The server's clock, from the last reading.
    pub clock: Option<ServerClock>,
    /// The queue under the cursor.
    pub queue: Option<QueueId>,
    /// Panes follow the queue under the cursor, not all of them.
    pub follow: bool,
    /// Marked jobs.
    pub marks: Marks,
    /// Literal filter text.
    pub filter: String,
    /// Time range of the charts.
    pub range: Duration,
    /// How times are written.
    pub times: TimeStyle,
    /// Styles and signs.
    pub theme: Theme,
    /// So much of the past was asked for.
    pub history_back: Duration,
    /// The mouse points here; else it is the terminal's.
    pub mouse: bool,
    /// The target as the settings call it.
    pub target: Option<Named>,
    /// Which columns tables show.
    pub arrangement: Arrangement,
    /// Set while the screen is frozen.
    pub frozen: Option<Frozen>,
}

impl World {
    /// Nothing known yet.
    #[must_use]
    pub fn new(theme: Theme, times: TimeStyle, range: Duration, interval: Duration) -> Self {
        Self {
            snapshot: None,
            findings: Vec::new(),
            history: History::default(),
            server: None,
            link: Link::Connecting { target: String::new(), attempt: 1 },
            push: Push::default(),
            rhythm: Rhythm { asked: interval, every: interval, load: 0.0, cost: Duration::ZERO, sharers: 1 },
            mono: Duration::ZERO,
            clock: None,
            queue: None,
            follow: true,
            marks: Marks::new(),
            filter: String::new(),
            range,
            times,
            theme,
            history_back: HISTORY_AT_START,
            mouse: false,
            target: None,
            arrangement: Arrangement::default(),
            frozen: None,
        }
    }

    /// The server's time now; the far past before the first reading.
    #[must_use]
    pub fn now(&self) -> Time {
        match (&self.frozen, &self.clock) {
            (Some(frozen), _) => frozen.now,
            (None, Some(clock)) => clock.at(self.mono),
            (None, None) => Time::NegInfinity,
        }
    }

    /// How old the last reading is; `None` before the first.
    #[must_use]
    pub fn data_age(&self) -> Option<Duration> {
        self.clock.map(|clock| clock.age(self.mono))
    }

    /// Whether the numbers are older than two intervals (and a second for the way), or the link is down.
    #[must_use]
    pub fn stale(&self) -> bool {
        let limit = self.rhythm.every * 2 + Duration::from_secs(1);
        self.data_age().is_some_and(|age| age > limit) || (self.snapshot.is_some() && self.link != Link::Up)
    }

    /// Takes a new reading: fills its rates, adds it to the history, judges it.
    pub fn take(&mut self, mut snapshot: Snapshot) {
        let longest_span = self.rhythm.every * 3 + Duration::from_secs(2);
        self.history.record(&snapshot, longest_span);
        self.history.fill_rates(&mut snapshot);
        self.clock = Some(ServerClock::new(snapshot.taken_at, self.mono));
        self.findings = diagnose::findings(&snapshot, &self.history, self.server.as_ref());
        self.link = Link::Up;
        self.snapshot = Some(snapshot);
    }

    /// Freezes the screen, or lets it run again.
    pub fn toggle_freeze(&mut self) {
        self.frozen = match self.frozen.take() {
            Some(_) => None,
            None => Some(Frozen { now: self.now(), snapshot: self.snapshot.clone(), history: self.history.clone() }),
        };
    }

    /// The view that panes get. Ages stand still while the numbers are old: what happened since is not known.
    #[must_use]
    pub fn ctx(&self, focused: bool) -> Ctx<'_> {
        let stale = self.stale();
        let (snapshot, history) = match &self.frozen {
            Some(frozen) => (frozen.snapshot.as_ref(), &frozen.history),
            None => (self.snapshot.as_ref(), &self.history),
        };
        Ctx {
            snapshot,
            findings: &self.findings,
            history,
            server: self.server.as_ref(),
            queue: self.queue.as_ref().filter(|_| self.follow),
            marks: &self.marks,
            now: if stale { self.clock.map_or(Time::NegInfinity, ServerClock::server) } else { self.now() },
            stale,
            range: self.range,
            times: self.times,
            theme: &self.theme,
            filter: &self.filter,
            arrangement: &self.arrangement,
            focused,
        }
    }
}
