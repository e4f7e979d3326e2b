//! What the engine tells: plain facts, for whoever shows or prints them.

use std::time::Duration;

use crate::backends::Minutes;
use crate::model::{ServerFacts, Snapshot};

/// A fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A connection is being made.
    Connecting {
        /// Host label without secrets.
        target: String,
        /// 1 for the first.
        attempt: u32,
    },
    /// Connected; what was found.
    Connected(Box<ServerFacts>),
    /// The connection, or one reading, failed.
    Lost {
        /// In plain words, with the next step.
        reason: String,
        /// When the next try comes; `None`: only when asked to.
        retry_in: Option<Duration>,
        /// The session is up; only the reading failed.
        connected: bool,
    },
    /// A reading of all numbers.
    Polled(Box<Snapshot>),
    /// Minutes from the database's own history.
    HistoryRead(Minutes),
    /// How changes are learned.
    PushState {
        /// Notifications arrive.
        live: bool,
        /// Why not.
        note: Option<String>,
    },
    /// The rhythm of the polls.
    Rhythm {
        /// Time from poll to poll.
        every: Duration,
        /// Database time as a share of wall time, 0 to 1.
        load: f64,
        /// Database time of the last poll.
        cost: Duration,
        /// How many dashboards share what the server may lose to them all; 1: this one has what it asked for.
        sharers: u32,
    },
}
