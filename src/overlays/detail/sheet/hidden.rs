//! What is not to be shown of a text: it is neither found nor copied, until somebody reveals it.

use std::ops::Range;

use super::super::json::{Hides, Role, small, value_at};
use super::super::search;
use super::{Place, Sheet};

/// Stands for a value that is not to be shown.
pub(super) const HIDDEN: &str = "•••";

/// What became of a hidden value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Revealed {
    /// It is shown now.
    Shown,
    /// It is hidden again.
    Hidden,
    /// There is none.
    Nothing,
}

impl Sheet {
    /// At most about so many bytes of the text from its beginning, with signs in place of what is hidden. Says whether that is
    /// all of it.
    pub(in super::super) fn copy(&self, most: usize) -> (String, bool) {
        let mut out = String::new();
        let mut at = 0;
        for line in self.lines.iter().filter(|line| line.role == Role::Hidden) {
            let own = self.slice(line);
            let comma = usize::from(own.ends_with(','));
            out.push_str(self.text.get(at..line.start as usize + value_at(own)).unwrap_or_default());
            out.extend(["\"", HIDDEN, "\""]);
            at = line.end as usize - comma;
            if out.len() > most {
                break;
            }
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        let end = (0..=most.min(out.len())).rev().find(|at| out.is_char_boundary(*at)).unwrap_or(0);
        let whole = end == out.len();
        out.truncate(end);
        (out, whole)
    }

    /// The places of a text, in order. What is hidden is not found.
    pub(in super::super) fn find(&self, wanted: &str) -> Vec<Range<usize>> {
        let mut found = search::find(&self.text, wanted);
        if self.lines.iter().any(|line| line.role == Role::Hidden) {
            found.retain(|found| !self.is_hidden(found));
        }
        found
    }

    fn is_hidden(&self, bytes: &Range<usize>) -> bool {
        let lines = self.lines.get(self.line_of(bytes.start)..).unwrap_or_default();
        let mut touched = lines.iter().take_while(|line| (line.start as usize) < bytes.end);
        touched.any(|line| {
            let value = line.start as usize + value_at(self.slice(line));
            line.role == Role::Hidden && value < bytes.end && bytes.start < line.end as usize
        })
    }

    /// Shows the hidden value in the line at a place, or hides it again.
    pub(in super::super) fn reveal(&mut self, place: Place, hides: Hides<'_>) -> Revealed {
        let Some(line) = self.lines.get(self.line_of(place.byte)).copied() else {
            return Revealed::Nothing;
        };
        let value = line.start + small(value_at(self.slice(&line)));
        let done = if self.revealed.remove(&value) {
            Revealed::Hidden
        } else if line.role == Role::Hidden {
            self.revealed.insert(value);
            Revealed::Shown
        } else {
            return Revealed::Nothing;
        };
        self.read(hides);
        self.lay_out_again();
        done
    }

    /// Some value is not shown.
    pub(in super::super) fn hides_something(&self) -> bool {
        !self.revealed.is_empty() || self.lines.iter().any(|line| line.role == Role::Hidden)
    }
}
