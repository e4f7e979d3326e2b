//! What a settings file may say: ranges, names, and who may read it. One function a section.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use super::place::Wrong;
use super::{INTERVAL_FLOOR, Settings, Targets, keys, targets};
use crate::model::Filter;
use crate::panes::Arrangement;

/// Everything in a file that its types do not say already.
pub(super) fn all(settings: &Settings) -> Result<(), Wrong> {
    interval(settings.poll.interval).map_err(|reason| Wrong::new(&["poll", "interval"], reason))?;
    load(settings.poll.load).map_err(|reason| Wrong::new(&["poll", "load"], reason))?;
    if settings.screen.range.is_zero() {
        return Err(Wrong::new(&["screen", "range"], "must be longer than 0s"));
    }
    for (name, target) in &settings.targets {
        let wrong = |key: &str, reason: String| Wrong::new(&["targets", name, key], reason);
        target.interval.map_or(Ok(INTERVAL_FLOOR), interval).map_err(|reason| wrong("interval", reason))?;
        target.load.map_or(Ok(1.0), load).map_err(|reason| wrong("load", reason))?;
        // Without one, the surroundings would decide which database a name means.
        if target.dsn.trim().is_empty() {
            return Err(wrong("dsn", "a target needs one, such as \"service=prod\"".into()));
        }
    }
    for (name, text) in &settings.filters {
        check_filter(text).map_err(|reason| Wrong::new(&["filters", name], reason))?;
    }
    keys::table(&settings.keys)?;
    Arrangement::new(settings.columns.queues.as_deref(), settings.columns.jobs.as_deref())
        .map_err(|(table, reason)| Wrong::new(&["columns", table], reason))?;
    match settings.redact.paths.iter().find(|path| path.split('.').any(str::is_empty)) {
        Some(path) => Err(Wrong::new(&["redact", "paths"], format!("`{path}` has an empty key: write user.email"))),
        None => Ok(()),
    }
}

/// A time between polls.
pub(super) fn interval(interval: Duration) -> Result<Duration, String> {
    if interval < INTERVAL_FLOOR { Err(format!("at least {} ms", INTERVAL_FLOOR.as_millis())) } else { Ok(interval) }
}

/// A share of wall time, in percent.
pub(super) fn load(load: f64) -> Result<f64, String> {
    if load > 0.0 && load <= 100.0 { Ok(load) } else { Err(format!("{load} is not above 0 and at most 100 percent")) }
}

/// A saved filter, as it would be typed.
fn check_filter(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("an empty filter".into());
    }
    if text.chars().any(char::is_control) {
        return Err("a filter is one line without control characters".into());
    }
    text.parse::<Filter>().map(|_| ()).map_err(|error| error.message)
}

/// A file with a password in it must be private, as `.pgpass` must.
pub(super) fn private(targets: &Targets, file: &Path) -> Result<(), Wrong> {
    let Some((name, _)) = targets.iter().find(|(_, target)| targets::has_password(&target.dsn)) else {
        return Ok(());
    };
    let (mode, owner) = std::fs::metadata(file).map_or((0o777, None), |meta| (meta.mode(), Some(meta.uid())));
    exposure(mode, owner, rustix::process::geteuid().as_raw()).map_or(Ok(()), |exposed| {
        let file = file.display();
        let reason = format!("it holds a password and {exposed}; run: chmod 600 {file}");
        Err(Wrong::new(&["targets", name, "dsn"], reason))
    })
}

/// Who else has the file in hand, if anybody.
fn exposure(mode: u32, owner: Option<u32>, us: u32) -> Option<&'static str> {
    if owner != Some(us) {
        return Some("the file belongs to somebody else: it must be yours and private");
    }
    (mode & 0o077 != 0).then_some("others may read the file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_private_file_may_hold_a_password() {
        assert_eq!(exposure(0o100_600, Some(7), 7), None);
        assert_eq!(exposure(0o100_400, Some(7), 7), None);
        for mode in [0o640, 0o604, 0o660, 0o610] {
            assert_eq!(exposure(mode, Some(7), 7), Some("others may read the file"));
        }
        assert!(exposure(0o600, Some(0), 7).is_some() && exposure(0o600, None, 7).is_some());
    }
}
