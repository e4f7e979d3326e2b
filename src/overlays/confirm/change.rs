//! What has become of a job since it was seen, as far as new readings tell.

use crate::model::{Job, JobState, Reading, Snapshot, Time};

use super::super::outlook::state_at;

/// What new readings say about a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// They do not tell.
    Unknown,
    /// It is as it was seen.
    None,
    /// It is not, in words.
    To(String),
}

/// The difference between a job as it was seen and the same job read again.
pub(super) fn between(seen: &Job, row: &Job) -> Option<String> {
    let same_attempt = seen.attempts == row.attempts && seen.worker == row.worker;
    if seen.fence == row.fence {
        return None;
    }
    Some(match row.state {
        JobState::Running if same_attempt => "its lease was renewed".to_owned(),
        JobState::Running | JobState::Expired if !same_attempt => {
            format!("{} again, attempt {}", row.state.as_str(), row.attempts)
        }
        state => format!("{} now", state.as_str()),
    })
}

/// What the list of leases says. A job that was held and is missing from a complete list is no longer held.
pub(super) fn by_leases(seen: &Job, snapshot: &Snapshot, now: Time) -> Change {
    let Some(leases) = snapshot.leases.value() else {
        return Change::Unknown;
    };
    if let Some(lease) = leases.iter().find(|lease| lease.job.at == seen.at) {
        return between(seen, &lease.job).map_or(Change::None, Change::To);
    }
    let was_held = matches!(state_at(seen, now), JobState::Running | JobState::Expired);
    if was_held && is_complete(snapshot, leases.len()) {
        return Change::To("no longer running".to_owned());
    }
    Change::Unknown
}

/// Whether all leases are in the list, by the counts read with it.
fn is_complete(snapshot: &Snapshot, listed: usize) -> bool {
    let held = snapshot.queues.iter().try_fold(0_u64, |sum, queue| {
        let held = queue.running.combine(queue.expired, u64::saturating_add);
        match held {
            Reading::Exact(n) => Some(sum.saturating_add(n)),
            Reading::NotApplicable => Some(sum),
            _ => None,
        }
    });
    matches!(snapshot.leases, Reading::Exact(_)) && held.is_some_and(|held| u64::try_from(listed) == Ok(held))
}
