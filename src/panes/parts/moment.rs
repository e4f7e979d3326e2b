//! Times as the operator chose to see them: relative, or absolute with their zone.

use crate::fmt::{self, Zone, whole_seconds};
use crate::model::Time;
use crate::panes::{Ctx, TimeStyle};

/// Columns of a date with its zone: `2026-12-01 14:02:11 +02:00`.
pub(crate) const STAMP: u16 = 26;

impl Ctx<'_> {
    /// When something happened: `4m12s ago`, or the time of day with its zone.
    pub(crate) fn ago(&self, time: Time) -> String {
        match (self.absolute(time), time) {
            (Some(text), _) => text,
            (None, Time::NegInfinity) => "-infinity".to_owned(),
            (None, Time::Infinity) => "infinity".to_owned(),
            (None, Time::At(_)) => format!("{} ago", fmt::age(self.seconds_since(time))),
        }
    }

    /// When something is due: `in 5m`, `overdue 3m`, or the time with its zone.
    pub(crate) fn due(&self, time: Time) -> String {
        match (self.absolute(time), time) {
            (Some(text), _) => text,
            (None, Time::NegInfinity) => "due always".to_owned(),
            (None, Time::Infinity) => "never due".to_owned(),
            (None, Time::At(_)) => fmt::due(self.seconds_since(time).saturating_neg()),
        }
    }

    /// Whole seconds from `time` until now, by the server's clock; negative for the future.
    fn seconds_since(&self, time: Time) -> i64 {
        whole_seconds(self.now.seconds_since(time).unwrap_or(0.0))
    }

    fn absolute(&self, time: Time) -> Option<String> {
        let zone = match self.times {
            TimeStyle::Relative => return None,
            TimeStyle::Utc => Zone::Utc,
            TimeStyle::Local => Zone::Local,
        };
        // The date only where it is another day: rows stay short.
        let day = |t: Time| t.micros().map(|m| m.div_euclid(86_400_000_000));
        Some(if day(time) == day(self.now) { zone.clock(time) } else { zone.stamp(time) })
    }
}
