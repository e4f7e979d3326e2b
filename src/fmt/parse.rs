//! Reading what people write: the other direction of this module.

use std::time::Duration;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_hours(2)));
        for bad in ["", "5", "s", "-1s", "1y", "1e9d", "999999999999d", "1..2s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
