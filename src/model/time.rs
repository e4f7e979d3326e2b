//! A point in time as PostgreSQL knows it: finite, far beyond what calendars here can hold, or infinite.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// A `timestamptz`. Ordered as PostgreSQL orders it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Time {
    /// `-infinity`
    NegInfinity,
    /// Microseconds since 1970-01-01 00:00 UTC.
    At(i64),
    /// `infinity`
    Infinity,
}

/// Microseconds from 1970-01-01 to 2000-01-01, where PostgreSQL's own count begins.
const PG_EPOCH: i64 = 946_684_800_000_000;

impl Time {
    /// From the wire format: microseconds since 2000-01-01, with the two ends of `i64` for the infinities.
    #[must_use]
    pub fn from_pg_micros(micros: i64) -> Self {
        match micros {
            i64::MIN => Self::NegInfinity,
            i64::MAX => Self::Infinity,
            m => Self::At(m.saturating_add(PG_EPOCH)),
        }
    }

    /// To the wire format.
    #[must_use]
    pub fn to_pg_micros(self) -> i64 {
        match self {
            Self::NegInfinity => i64::MIN,
            Self::Infinity => i64::MAX,
            Self::At(m) => m.saturating_sub(PG_EPOCH),
        }
    }

    /// Microseconds since 1970 for a finite time.
    #[must_use]
    pub fn micros(self) -> Option<i64> {
        match self {
            Self::At(m) => Some(m),
            Self::NegInfinity | Self::Infinity => None,
        }
    }

    /// The calendar date, where the calendar reaches that far (about the year 262,000).
    #[must_use]
    pub fn date(self) -> Option<DateTime<Utc>> {
        self.micros().and_then(DateTime::from_timestamp_micros)
    }

    /// `self - earlier` in microseconds, where both are finite; saturating.
    #[must_use]
    pub fn micros_since(self, earlier: Self) -> Option<i64> {
        Some(self.micros()?.saturating_sub(earlier.micros()?))
    }

    /// Seconds from `earlier` to `self`, where both are finite; negative when `self` is before.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> Option<f64> {
        self.micros_since(earlier).map(|m| m as f64 / 1e6)
    }

    /// Moved later; infinities stay.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        match self {
            Self::At(m) => Self::At(m.saturating_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX))),
            other => other,
        }
    }

    /// Moved earlier; infinities stay.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        match self {
            Self::At(m) => Self::At(m.saturating_sub(i64::try_from(by.as_micros()).unwrap_or(i64::MAX))),
            other => other,
        }
    }

    /// RFC 3339 in UTC, or PostgreSQL's own word where that cannot be written.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        match (self, self.date()) {
            (Self::NegInfinity, _) => "-infinity".into(),
            (Self::Infinity, _) => "infinity".into(),
            (_, Some(date)) => date.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
            (Self::At(m), None) if m > 0 => "beyond the calendar".into(),
            (Self::At(_), None) => "before the calendar".into(),
        }
    }
}

impl serde::Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.to_rfc3339())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_and_far_years_survive_the_wire() {
        for raw in [i64::MIN, i64::MAX, 0, -1, 8_773_000_000_000_000_000] {
            assert_eq!(Time::from_pg_micros(raw).to_pg_micros(), raw);
        }
        assert!(Time::NegInfinity < Time::At(i64::MIN) && Time::At(i64::MAX) < Time::Infinity);
        assert_eq!(Time::from_pg_micros(0).to_rfc3339(), "2000-01-01T00:00:00.000000Z");
        assert_eq!(Time::from_pg_micros(8_773_000_000_000_000_000).to_rfc3339(), "beyond the calendar");
    }

    #[test]
    fn ages_of_infinite_times_are_not_numbers() {
        assert_eq!(Time::Infinity.seconds_since(Time::At(0)), None);
        assert_eq!(Time::At(1_500_000).seconds_since(Time::At(0)), Some(1.5));
        assert_eq!(Time::At(i64::MAX).micros_since(Time::At(i64::MIN)), Some(i64::MAX));
    }
}
