//! What an action would do to a job as it stands now, in words. The rules are those of the database's own functions, which
//! have the last word: this only tells beforehand.

use crate::fmt;
use crate::model::{Action, BackendKind, Job, JobState, Time};

/// What would happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outlook {
    /// It would be done.
    pub(super) allowed: bool,
    /// As sentences about one job.
    pub(super) one: String,
    /// The same in a few words.
    pub(super) short: String,
    /// As a phrase about several, after "3 expired:".
    pub(super) many: &'static str,
}

/// The state of a job at `now`: as it was seen, moved on by the clock. A lease runs out and a run comes due by itself.
pub(super) fn state_at(job: &Job, now: Time) -> JobState {
    let status = match job.state {
        JobState::Running | JobState::Expired => "running",
        JobState::Completed => "completed",
        JobState::Dead => "dead",
        JobState::Ready | JobState::Scheduled | JobState::Exhausted => "queued",
    };
    if job.at.queue.backend == BackendKind::Pgmq {
        return job.state;
    }
    JobState::of(status, job.run_at, (job.attempts, job.max_attempts.unwrap_or(i32::MAX)), job.lease_until, now)
}

/// What `action` would do to `job` now.
pub(super) fn outlook(action: Action, job: &Job, now: Time) -> Outlook {
    let state = state_at(job, now);
    match (action, state) {
        (Action::Undo { .. }, _) => allowed(
            "It gets back what it had before, if it is still as that action left it.".into(),
            "put back as it was before".into(),
            "put back as they were before, where they are still as that action left them",
        ),
        (Action::Replay { force }, JobState::Dead) => replay(force),
        (Action::Replay { .. }, _) => refused("Only dead letters are replayed.", "only dead letters are replayed"),
        (_, JobState::Completed) => {
            refused("It is completed; completed jobs stay as they are.", "completed jobs stay as they are")
        }
        (_, JobState::Dead) => {
            refused("It is a dead letter; only a replay makes a new job of it.", "only a replay makes new jobs of them")
        }
        (Action::Requeue { force }, _) => requeue(job, state, force, now),
        (Action::DeadLetter { force }, _) => dead_letter(job, state, force, now),
        (Action::Reap, _) => reap(job, state),
        (Action::Reschedule { run_at }, _) => reschedule(job, state, run_at, now),
        (Action::SetPriority { priority }, _) => set_priority(job, state, priority),
    }
}

fn requeue(job: &Job, state: JobState, force: bool, now: Time) -> Outlook {
    let (more, short) = if spent(job) {
        ("It gets one more attempt and becomes claimable now", "one more attempt, claimable now")
    } else {
        ("It becomes claimable now", "claimable now")
    };
    match state {
        _ if job.attempts == i32::MAX => refused(
            "Its attempts are at the largest number there is.",
            "their attempts are at the largest number there is",
        ),
        JobState::Ready => refused("It is ready already.", "they are ready already"),
        JobState::Running if !force => live(job, now, "F takes it from its worker by force."),
        JobState::Running => allowed(
            format!("{more}. {OLD_WORKER} What it has done already may be done twice."),
            format!("{short}; what its worker has done may be done twice"),
            "taken from live workers; what those have done may be done twice",
        ),
        JobState::Expired => allowed(
            format!("{more}; attempt {} counts as expired. {OLD_WORKER}", job.attempts),
            format!("{short}; attempt {} counts as expired", job.attempts),
            BACK_IN_QUEUE,
        ),
        JobState::Exhausted => allowed(format!("{more}."), short.to_owned(), "one more attempt each, claimable now"),
        _ => {
            let wait = wait(job, now);
            allowed(format!("{more} instead of {wait}."), format!("{short} instead of {wait}"), "claimable now")
        }
    }
}

