//! The readings of full views: asked for when a view opens and again while it is on screen, as the load budget allows.

use std::time::Duration;

use crate::model::{Again, Panel, PanelKind};
use crate::msg::Effect;

use super::{App, Effects, View};

/// A reading is not repeated sooner than this.
const SHORTEST: Duration = Duration::from_secs(1);
/// A reading that has not come after this long is asked for again.
const PATIENCE: Duration = Duration::from_secs(10);

impl App {
    /// Opens the full view at this place of the list, if there is one.
    pub(super) fn open_full(&mut self, index: usize) -> Effects {
        if index >= self.full.len() {
            return Effects::new();
        }
        self.view = View::Full(index);
        self.zoomed = false;
        self.panel = Again::due_at(self.world.mono);
        self.refresh_panel()
    }

    /// Asks for the reading of the view on screen, when it is due.
    pub(super) fn refresh_panel(&mut self) -> Effects {
        let View::Full(index) = self.view else { return Effects::new() };
        let Some(kind) = self.full[index].panel() else { return Effects::new() };
        let now = self.world.mono;
        if !self.panel.is_due(now, PATIENCE) {
            return Effects::new();
        }
        self.panel.ask(now);
        vec![Effect::ReadPanel(kind)]
    }

    pub(super) fn panel_read(&mut self, panel: &Panel) {
        self.panel_done(panel.kind(), panel.cost());
        if self.world.frozen.is_some() {
            return;
        }
        let ctx = self.world.ctx(true);
        for pane in self.full.iter_mut().filter(|pane| pane.panel() == Some(panel.kind())) {
            pane.on_panel(panel, &ctx);
        }
    }

    pub(super) fn panel_failed(&mut self, kind: PanelKind, reason: &str) {
        self.panel_done(kind, Duration::ZERO);
        for pane in self.full.iter_mut().filter(|pane| pane.panel() == Some(kind)) {
            pane.on_panel_failed(reason);
        }
    }

    fn panel_done(&mut self, kind: PanelKind, cost: Duration) {
        let View::Full(index) = self.view else { return };
        if self.full[index].panel() == Some(kind) {
            self.panel.answered(self.world.mono, cost, SHORTEST);
        }
    }
}
