//! Numbers, lengths of time and points in time, as typed and as printed.

use std::fmt::Write as _;

use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat, Utc};

use super::{Moment, Span};
use crate::model::Time;

/// Units of lengths of time, in milliseconds, longest first. Weeks are read and printed as days.
const UNITS: [(&str, i64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// A hundred years: nobody asks further, and every such sum with a date is a date.
const LONGEST: i64 = 36_500 * 86_400_000;

/// A point in time as typed: a moment, or a day in UTC.
pub(super) enum Typed {
    Moment(Moment),
    /// Its first and its last microsecond.
    Day(Time, Time),
}

/// A whole number.
pub(super) fn number(text: &str) -> Result<i32, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

/// A decimal number as SQL reads it.
pub(super) fn decimal(text: &str) -> Result<String, &'static str> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let good = |digits: &str| !digits.is_empty() && digits.len() <= 100 && digits.bytes().all(|b| b.is_ascii_digit());
    if good(whole) && good(part) { Ok(text.to_owned()) } else { Err("expected a number") }
}

/// A length of time: `90s`, `1h30m`, `-5m`, `1.5h`.
pub(super) fn span(text: &str) -> Result<Span, &'static str> {
    const WRONG: &str = "expected a length of time such as 90s, 10m, 1h30m or 7d";
    let (minus, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut total = 0;
    if rest.is_empty() {
        return Err(WRONG);
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or(WRONG)?;
        let (figure, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let (_, ms) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or(WRONG)?;
        total += times(figure, i128::from(ms)).ok_or(WRONG)?;
        rest = after;
    }
    let ms = i64::try_from(total).ok().filter(|ms| *ms <= LONGEST).ok_or("expected at most 36500d")?;
    Ok(Span(if minus { -ms } else { ms }))
}

/// A decimal number of units, in whole milliseconds.
fn times(figure: &str, ms: i128) -> Option<i128> {
    let (whole, part) = figure.split_once('.').unwrap_or((figure, "0"));
    let read = |digits: &str| if digits.len() <= 15 { digits.parse::<i128>().ok() } else { None };
    let scale = 10_i128.pow(u32::try_from(part.len()).ok()?.min(15));
    Some(read(whole)? * ms + read(part)? * ms / scale)
}

/// A length of time, exactly: `1h30m`, `-5m`, `0s`.
pub(super) fn span_words(Span(ms): Span) -> String {
    let mut rest = ms.unsigned_abs();
    let mut out = String::from(if ms < 0 { "-" } else { "" });
    for (name, unit) in UNITS.into_iter().skip(1) {
        let unit = unit.unsigned_abs();
        if rest >= unit {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}{name}", rest / unit);
            rest %= unit;
        }
    }
    if ms == 0 { "0s".to_owned() } else { out }
}

/// A point in time: `now`, `-1h`, `+5m`, `2026-12-01`, `2026-12-01T14:02:11Z`, `infinity`. Without a zone it is UTC.
pub(super) fn moment(text: &str) -> Result<Typed, &'static str> {
    const WRONG: &str = "expected a time such as -1h, +5m, now, 2026-12-01 or 2026-12-01T14:02Z";
    let at = |date: DateTime<Utc>| Typed::Moment(Moment::At(Time::At(date.timestamp_micros())));
    match text {
        "now" => return Ok(Typed::Moment(Moment::FromNow(Span(0)))),
        "infinity" => return Ok(Typed::Moment(Moment::At(Time::Infinity))),
        "-infinity" => return Ok(Typed::Moment(Moment::At(Time::NegInfinity))),
        _ if text.starts_with(['-', '+']) => return Ok(Typed::Moment(Moment::FromNow(span(text)?))),
        _ => {}
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        let midnight = |date: NaiveDate| date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_micros();
        let next = date.succ_opt().ok_or(WRONG)?;
        return Ok(Typed::Day(Time::At(midnight(date)), Time::At(midnight(next) - 1)));
    }
    if let Ok(date) = DateTime::parse_from_rfc3339(text) {
        return Ok(at(date.to_utc()));
    }
    let local = text.strip_suffix('Z').unwrap_or(text);
    ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|pattern| NaiveDateTime::parse_from_str(local, pattern).ok())
        .map(|date| at(date.and_utc()))
        .ok_or(WRONG)
}

/// A point in time as it is typed.
pub(super) fn moment_words(moment: Moment) -> String {
    match moment {
        Moment::FromNow(Span(0)) => "now".to_owned(),
        Moment::FromNow(span) if span.0 > 0 => format!("+{}", span_words(span)),
        Moment::FromNow(span) => span_words(span),
        Moment::At(time) => match time.date() {
            Some(date) => date.to_rfc3339_opts(SecondsFormat::AutoSi, true),
            None => time.to_rfc3339(),
        },
    }
}
