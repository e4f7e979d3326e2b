//! Undoing what was done from here, and pausing queues, which is undone by its opposite.

use crate::keymap::{self, Command};
use crate::model::{Action, ActionReport, Job, Outcome, QueueId};
use crate::msg::Effect;
use crate::overlays::confirm::QueueConfirm;
use crate::text::Safe;

use super::overlay::Overlay;
use super::{App, Effects};

/// What was done from here and can be undone.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Undo {
    /// An action on jobs.
    Action {
        /// Its audit row.
        audit: i64,
        /// The jobs it changed, as they were before.
        jobs: Vec<Job>,
    },
    /// A queue was paused or let go on.
    Paused {
        /// Which.
        queue: QueueId,
        /// What was done.
        paused: bool,
    },
}

/// So many actions are kept for undo.
const UNDO_MOST: usize = 50;

impl App {
    /// Keeps what an undo needs, and forgets what was undone. Says whether there is something to undo.
    pub(super) fn remember(&mut self, report: &ActionReport) -> bool {
        if let Action::Undo { audit } = report.action {
            self.undo.retain(|undo| !matches!(undo, Undo::Action { audit: of, .. } if *of == audit));
            return false;
        }
        let done = |job: &Job| report.results.iter().any(|r| r.outcome == Outcome::Done && r.id == job.at.id);
        let jobs: Vec<Job> = std::mem::take(&mut self.acting).into_iter().filter(done).collect();
        match report.audit {
            Some(audit) if !jobs.is_empty() => {
                self.keep_undo(Undo::Action { audit, jobs });
                true
            }
            _ => false,
        }
    }

    fn keep_undo(&mut self, undo: Undo) {
        self.undo.push(undo);
        if self.undo.len() > UNDO_MOST {
            self.undo.remove(0);
        }
    }

    /// Asks to undo the latest action that can be undone.
    pub(super) fn ask_to_undo(&mut self) {
        if let Err(reason) = self.may_act() {
            self.notify(format!("cannot undo: {reason}"), false);
            return;
        }
        match self.undo.last().cloned() {
            None => self.notify("nothing to undo: nothing was changed from here", false),
            Some(Undo::Action { audit, jobs }) => self.confirm(Action::Undo { audit }, jobs),
            Some(Undo::Paused { queue, paused }) => self.confirm_pause(&queue, !paused),
        }
    }

    /// Asks to pause the queue under the cursor, or to let it go on.
    pub(super) fn ask_to_pause(&mut self) {
        if let Err(reason) = self.may_act() {
            self.notify(format!("cannot pause: {reason}"), false);
            return;
        }
        let ctx = self.world.ctx(true);
        let Some(queue) = self.focused().current_queue(&ctx) else {
            self.notify("nothing to pause: no queue under the cursor", false);
            return;
        };
        match ctx.snapshot.and_then(|s| s.queue(&queue)).and_then(|stats| stats.paused) {
            None => self.notify("whether it is paused is not known here: pausing needs our migrations", false),
            Some(paused) => self.confirm_pause(&queue, !paused),
        }
    }

    fn confirm_pause(&mut self, queue: &QueueId, pause: bool) {
        let Some(stats) = self.world.snapshot.as_ref().and_then(|s| s.queue(queue)).cloned() else {
            self.notify(format!("there is no queue {} any more", Safe::new(&queue.name)), false);
            return;
        };
        let confirm = QueueConfirm::new(stats, pause, self.place(), self.world.mono);
        self.overlays.push(Overlay::Queue(Box::new(confirm)));
    }

    pub(super) fn paused(&mut self, queue: QueueId, paused: bool, changed: bool) -> Effects {
        let name = Safe::new(&queue.name).to_string();
        let word = if paused { "paused" } else { "resumed" };
        if changed {
            let undone = self.undo.last() == Some(&Undo::Paused { queue: queue.clone(), paused: !paused });
            if undone {
                self.undo.pop();
            } else {
                self.keep_undo(Undo::Paused { queue, paused });
            }
            self.notify(format!("{word} {name} · {} undoes it", keymap::label(Command::Undo)), true);
        } else {
            self.notify(format!("not {word}: {name} was so already"), false);
        }
        vec![Effect::PollNow]
    }
}
