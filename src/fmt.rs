//! Numbers, ages, sizes and ids as an operator reads them: short, with a unit, of predictable width.
//!
//! Shortened counts are rounded down, so a figure never claims more than there is. This module must not draw and must not
//! know where a number comes from.

mod figure;
mod moment;
mod number;
mod parse;
mod span;

pub use figure::{Figure, Tone, whole_seconds};
pub use moment::Zone;
pub use number::{bytes, count, percent, rate, short};
pub use parse::{parse_duration, parse_when};
pub use span::{age, due, span, took};

/// A true zero, drawn quietly.
pub const ZERO: &str = "-";
/// Not known.
pub const UNKNOWN: &str = "?";
/// Does not apply here.
pub const NOT_APPLICABLE: &str = "·";

/// An id in nine columns, `8c1f…e2`: enough to tell the rows of one screen apart. Short ids stay whole.
#[must_use]
pub fn short_id(id: &str) -> String {
    const HEAD: usize = 4;
    const TAIL: usize = 2;
    let letters = id.chars().count();
    if letters <= HEAD + TAIL + 1 {
        return id.to_owned();
    }
    let head: String = id.chars().take(HEAD).collect();
    let tail: String = id.chars().skip(letters - TAIL).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_apart_in_seven_columns() {
        for (id, want) in [
            ("8c1fd0a4-1111-4222-8333-4444444444e2", "8c1f…e2"),
            ("1234567", "1234567"),
            ("12345678", "1234…78"),
            ("7", "7"),
            ("", ""),
            ("漢字漢字漢字漢字", "漢字漢字…漢字"),
        ] {
            assert_eq!(short_id(id), want);
        }
    }
}