fn dead_letter(job: &Job, state: JobState, force: bool, now: Time) -> Outlook {
    let moves = "It moves to the dead letters; nobody will run it.";
    let short = "moves to the dead letters".to_owned();
    match state {
        JobState::Running if !force => live(job, now, "Dead-lettering waits until it ran out."),
        JobState::Running | JobState::Expired => allowed(
            format!("{moves} {OLD_WORKER}"),
            short,
            "move to the dead letters; late results of their workers will be refused",
        ),
        _ => allowed(moves.to_owned(), short, "move to the dead letters; nobody will run them"),
    }
}

fn reap(job: &Job, state: JobState) -> Outlook {
    let attempt = job.attempts;
    match state {
        JobState::Expired if spent(job) => allowed(
            format!("Attempt {attempt} was its last: it moves to the dead letters. {OLD_WORKER}"),
            format!("attempt {attempt} was its last: moves to the dead letters"),
            "that was their last attempt: move to the dead letters",
        ),
        JobState::Expired => allowed(
            format!("It becomes claimable now; attempt {attempt} counts as expired. {OLD_WORKER}"),
            format!("claimable now; attempt {attempt} counts as expired"),
            BACK_IN_QUEUE,
        ),
        JobState::Running => refused("Its lease has not run out.", "a live lease holds them"),
        _ => refused("Nobody holds it; only expired leases are reaped.", "nobody holds them"),
    }
}

fn replay(force: bool) -> Outlook {
    let again = if force { " Once more, if it was replayed before." } else { "" };
    allowed(
        format!("A new job is made of it and runs as soon as it is claimed; the dead letter stays.{again}"),
        "makes a new job of it, the dead letter stays".to_owned(),
        "make new jobs of them, claimable now; the dead letters stay",
    )
}

fn reschedule(job: &Job, state: JobState, run_at: Time, now: Time) -> Outlook {
    match state {
        JobState::Exhausted => refused("It has no attempts left: requeue it.", "they have no attempts left"),
        JobState::Running | JobState::Expired => {
            refused("Only waiting jobs are rescheduled.", "only waiting jobs are rescheduled")
        }
        _ => {
            let (at, wait) = (when(run_at, now), wait(job, now));
            allowed(format!("It runs {at} instead of {wait}."), format!("runs {at} instead of {wait}"), "run then")
        }
    }
}

fn set_priority(job: &Job, state: JobState, priority: i32) -> Outlook {
    let old = job.priority.map_or_else(|| fmt::UNKNOWN.to_owned(), |old| old.to_string());
    let from_when =
        if matches!(state, JobState::Running | JobState::Expired) { ", from its next attempt on" } else { "" };
    allowed(
        format!("Its priority becomes {priority} instead of {old}{from_when}."),
        format!("priority {priority} instead of {old}{from_when}"),
        "get that priority",
    )
}

const OLD_WORKER: &str = "The old worker's result will be refused.";
const BACK_IN_QUEUE: &str = "claimable now; the attempts count as expired, late results of old workers will be refused";

/// No attempt is left after the one that is running or was the last.
fn spent(job: &Job) -> bool {
    job.max_attempts.is_some_and(|max| job.attempts >= max)
}

fn live(job: &Job, now: Time, next: &str) -> Outlook {
    let left = job.lease_until.and_then(|end| end.seconds_since(now)).map(fmt::whole_seconds);
    let left = left.map_or_else(|| "does not end".to_owned(), |s| format!("runs {} more", fmt::span(s)));
    refused(&format!("Its lease {left}. {next}"), "a live lease holds them")
}

fn wait(job: &Job, now: Time) -> String {
    when(job.run_at, now)
}

/// `in 5m`, `now`, `never`.
fn when(time: Time, now: Time) -> String {
    match time.seconds_since(now).map(fmt::whole_seconds) {
        Some(seconds) if seconds > 0 => format!("in {}", fmt::span(seconds)),
        Some(_) => "now".to_owned(),
        None if time == Time::NegInfinity => "now".to_owned(),
        None => "never".to_owned(),
    }
}

fn allowed(one: String, short: String, many: &'static str) -> Outlook {
    Outlook { allowed: true, one, short, many }
}

