//! Facts in, effects out. Total and synchronous: nothing here waits, draws or looks at a clock.

use std::time::Duration;

use crate::model::{Page, Snapshot};
use crate::msg::{Effect, Msg};
use crate::panes::Pane;
use crate::text::Safe;

use super::overlay::Overlay;
use super::world::{HISTORY_AT_START, Link, Push};
use super::{App, Effects, View};

impl App {
    /// Takes in one fact and says what is to be done.
    pub fn update(&mut self, msg: Msg) -> Effects {
        match msg {
            Msg::Key(event) => return self.key(&event),
            Msg::Mouse(pointer) => return self.pointer(pointer),
            Msg::Paste(text) => self.paste(&text),
            // The next frame asks for the size itself.
            Msg::Resized(..) => {}
            Msg::Clock(mono) => self.tick(mono),
            Msg::Connecting { target, attempt } => self.connecting(target, attempt),
            Msg::Connected(facts) => self.world.server = Some(*facts),
            Msg::Refused(reason) => {
                self.refused = Some(reason);
                return vec![Effect::Quit];
            }
            Msg::Lost { reason, retry_in, connected } => {
                let retry_at = retry_in.map(|d| self.world.mono + d);
                self.world.link = Link::Lost { reason, retry_at, connected };
            }
            Msg::Polled(snapshot) => return self.polled(*snapshot),
            Msg::HistoryRead(series) => {
                for (queue, minutes) in series {
                    self.world.history.preload(&queue, minutes);
                }
            }
            Msg::HistoryFailed(reason) => {
                // Asked for again with the next change of the range.
                self.world.history_back = HISTORY_AT_START;
                self.notify(format!("the past could not be read: {reason}"), false);
            }
            Msg::PushState { live, note } => self.world.push = Push { live, note },
            Msg::Rhythm { every, load, cost, sharers } => {
                self.world.rhythm.sharers = sharers;
                self.world.rhythm.every = every;
                self.world.rhythm.load = load;
                self.world.rhythm.cost = cost;
            }
            Msg::PageRead(page) => self.page_read(&page),
            Msg::PageFailed { request, reason } => self.jobs.on_page_failed(&request, &reason),
            Msg::PanelRead(panel) => self.panel_read(&panel),
            Msg::PanelFailed { kind, reason } => self.panel_failed(kind, &reason),
            Msg::DetailRead { job, detail } => self.detail_read(&job, detail.map(|d| *d)),
            Msg::DetailFailed { job, reason } => self.detail_failed(&job, &reason),
            Msg::PartRead { request, read } => self.part_read(&request, *read),
            Msg::PartFailed { request, reason } => self.part_failed(&request, &reason),
            Msg::Acted(report) => return self.acted(*report),
            Msg::Paused { queue, paused, changed } => return self.paused(queue, paused, changed),
            Msg::PauseFailed { queue, reason } => {
                self.notify(format!("queue {} stays as it is: {reason}", Safe::new(&queue.name)), false);
            }
            Msg::ActFailed { action, count, reason, unknown } => {
                return self.act_failed(action, count, &reason, unknown);
            }
        }
        Effects::new()
    }

    fn tick(&mut self, mono: Duration) {
        self.world.mono = mono;
        if self.notice.as_ref().is_some_and(|n| n.until <= mono) {
            self.notice = None;
        }
    }

    fn connecting(&mut self, target: String, attempt: u32) {
        // A reason on screen stays until the link is up again: "connecting" alone says less.
        if attempt == 1 || self.world.snapshot.is_none() {
            self.world.link = Link::Connecting { target, attempt };
        }
    }

    fn polled(&mut self, snapshot: Snapshot) -> Effects {
        self.world.take(snapshot);
        if self.world.frozen.is_some() {
            return Effects::new();
        }
        // Rows hold still under a dialog: what it names must stay where it was seen.
        if self.overlays.is_empty() {
            for pane in &mut self.overview {
                pane.on_snapshot(&self.world.ctx(false));
            }
        }
        if let (Some(Overlay::Confirm(open)), Some(snapshot)) = (self.overlays.last_mut(), &self.world.snapshot) {
            open.on_snapshot(snapshot, self.world.now());
        }
        self.follow_cursor();
        let mut effects: Effects = self.refresh_detail().into_iter().collect();
        if self.view == View::Jobs {
            effects.extend(self.jobs.refresh(&self.world.ctx(true)).map(Effect::ReadPage));
        } else {
            effects.extend(self.refresh_panel());
        }
        effects
    }

    /// The panes below follow the queue under the cursor of the table.
    pub(super) fn follow_cursor(&mut self) {
        let ctx = self.world.ctx(false);
        let queue = self.overview.first().and_then(|pane| pane.current_queue(&ctx));
        if queue.is_some() {
            self.world.queue = queue;
        }
    }

    fn page_read(&mut self, page: &Page) {
        self.jobs.on_page(page);
        if let (Some(Overlay::Confirm(open)), Some(rows)) = (self.overlays.last_mut(), page.jobs.value()) {
            open.on_jobs(rows);
        }
    }

    /// Pasted text goes into a text field, if one is open, and is never taken as keys.
    fn paste(&mut self, text: &str) {
        let taken = self.overlays.last_mut().is_some_and(|overlay| overlay.paste(text));
        if !taken {
            self.notify("pasted text is not taken as keys", false);
        }
    }
}
