//! The open detail of a job: its readings, asked for when it opens and again while it is open, and what came of them.

use crate::keymap::Command;
use crate::model::{JobDetail, JobRef, PartRead, PartRequest};
use crate::msg::Effect;
use crate::overlays::detail::Detail;

use super::act::{action_of, value_of};
use super::overlay::Overlay;
use super::{App, Effects};

impl App {
    /// Opens a job.
    pub(super) fn inspect(&mut self, job: JobRef) -> Effects {
        let mut open = Detail::new(job, self.guards.redaction.clone()).read_only(self.guards.read_only);
        let request = open.request(self.world.mono);
        self.overlays.push(Overlay::Detail(Box::new(open)));
        vec![Effect::ReadDetail(request)]
    }

    /// The open detail, whatever lies above it.
    pub(super) fn detail(&self) -> Option<&Detail> {
        self.overlays.iter().rev().find_map(|overlay| match overlay {
            Overlay::Detail(open) => Some(open.as_ref()),
            _ => None,
        })
    }

    fn detail_mut(&mut self) -> Option<&mut Detail> {
        self.overlays.iter_mut().rev().find_map(|overlay| match overlay {
            Overlay::Detail(open) => Some(open.as_mut()),
            _ => None,
        })
    }

    /// Whether a command does something where the keys go now. Other places than a detail do not tell.
    pub(super) fn works_here(&self, command: Command) -> bool {
        let Some(Overlay::Detail(open)) = self.overlays.last() else {
            return true;
        };
        let changes = action_of(command, open.at().dead).is_some() || value_of(command).is_some();
        open.works(command, self.world.now()) && (!changes || self.may_act().is_ok())
    }

    /// Asks for the open job now.
    pub(super) fn reread_detail(&mut self) -> Option<Effect> {
        let now = self.world.mono;
        self.detail_mut().map(|open| Effect::ReadDetail(open.request(now)))
    }

    /// Asks for the open job where that is due again.
    pub(super) fn refresh_detail(&mut self) -> Option<Effect> {
        let now = self.world.mono;
        self.detail_mut().and_then(|open| open.request_again(now)).map(Effect::ReadDetail)
    }

    pub(super) fn detail_read(&mut self, job: &JobRef, detail: Option<JobDetail>) {
        if let (Some(Overlay::Confirm(asks)), Some(detail)) = (self.overlays.last_mut(), &detail) {
            asks.on_jobs(std::slice::from_ref(&detail.job));
        }
        let now = self.world.mono;
        if let Some(open) = self.detail_mut() {
            open.on_detail(job, detail, now);
        }
    }

    pub(super) fn detail_failed(&mut self, job: &JobRef, reason: &str) {
        let now = self.world.mono;
        if let Some(open) = self.detail_mut() {
            open.on_failure(job, reason, now);
        }
    }

    pub(super) fn part_read(&mut self, request: &PartRequest, read: PartRead) {
        if let Some((words, good)) = self.detail_mut().and_then(|open| open.on_part(request, read)) {
            self.notify(words, good);
        }
    }

    pub(super) fn part_failed(&mut self, request: &PartRequest, reason: &str) {
        if let Some(words) = self.detail_mut().and_then(|open| open.on_part_failed(request, reason)) {
            self.notify(words, false);
        }
    }
}