fn refused(why: &str, many: &'static str) -> Outlook {
    let why = lower(why);
    Outlook {
        allowed: false,
        one: format!("Refused: {why}"),
        short: format!("refused: {}", why.trim_end_matches('.')),
        many,
    }
}

/// After a colon a sentence goes on in lower case.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{NOW, ago, ahead, job};
    use super::*;

    const REQUEUE: Action = Action::Requeue { force: false };
    const FORCE: Action = Action::Requeue { force: true };
    const DEAD_LETTER: Action = Action::DeadLetter { force: false };

    /// The words for a job in that state, and whether the action would be done.
    fn words(action: Action, state: JobState, attempts: i32, at: Time) -> (bool, String) {
        let outlook = outlook(action, &job(1, "q", state, attempts, at), NOW);
        (outlook.allowed, outlook.one)
    }

    #[test]
    fn what_is_done_in_each_state() {
        let old_worker = "The old worker's result will be refused.";
        for (action, state, attempts, at, want) in [
            (REQUEUE, JobState::Scheduled, 1, ahead(300), "It becomes claimable now instead of in 5m.".to_owned()),
            (REQUEUE, JobState::Exhausted, 8, ago(1), "It gets one more attempt and becomes claimable now.".to_owned()),
            (
                REQUEUE,
                JobState::Expired,
                3,
                ago(252),
                format!("It becomes claimable now; attempt 3 counts as expired. {old_worker}"),
            ),
            (
                FORCE,
                JobState::Running,
                1,
                ahead(160),
                format!("It becomes claimable now. {old_worker} What it has done already may be done twice."),
            ),
            (DEAD_LETTER, JobState::Ready, 0, ago(1), "It moves to the dead letters; nobody will run it.".to_owned()),
            (
                Action::Reap,
                JobState::Expired,
                8,
                ago(9),
                format!("Attempt 8 was its last: it moves to the dead letters. {old_worker}"),
            ),
        ] {
            assert_eq!(words(action, state, attempts, at), (true, want), "{action:?} {state:?}");
        }
    }

    #[test]
    fn what_is_refused_in_each_state() {
        for (action, state, at, want) in [
            (REQUEUE, JobState::Ready, ago(60), "it is ready already."),
            (REQUEUE, JobState::Running, ahead(160), "its lease runs 2m40s more. F takes it from its worker by force."),
            (REQUEUE, JobState::Completed, ago(1), "it is completed; completed jobs stay as they are."),
            (REQUEUE, JobState::Dead, ago(9), "it is a dead letter; only a replay makes a new job of it."),
            (
                DEAD_LETTER,
                JobState::Running,
                ahead(9),
                "its lease runs 9s more. Dead-lettering waits until it ran out.",
            ),
            (Action::Reap, JobState::Running, ahead(9), "its lease has not run out."),
            (Action::Reap, JobState::Ready, ago(9), "nobody holds it; only expired leases are reaped."),
        ] {
            assert_eq!(words(action, state, 1, at), (false, format!("Refused: {want}")), "{action:?} {state:?}");
        }
    }

    #[test]
    fn no_attempt_can_follow_the_largest_number_of_them() {
        let (allowed, words) = words(FORCE, JobState::Exhausted, i32::MAX, ago(1));
        assert!(!allowed && words.contains("largest number"), "{words}");
        assert!(super::outlook(DEAD_LETTER, &job(1, "q", JobState::Exhausted, i32::MAX, ago(1)), NOW).allowed);
    }

    #[test]
    fn time_moves_a_state_on() {
        let running = job(1, "q", JobState::Running, 1, ahead(60));
        assert_eq!(state_at(&running, NOW), JobState::Running);
        assert_eq!(state_at(&running, ahead(61)), JobState::Expired);
        let scheduled = job(1, "q", JobState::Scheduled, 1, ahead(60));
        assert_eq!(state_at(&scheduled, ahead(61)), JobState::Ready);
        let forever = Job { lease_until: Some(Time::Infinity), ..running };
        assert!(outlook(REQUEUE, &forever, NOW).one.contains("lease does not end"));
    }
}
