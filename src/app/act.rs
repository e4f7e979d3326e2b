//! Acting: from a key over the confirmation to the answer. What was seen travels as data; nothing is looked up again.

use crate::model::{Ability, Action, ActionReport, Fence, Job, JobRef};
use crate::msg::Effect;
use crate::overlays::confirm::{Confirm, Place};
use crate::overlays::results::{self, Results};

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
        let confirm = Confirm::new(action, jobs, self.place(), self.world.mono);
        self.overlays.push(Overlay::Confirm(Box::new(confirm)));
        Effects::new()
    }

    fn may_act(&self) -> Result<(), String> {
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

    fn place(&self) -> Place {
        let server = self.world.server.clone().unwrap_or_default();
        let name = format!("{}@{}", server.database, server.host);
        let production = !server.local && !self.guards.not_production.contains(&name);
        Place { server, production, typed_above: self.guards.typed_above }
    }

    pub(super) fn acted(&mut self, report: ActionReport) -> Effects {
        let all = report.done() == report.asked.len();
        self.notify(results::one_line(&report, self.world.now()), all);
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

    /// After an action: read again what is on screen.
    fn reread(&self) -> Effects {
        let mut effects = vec![Effect::PollNow];
        if self.view == View::Jobs {
            effects.extend(self.jobs.refresh(&self.world.ctx(true)).map(Effect::ReadPage));
        }
        if let Some(open) = self.detail() {
            effects.push(Effect::ReadDetail(open.at().clone()));
        }
        effects
    }
}

/// Targets of an action: each job with the fence it was seen with.
#[must_use]
pub(super) fn fenced(jobs: Vec<Job>) -> Vec<(JobRef, Fence)> {
    jobs.into_iter().map(|job| (job.at, job.fence)).collect()
}
