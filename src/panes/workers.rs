//! Leases and workers: who works, what each holds, and who is not heard of any more.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::parts::{dim_if_stale, say};
use super::{Ctx, Pane};
use crate::keymap::Scope;
use crate::model::{Panel, PanelKind, Workers};

/// The view.
#[derive(Debug, Default)]
pub struct WorkersPane {
    workers: Option<Workers>,
}

impl Pane for WorkersPane {
    fn name(&self) -> &'static str {
        "workers"
    }

    fn title(&self, _ctx: &Ctx<'_>) -> String {
        "WORKERS".to_owned()
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Workers, Scope::List]
    }

    fn panel(&self) -> Option<PanelKind> {
        Some(PanelKind::Workers)
    }

    fn on_panel(&mut self, panel: &Panel, _ctx: &Ctx<'_>) {
        if let Panel::Workers(read) = panel {
            self.workers = Some(read.clone());
        }
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        let words = if self.workers.is_some() { "not known" } else { "reading" };
        say(buf, area, ctx.theme, words);
        dim_if_stale(buf, area, ctx);
    }
}
