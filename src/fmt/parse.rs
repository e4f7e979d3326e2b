//! Reading what people write: the other direction of this module.

use std::time::Duration;

use chrono::DateTime;

use crate::model::Time;

/// A length of time: a whole or decimal number and `ms`, `s`, `m`, `h` or `d`.
///
/// # Errors
/// What was written and what is understood.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a length of time: write 500ms, 1s, 5m, 1h or 7d");
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit.trim() {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(seconds).ok().filter(|d| *d <= Duration::from_hours(24 * 366)).ok_or_else(wrong)
}

/// A moment: `now`, `in 10m`, `never`, or a date and time with its zone (RFC 3339).
///
/// # Errors
/// What was written and what is understood.
pub fn parse_when(text: &str, now: Time) -> Result<Time, String> {
    match text {
        "now" => return Ok(now),
        "never" | "infinity" => return Ok(Time::Infinity),
        _ => {}
    }
    if let Some(span) = text.strip_prefix("in ") {
        return parse_duration(span.trim()).map(|span| now.plus(span));
    }
    let date = DateTime::parse_from_rfc3339(text);
    date.map(|date| Time::At(date.timestamp_micros())).map_err(|_| {
        format!("`{text}` is not a moment: write now, in 10m, never, or a date with its zone like 2026-12-01T14:30:00Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let now = Time::At(1_000_000);
        assert_eq!(parse_when("now", now), Ok(now));
        assert_eq!(parse_when("in 1.5s", now), Ok(Time::At(2_500_000)));
        assert_eq!(parse_when("never", now), Ok(Time::Infinity));
        assert_eq!(parse_when("1970-01-01T01:00:02+01:00", now), Ok(Time::At(2_000_000)));
        for bad in ["", "10m", "in", "in ten", "2026-12-01", "2026-12-01T14:30:00", "yesterday"] {
            assert!(parse_when(bad, now).is_err(), "{bad}");
        }
    }

    #[test]
    fn lengths_of_time() {
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_hours(2)));
        for bad in ["", "5", "s", "-1s", "1y", "1e9d", "999999999999d", "1..2s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
