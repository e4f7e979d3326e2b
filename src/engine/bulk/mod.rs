//! Acting on a frozen set: first the set is read whole, then it is worked off in small committed steps on a session of its own. A
//! lost connection costs time only: what became of the open call is looked up, never guessed and never repeated blindly.

mod freeze;
mod journal;
mod record;
mod session;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::live::Backends;
use crate::backends::ActRequest;
use crate::db::{Class, Connector, DbError};
use crate::model::bulk::{Bulk, Governor, Next, Plan, Step, Tally};
use crate::model::{Action, BackendKind, TargetResult};

pub use freeze::{Freeze, FreezeError, Frozen, freeze};
pub use journal::{Found, Journal, JournalError, read as read_journal};
use session::Acting;

/// A call is known not to have happened when the audit does not have it after this long: the server ends it sooner. Where the
/// server's own session can be seen to be gone, at once.
const ENDS_WITHIN: Duration = Duration::from_secs(35);
/// From one look at the audit to the next.
const LOOK_AGAIN: Duration = Duration::from_millis(300);
/// A run that is stopped waits no longer than this for an open call to be found out.
const STOP_WITHIN: Duration = Duration::from_secs(15);
/// The queues that a replay feeds are looked at this often.
const WATCH_EVERY: Duration = Duration::from_secs(2);

/// What may be told to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Wait after the present step.
    Pause,
    /// Go on.
    Resume,
    /// End after the present step.
    Stop,
    /// Another pace, in jobs per second; `None`: as fast as the database answers.
    PerSecond(Option<u32>),
}

/// Where a run is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Names the run.
    pub id: Uuid,
    /// What it does.
    pub action: Action,
    /// How many ended how.
    pub tally: Tally,
    /// Jobs per second at present; `None`: as fast as the database answers.
    pub per_s: Option<u32>,
    /// It waits to be told to go on.
    pub paused: bool,
    /// It has come to its end, or was stopped.
    pub ended: bool,
    /// What holds it up, or why it goes slower than asked for.
    pub note: Option<String>,
}

/// What a run needs.
pub struct Run {
    /// Makes its session.
    pub connector: Arc<Connector>,
    /// The backends of the database.
    pub backends: Backends,
    /// What to do and what was done.
    pub bulk: Bulk,
    /// Where it is written down; `None`: nowhere, it cannot be taken up again.
    pub journal: Option<Journal>,
    /// What it is told meanwhile. When nobody can tell it anything any more it goes on to its end.
    pub control: mpsc::Receiver<Control>,
    /// Where it is.
    pub progress: watch::Sender<Progress>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// What was done.
    pub bulk: Bulk,
    /// Why it ended before its end.
    pub failure: Option<String>,
    /// The journal, where there is one.
    pub journal: Option<PathBuf>,
}

/// The first progress of a plan.
#[must_use]
pub fn at_start(plan: &Plan) -> Progress {
    let tally = Tally { left: plan.targets.len(), ..Tally::default() };
    let (id, action, per_s) = (plan.id, plan.action, plan.pace.per_s);
    Progress { id, action, tally, per_s, paused: false, ended: false, note: None }
}

impl Run {
    /// Works the set off. Ends when every target is answered for, when it is stopped, or when it cannot go on.
    pub async fn run(self) -> Ended {
        let kind = self.bulk.plan().targets.first().map_or(BackendKind::Jobs, |(job, _)| job.queue.backend);
        let governor = match (self.bulk.plan().action, self.bulk.plan().pace.per_s) {
            (Action::Replay { .. }, Some(per_s)) => Some(Governor::new(per_s)),
            _ => None,
        };
        let acting = Acting::new(Arc::clone(&self.connector), Arc::clone(&self.backends), kind);
        let mut work =
            Work { run: self, acting, began: Instant::now(), lost_at: None, governor, watched_at: None, note: None };
        let failure = work.through().await.err();
        work.note.clone_from(&failure);
        work.tell(true);
        let Run { bulk, journal, .. } = work.run;
        Ended { bulk, failure, journal: journal.map(|journal| journal.path().to_owned()) }
    }
}

struct Work {
    run: Run,
    acting: Acting,
    began: Instant,
    /// When the answer to the open call was lost.
    lost_at: Option<Instant>,
    governor: Option<Governor>,
    watched_at: Option<Instant>,
    note: Option<String>,
}

impl Work {
    async fn through(&mut self) -> Result<(), String> {
        loop {
            self.listen();
            self.watch_queues().await;
            self.tell(false);
            match self.run.bulk.next(self.began.elapsed(), Uuid::new_v4()) {
                Next::Call(step) => self.call(&step).await?,
                Next::LookUp(step) => self.look_up(&step).await?,
                Next::Wait(pause) => self.wait(pause).await,
                Next::Pause => self.wait(Duration::MAX).await,
                Next::End => break,
            }
        }
        match &mut self.run.journal {
            Some(journal) if !self.run.bulk.is_stopped() => journal.ended().map_err(|error| error.to_string()),
            _ => Ok(()),
        }
    }

    /// Takes in what was told, without waiting.
    fn listen(&mut self) {
        while let Ok(control) = self.run.control.try_recv() {
            self.obey(control);
        }
    }

    fn obey(&mut self, control: Control) {
        match control {
            Control::Pause => self.run.bulk.set_paused(true),
            Control::Resume => self.run.bulk.set_paused(false),
            Control::Stop => self.run.bulk.stop(),
            Control::PerSecond(per_s) => {
                self.run.bulk.set_per_s(per_s, self.began.elapsed());
                self.governor = self.governor.and(per_s.map(Governor::new));
            }
        }
    }

