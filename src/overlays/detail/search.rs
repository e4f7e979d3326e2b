//! Finding a text in the error and the payload: as it was typed, and without regard to capitals where none were typed.

use std::ops::Range;

use super::sheet::Sheet;

/// More places than this are not looked for.
const MOST: usize = 100_000;

/// Where in which text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Within {
    Error,
    Payload,
}

/// What is looked for, and where it was found.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    wanted: String,
    error: Vec<Range<usize>>,
    payload: Vec<Range<usize>>,
    /// The one that was gone to last, counted over both.
    at: Option<usize>,
}

impl Search {
    /// Looks for a text that is not empty.
    pub(super) fn new(wanted: &str, error: Option<&Sheet>, payload: Option<&Sheet>) -> Self {
        let mut search = Self { wanted: wanted.to_owned(), ..Self::default() };
        search.again(error, payload);
        search
    }

    /// Looks once more: the texts are others now.
    pub(super) fn again(&mut self, error: Option<&Sheet>, payload: Option<&Sheet>) {
        let find = |sheet: Option<&Sheet>| sheet.map_or_else(Vec::new, |sheet| sheet.find(&self.wanted));
        (self.error, self.payload) = (find(error), find(payload));
        self.at = self.at.filter(|at| *at < self.count());
    }

    pub(super) fn wanted(&self) -> &str {
        &self.wanted
    }

    pub(super) fn found(&self, within: Within) -> &[Range<usize>] {
        match within {
            Within::Error => &self.error,
            Within::Payload => &self.payload,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.error.len() + self.payload.len()
    }

    /// Goes to the next place, or the one before, seen from a place; round at the ends.
    pub(super) fn step(&mut self, forward: bool, from: &(Within, Range<usize>)) -> Option<(Within, usize)> {
        let count = self.count();
        let last = count.checked_sub(1)?;
        // From where it went last, if it is still there; else from where the cursor is.
        let here =
            self.at.filter(|at| self.place(*at).is_some_and(|(w, start)| w == from.0 && from.1.contains(&start)));
        let before = (0..count).take_while(|at| self.place(*at) < Some((from.0, from.1.start))).count();
        let at = match (here, forward) {
            (Some(at), true) => {
                if at == last {
                    0
                } else {
                    at + 1
                }
            }
            (Some(at), false) => at.checked_sub(1).unwrap_or(last),
            (None, true) => {
                if before == count {
                    0
                } else {
                    before
                }
            }
            (None, false) => before.checked_sub(1).unwrap_or(last),
        };
        self.at = Some(at);
        self.place(at)
    }

    /// The place with this number, counted over both texts.
    fn place(&self, at: usize) -> Option<(Within, usize)> {
        let in_error = self.error.get(at).map(|found| (Within::Error, found.start));
        let in_payload =
            || self.payload.get(at.checked_sub(self.error.len())?).map(|found| (Within::Payload, found.start));
        in_error.or_else(in_payload)
    }

    /// `3 of 17`, `17 found`, `none found`.
    pub(super) fn label(&self) -> String {
        let count = |n: usize| crate::fmt::count(u64::try_from(n).unwrap_or(u64::MAX));
        let many = self.error.len().max(self.payload.len()) >= MOST;
        let all = format!("{}{}", count(self.count()), if many { "+" } else { "" });
        match (self.at, self.count()) {
            (_, 0) => "none found".to_owned(),
            (Some(at), _) => format!("{} of {all}", count(at + 1)),
            (None, _) => format!("{all} found"),
        }
    }
}

/// The places of a text, in order, none over another.
pub(super) fn find(text: &str, wanted: &str) -> Vec<Range<usize>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    if wanted.chars().any(char::is_uppercase) {
        let same = text.match_indices(wanted).map(|(at, found)| at..at + found.len());
        return same.take(MOST).collect();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(place) = next(text, at, wanted).filter(|_| found.len() < MOST) {
        at = place.end;
        found.push(place);
    }
    found
}

/// The first place from a byte on, without regard to capitals.
fn next(text: &str, from: usize, wanted: &str) -> Option<Range<usize>> {
    if !wanted.is_ascii() {
        let starts = text.get(from..)?.char_indices();
        return starts.map(|(at, _)| from + at).find_map(|at| Some(at..at + same_length(text.get(at..)?, wanted)?));
    }
    let (bytes, wanted) = (text.as_bytes().get(from..)?, wanted.as_bytes());
    let first = wanted.first()?;
    let same = |window: &[u8]| {
        window.first().is_some_and(|b| b.eq_ignore_ascii_case(first)) && window.eq_ignore_ascii_case(wanted)
    };
    bytes.windows(wanted.len()).position(same).map(|at| from + at..from + at + wanted.len())
}

/// How many bytes at the start of `text` read as `wanted` in small letters.
fn same_length(text: &str, wanted: &str) -> Option<usize> {
    let mut wanted = wanted.chars();
    let mut length = 0;
    for c in text.chars() {
        for small in c.to_lowercase() {
            if wanted.next() != Some(small) {
                return None;
            }
        }
        length += c.len_utf8();
        if wanted.as_str().is_empty() {
            return Some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_literal_and_capitals_count_only_where_some_were_typed() {
        let text = "Timeout. timeout TIMEOUT é É ẞ t.meout";
        let starts = |wanted: &str| find(text, wanted).into_iter().map(|f| f.start).collect::<Vec<_>>();
        assert_eq!(starts("timeout"), [0, 9, 17]);
        assert_eq!(starts("Timeout"), [0]);
        assert_eq!(starts("t.meout"), [35]);
        assert_eq!(starts("é"), [25, 28]);
        assert_eq!(starts("É"), [28]);
        assert_eq!(starts("ß"), [31]);
        assert_eq!(starts("nothing"), Vec::<usize>::new());
        assert_eq!(find("aaaa", "aa"), [0..2, 2..4]);
        assert_eq!(find("İx x", "x"), [2..3, 4..5]);
        assert_eq!(find("漢字漢字", "字"), [3..6, 9..12]);
    }

    #[test]
    fn stepping_goes_round_and_starts_at_the_cursor() {
        let (error, payload) = (Sheet::plain("x a\nx"), Sheet::json(r#"{"k": "x"}"#, &|_| false));
        let mut search = Search::new("x", Some(&error), Some(&payload));
        assert_eq!(search.label(), "3 found");
        let top = (Within::Error, 0..1);
        assert_eq!(search.step(true, &(Within::Payload, 0..1)), Some((Within::Payload, 7)));
        assert_eq!(search.label(), "3 of 3");
        assert_eq!(search.step(true, &(Within::Payload, 5..9)), Some((Within::Error, 0)));
        assert_eq!(search.step(true, &top), Some((Within::Error, 4)));
        assert_eq!(search.step(false, &(Within::Error, 4..5)), Some((Within::Error, 0)));
        assert_eq!(search.step(false, &top), Some((Within::Payload, 7)));
        assert_eq!(Search::new("y", Some(&error), None).step(true, &top), None);
    }
}
