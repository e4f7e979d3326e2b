//! The operators' part of the model: what an action does in each state, and undo.

use uuid::Uuid;

use super::model::{Job, Model, Place};

/// Outcome and state afterwards.
pub(super) type Answer = (String, String);

/// What an operator's call changed, for undo.
#[derive(Clone, Debug)]
pub(super) struct Done {
    job: Uuid,
    before: Job,
    after: Job,
    made: Option<(Uuid, Job)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Requeue,
    DeadLetter,
    Reap,
    Postpone,
    Prioritise(i32),
    Replay,
}

impl Model {
    /// An operator's action on one job; `seen` is the attempt that the operator saw, if it is compared. `made` is the id
    /// that a replay gave.
    pub(super) fn act(
        &mut self,
        action: i64,
        act: Act,
        id: Uuid,
        force: bool,
        seen: Option<i32>,
        made: Option<Uuid>,
    ) -> Answer {
        let (now, state) = (self.tick(), self.state(id));
        let outcome = self.judge(act, id, state, force, seen);
        let mut done = Vec::new();
        if outcome == "done" {
            let before = self.jobs[&id].clone();
            let made = self.change(act, id, now, made);
            done.push(Done { job: id, before, after: self.jobs[&id].clone(), made });
        }
        self.actions.insert(action, (now, done));
        (outcome.to_owned(), self.state(id).to_owned())
    }

    fn judge(&self, act: Act, id: Uuid, state: &str, force: bool, seen: Option<i32>) -> &'static str {
        let Some(job) = self.jobs.get(&id) else { return "gone" };
        if act == Act::Replay {
            return match &job.place {
                Place::Dead { replay, .. } if replay.is_some() && !force => "refused",
                Place::Dead { .. } => "done",
                _ => "changed",
            };
        }
        if state == "dead" || seen.is_some_and(|seen| seen != job.attempts) {
            return "changed";
        }
        let fits = match act {
            Act::Requeue => state != "ready" && (state != "running" || force),
            Act::DeadLetter => state != "running" || force,
            Act::Reap => state == "expired",
            Act::Postpone => ["ready", "scheduled"].contains(&state),
            Act::Prioritise(_) | Act::Replay => true,
        };
        if fits && state != "completed" { "done" } else { "refused" }
    }

    fn change(&mut self, act: Act, id: Uuid, now: u64, made: Option<Uuid>) -> Option<(Uuid, Job)> {
        if matches!(act, Act::Requeue | Act::DeadLetter) {
            self.end_attempt(id, now, false);
        }
        if act == Act::Reap {
            self.reap_one(id, now);
            return None;
        }
        let job = self.jobs.get_mut(&id)?;
        job.changed = now;
        match act {
            Act::Requeue => {
                job.place = Place::Queued;
                job.max = job.max.max(job.attempts + 1);
                job.due = Some(now);
            }
            Act::DeadLetter => job.place = Place::Dead { died: now, replays: 0, replay: None },
            Act::Postpone => job.due = None,
            Act::Prioritise(priority) => job.priority = priority,
            Act::Reap | Act::Replay => {}
        }
        let (Place::Dead { replays, replay, .. }, Act::Replay, Some(made)) = (&mut job.place, act, made) else {
            return None;
        };
        *replays += 1;
        *replay = Some(made);
        let key = if *replays == 1 { format!("replay:{id}") } else { format!("replay:{id}:{replays}") };
        let (max, priority) = (job.max, job.priority);
        self.enqueue(made, max, priority, true, Some(key));
        Some((made, self.jobs[&made].clone()))
    }

    pub(super) fn undo(&mut self, action: i64) -> Vec<Answer> {
        let Some((at, done)) = self.actions.get(&action).cloned() else { return Vec::new() };
        done.into_iter().map(|done| self.undo_one(at, done)).collect()
    }

    fn undo_one(&mut self, at: u64, done: Done) -> Answer {
        let id = done.job;
        let now = self.jobs.get(&id);
        let same = match (&done.made, now.map(|job| &job.place)) {
            (Some((made, job)), _) => now == Some(&done.after) && self.jobs.get(made) == Some(job),
            (None, Some(Place::Dead { died, replay, .. })) => *died == at && replay.is_none(),
            (None, _) => now == Some(&done.after),
        };
        let dead = |job: &Job| matches!(job.place, Place::Dead { .. });
        let died = dead(&done.after) && now.is_some_and(dead);
        let outcome = if died && done.made.is_none() && self.holder(done.before.key.as_deref()).is_some() {
            "refused"
        } else if now.is_none() {
            "gone"
        } else if same {
            "done"
        } else {
            "changed"
        };
        if outcome == "done" {
            self.jobs.insert(id, done.before);
            if let Some((made, _)) = done.made {
                self.jobs.remove(&made);
            }
            self.failures.retain(|failure| failure.job != id || failure.at != at || failure.said || failure.fenced);
        }
        (outcome.to_owned(), self.state(id).to_owned())
    }
}