    /// Waits so long, or until something is told.
    async fn wait(&mut self, pause: Duration) {
        self.tell(false);
        match timeout(pause, self.run.control.recv()).await {
            Ok(Some(control)) => self.obey(control),
            // Nobody is left to say go on.
            Ok(None) if pause == Duration::MAX => self.run.bulk.stop(),
            Ok(None) => sleep(pause).await,
            Err(_) => {}
        }
    }

    fn tell(&self, ended: bool) {
        let bulk = &self.run.bulk;
        let plan = bulk.plan();
        let slow = self.governor.filter(Governor::slows).map(|_| "slower: the queue falls behind".to_owned());
        self.run.progress.send_replace(Progress {
            id: plan.id,
            action: plan.action,
            tally: bulk.tally(),
            per_s: plan.pace.per_s,
            paused: bulk.is_paused() && !ended,
            ended,
            note: self.note.clone().or(slow),
        });
    }

    async fn call(&mut self, step: &Step) -> Result<(), String> {
        if let Some(journal) = &mut self.run.journal {
            journal.sent(step).map_err(|error| error.to_string())?;
        }
        let plan = self.run.bulk.plan();
        let targets = plan.targets.get(step.range.clone()).unwrap_or_default().to_vec();
        let request = ActRequest { action: plan.action, targets, reason: plan.reason.clone(), token: step.token };
        match self.acting.act(&request).await {
            Ok(acted) => self.answered(step, acted.results),
            Err(lost) if lost.maybe_done => {
                self.note = Some(format!("the answer was lost, looking what became of it: {lost}"));
                self.lost_at = Some(Instant::now());
                self.run.bulk.lost(step);
                Ok(())
            }
            Err(error) => self.never_happened(step, &error).await,
        }
    }

    fn answered(&mut self, step: &Step, results: Vec<TargetResult>) -> Result<(), String> {
        (self.note, self.lost_at) = (None, None);
        let written = match &mut self.run.journal {
            Some(journal) => journal.answered(step, &results).map_err(|error| error.to_string()),
            None => Ok(()),
        };
        self.run.bulk.answered(step, results);
        written
    }

    /// The call changed nothing. What passes by itself is tried again.
    async fn never_happened(&mut self, step: &Step, error: &DbError) -> Result<(), String> {
        if let Some(journal) = &mut self.run.journal {
            journal.never_happened(step).map_err(|error| error.to_string())?;
        }
        self.run.bulk.never_happened(step);
        if !passes(error) {
            return Err(error.to_string());
        }
        self.note = Some(error.to_string());
        let pause = self.acting.pause();
        self.wait(pause).await;
        Ok(())
    }

    async fn look_up(&mut self, step: &Step) -> Result<(), String> {
        let lost_at = *self.lost_at.get_or_insert_with(Instant::now);
        // First whether it has ended, then what it did: the other way round it could end in between.
        let over = lost_at.elapsed() > ENDS_WITHIN || self.acting.is_over().await;
        match self.acting.lookup(step.token).await {
            Ok(Some(acted)) => return self.answered(step, acted.results),
            Ok(None) if over => {
                (self.note, self.lost_at) = (None, None);
                if let Some(journal) = &mut self.run.journal {
                    journal.never_happened(step).map_err(|error| error.to_string())?;
                }
                self.run.bulk.never_happened(step);
                return Ok(());
            }
            Ok(None) => {}
            Err(error) if !passes(&error) => {
                self.run.bulk.give_up();
                return Err(error.to_string());
            }
            Err(error) => self.note = Some(format!("looking what became of the last call: {error}")),
        }
        if self.run.bulk.is_stopped() && lost_at.elapsed() > STOP_WITHIN {
            self.run.bulk.give_up();
            return Ok(());
        }
        let pause = self.acting.pause().max(LOOK_AGAIN);
        self.wait(pause).await;
        Ok(())
    }

    /// Looks how long jobs wait in the queues that are fed, now and then, and goes slower while they fall behind.
    async fn watch_queues(&mut self) {
        let Some(governor) = &mut self.governor else { return };
        if self.watched_at.is_some_and(|at| at.elapsed() < WATCH_EVERY) {
            return;
        }
        self.watched_at = Some(Instant::now());
        let queues: std::collections::BTreeSet<&str> =
            self.run.bulk.plan().targets.iter().map(|(job, _)| job.queue.name.as_str()).collect();
        // Without an answer the pace stays as it is.
        if let Ok(core) = self.acting.core().await {
            let fed = core.queues.iter().filter(|queue| queues.contains(queue.id.name.as_str()));
            let waits = fed.filter_map(|queue| queue.oldest_ready_seconds(core.taken_at).get().flatten());
            governor.observe(waits.reduce(f64::max));
            let per_s = governor.per_s();
            self.run.bulk.set_per_s(Some(per_s), self.began.elapsed());
        }
    }
}

/// Whether it helps to try again: a link that comes back, a lock that is given up, a server that starts.
fn passes(error: &DbError) -> bool {
    match &error.class {
        Class::Unreachable
        | Class::LinkLost
        | Class::StartingUp
        | Class::TooManyConnections
        | Class::Shutdown
        | Class::WrongServer
        | Class::Deadline
        | Class::StatementTimeout
        | Class::LockTimeout
        | Class::Cancelled => true,
        // A deadlock or a serialization failure.
        Class::Other => error.sqlstate.as_deref().is_some_and(|code| code.starts_with("40")),
        Class::Refused
        | Class::PasswordNeeded
        | Class::NoDatabase
        | Class::Denied(_)
        | Class::Undefined
        | Class::ReadOnly
        | Class::Tls
        | Class::Settings
        | Class::Shape => false,
    }
}
