//! The text of a reading: honest about how it is known, and never wider than its column where that can be.

use super::number::{count_within, short_within};
use super::{NOT_APPLICABLE, UNKNOWN, ZERO, age, rate, short, span};
use crate::model::{Drain, Known, Reading, Time, Wave};

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

    /// Something that there may have been no occasion for: `·` then.
    #[must_use]
    pub fn maybe<T>(reading: &Reading<Option<T>>, columns: usize, text: impl FnOnce(&T) -> String) -> Self {
        match reading.value() {
            Some(None) => Self::missing(&Reading::<T>::NotApplicable, columns),
            _ => Self::of(reading, columns, |value| value.as_ref().map_or_else(|| UNKNOWN.to_owned(), text)),
        }
    }

    /// Until when nothing is ready any more: `1h5m`, `steady`, `never`, `paused`; `-` where nothing is ready.
    #[must_use]
    pub fn drain(reading: &Reading<Drain>, columns: usize) -> Self {
        let figure = Self::of(reading, columns, |drain| match drain {
            Drain::Empty => ZERO.to_owned(),
            Drain::Within(seconds) => age(whole_seconds(*seconds)),
            Drain::Steady => "steady".to_owned(),
            Drain::Never => "never".to_owned(),
            Drain::Paused => "paused".to_owned(),
        });
        match reading.value() {
            // A word is no estimate of anything.
            Some(Drain::Steady) => Self { text: "steady".to_owned(), tone: Tone::Quiet },
            Some(Drain::Never) => Self { text: "never".to_owned(), ..figure },
            Some(Drain::Paused) => Self { text: "paused".to_owned(), ..figure },
            _ => figure,
        }
    }

    /// A wave of waiting jobs as seen at `now`: `812 in 4m`; `·` where nothing comes due.
    #[must_use]
    pub fn wave(reading: &Reading<Option<Wave>>, now: Time) -> Self {
        let jobs = Self::maybe(&reading.map(|wave| wave.map(|wave| wave.jobs)), 6, |jobs| short(*jobs));
        let Some(wave) = reading.get().flatten() else { return jobs };
        let left = wave.at.seconds_since(now).map_or(0, whole_seconds).max(0);
        let when = if left < 60 { "<1m".to_owned() } else { span(left / 60 * 60) };
        Self { text: format!("{} in {when}", jobs.text), ..jobs }
    }

    /// How fast something grows or shrinks, per second: `+2.3/s`, `-313/s`; `-` where it does neither.
    #[must_use]
    pub fn growth(reading: &Reading<f64>, columns: usize) -> Self {
        Self::of(reading, columns, |per_second| match (rate(per_second.abs()), per_second) {
            (text, _) if text == ZERO || text == UNKNOWN => text,
            (text, r) => format!("{}{text}/s", if *r < 0.0 { '-' } else { '+' }),
        })
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
    fn what_had_no_occasion_is_neither_zero_nor_unknown() {
        let batch = |r| Figure::maybe(&r, 5, |n: &f64| format!("{n:.1}")).text;
        assert_eq!(batch(Reading::Exact(Some(4.0))), "4.0");
        assert_eq!(batch(Reading::About(Some(4.0))), "~4.0");
        assert_eq!(batch(Reading::About(None)), "·");
        assert_eq!(batch(Reading::Denied), "?");
    }

    #[test]
    fn drains_and_growth() {
        let drain = |r| Figure::drain(&r, 6).text;
        assert_eq!(drain(Reading::Exact(Drain::Empty)), "-");
        assert_eq!(drain(Reading::About(Drain::Within(3_900.0))), "~1h5m");
        assert_eq!(drain(Reading::AtLeast(Drain::Never)), "never");
        assert_eq!(drain(Reading::About(Drain::Steady)), "steady");
        assert_eq!(drain(Reading::Unknown), "?");
        for (growth, want) in [(2.31, "+2.3/s"), (-313.0, "-313/s"), (0.0, "-"), (-0.01, "-<0.1/s"), (f64::NAN, "?")] {
            assert_eq!(Figure::growth(&Reading::Exact(growth), 8).text, want);
        }
        assert_eq!(Figure::growth(&Reading::Denied, 8).text, "denied");
    }

    #[test]
    fn waves_say_how_many_and_when() {
        let wave = |minutes: i64| Some(Wave { at: Time::At(minutes * 60_000_000), jobs: 1_234 });
        let text = |r| Figure::wave(&r, Time::At(5_000_000)).text;
        assert_eq!(text(Reading::Exact(wave(4))), "1.2k in 3m");
        assert_eq!(text(Reading::AtLeast(wave(0))), "1.2k+ in <1m");
        assert_eq!(text(Reading::Exact(None)), "·");
        assert_eq!(text(Reading::Unknown), "?");
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
