//! The mouse, where it is switched on: a click moves focus and cursor, a second one opens the row, the wheel scrolls.

use ratatui::layout::{Position, Rect};

use crate::keymap::Command;
use crate::msg::{Effect, Pointer, Turn};

use super::{App, Effects, View};

/// Rows that one step of the wheel moves.
const STEP: usize = 3;

/// What stood where in the last frame.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// The body of a pane: of the overview by number, or the one that fills the screen.
    Pane(usize),
    /// The tab of a pane of the overview.
    Tab(usize),
}

/// Places of the last frame, the topmost last.
pub(super) type Places = Vec<(Rect, Place)>;

impl App {
    pub(super) fn pointer(&mut self, pointer: Pointer) -> Effects {
        match pointer {
            Pointer::Click(at) if self.overlays.is_empty() => self.click(at),
            Pointer::Click(_) => Effects::new(),
            Pointer::Wheel(at, turn) => {
                let command = if turn == Turn::Up { Command::Up } else { Command::Down };
                if self.overlays.is_empty() {
                    self.focus_at(at);
                }
                (0..STEP).flat_map(|_| self.scroll(command)).collect()
            }
        }
    }

    fn scroll(&mut self, command: Command) -> Effects {
        match self.overlays.last_mut() {
            Some(overlay) => {
                overlay.scroll(command);
                Effects::new()
            }
            None => self.pane_command(command),
        }
    }

    fn click(&mut self, at: Position) -> Effects {
        if !self.focus_at(at) {
            return Effects::new();
        }
        self.notice = None;
        let (pane, ctx) = self.focused_mut();
        let again = pane.on_click(at, &ctx);
        self.follow_cursor();
        if again { self.pane_command(Command::Inspect) } else { Effects::new() }
    }

    /// Focuses the pane, or the tab, at a place of the screen. Says whether rows may be there.
    fn focus_at(&mut self, at: Position) -> bool {
        let found = self.places.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, place)| *place);
        match found {
            Some(Place::Pane(index)) => {
                if self.view == View::Overview {
                    self.set_focus(index);
                }
                true
            }
            Some(Place::Tab(index)) => {
                self.set_focus(index);
                false
            }
            None => false,
        }
    }

    pub(super) fn toggle_mouse(&mut self) -> Effects {
        self.world.mouse = !self.world.mouse;
        let words = if self.world.mouse {
            "the mouse points here: click a row, click again to open it; Shift selects text as usual"
        } else {
            "the mouse is the terminal's again"
        };
        self.notify(words, true);
        vec![Effect::Mouse(self.world.mouse)]
    }
}
