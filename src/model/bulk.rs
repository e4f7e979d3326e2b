//! Acting on a frozen set of jobs in small committed steps: a state machine that does nothing itself. It says what to do next
//! and is told what came of it, so that a pause, a stop, a lost answer and a new start after a crash are all the same code.

mod governor;

use std::ops::Range;
use std::time::Duration;

use uuid::Uuid;

use super::{Action, Fence, JobRef, Outcome, TargetResult};

pub use governor::Governor;

/// What is to be done, to which jobs. It never changes while it runs, but for the pace.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Names the run.
    pub id: Uuid,
    /// What to do.
    pub action: Action,
    /// The operator's reason, for the audit.
    pub reason: Option<String>,
    /// The frozen set, as each job was seen.
    pub targets: Vec<(JobRef, Fence)>,
    /// How fast.
    pub pace: Pace,
}

/// How fast a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Jobs in one call, which is one transaction.
    pub step: usize,
    /// Jobs per second at most; `None`: as fast as the database answers.
    pub per_s: Option<u32>,
}

/// Small enough to hold its row locks for milliseconds only.
pub const STEP: usize = 100;

/// The targets of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Names the call: by it a lost answer is looked up.
    pub token: Uuid,
    /// Which of the targets.
    pub range: Range<usize>,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Call, and tell [`Bulk::answered`] or [`Bulk::lost`].
    Call(Step),
    /// Find out what became of a call whose answer was lost, and tell [`Bulk::answered`] or [`Bulk::never_happened`].
    LookUp(Step),
    /// Wait so long, or until something is told.
    Wait(Duration),
    /// Wait until it is told to go on.
    Pause,
    /// There is nothing left to do.
    End,
}

/// How many targets ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Done as asked.
    pub done: usize,
    /// Not as it was seen any more.
    pub changed: usize,
    /// Held by another session.
    pub locked: usize,
    /// No such row.
    pub gone: usize,
    /// Does not apply to its state.
    pub refused: usize,
    /// The answer was lost and could not be looked up.
    pub unknown: usize,
    /// Not asked yet, or left out by a stop.
    pub left: usize,
}

impl Tally {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> usize {
        self.done + self.not_done() + self.left
    }

    /// Those that were answered, and not with done.
    #[must_use]
    pub fn not_done(&self) -> usize {
        self.changed + self.locked + self.gone + self.refused + self.unknown
    }

    fn add(&mut self, outcome: Option<Outcome>) {
        *match outcome {
            Some(Outcome::Done) => &mut self.done,
            Some(Outcome::Changed) => &mut self.changed,
            Some(Outcome::Locked) => &mut self.locked,
            Some(Outcome::Gone) => &mut self.gone,
            Some(Outcome::Refused) => &mut self.refused,
            Some(Outcome::Unknown) => &mut self.unknown,
            None => &mut self.left,
        } += 1;
    }
}

/// A call that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Sent(Step),
    Lost(Step),
}

/// A run.
#[derive(Debug, Clone)]
pub struct Bulk {
    plan: Plan,
    results: Vec<Option<TargetResult>>,
    /// The first target that was not asked yet.
    next: usize,
    open: Option<Open>,
    /// The next call may begin, in monotonic time.
    due: Duration,
    paused: bool,
    stopped: bool,
}

impl Bulk {
    /// A run that has done nothing yet.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let results = vec![None; plan.targets.len()];
        Self { plan, results, next: 0, open: None, due: Duration::ZERO, paused: false, stopped: false }
    }

    /// What it does.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The answers so far, by target.
    #[must_use]
    pub fn results(&self) -> &[Option<TargetResult>] {
        &self.results
    }

    /// How many ended how.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for result in &self.results {
            tally.add(result.as_ref().map(|result| result.outcome));
        }
        tally
    }

    /// Whether it waits to be told to go on.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether it was stopped before its end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// What to do at the monotonic time `now`. A call gets the token `token`.
    pub fn next(&mut self, now: Duration, token: Uuid) -> Next {
        match &self.open {
            Some(Open::Lost(step)) => return Next::LookUp(step.clone()),
            // An answer is on its way: whoever asks again has lost it.
            Some(Open::Sent(step)) => {
                let step = step.clone();
                self.open = Some(Open::Lost(step.clone()));
                return Next::LookUp(step);
            }
            None => {}
        }
        if self.stopped || self.next >= self.plan.targets.len() {
            return Next::End;
        }
        if self.paused {
            return Next::Pause;
        }
        if now < self.due {
            return Next::Wait(self.due.saturating_sub(now));
        }
        let size = self.step_size();
        let range = self.next..(self.next + size).min(self.plan.targets.len());
        self.due = now + self.time_of(range.len());
        self.next = range.end;
        let step = Step { token, range };
        self.open = Some(Open::Sent(step.clone()));
        Next::Call(step)
    }

    /// A slow pace makes small steps, so that it is even: at most a second's worth in one.
    fn step_size(&self) -> usize {
        let pace = self.plan.pace;
        let most = pace.per_s.map_or(pace.step, |per_s| pace.step.min(usize::try_from(per_s).unwrap_or(usize::MAX)));
        most.max(1)
    }

    fn time_of(&self, jobs: usize) -> Duration {
        match self.plan.pace.per_s {
            Some(per_s) if per_s > 0 => Duration::from_secs_f64(jobs as f64 / f64::from(per_s)),
            _ => Duration::ZERO,
        }
    }

    /// The answer to a call, or what was found out of one.
    pub fn answered(&mut self, step: &Step, results: Vec<TargetResult>) {
        self.open = None;
        for (at, result) in step.range.clone().zip(results) {
            if let Some(place) = self.results.get_mut(at) {
                *place = Some(result);
            }
        }
    }

    /// The answer to a call was lost.
    pub fn lost(&mut self, step: &Step) {
        self.open = Some(Open::Lost(step.clone()));
    }

    /// A call is known not to have happened: its targets are asked again. Of a stopped run they are left.
    pub fn never_happened(&mut self, step: &Step) {
        self.open = None;
        self.next = self.next.min(step.range.start);
    }

    /// Nobody can find out any more what became of an open call: its targets are unknown.
    pub fn give_up(&mut self) {
        if let Some(Open::Sent(step) | Open::Lost(step)) = self.open.take() {
            for at in step.range {
                let id = self.plan.targets.get(at).map(|(job, _)| job.id.clone()).unwrap_or_default();
                if let Some(place) = self.results.get_mut(at) {
                    *place = Some(TargetResult { id, outcome: Outcome::Unknown, state_now: None, detail: None });
                }
            }
        }
    }

    /// Waits after the present step, or goes on.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Ends after the present step.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Another pace from now on.
    pub fn set_per_s(&mut self, per_s: Option<u32>, now: Duration) {
        self.plan.pace.per_s = per_s;
        self.due = self.due.min(now + Duration::from_secs(1));
    }

    /// Takes up a run that was interrupted: what is known of its calls, in order.
    pub fn resume(&mut self, step: Step, results: Option<Vec<TargetResult>>) {
        self.next = self.next.max(step.range.end);
        match results {
            Some(results) => self.answered(&step, results),
            None => self.open = Some(Open::Lost(step)),
        }
    }
}

#[cfg(test)]
mod tests;
