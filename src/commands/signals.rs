//! Signals that end a command, while it has no screen.

use std::future::poll_fn;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::CommandError;

/// Some signals, watched from now on.
pub struct Signals(Vec<(Signal, u8)>);

impl Signals {
    /// Watches these.
    ///
    /// # Errors
    /// When they cannot be watched.
    pub fn of(kinds: &[SignalKind]) -> Result<Self, CommandError> {
        let watched = |kind: &SignalKind| {
            let number = u8::try_from(kind.as_raw_value()).unwrap_or(0);
            let failed = |error| CommandError::Failed(format!("signals cannot be watched: {error}"));
            Ok((signal(*kind).map_err(failed)?, 128_u8.saturating_add(number)))
        };
        kinds.iter().map(watched).collect::<Result<Vec<_>, _>>().map(Self)
    }

    /// The next signal, as an exit status.
    pub async fn next(&mut self) -> u8 {
        poll_fn(|context| {
            for (signal, status) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*status);
                }
            }
            Poll::Pending
        })
        .await
    }
}
