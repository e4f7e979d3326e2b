//! A long text of a job as far as it was read.

use super::json::{Hides, tidy};
use super::sheet::Sheet;
use crate::fmt;
use crate::model::{Excerpt, Preview};

/// What is here of it.
#[derive(Debug, Clone)]
pub(super) struct Long {
    pub(super) sheet: Sheet,
    /// Bytes of the whole.
    pub(super) bytes: u64,
    /// Where there is more: how many characters were read.
    pub(super) next: Option<u64>,
    /// Tells whether the whole is still the same.
    pub(super) stamp: String,
}

impl Long {
    /// Bytes that are here.
    pub(super) fn shown(&self) -> u64 {
        u64::try_from(self.sheet.text().len()).unwrap_or(u64::MAX)
    }

    /// `812 bytes`, `1.2 MB, the first 64 kB of it`.
    pub(super) fn size(&self) -> String {
        let whole = fmt::bytes(self.bytes);
        if self.next.is_some() { format!("{whole}, the first {} of it", fmt::bytes(self.shown())) } else { whole }
    }

    /// More of it came.
    pub(super) fn append(&mut self, piece: &Excerpt, hides: Hides<'_>) {
        self.sheet.append(&piece.text, hides);
        (self.bytes, self.next) = (piece.bytes, piece.next);
    }

    /// It begins with what was read again, and is as large as before.
    fn is_still(&self, read: &Excerpt) -> bool {
        let same = self.stamp == read.stamp && self.bytes == read.bytes;
        same && (self.sheet.text().starts_with(&read.text) || self.sheet.text().starts_with(tidy(&read.text).as_ref()))
    }
}

/// Takes in what was read of a text. Says whether it is another one now: of one that is the same everything stays, its folds
/// and what was read on demand.
pub(super) fn update(slot: &mut Option<Long>, read: Option<Preview>, sheet: impl Fn(&str) -> Sheet) -> bool {
    match read {
        Some(Preview::Same) => false,
        None => slot.take().is_some(),
        Some(Preview::Read(read)) => {
            if slot.as_ref().is_some_and(|long| long.is_still(&read)) {
                return false;
            }
            let Excerpt { text, bytes, next, stamp } = read;
            *slot = Some(Long { sheet: sheet(&text), bytes, next, stamp });
            true
        }
    }
}
