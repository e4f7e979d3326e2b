//! The text of a reading: honest about how it is known, and never wider than its column where that can be.

use super::number::{count_within, short_within};
use super::{NOT_APPLICABLE, UNKNOWN, ZERO, age, rate, short};
use crate::model::{Known, Reading};

/// How loud a figure is drawn. The theme knows what each looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A value.
    Plain,
    /// A true zero, or nothing to say.
    Quiet,
    /// Was true once.
    Stale,
    /// A value that is missing though it should be there.
    Missing,
}

/// A reading as text: `12,403`, `~1.2 M` about, `10k+` at least, `-` a true zero, `?` unknown, `·` not applicable,
/// `denied`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What is printed.
    pub text: String,
    /// How it is drawn.
    pub tone: Tone,
}

impl Figure {
    /// A count in a column of so many columns.
    #[must_use]
    pub fn count(reading: &Reading<u64>, columns: usize) -> Self {
        Self::of(reading, columns, |n| match (*n, reading.known()) {
            (0, Known::Exact | Known::Stale) => ZERO.to_owned(),
            (n, Known::Exact | Known::Stale) => count_within(n, columns),
            (n, _) if n < 10_000 => count_within(n, columns.saturating_sub(1)),
            (n, _) => short_within(n, columns.saturating_sub(1)),
        })
    }

    /// A rate per second.
    #[must_use]
    pub fn rate(reading: &Reading<f64>, columns: usize) -> Self {
        Self::of(reading, columns, |per_second| rate(*per_second))
    }

    /// An age in seconds; `-` where there is nothing to be old.
    #[must_use]
    pub fn age(reading: &Reading<Option<f64>>, columns: usize) -> Self {
        Self::of(reading, columns, |seconds| seconds.map_or_else(|| ZERO.to_owned(), |s| age(whole_seconds(s))))
    }

    /// A count in running text, with every digit where a human would read them: `12,403`, `0`, `10,000+`.
    #[must_use]
    pub fn words(reading: &Reading<u64>) -> String {
        let text = |n| if reading.known() == Known::About { short(n) } else { count_within(n, 15) };
        Self::of(reading, usize::MAX, |n| text(*n)).text
    }

    fn of<T>(reading: &Reading<T>, columns: usize, text: impl FnOnce(&T) -> String) -> Self {
        let Some(value) = reading.value() else {
            return Self::missing(reading, columns);
        };
        let text = text(value);
        let (text, tone) = match reading.known() {
            _ if text == UNKNOWN => (text, Tone::Missing),
            Known::Stale => (text, Tone::Stale),
            Known::AtLeast => (format!("{text}+"), Tone::Plain),
            Known::About if text == ZERO => (format!("~{text}"), Tone::Quiet),
            Known::About => (format!("~{text}"), Tone::Plain),
            _ if text == ZERO => (text, Tone::Quiet),
            _ => (text, Tone::Plain),
        };
        Self { text, tone }
    }

    fn missing<T>(reading: &Reading<T>, columns: usize) -> Self {
        const DENIED: &str = "denied";
        let (text, tone) = match reading {
            Reading::NotApplicable => (NOT_APPLICABLE, Tone::Quiet),
            Reading::Denied if columns >= DENIED.len() => (DENIED, Tone::Missing),
            _ => (UNKNOWN, Tone::Missing),
        };
        Self { text: text.to_owned(), tone }
    }
}

/// Whole seconds, rounded down; what is not a number is no time at all, and the ends saturate.
#[must_use]
pub fn whole_seconds(seconds: f64) -> i64 {
    std::time::Duration::try_from_secs_f64(seconds.abs()).map_or_else(
        |_| if seconds.is_nan() { 0 } else { i64::MAX },
        |d| i64::try_from(d.as_secs()).unwrap_or(i64::MAX),
    ) * if seconds < 0.0 { -1 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cells_are_honest() {
        for (reading, columns, text, tone) in [
            (Reading::Exact(0), 6, "-", Tone::Quiet),
            (Reading::Exact(12_403), 6, "12,403", Tone::Plain),
            (Reading::Exact(1_234_567), 6, "1.2 M", Tone::Plain),
            (Reading::About(1_234_567), 6, "~1.2 M", Tone::Plain),
            (Reading::About(812), 6, "~812", Tone::Plain),
            (Reading::About(0), 6, "~0", Tone::Plain),
            (Reading::AtLeast(10_000), 6, "10k+", Tone::Plain),
            (Reading::Stale(5), 6, "5", Tone::Stale),
            (Reading::Stale(0), 6, "-", Tone::Stale),
            (Reading::Denied, 6, "denied", Tone::Missing),
            (Reading::Denied, 5, "?", Tone::Missing),
            (Reading::Unknown, 6, "?", Tone::Missing),
            (Reading::NotApplicable, 6, "·", Tone::Quiet),
        ] {
            assert_eq!(Figure::count(&reading, columns), Figure { text: text.into(), tone }, "{reading:?}");
        }
    }

    #[test]
    fn rates_and_ages_keep_their_mark() {
        let rate = |r| Figure::rate(&r, 6).text;
        assert_eq!(rate(Reading::Exact(52.12)), "52.1");
        assert_eq!(rate(Reading::Exact(0.0)), "-");
        assert_eq!(rate(Reading::About(2_100.0)), "~2.1k");
        assert_eq!(rate(Reading::Exact(f64::NAN)), "?");
        let age = |r| Figure::age(&r, 6).text;
        assert_eq!(age(Reading::Exact(Some(252.9))), "4m12s");
        assert_eq!(age(Reading::Exact(None)), "-");
        assert_eq!(age(Reading::AtLeast(Some(3_840.0))), "1h4m+");
        assert_eq!(Figure::words(&Reading::Exact(0)), "0");
        assert_eq!(Figure::words(&Reading::AtLeast(10_000)), "10,000+");
    }

    #[test]
    fn seconds_saturate() {
        for (seconds, want) in [(f64::NAN, 0), (f64::INFINITY, i64::MAX), (1e300, i64::MAX), (-1.5, -1), (2.9, 2)] {
            assert_eq!(whole_seconds(seconds), want);
        }
    }

    proptest! {
        #[test]
        fn six_columns_hold_any_count_and_any_rate(n in any::<u64>(), x in any::<f64>()) {
            for count in [Reading::Exact(n), Reading::AtLeast(n), Reading::About(n), Reading::Stale(n)] {
                prop_assert!(Figure::count(&count, 6).text.len() <= 6);
            }
            for rate in [Reading::Exact(x), Reading::About(x)] {
                prop_assert!(Figure::rate(&rate, 6).text.len() <= 6);
            }
        }
    }
}
