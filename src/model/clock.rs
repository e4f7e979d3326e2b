//! The server's clock as seen from here: every age on screen is by the server's time, never by this machine's.

use std::time::Duration;

use super::Time;

/// Tells the server's time from a reading of it and the monotonic time that has passed here since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerClock {
    /// The server's time when it was read.
    server: Time,
    /// Monotonic time since the program's start at that moment.
    seen_at: Duration,
}

impl ServerClock {
    /// A reading `server` that arrived at the monotonic time `seen_at`.
    #[must_use]
    pub fn new(server: Time, seen_at: Duration) -> Self {
        Self { server, seen_at }
    }

    /// The server's time when it was read.
    #[must_use]
    pub fn server(self) -> Time {
        self.server
    }

    /// The server's time at the monotonic time `now`.
    #[must_use]
    pub fn at(&self, now: Duration) -> Time {
        self.server.plus(now.saturating_sub(self.seen_at))
    }

    /// How old the reading is at the monotonic time `now`.
    #[must_use]
    pub fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.seen_at)
    }
}
