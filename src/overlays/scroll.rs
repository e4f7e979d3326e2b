//! Where somebody is in a text of known length. Positions are counted in `usize`: a text may have more lines than a screen
//! has numbers.

use crate::keymap::Command;

/// The first line in view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Scroll {
    top: usize,
    /// Rows in view when last drawn.
    rows: usize,
    /// Lines there were when last drawn.
    lines: usize,
}

impl Scroll {
    /// Fits it to a view of `rows` over `lines` and gives back the first line to draw.
    pub(super) fn settle(&mut self, lines: usize, rows: usize) -> usize {
        (self.lines, self.rows) = (lines, rows);
        self.top = self.top.min(lines.saturating_sub(rows));
        self.top
    }

    /// Moves. Says whether the command was a movement.
    pub(super) fn on_command(&mut self, command: Command) -> bool {
        let page = self.rows.saturating_sub(1).max(1);
        self.top = match command {
            Command::Up => self.top.saturating_sub(1),
            Command::Down => self.top.saturating_add(1),
            Command::PageUp => self.top.saturating_sub(page),
            Command::PageDown => self.top.saturating_add(page),
            Command::Top => 0,
            Command::Bottom => usize::MAX,
            _ => return false,
        };
        self.top = self.top.min(self.lines.saturating_sub(self.rows));
        true
    }

    /// `lines 1-20 of 70,012`; nothing where all is in view.
    pub(super) fn label(&self, what: &str) -> Option<String> {
        let count = |n: usize| crate::fmt::count(u64::try_from(n).unwrap_or(u64::MAX));
        let last = self.top.saturating_add(self.rows).min(self.lines);
        (self.lines > self.rows)
            .then(|| format!("{what} {}-{} of {}", count(self.top + 1), count(last), count(self.lines)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_the_end_beyond_sixteen_bits() {
        let mut scroll = Scroll::default();
        scroll.settle(70_012, 20);
        scroll.on_command(Command::Bottom);
        assert_eq!(scroll.settle(70_012, 20), 69_992);
        assert_eq!(scroll.label("lines").unwrap(), "lines 69,993-70,012 of 70,012");
        scroll.on_command(Command::Down);
        assert_eq!(scroll.settle(70_012, 20), 69_992);
        scroll.on_command(Command::PageUp);
        assert_eq!(scroll.settle(70_012, 20), 69_973);
        assert_eq!(scroll.settle(5, 20), 0, "the text became shorter");
        assert_eq!(scroll.label("lines"), None);
        scroll.on_command(Command::Down);
        assert_eq!(scroll.settle(5, 20), 0);
        assert!(!scroll.on_command(Command::Requeue));
    }

    #[test]
    fn a_view_without_rows_moves_nowhere_strange() {
        let mut scroll = Scroll::default();
        scroll.settle(3, 0);
        scroll.on_command(Command::Bottom);
        assert_eq!(scroll.settle(3, 0), 3);
    }
}
