//! Failures and dead letters by error signature.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::parts::{dim_if_stale, say};
use super::{Ctx, Pane};
use crate::keymap::Scope;
use crate::model::{Groups, Panel, PanelKind};

/// The view.
#[derive(Debug, Default)]
pub struct DeadLetters {
    groups: Option<Groups>,
}

impl Pane for DeadLetters {
    fn name(&self) -> &'static str {
        "dead"
    }

    fn title(&self, _ctx: &Ctx<'_>) -> String {
        "DEAD LETTERS".to_owned()
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Failures, Scope::List]
    }

    fn panel(&self) -> Option<PanelKind> {
        Some(PanelKind::Groups)
    }

    fn on_panel(&mut self, panel: &Panel, _ctx: &Ctx<'_>) {
        if let Panel::Groups(read) = panel {
            self.groups = Some(read.clone());
        }
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        let words = if self.groups.is_some() { "not known" } else { "reading" };
        say(buf, area, ctx.theme, words);
        dim_if_stale(buf, area, ctx);
    }
}
