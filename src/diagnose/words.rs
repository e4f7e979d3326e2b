//! Words that several rules use, and the two findings about what this session may not see or do.

use crate::fmt::{self, Figure, whole_seconds};
use crate::model::{Ability, BackendKind, Finding, QueueId, Reading, ServerFacts, Severity, Snapshot, Time};
use crate::text::Safe;

use super::{Missing, NOT_CHECKED, RIGHTS};

/// Queue names are cut to this in running text.
const NAME_COLUMNS: usize = 40;

/// A queue's name for running text; the kind is added where the name alone could mean another queue.
pub(super) fn name(queue: &QueueId) -> String {
    let name = Safe::new(&queue.name).truncate(NAME_COLUMNS);
    match queue.backend {
        BackendKind::Jobs => name.into(),
        BackendKind::Pgmq => format!("{name} (pgmq)"),
    }
}

/// `3 jobs`, `1 job`, `10,000+ jobs`.
pub(super) fn counted(count: &Reading<u64>, one: &str, many: &str) -> String {
    let word = if *count == Reading::Exact(1) { one } else { many };
    format!("{} {word}", Figure::words(count))
}

/// `3 jobs`, `1 job`.
pub(super) fn exactly(count: u64, one: &str, many: &str) -> String {
    counted(&Reading::Exact(count), one, many)
}

/// Whole seconds since `then`; `None` for infinite times.
pub(super) fn seconds_since(now: Time, then: Time) -> Option<i64> {
    now.seconds_since(then).map(whole_seconds)
}

/// A row of evidence.
pub(super) fn fact(label: &str, value: impl Into<String>) -> (String, String) {
    (label.to_owned(), value.into())
}

/// A share as whole percent, from counts; 0 where there is nothing to share.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

/// What the periodic reaper is doing, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaper {
    /// Ran a moment ago, in seconds.
    Alive(i64),
    /// Has not run for so many seconds.
    Silent(i64),
    /// Has never run.
    Never,
    /// Not known.
    Unknown,
}

impl Reaper {
    /// Silent from this many seconds on: a reaper that cron starts every minute must not look dead.
    pub(super) const SILENT_AFTER: i64 = 150;

    pub(super) fn of(snapshot: &Snapshot, now: Time) -> Self {
        match snapshot.reaper_last.get() {
            None => Self::Unknown,
            Some(None) => Self::Never,
            Some(Some(at)) => match seconds_since(now, at) {
                Some(seconds) if seconds <= Self::SILENT_AFTER => Self::Alive(seconds.max(0)),
                Some(seconds) => Self::Silent(seconds),
                None => Self::Never,
            },
        }
    }

    /// For the evidence.
    pub(super) fn last_run(self) -> String {
        match self {
            Self::Alive(s) | Self::Silent(s) => format!("{} ago", fmt::span(s)),
            Self::Never => "never".into(),
            Self::Unknown => fmt::UNKNOWN.into(),
        }
    }
}

/// This role may not act: said once, so that nobody waits until a key is refused.
pub(super) fn rights(server: Option<&ServerFacts>) -> Option<Finding> {
    let server = server?;
    let Ability::No(reason) = &server.act else {
        return None;
    };
    Some(Finding {
        id: RIGHTS,
        severity: Severity::Info,
        queue: None,
        sentence: format!("this role may read but not act: {}", Safe::first_line(reason)),
        brief: "this role may not act".into(),
        evidence: vec![fact("role", Safe::new(&server.user))],
        next_step: "connect as a role with the missing right, or have it granted".into(),
        weight: 1,
    })
}

/// Which checks could not be made, as one finding.
pub(super) fn not_checked(missing: &[Missing]) -> Option<Finding> {
    // In the order of the rules: what matters most comes first.
    let mut whats: Vec<&str> = Vec::new();
    for what in missing.iter().map(|m| m.what) {
        if !whats.contains(&what) {
            whats.push(what);
        }
    }
    let whats = if whats.is_empty() { return None } else { whats.join(", ") };
    let denied = missing.iter().any(|m| m.denied);
    let evidence = missing.iter().map(|m| {
        let place = m.queue.as_ref().map_or_else(String::new, |q| format!(" of {}", name(q)));
        fact(&format!("{}{place}", m.what), if m.denied { "denied" } else { "not known" })
    });
    Some(Finding {
        id: NOT_CHECKED,
        severity: Severity::Info,
        queue: None,
        sentence: format!("not known: {whats}"),
        brief: format!("not known: {whats}"),
        evidence: evidence.collect(),
        next_step: if denied {
            "have the missing right granted: `queuetop doctor` names it".into()
        } else {
            "wait for a few readings; if it stays, `queuetop doctor` says what is missing".into()
        },
        weight: u64::try_from(missing.len()).unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{NOW, Scene, ago, queue};
    use super::*;

    #[test]
    fn a_reaper_that_cron_starts_every_minute_is_alive() {
        let mut scene = Scene::calm(&["a"]);
        let mut reaper = |last| {
            scene.snapshot.reaper_last = last;
            Reaper::of(&scene.snapshot, NOW)
        };
        assert_eq!(reaper(Reading::Exact(Some(ago(70)))), Reaper::Alive(70));
        assert_eq!(reaper(Reading::Exact(Some(ago(240)))), Reaper::Silent(240));
        assert_eq!(reaper(Reading::Exact(Some(ago(-5)))), Reaper::Alive(0));
        assert_eq!(reaper(Reading::Exact(None)), Reaper::Never);
        assert_eq!(reaper(Reading::Denied), Reaper::Unknown);
    }

    #[test]
    fn names_are_safe_and_short() {
        assert_eq!(name(&queue("a\u{1b}]0;x\u{7}")), r"a\x1b]0;x\x07");
        assert_eq!(name(&queue(&"x".repeat(100))).chars().count(), NAME_COLUMNS);
        let events = QueueId { backend: BackendKind::Pgmq, name: "events".into() };
        assert_eq!(name(&events), "events (pgmq)");
    }

    #[test]
    fn a_role_that_may_not_act_is_told_why() {
        let mut server = ServerFacts { act: Ability::Yes, ..ServerFacts::default() };
        assert_eq!(rights(Some(&server)), None);
        server.act = Ability::No("needs EXECUTE on operator_requeue".into());
        let finding = rights(Some(&server)).unwrap();
        assert!(finding.sentence.ends_with("needs EXECUTE on operator_requeue"));
        assert_eq!(rights(None), None);
    }
}
