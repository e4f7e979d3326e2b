//! Lengths of time: ages and what is due.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// From here on nobody counts: ten thousand days.
const AGES: i64 = 10_000 * DAY;
const LONGER: &str = ">27y";

/// Two units, at most six columns: `12s`, `4m12s`, `1h4m`, `3d2h`, `412d`, `>27y`.
/// An age below zero is a clock that is a moment off, not a time in the future: `0s`.
#[must_use]
pub fn age(seconds: i64) -> String {
    match seconds.max(0) {
        s if s < MINUTE => format!("{s}s"),
        s if s < HOUR => format!("{}m{:02}s", s / MINUTE, s % MINUTE),
        s if s < DAY => format!("{}h{}m", s / HOUR, s % HOUR / MINUTE),
        s if s < 100 * DAY => format!("{}d{}h", s / DAY, s % DAY / HOUR),
        s if s < AGES => format!("{}d", s / DAY),
        _ => LONGER.to_owned(),
    }
}

/// Like [`age`] without a second unit of zero, for running text: `5m`, `1h30m`, `2m40s`.
#[must_use]
pub fn span(seconds: i64) -> String {
    let whole = match seconds.max(0) {
        s if s < MINUTE => (0, "", s, "s"),
        s if s < HOUR => (s / MINUTE, "m", s % MINUTE, "s"),
        s if s < DAY => (s / HOUR, "h", s % HOUR / MINUTE, "m"),
        s if s < 100 * DAY => (s / DAY, "d", s % DAY / HOUR, "h"),
        s if s < AGES => (s / DAY, "d", 0, ""),
        _ => return LONGER.to_owned(),
    };
    match whole {
        (0, _, small, unit) => format!("{small}{unit}"),
        (large, unit, 0, _) => format!("{large}{unit}"),
        (large, unit, small, small_unit) => format!("{large}{unit}{small}{small_unit}"),
    }
}

/// A duration as a program takes it, at most six columns: `12ms`, `1.2s`, `34s`, `4m12s`. Below a millisecond: `<1ms`.
#[must_use]
pub fn took(seconds: f64) -> String {
    if seconds.is_nan() {
        return super::UNKNOWN.to_owned();
    }
    match seconds {
        s if s < 0.001 => "<1ms".to_owned(),
        s if s < 0.9995 => format!("{:.0}ms", s * 1000.0),
        s if s < 9.95 => format!("{s:.1}s"),
        s => age(super::whole_seconds(s.round())),
    }
}

/// When something is due, from the seconds left until then: `in 5m`, `due now`, `overdue 3m`.
#[must_use]
pub fn due(seconds_left: i64) -> String {
    match seconds_left {
        0 => "due now".to_owned(),
        1.. => format!("in {}", span(seconds_left)),
        _ => format!("overdue {}", span(seconds_left.saturating_neg())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_spans() {
        for (seconds, want_age, want_span) in [
            (i64::MIN, "0s", "0s"),
            (-1, "0s", "0s"),
            (0, "0s", "0s"),
            (59, "59s", "59s"),
            (60, "1m00s", "1m"),
            (252, "4m12s", "4m12s"),
            (662, "11m02s", "11m2s"),
            (3_599, "59m59s", "59m59s"),
            (3_840, "1h4m", "1h4m"),
            (5_400, "1h30m", "1h30m"),
            (86_399, "23h59m", "23h59m"),
            (86_400, "1d0h", "1d"),
            (266_400, "3d2h", "3d2h"),
            (99 * 86_400 + 86_399, "99d23h", "99d23h"),
            (412 * 86_400, "412d", "412d"),
        ] {
            assert_eq!(age(seconds), want_age, "{seconds}");
            assert_eq!(span(seconds), want_span, "{seconds}");
        }
        assert_eq!(age(10_000 * 86_400 - 1), "9999d");
        assert_eq!(age(i64::MAX), ">27y");
    }

    #[test]
    fn what_is_due() {
        for (left, want) in
            [(300, "in 5m"), (5_400, "in 1h30m"), (0, "due now"), (-300, "overdue 5m"), (i64::MIN, "overdue >27y")]
        {
            assert_eq!(due(left), want);
        }
    }

    #[test]
    fn durations_of_handlers() {
        for (seconds, want) in [
            (0.0, "<1ms"),
            (-1.0, "<1ms"),
            (0.0012, "1ms"),
            (0.9994, "999ms"),
            (0.9996, "1.0s"),
            (1.25, "1.2s"),
            (9.96, "10s"),
            (34.4, "34s"),
            (252.0, "4m12s"),
            (f64::NAN, "?"),
            (f64::INFINITY, ">27y"),
        ] {
            assert_eq!(took(seconds), want, "{seconds}");
        }
    }
}
