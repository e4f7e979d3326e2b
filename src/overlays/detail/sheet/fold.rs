//! Which objects and arrays are folded, and what the cursor's line has to do with it.

use std::collections::BTreeSet;

use super::super::json::Line;
use super::{Place, Sheet};

/// More lines than this are not shown without being asked for.
const MOST_OPEN: usize = 200;

/// All at a depth, or deeper, are folded, but for those that were folded or unfolded by hand.
#[derive(Debug, Clone, Default)]
pub(super) struct Folds {
    /// `None`: nothing is folded by its depth.
    from: Option<u16>,
    /// Where those begin that are not as their depth says.
    by_hand: BTreeSet<u32>,
}

impl Folds {
    /// Nothing is folded where it is short. Else the outermost members are in view and, as far as that is not too much, what
    /// is in them.
    pub(super) fn sensible(lines: &[Line]) -> Self {
        if lines.len() <= MOST_OPEN {
            return Self::default();
        }
        let deepest = lines.iter().map(|line| line.depth).max().unwrap_or(0);
        let mut at_depth = vec![0_usize; usize::from(deepest) + 1];
        for line in lines {
            if let Some(count) = at_depth.get_mut(usize::from(line.depth)) {
                *count += 1;
            }
        }
        let mut in_view = 0;
        let fitting = at_depth.iter().take_while(|count| {
            in_view += **count;
            in_view <= MOST_OPEN
        });
        let from = fitting.count().saturating_sub(1).max(1);
        Self { from: u16::try_from(from).ok(), by_hand: BTreeSet::new() }
    }

    pub(super) fn holds(&self, line: &Line) -> bool {
        line.opens() && (self.from.is_some_and(|from| line.depth >= from) != self.by_hand.contains(&line.start))
    }

    fn toggle(&mut self, line: &Line) {
        if !self.by_hand.remove(&line.start) {
            self.by_hand.insert(line.start);
        }
    }
}

impl Sheet {
    /// Folds or unfolds what the line at a place opens, closes, or stands in. `None`: there is nothing to fold; else the
    /// place of the line that opens it.
    pub(in super::super) fn fold(&mut self, place: Place) -> Option<Place> {
        let index = self.opener(self.line_of(place.byte))?;
        let line = *self.lines.get(index)?;
        self.folds.toggle(&line);
        self.lay_out_again();
        Some(Place { byte: line.start as usize, row: 0 })
    }

    /// Unfolds all where something is folded, else folds all but the outermost. Says whether all is unfolded now.
    pub(in super::super) fn fold_all(&mut self) -> bool {
        let unfold = self.lines.iter().any(|line| self.folds.holds(line));
        self.folds = Folds { from: (!unfold).then_some(1), by_hand: BTreeSet::new() };
        self.lay_out_again();
        unfold
    }

    /// There is something to fold.
    pub(in super::super) fn can_fold(&self) -> bool {
        self.lines.iter().any(Line::opens)
    }

    /// Unfolds everything that hides this byte.
    pub(in super::super) fn unfold_to(&mut self, byte: usize) {
        let wanted = self.line_of(byte);
        let (mut at, mut changed) = (0, false);
        while at < wanted {
            let Some(line) = self.lines.get(at).copied() else { break };
            if line.opens() && line.next as usize > wanted {
                if self.folds.holds(&line) {
                    self.folds.toggle(&line);
                    changed = true;
                }
                at += 1;
            } else {
                at = if line.opens() { line.next as usize } else { at + 1 };
            }
        }
        if changed {
            self.lay_out_again();
        }
    }

    /// The line that opens what this line opens, closes, or stands in.
    fn opener(&self, index: usize) -> Option<usize> {
        let line = self.lines.get(index)?;
        if line.opens() {
            return Some(index);
        }
        let closes = self.slice(line).starts_with(['}', ']']);
        let depth = if closes { line.depth } else { line.depth.checked_sub(1)? };
        let before = self.lines.get(..index)?;
        before.iter().rposition(|line| line.opens() && line.depth == depth)
    }
}
