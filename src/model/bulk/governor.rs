//! How fast a run may go that feeds queues which others live on.

/// Slows a run down while the queues that it feeds fall behind, and lets it go faster again when they keep up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Governor {
    /// What the operator asked for.
    asked: u32,
    /// What is allowed now.
    allowed: u32,
    /// How long the oldest ready job waited at the beginning, in seconds.
    before: Option<f64>,
}

/// Waiting longer than this factor of the time at the beginning is falling behind.
const FALLING_BEHIND: f64 = 2.0;
/// Waits below this many seconds are not judged.
const SMALL_WAIT: f64 = 5.0;

impl Governor {
    /// For a run at that many jobs per second.
    #[must_use]
    pub fn new(asked: u32) -> Self {
        Self { asked, allowed: asked, before: None }
    }

    /// Takes the wait of the oldest ready job in the queues that are fed, in seconds; `None`: nothing waits.
    pub fn observe(&mut self, wait: Option<f64>) {
        let wait = wait.unwrap_or(0.0);
        let before = *self.before.get_or_insert(wait);
        let behind = wait > (before * FALLING_BEHIND).max(SMALL_WAIT);
        self.allowed = if behind {
            (self.allowed / 2).max(1)
        } else {
            self.allowed.saturating_add((self.allowed / 4).max(1)).min(self.asked)
        };
    }

    /// Jobs per second that are allowed now.
    #[must_use]
    pub fn per_s(&self) -> u32 {
        self.allowed
    }

    /// Whether it goes slower than asked for.
    #[must_use]
    pub fn slows(&self) -> bool {
        self.per_s() < self.asked
    }
}
