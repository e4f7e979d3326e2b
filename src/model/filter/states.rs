//! Which states of jobs a filter shows: what it says of states, and what its other terms imply.

use super::{Filter, Has, MomentField, SpanField, Test, TextField};
use crate::model::JobState;

/// Every state, in the order of lists.
const ALL: [JobState; 7] = [
    JobState::Running,
    JobState::Expired,
    JobState::Ready,
    JobState::Scheduled,
    JobState::Exhausted,
    JobState::Completed,
    JobState::Dead,
];

/// A set of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateSet(u8);

impl StateSet {
    /// Claimed.
    pub const CLAIMED: Self = Self::of(&[JobState::Running, JobState::Expired]);
    /// Queued with attempts left.
    pub const WAITING: Self = Self::of(&[JobState::Ready, JobState::Scheduled]);
    /// Queued.
    pub const QUEUED: Self = Self::of(&[JobState::Ready, JobState::Scheduled, JobState::Exhausted]);
    /// Queued or claimed.
    pub const LIVE: Self = Self(Self::CLAIMED.0 | Self::QUEUED.0);
    /// Done.
    pub const COMPLETED: Self = Self::of(&[JobState::Completed]);
    /// In the dead letters.
    pub const DEAD: Self = Self::of(&[JobState::Dead]);
    /// All.
    pub const ANY: Self = Self::of(&ALL);

    /// The set of these.
    #[must_use]
    pub const fn of(states: &[JobState]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < states.len() {
            bits |= 1 << states[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in one of them.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in this one alone.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the two have something in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    /// Whether all of it is in the other.
    #[must_use]
    pub const fn is_within(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    /// Whether a state is in it.
    #[must_use]
    pub const fn has(self, state: JobState) -> bool {
        self.meets(Self::of(&[state]))
    }

    /// Its states, in the order of lists.
    pub fn each(self) -> impl Iterator<Item = JobState> {
        ALL.into_iter().filter(move |state| self.has(*state))
    }

    /// In words: `live`, `dead`, `ready and scheduled`.
    #[must_use]
    pub fn words(self) -> String {
        let named = [StateWord::Any, StateWord::Live, StateWord::Queued].into_iter().find(|word| word.set() == self);
        let words: Vec<&str> = match named {
            Some(word) => vec![word.as_str()],
            None => self.each().map(JobState::as_str).collect(),
        };
        match words.split_last() {
            None => "no".to_owned(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, before)) => format!("{} and {last}", before.join(", ")),
        }
    }
}

/// What may stand behind `state:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateWord {
    /// One state.
    One(JobState),
    /// Queued: ready, scheduled or exhausted.
    Queued,
    /// Queued or claimed.
    Live,
    /// Whatever it is.
    Any,
}

impl StateWord {
    /// Every word.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter().map(Self::One).chain([Self::Queued, Self::Live, Self::Any])
    }

    /// The word as typed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::One(state) => state.as_str(),
            Self::Queued => "queued",
            Self::Live => "live",
            Self::Any => "any",
        }
    }

    /// The states that it means.
    #[must_use]
    pub const fn set(self) -> StateSet {
        match self {
            Self::One(state) => StateSet::of(&[state]),
            Self::Queued => StateSet::QUEUED,
            Self::Live => StateSet::LIVE,
            Self::Any => StateSet::ANY,
        }
    }
}

impl Test {
    /// The states in which it can hold at all.
    #[must_use]
    pub fn states(&self) -> StateSet {
        match self {
            Self::State(words) => words.iter().fold(StateSet::default(), |set, word| set.or(word.set())),
            Self::Text(TextField::Worker, _)
            | Self::Span(SpanField::Lease | SpanField::Beat, _)
            | Self::Has(Has::Worker | Has::Lease) => StateSet::CLAIMED,
            Self::Span(SpanField::Due | SpanField::Overdue, _) => StateSet::WAITING,
            Self::Moment(MomentField::RunAt, _) => StateSet::ANY.without(StateSet::DEAD),
            Self::Moment(MomentField::Completed, _) => StateSet::COMPLETED,
            Self::Moment(MomentField::Failed, _) | Self::Text(TextField::Reason, _) | Self::Has(Has::Replay) => {
                StateSet::DEAD
            }
            _ => StateSet::ANY,
        }
    }
}

impl Filter {
    /// The states that it shows: see the head of this module.
    #[must_use]
    pub fn states(&self) -> StateSet {
        let is_state = |test: &&Test| matches!(test, Test::State(_));
        let said = self.wanted().any(|test| is_state(&test));
        let possible = self.wanted().fold(StateSet::ANY, |set, test| set.and(test.states()));
        let shown = if said || self.names_jobs() || !possible.meets(StateSet::LIVE) {
            possible
        } else {
            possible.and(StateSet::LIVE)
        };
        let left_out = self.terms.iter().filter(|term| term.negated).map(|term| &term.test).filter(is_state);
        left_out.fold(shown, |set, test| set.without(test.states()))
    }

    /// Whether whole ids or keys say which jobs are meant.
    #[must_use]
    pub fn names_jobs(&self) -> bool {
        self.keys().is_some() || self.ids().is_some_and(|ids| ids.iter().all(|(first, last)| first == last))
    }
}
