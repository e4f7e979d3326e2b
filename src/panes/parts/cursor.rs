//! A cursor in a list: it belongs to a row's name, never to a row's number.
//!
//! When the row it stands on is gone, nothing is selected until somebody moves; and when rows come in above, the rows
//! in view stay where they are.

use ratatui::layout::{Position, Rect};

/// Where somebody is in a list whose rows are named by `K`.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<K> {
    /// The row it belongs to, here or gone.
    at: Option<K>,
    /// That row's last known index.
    index: usize,
    /// The index of the first row in view.
    top: usize,
    /// How many rows were in view when last drawn.
    height: usize,
    /// Where the rows were last drawn.
    body: Rect,
}

impl<K> Default for Cursor<K> {
    fn default() -> Self {
        Self { at: None, index: 0, top: 0, height: 0, body: Rect::ZERO }
    }
}

/// A movement in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// By so many rows; negative is up.
    By(isize),
    /// By so many screens.
    Pages(isize),
    /// To the first row.
    First,
    /// To the last row.
    Last,
}

impl<K: Clone + PartialEq> Cursor<K> {
    /// The row it belongs to, whether it is still there or not.
    #[must_use]
    pub(crate) fn key(&self) -> Option<&K> {
        self.at.as_ref()
    }

    /// Finds it among the rows as they are now. An untouched cursor takes the first row; one whose row is gone is on
    /// none. The row stays on the screen line it had.
    pub(crate) fn settle<'a>(&mut self, mut keys: impl ExactSizeIterator<Item = &'a K>) -> Option<usize>
    where
        K: 'a,
    {
        let len = keys.len();
        let Some(at) = &self.at else {
            self.at = keys.next().cloned();
            (self.index, self.top) = (0, 0);
            return self.at.is_some().then_some(0);
        };
        let found = keys.position(|key| key == at);
        if let Some(index) = found {
            let line = self.index.saturating_sub(self.top);
            self.index = index;
            self.top = index.saturating_sub(line);
        } else {
            self.index = self.index.min(len.saturating_sub(1));
        }
        self.top = self.top.min(len.saturating_sub(self.height.max(1)));
        found
    }

    /// Moves. From a row that is gone, the row now in its place is the next one.
    pub(crate) fn step<'a>(&mut self, mut keys: impl ExactSizeIterator<Item = &'a K> + Clone, step: Move)
    where
        K: 'a,
    {
        let last = keys.len().saturating_sub(1);
        let index = match (self.settle(keys.clone()), step) {
            (_, Move::First) => 0,
            (_, Move::Last) => last,
            (Some(_), Move::By(rows)) => self.index.saturating_add_signed(rows),
            (Some(_), Move::Pages(pages)) => {
                self.index.saturating_add_signed(pages.saturating_mul(isize::try_from(self.height.max(1)).unwrap_or(1)))
            }
            (None, _) => self.index,
        };
        let index = index.min(last);
        if let Some(key) = keys.nth(index) {
            (self.at, self.index) = (Some(key.clone()), index);
            self.follow();
        }
    }

    /// Remembers where the rows are drawn, one a line.
    pub(crate) fn drawn_in(&mut self, body: Rect) {
        self.body = body;
    }

    /// Moves to the row that was drawn at this place of the screen. True: it was there already, so that the second click on a
    /// row opens it.
    pub(crate) fn click<'a>(&mut self, at: Position, mut keys: impl ExactSizeIterator<Item = &'a K>) -> bool
    where
        K: 'a,
    {
        if !self.body.contains(at) {
            return false;
        }
        let index = self.top + usize::from(at.y - self.body.y);
        let Some(key) = keys.nth(index) else { return false };
        let again = self.at.as_ref() == Some(key);
        (self.at, self.index) = (Some(key.clone()), index);
        again
    }

    /// The first row to draw in a view of so many rows; the cursor's row is inside it.
    pub(crate) fn scroll(&mut self, height: usize, len: usize) -> usize {
        self.height = height;
        self.top = self.top.min(len.saturating_sub(height.max(1)));
        self.follow();
        self.top
    }

    fn follow(&mut self) {
        let lowest = (self.index + 1).saturating_sub(self.height.max(1));
        self.top = self.top.clamp(lowest.min(self.index), self.index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(cursor: &mut Cursor<u32>, rows: &[u32], height: usize) -> (Option<usize>, usize) {
        let at = cursor.settle(rows.iter());
        (at, cursor.scroll(height, rows.len()))
    }

    #[test]
    fn it_stays_on_its_row_and_the_row_on_its_line() {
        let mut c = Cursor::default();
        let rows: Vec<u32> = (0..1000).collect();
        drawn(&mut c, &rows, 20);
        c.step(rows.iter(), Move::By(500));
        let (_, top) = drawn(&mut c, &rows, 20);
        let mut more = vec![7000, 7001, 7002];
        more.extend(&rows);
        assert_eq!(drawn(&mut c, &more, 20), (Some(503), top + 3));
        assert_eq!(c.key(), Some(&500));
    }

    #[test]
    fn a_row_that_is_gone_leaves_nothing_selected_until_somebody_moves() {
        let mut c = Cursor::default();
        drawn(&mut c, &[1, 2, 3, 4], 4);
        c.step([1, 2, 3, 4].iter(), Move::By(1));
        assert_eq!(drawn(&mut c, &[1, 3, 4], 4).0, None);
        c.step([1, 3, 4].iter(), Move::By(1));
        assert_eq!(c.key(), Some(&3));
        assert_eq!(drawn(&mut c, &[], 4), (None, 0));
        c.step([].iter(), Move::Last);
        assert_eq!(drawn(&mut c, &[9, 3], 4).0, Some(1));
    }

    #[test]
    fn the_last_page_that_shrank_steps_back_to_real_rows() {
        let mut c = Cursor::default();
        let rows: Vec<u32> = (0..100).collect();
        drawn(&mut c, &rows, 10);
        c.step(rows.iter(), Move::Last);
        assert_eq!(drawn(&mut c, &rows, 10), (Some(99), 90));
        let (at, top) = drawn(&mut c, &rows[..5], 10);
        assert_eq!((at, top), (None, 0));
    }

    #[test]
    fn any_movement_at_any_height_keeps_the_cursor_in_view() {
        let mut c = Cursor::default();
        let rows: Vec<u32> = (0..50).collect();
        for height in [0, 1, 2, 7, 50, 80] {
            for step in [Move::By(isize::MAX), Move::By(-3), Move::Pages(-1), Move::First, Move::Pages(isize::MAX)] {
                c.step(rows.iter(), step);
                let (at, top) = drawn(&mut c, &rows, height);
                let at = at.unwrap();
                assert!(top <= at && at < top + height.max(1), "{at} {top} {height}");
            }
        }
    }
}
