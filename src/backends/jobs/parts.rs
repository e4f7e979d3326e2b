//! The parts that lists of jobs are made of, and which of them a filter asks for. Each is served by one index, in whose order
//! it is read.

use super::clause::Table;
use super::facts::{Access, DEAD_COLUMNS, Facts, JOB_COLUMNS};
use crate::model::filter::{Filter, StateSet};
use crate::model::{Job, JobState, Reading, Sort, SortKey};

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Running, soonest end of the lease first, missing leases last.
    Running,
    /// Queued, as a claim takes them, queue by queue.
    Queued,
    /// Queued without an attempt left, by the time they were due.
    Exhausted,
    /// Completed, latest first.
    Completed,
    /// Dead letters, latest first.
    Dead,
    /// Dead letters by id, where no index knows when they died.
    DeadById,
    /// Jobs by id, whatever their state.
    Ids,
    /// Dead letters by id.
    DeadIds,
    /// Jobs by idempotency key, whatever their state.
    Keys,
    /// Dead letters by idempotency key.
    DeadKeys,
}

const ALL: [Part; 10] = [
    Part::Running,
    Part::Queued,
    Part::Exhausted,
    Part::Completed,
    Part::Dead,
    Part::DeadById,
    Part::Ids,
    Part::DeadIds,
    Part::Keys,
    Part::DeadKeys,
];

/// The parts that a filter asks for, in order.
pub(super) fn parts(facts: &Facts, filter: &Filter) -> Vec<Part> {
    let states = filter.states();
    let mut parts = Vec::new();
    let mut add = |set: StateSet, part: Part| parts.extend(states.meets(set).then_some(part));
    let dead = if facts.has_index("dead_letter_jobs", &["(failed_at)"]) { Part::Dead } else { Part::DeadById };
    if filter.ids().is_some() {
        add(Table::Live.states(), Part::Ids);
        add(StateSet::DEAD, Part::DeadIds);
    } else if filter.keys().is_some() && facts.has_index("jobs", &["(queue, idempotency_key)"]) {
        add(Table::Live.states(), Part::Keys);
        let by_key = facts.has_index("dead_letter_jobs", &["(idempotency_key)"]);
        add(StateSet::DEAD, if by_key { Part::DeadKeys } else { dead });
    } else {
        add(StateSet::CLAIMED, Part::Running);
        let exhausted = StateSet::of(&[JobState::Exhausted]);
        let only_exhausted = states.and(StateSet::QUEUED) == exhausted && Part::Exhausted.has_index(facts);
        add(StateSet::QUEUED, if only_exhausted { Part::Exhausted } else { Part::Queued });
        add(StateSet::COMPLETED, Part::Completed);
        add(StateSet::DEAD, dead);
    }
    parts
}

/// Whether the part's own index serves an order, and then whether it is read backwards; `None`: it does not.
pub(super) fn backwards(parts: &[Part], filter: &Filter, sort: Sort) -> Option<bool> {
    let Sort::By { key, descending } = sort else { return Some(false) };
    match (parts, key) {
        ([Part::Queued], SortKey::Priority) if descending && filter.one_queue().is_some() => Some(false),
        ([Part::Running], SortKey::Lease) => Some(descending),
        ([Part::Completed], SortKey::Completed) | ([Part::Dead], SortKey::Failed) => Some(!descending),
        _ => None,
    }
}

impl Part {
    /// Its name in a cursor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Queued => "queued",
            Self::Exhausted => "exhausted",
            Self::Completed => "completed",
            Self::Dead => "dead",
            Self::DeadById => "dead by id",
            Self::Ids => "ids",
            Self::DeadIds => "dead ids",
            Self::Keys => "keys",
            Self::DeadKeys => "dead keys",
        }
    }

    /// The part with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|part| part.name() == name)
    }

    /// Where its rows are.
    pub(super) fn table(self) -> Table {
        match self {
            Self::Dead | Self::DeadById | Self::DeadIds | Self::DeadKeys => Table::Dead,
            _ => Table::Live,
        }
    }

    /// The states that its rows can be in.
    pub(super) fn states(self) -> StateSet {
        match self {
            Self::Running => StateSet::CLAIMED,
            Self::Queued => StateSet::QUEUED,
            Self::Exhausted => StateSet::of(&[JobState::Exhausted]),
            Self::Completed => StateSet::COMPLETED,
            _ => self.table().states(),
        }
    }

    fn has_index(self, facts: &Facts) -> bool {
        match self {
            Self::Queued => facts.has_claim_index(),
            Self::Running => facts.has_lease_index(),
            Self::Completed => facts.has_index("jobs", &["(completed_at)", "'completed'"]),
            Self::Exhausted => facts.has_index("jobs", &["(run_at)", "attempts >= max_attempts"]),
            _ => true,
        }
    }

    /// Whether the part can be listed at all, else how that is known and why not.
    pub(super) fn access(self, facts: &Facts, filter: &Filter) -> Result<(), (Reading<Vec<Job>>, String)> {
        let table = self.table().name();
        let columns = if self.table() == Table::Dead { DEAD_COLUMNS } else { JOB_COLUMNS };
        let payload: &[&str] = if filter.reads_payloads() { &["payload"] } else { &[] };
        for (columns, what) in [(columns, ""), (payload, "payloads of ")] {
            match facts.access(table, columns) {
                Access::Denied => return Err((Reading::Denied, format!("{} may not read {what}{table}", facts.user))),
                Access::Missing => return Err((Reading::Unknown, format!("no such table here: {table}"))),
                Access::Yes => {}
            }
        }
        if self.has_index(facts) {
            Ok(())
        } else {
            Err((Reading::Unknown, "no index serves this list here; run: queuetop migrate".into()))
        }
    }
}
