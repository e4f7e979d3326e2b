//! What a worker says to its queue when it is time: ends, heartbeats, claims, that it is alive.

use std::time::Duration;

use tokio::time::Instant;

use super::handler::{AttemptEnd, JobError};
use super::held::{Key, Said};
use super::run::Running;
use crate::db::{DbError, Session};

/// From one `workers` row to the next.
const SEEN_EVERY: Duration = Duration::from_secs(30);
/// Pause before what the queue refused is said again: somebody else may hold the row for a moment.
const AGAIN: Duration = Duration::from_millis(200);
/// After so many refusals for other reasons than the link, the lease runs out instead.
const TRIES: u32 = 5;

impl Running {
    /// Does everything that is due. Ends come first: they free slots, and a job that has ended needs no lease.
    ///
    /// # Errors
    /// When the link is lost, or a claim fails.
    pub(super) async fn talk(&mut self, session: &Session, claiming: bool) -> Result<(), DbError> {
        if self.due.tell <= Instant::now() {
            self.tell(session).await?;
        }
        if !self.held.is_empty() && self.due.beat <= Instant::now() {
            self.beat(session).await?;
        }
        if claiming && self.free() > 0 && self.due.claim <= Instant::now() {
            self.claim(session).await?;
        }
        if claiming && self.due.seen <= Instant::now() {
            self.due.seen = Instant::now() + SEEN_EVERY;
            // Only for the eye: a queue that lacks it works as well.
            self.calls.seen(session, &self.identity).await.or_else(unless_link_lost)?;
        }
        Ok(())
    }

    async fn tell(&mut self, session: &Session) -> Result<(), DbError> {
        for (key, said) in self.held.untold() {
            match self.tell_one(session, key, said).await {
                Ok(end) => {
                    self.held.told(key);
                    self.settled(key, end);
                }
                Err(error) if error.is_link_lost() => return Err(error),
                Err(error) => {
                    tracing::warn!(job = %key.id, %error, "the queue did not take the end of an attempt");
                    self.due.tell = Instant::now() + AGAIN;
                    if self.held.not_told(key) >= TRIES {
                        self.held.told(key);
                        self.settled(key, AttemptEnd::Untold);
                    }
                }
            }
        }
        Ok(())
    }

    async fn tell_one(&self, session: &Session, key: Key, said: Said) -> Result<AttemptEnd, DbError> {
        match said {
            Said::Done => self.calls.complete(session, key).await,
            Said::Failed(JobError::Permanent(why)) => self.calls.dead_letter(session, key, why).await,
            Said::Failed(JobError::Retry(why)) => {
                let delay = self.settings.retry.after(key.attempt, fastrand::f64());
                self.calls.retry(session, key, why, delay).await
            }
            Said::GivenBack(why) => self.calls.retry(session, key, why, Duration::ZERO).await,
        }
    }

    async fn beat(&mut self, session: &Session) -> Result<(), DbError> {
        let began = Instant::now();
        let kept = self.held.kept();
        let owned = match self.calls.heartbeat(session, &kept, self.settings.lease).await {
            Ok(owned) => owned,
            Err(error) if error.is_link_lost() => return Err(error),
            Err(error) => {
                tracing::warn!(queue = self.settings.queue, %error, "leases could not be extended");
                self.due.beat = Instant::now() + AGAIN.min(self.settings.beat());
                return Ok(());
            }
        };
        self.due.beat = began + self.settings.beat();
        for key in kept {
            if !owned.contains(&key.id) && self.held.lose(key) == Some(true) {
                self.settled(key, AttemptEnd::Lost);
            }
        }
        Ok(())
    }

    async fn claim(&mut self, session: &Session) -> Result<(), DbError> {
        let began = Instant::now();
        let free = self.free();
        let jobs = self.calls.claim(session, &self.settings.queue, free, self.settings.lease).await?;
        self.proven = true;
        if jobs.len() < free {
            // Not all workers of a queue at the same moment.
            self.due.claim = began + self.settings.poll.mul_f64(0.9 + 0.2 * fastrand::f64());
        }
        if self.held.is_empty() {
            self.due.beat = began + self.settings.beat();
        }
        for job in jobs {
            self.spawn(job);
        }
        Ok(())
    }
}

fn unless_link_lost(error: DbError) -> Result<(), DbError> {
    if error.is_link_lost() { Err(error) } else { Ok(()) }
}
