//! Acting: from a key over the confirmation to the answer. What was seen travels as data; nothing is looked up again.

use crate::keymap::{self, Command};
use crate::model::{Ability, Action, ActionReport, Fence, Job, JobRef};
use crate::msg::Effect;
use crate::overlays::confirm::{Confirm, Place};
use crate::overlays::results::{self, Results};
use crate::overlays::value::{ValuePrompt, Wanted};

use super::keys::count_of;
use super::overlay::Overlay;
use super::{App, Effects, View};

impl App {
    /// Asks for confirmation of an action on the marked jobs, else on the job under the cursor.
    pub(super) fn ask_to_act(&mut self, action: Action) -> Effects {
        if let Err(reason) = self.may_act() {
            self.notify(format!("cannot {}: {reason}", action.verb()), false);
            return Effects::new();
        }
        let jobs = self.targets();
        if jobs.is_empty() {
            self.notify(format!("nothing to {}: no job under the cursor", action.verb()), false);
            return Effects::new();
        }
        self.confirm(action, jobs);
        Effects::new()
    }

    pub(super) fn confirm(&mut self, action: Action, jobs: Vec<Job>) {
        let confirm = Confirm::new(action, jobs, self.place(), self.world.mono);
        self.overlays.push(Overlay::Confirm(Box::new(confirm)));
    }

    /// Whether what would be acted on are dead letters. Asked at every key, so nothing is copied.
    pub(super) fn targets_are_dead(&self) -> bool {
        let first = match self.detail() {
            Some(open) => open.job(),
            None => self.world.marks.values().next(),
        };
        let ctx = self.world.ctx(true);
        first.or_else(|| self.focused().current_job(&ctx)).is_some_and(|job| job.at.dead)
    }

    pub(super) fn may_act(&self) -> Result<(), String> {
        if self.guards.read_only {
            return Err("started with --read-only".into());
        }
        let Some(server) = &self.world.server else {
            return Err("not connected yet".into());
        };
        if server.standby {
            return Err("this server is a replica, read only".into());
        }
        if let Ability::No(reason) = &server.act {
            return Err(reason.clone());
        }
        if self.world.stale() {
            return Err("the numbers are old; it needs a fresh reading first".into());
        }
        Ok(())
    }

    /// The open detail's job, else the marked jobs, else the one under the cursor, as they were seen.
    fn targets(&self) -> Vec<Job> {
        if let Some(open) = self.detail() {
            return open.job().cloned().into_iter().collect();
        }
        if !self.world.marks.is_empty() {
            return self.world.marks.values().cloned().collect();
        }
        let ctx = self.world.ctx(true);
        self.focused().current_job(&ctx).cloned().into_iter().collect()
    }

    pub(super) fn place(&self) -> Place {
        let server = self.world.server.clone().unwrap_or_default();
        let production = server.is_production(self.guards.production, &self.guards.not_production);
        Place { server, production, typed_above: self.guards.typed_above }
    }

    /// Sends what was confirmed.
    pub(super) fn start_acting(&mut self, action: Action, jobs: Vec<Job>) -> Effects {
        self.notify(format!("{} {}…", action.verb(), count_of(jobs.len())), true);
        self.acting.clone_from(&jobs);
        vec![Effect::Act { action, targets: fenced(jobs), reason: None }]
    }

    pub(super) fn acted(&mut self, report: ActionReport) -> Effects {
        let all = report.done() == report.asked.len();
        let hint = if self.remember(&report) {
            format!(" · {} undoes it", keymap::label(Command::Undo))
        } else {
            String::new()
        };
        self.notify(format!("{}{hint}", results::one_line(&report, self.world.now())), all);
        if !all && report.asked.len() > 1 {
            self.overlays.push(Overlay::Results(Box::new(Results::new(report))));
        }
        self.world.marks.clear();
        self.reread()
    }

    pub(super) fn act_failed(&mut self, action: Action, count: usize, reason: &str, unknown: bool) -> Effects {
        let jobs = count_of(count);
        let text = if unknown {
            format!("{} {jobs}: the answer was lost, it may have happened; look again. {reason}", action.verb())
        } else {
            format!("not {}: {reason}", action.done())
        };
        self.notify(text, false);
        self.reread()
    }

    /// Asks for the value that an action needs, if there is something to act on.
    pub(super) fn ask_for_value(&mut self, command: Command) {
        if let Some(wanted) = value_of(command) {
            self.ask_for(wanted);
        }
    }

    pub(super) fn ask_for(&mut self, wanted: Wanted) {
        if let Err(reason) = self.may_act() {
            self.notify(format!("cannot act: {reason}"), false);
        } else if self.targets().is_empty() {
            self.notify("nothing to act on: no job under the cursor", false);
        } else {
            let prompt = ValuePrompt::new(wanted, self.world.now(), self.world.mono);
            self.overlays.push(Overlay::Value(Box::new(prompt)));
        }
    }

    /// After an action: read again what is on screen.
    fn reread(&mut self) -> Effects {
        let mut effects = vec![Effect::PollNow];
        if self.view == View::Jobs {
            effects.push(Effect::ReadPage(self.jobs.request()));
        }
        effects.extend(self.reread_detail());
        effects
    }
}

/// The action on jobs that a command asks for, in lists and in the detail alike. What force means depends on the job.
pub(super) fn action_of(command: Command, dead: bool) -> Option<Action> {
    match command {
        Command::Requeue => Some(Action::Requeue { force: false }),
        Command::ForceRequeue if dead => Some(Action::Replay { force: true }),
        Command::ForceRequeue => Some(Action::Requeue { force: true }),
        Command::DeadLetter => Some(Action::DeadLetter { force: false }),
        Command::Reap => Some(Action::Reap),
        Command::Replay => Some(Action::Replay { force: false }),
        _ => None,
    }
}

/// The value that must be asked for before the action of a command is known.
pub(super) fn value_of(command: Command) -> Option<Wanted> {
    match command {
        Command::Reschedule => Some(Wanted::RunAt),
        Command::Priority => Some(Wanted::Priority),
        _ => None,
    }
}

/// Targets of an action: each job with the fence it was seen with.
#[must_use]
pub(super) fn fenced(jobs: Vec<Job>) -> Vec<(JobRef, Fence)> {
    jobs.into_iter().map(|job| (job.at, job.fence)).collect()
}
