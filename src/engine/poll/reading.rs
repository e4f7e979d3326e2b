//! One reading of the numbers from all backends: what is due is asked, the rest is kept from before with its age.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::crowd;
use super::rhythm::{Pace, Part};
use crate::backends::{Backend, Handlings};
use crate::db::{DbError, Limits, Session, Statement};
use crate::engine::live::Live;
use crate::model::{BackendKind, Failures, Handling, Lease, QueueId, Reading, Snapshot, Time};

/// Leases are read so many at most.
const MOST_LEASES: u32 = 500;

/// What a reading is made of, each with its own rhythm.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub(super) core: Part,
    leases: Part,
    failures: Part,
    handling: Part,
    crowd: Part,
    /// How many watch this server, this one with them.
    pub(super) dashboards: u32,
    kept_leases: Reading<Vec<Lease>>,
    kept_failures: Failures,
    kept_handling: Vec<(BackendKind, Handlings)>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            core: Part::new(0.5, Duration::ZERO),
            leases: Part::new(0.2, Duration::from_secs(1)),
            failures: Part::new(0.2, Duration::from_secs(5)),
            handling: Part::new(0.08, Duration::from_secs(10)),
            crowd: Part::new(0.02, Duration::from_secs(5)),
            dashboards: 1,
            kept_leases: Reading::Unknown,
            kept_failures: Failures::default(),
            kept_handling: Vec::new(),
        }
    }
}

impl Parts {
    /// Everything is read at the next chance.
    pub(super) fn forget(&mut self) {
        self.core.forget();
        self.leases.forget();
        self.failures.forget();
        self.handling.forget();
    }

    /// What is left of a pace for one of several dashboards.
    pub(super) fn allowed(&self, pace: Pace) -> Pace {
        crowd::share(pace, self.dashboards)
    }

    /// The load of all parts together, 0 to 1.
    pub(super) fn load(&self, pace: Pace) -> f64 {
        [&self.core, &self.leases, &self.failures, &self.handling, &self.crowd].iter().map(|part| part.load(pace)).sum()
    }

    /// Reads the core numbers, and of the rest what is due. `epoch` is when the clock of the parts was zero.
    ///
    /// # Errors
    /// When the core numbers cannot be read. Where other parts fail, they say so themselves.
    pub(super) async fn read(&mut self, live: &Live, pace: Pace, epoch: Instant) -> Result<Snapshot, DbError> {
        let session = &live.session;
        let before = session.busy();
        let started = epoch.elapsed();
        let core = read_core(session, &live.backends).await;
        self.core.read(started, session.busy().saturating_sub(before));
        let mut snapshot = core?;
        if epoch.elapsed() >= self.leases.due(pace) {
            let (spent, started) = (session.busy(), epoch.elapsed());
            self.kept_leases = read_leases(session, &live.backends).await?;
            self.leases.read(started, session.busy().saturating_sub(spent));
        }
        if epoch.elapsed() >= self.failures.due(pace) {
            let (spent, started) = (session.busy(), epoch.elapsed());
            self.kept_failures = read_failures(session, &live.backends).await?;
            self.failures.read(started, session.busy().saturating_sub(spent));
        }
        if epoch.elapsed() >= self.handling.due(pace) {
            let (spent, started) = (session.busy(), epoch.elapsed());
            self.kept_handling = read_handling(live).await?;
            self.handling.read(started, session.busy().saturating_sub(spent));
        }
        if epoch.elapsed() >= self.crowd.due(pace) {
            let (spent, started) = (session.busy(), epoch.elapsed());
            match crowd::count(session).await {
                Ok(dashboards) => self.dashboards = dashboards,
                Err(error) if error.is_link_lost() => return Err(error),
                // Not to know it changes nothing that is shown.
                Err(_) => {}
            }
            self.crowd.read(started, session.busy().saturating_sub(spent));
        }
        fill_handling(&mut snapshot, &self.kept_handling);
        snapshot.leases = self.kept_leases.clone();
        snapshot.failures = self.kept_failures.clone();
        snapshot.cost = session.busy().saturating_sub(before);
        Ok(snapshot)
    }
}

/// The core numbers of all backends as one reading; the other parts are left unknown.
///
/// # Errors
/// When one of them cannot be read.
pub async fn read_core(session: &Session, backends: &[Box<dyn Backend>]) -> Result<Snapshot, DbError> {
    let before = session.busy();
    let mut snapshot = Snapshot {
        taken_at: Time::NegInfinity,
        queues: Vec::new(),
        leases: Reading::Unknown,
        failures: Failures::default(),
        reaper_last: Reading::Unknown,
        cost: Duration::ZERO,
    };
    for backend in backends {
        let core = backend.core(session).await?;
        snapshot.taken_at = snapshot.taken_at.max(core.taken_at);
        snapshot.queues.extend(core.queues);
        if snapshot.reaper_last.value().is_none() {
            snapshot.reaper_last = core.reaper_last;
        }
    }
    if backends.is_empty() {
        snapshot.taken_at = server_clock(session).await?;
    }
    snapshot.cost = session.busy().saturating_sub(before);
    Ok(snapshot)
}

/// Everything at once, whatever its rhythm.
///
/// # Errors
/// When the core numbers cannot be read, or the session ends.
pub async fn read_whole(session: &Session, backends: &[Box<dyn Backend>]) -> Result<Snapshot, DbError> {
    let before = session.busy();
    let mut snapshot = read_core(session, backends).await?;
    snapshot.leases = read_leases(session, backends).await?;
    snapshot.failures = read_failures(session, backends).await?;
    snapshot.cost = session.busy().saturating_sub(before);
    Ok(snapshot)
}

