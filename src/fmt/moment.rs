//! Absolute times, always with their zone.

use chrono::{DateTime, Local, TimeZone, Utc};

use crate::model::Time;

/// In which zone absolute times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zone {
    /// The same for everybody on a call.
    #[default]
    Utc,
    /// This machine's.
    Local,
}

impl Zone {
    /// Time of day: `14:02:11 UTC`, `16:02:11 +02:00`.
    #[must_use]
    pub fn clock(self, time: Time) -> String {
        self.write(time, "%H:%M:%S")
    }

    /// Date and time: `2026-12-01 14:02:11 UTC`.
    #[must_use]
    pub fn stamp(self, time: Time) -> String {
        self.write(time, "%Y-%m-%d %H:%M:%S")
    }

    fn write(self, time: Time, pattern: &str) -> String {
        let Some(date) = time.date() else {
            return time.to_rfc3339();
        };
        match self {
            Self::Utc => date.format(&format!("{pattern} UTC")).to_string(),
            Self::Local => local(date, &Local, pattern),
        }
    }
}

fn local<Z: TimeZone>(date: DateTime<Utc>, zone: &Z, pattern: &str) -> String
where
    Z::Offset: std::fmt::Display,
{
    date.with_timezone(zone).format(&format!("{pattern} %:z")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;

    #[test]
    fn absolute_times_carry_their_zone() {
        let noon = Time::At(1_796_126_531_000_000);
        assert_eq!(Zone::Utc.clock(noon), "12:02:11 UTC");
        assert_eq!(Zone::Utc.stamp(noon), "2026-12-01 12:02:11 UTC");
        let east = FixedOffset::east_opt(9_000).unwrap();
        assert_eq!(local(noon.date().unwrap(), &east, "%H:%M:%S"), "14:32:11 +02:30");
    }

    #[test]
    fn times_beyond_the_calendar_are_words() {
        for (time, want) in [
            (Time::Infinity, "infinity"),
            (Time::NegInfinity, "-infinity"),
            (Time::At(i64::MAX), "beyond the calendar"),
            (Time::At(i64::MIN), "before the calendar"),
        ] {
            assert_eq!(Zone::Utc.stamp(time), want);
            assert_eq!(Zone::Local.clock(time), want);
        }
    }
}
