//! Counts, rates, sizes and shares.

use super::{UNKNOWN, ZERO};

/// Thousands; the space is part of the unit where the number is large enough to be read as words.
const UNITS: [&str; 6] = ["k", " M", " G", " T", " P", " E"];

/// Every digit, in groups of three: `12,403`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// At most six columns, rounded down: `999`, `1.2k`, `12k`, `1.2 M`, `340 M`.
#[must_use]
pub fn short(n: u64) -> String {
    let (mut whole, mut rest, mut unit) = (n, 0, "");
    for next in UNITS {
        if whole < 1000 {
            break;
        }
        (rest, whole, unit) = (whole % 1000, whole / 1000, next);
    }
    if unit.is_empty() || whole >= 10 { format!("{whole}{unit}") } else { format!("{whole}.{}{unit}", rest / 100) }
}

/// Every digit where that fits into `columns`, else the short form, else that without its fraction: `1M`.
pub(super) fn count_within(n: u64, columns: usize) -> String {
    let all = count(n);
    if all.len() <= columns { all } else { short_within(n, columns) }
}

/// The short form where that fits into `columns`, else the same without its fraction and space, at most four columns.
pub(super) fn short_within(n: u64, columns: usize) -> String {
    let text = short(n);
    if text.len() <= columns {
        return text;
    }
    let whole: String = text.chars().take_while(char::is_ascii_digit).collect();
    let unit: String = text.chars().filter(char::is_ascii_alphabetic).collect();
    whole + &unit
}

/// A rate without its unit, at most six columns: `52.1`, `520`, `2.1k`, `<0.1`; a true zero is `-`.
/// What is no rate (not finite, negative) is unknown.
#[must_use]
pub fn rate(per_second: f64) -> String {
    if !per_second.is_finite() || per_second < 0.0 {
        return UNKNOWN.to_owned();
    }
    if per_second == 0.0 {
        return ZERO.to_owned();
    }
    if per_second < 0.05 {
        return "<0.1".to_owned();
    }
    if per_second < 99.95 {
        return format!("{per_second:.1}");
    }
    short(whole(per_second))
}

/// The whole part of a finite number that is not negative; beyond the range it saturates.
fn whole(value: f64) -> u64 {
    format!("{:.0}", value.floor()).parse().unwrap_or(u64::MAX)
}

/// A size as PostgreSQL writes it, in powers of 1024: `812 bytes`, `14 kB`, `1.2 GB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    let (mut value, mut rest, mut unit) = (n, 0, "bytes");
    for next in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if value < 1024 {
            break;
        }
        (rest, value, unit) = (value % 1024, value / 1024, next);
    }
    if unit == "bytes" || value >= 10 {
        format!("{value} {unit}")
    } else {
        format!("{value}.{} {unit}", rest * 10 / 1024)
    }
}

/// Larger than the error of `0.29 * 100.0`, smaller than any share that matters.
const FLOAT_NOISE: f64 = 1e-9;

/// A share of one as a percentage: `0.3 %`, `42 %`. An empty base gives no share, and that is said as unknown.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() || percent < 0.0 {
        return UNKNOWN.to_owned();
    }
    if percent == 0.0 || percent >= 9.95 {
        format!("{} %", short(whole(percent + FLOAT_NOISE)))
    } else if percent < 0.05 {
        "<0.1 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts() {
        for (n, all, brief) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1000, "1,000", "1.0k"),
            (9_999, "9,999", "9.9k"),
            (12_403, "12,403", "12k"),
            (999_999, "999,999", "999k"),
            (1_234_567, "1,234,567", "1.2 M"),
            (123_456_789, "123,456,789", "123 M"),
            (u64::MAX, "18,446,744,073,709,551,615", "18 E"),
        ] {
            assert_eq!(count(n), all);
            assert_eq!(short(n), brief);
        }
        assert_eq!(count_within(12_403, 6), "12,403");
        assert_eq!(count_within(12_403, 5), "12k");
        assert_eq!(count_within(1_234_567, 4), "1M");
        assert_eq!(count_within(340_000_000, 4), "340M");
    }

    #[test]
    fn rates() {
        for (per_second, want) in [
            (0.0, "-"),
            (-0.0, "-"),
            (0.001, "<0.1"),
            (0.1, "0.1"),
            (52.14, "52.1"),
            (99.94, "99.9"),
            (99.96, "99"),
            (520.9, "520"),
            (2_100.0, "2.1k"),
            (1e6, "1.0 M"),
            (1e300, "18 E"),
            (-1.0, "?"),
            (f64::NAN, "?"),
            (f64::INFINITY, "?"),
            (f64::NEG_INFINITY, "?"),
        ] {
            assert_eq!(rate(per_second), want, "{per_second}");
        }
    }

    #[test]
    fn sizes_and_shares() {
        for (n, want) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 kB"),
            (14 * 1024, "14 kB"),
            (1_300_000_000, "1.2 GB"),
            (u64::MAX, "15 EB"),
        ] {
            assert_eq!(bytes(n), want);
        }
        for (share, want) in [
            (0.0, "0 %"),
            (0.0001, "<0.1 %"),
            (0.003, "0.3 %"),
            (0.42, "42 %"),
            (0.29, "29 %"),
            (0.999, "99 %"),
            (1.000_000_1, "100 %"),
            (7.0, "700 %"),
            (-0.1, "?"),
            (f64::NAN, "?"),
            (f64::INFINITY, "?"),
        ] {
            assert_eq!(percent(share), want, "{share}");
        }
    }

    proptest! {
        #[test]
        fn short_forms_stay_short(n in any::<u64>(), x in any::<f64>()) {
            prop_assert!(short(n).len() <= 5);
            prop_assert!(rate(x).len() <= 5, "{}", rate(x));
            prop_assert!(bytes(n).len() <= 10);
        }
    }
}