/// The time alone, where there is nothing else to read.
async fn server_clock(session: &Session) -> Result<Time, DbError> {
    let ask = [Statement::new("select 1")];
    Ok(session.read_many("clock", &ask, Limits::within(Duration::from_secs(3))).await?.server_time)
}

/// All leases, soonest end first; a lease without an end counts as past.
async fn read_leases(session: &Session, backends: &[Box<dyn Backend>]) -> Result<Reading<Vec<Lease>>, DbError> {
    let mut all = Reading::NotApplicable;
    for backend in backends {
        let one = own_fault(backend.leases(session, MOST_LEASES).await)?;
        all = join(all, one);
    }
    Ok(all.map(|mut leases| {
        leases.sort_by_key(|lease| lease.job.lease_until);
        leases.truncate(MOST_LEASES as usize);
        leases
    }))
}

/// Failures and dead letters of all backends; where one fails for itself, that is said as unknown or denied.
///
/// # Errors
/// When the session is lost.
pub async fn read_failures(session: &Session, backends: &[Box<dyn Backend>]) -> Result<Failures, DbError> {
    let mut all = Failures {
        failed_15m: Reading::NotApplicable,
        dead_1h: Reading::NotApplicable,
        signatures: Reading::NotApplicable,
        taken_at: None,
    };
    for backend in backends {
        let one = match backend.failures(session).await {
            Err(error) if error.is_link_lost() => return Err(error),
            Err(error) if error.is_denied() => Failures {
                failed_15m: Reading::Denied,
                dead_1h: Reading::Denied,
                signatures: Reading::Denied,
                taken_at: None,
            },
            Err(_) => Failures::default(),
            Ok(failures) => failures,
        };
        all = Failures {
            failed_15m: all.failed_15m.combine(one.failed_15m, u64::saturating_add),
            dead_1h: all.dead_1h.combine(one.dead_1h, u64::saturating_add),
            signatures: join(all.signatures, one.signatures),
            taken_at: all.taken_at.max(one.taken_at),
        };
    }
    Ok(all)
}

/// How jobs are handled, by backend; one that fails for itself leaves it unknown.
async fn read_handling(live: &Live) -> Result<Vec<(BackendKind, Handlings)>, DbError> {
    let mut all = Vec::new();
    for backend in live.backends.iter() {
        match backend.handling(&live.session).await {
            Err(error) if error.is_link_lost() => return Err(error),
            Err(error) if error.is_denied() => {
                all.push((backend.kind(), Handlings { queues: Vec::new(), others: Handling::denied() }));
            }
            Err(_) => {}
            Ok(found) => all.push((backend.kind(), found)),
        }
    }
    Ok(all)
}

/// Puts what is known of the handling into each queue of a reading.
pub fn fill_handling(snapshot: &mut Snapshot, all: &[(BackendKind, Handlings)]) {
    let known: HashMap<&QueueId, &Handling> =
        all.iter().flat_map(|(_, found)| found.queues.iter().map(|(queue, handling)| (queue, handling))).collect();
    for queue in &mut snapshot.queues {
        let others = || all.iter().find(|(kind, _)| *kind == queue.id.backend).map(|(_, found)| &found.others);
        if let Some(handling) = known.get(&queue.id).copied().or_else(others) {
            queue.handling = handling.clone();
        }
    }
}

/// Two lists in one; where one of them is not known in full, neither is the whole.
fn join<T>(sum: Reading<Vec<T>>, more: Reading<Vec<T>>) -> Reading<Vec<T>> {
    let exact = matches!((&sum, &more), (Reading::Exact(_), Reading::Exact(_)));
    match (sum, more) {
        (Reading::NotApplicable, only) | (only, Reading::NotApplicable) => only,
        (sum, more) => match (into_value(sum), into_value(more)) {
            (Ok(mut sum), Ok(more)) => {
                sum.extend(more);
                if exact { Reading::Exact(sum) } else { Reading::AtLeast(sum) }
            }
            (Ok(some), Err(_)) | (Err(_), Ok(some)) => Reading::AtLeast(some),
            (Err(neither), Err(_)) => neither,
        },
    }
}

fn into_value<T>(reading: Reading<T>) -> Result<T, Reading<T>> {
    match reading {
        Reading::Exact(value) | Reading::AtLeast(value) | Reading::About(value) | Reading::Stale(value) => Ok(value),
        none => Err(none),
    }
}

/// A part that fails for itself is unknown or denied; a dead session fails the whole reading.
fn own_fault<T>(result: Result<Reading<T>, DbError>) -> Result<Reading<T>, DbError> {
    match result {
        Err(error) if error.is_link_lost() => Err(error),
        Err(error) if error.is_denied() => Ok(Reading::Denied),
        Err(_) => Ok(Reading::Unknown),
        Ok(reading) => Ok(reading),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joined_list_says_when_a_part_is_missing() {
        let one = || Reading::Exact(vec![1]);
        assert_eq!(join(Reading::NotApplicable, one()), one());
        assert_eq!(join(one(), Reading::Exact(vec![2])), Reading::Exact(vec![1, 2]));
        assert_eq!(join(one(), Reading::Stale(vec![2])), Reading::AtLeast(vec![1, 2]));
        assert_eq!(join(one(), Reading::Denied), Reading::AtLeast(vec![1]));
        assert_eq!(join(Reading::<Vec<i32>>::Denied, Reading::Unknown), Reading::Denied);
    }
}
