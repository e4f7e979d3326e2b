//! Jobs that a filter names: by whole ids, by how ids begin, by idempotency keys.

use uuid::Uuid;

use super::clause::Clauses;
use super::key::Start;
use super::parts::Part;
use super::texts::fill;
use super::walk::Branch;
use crate::model::filter::Filter;

/// The ranges of a part of named jobs from `start` on.
pub(super) fn branches(
    part: Part,
    clauses: &mut Clauses<'_>,
    filter: &Filter,
    (start, schema): (&Start, &str),
) -> Vec<Branch> {
    let after = match start {
        Start::Row(key) => Some((key.id, if key.with_it { ">=" } else { ">" })),
        _ => None,
    };
    match part {
        Part::Ids | Part::DeadIds => by_id(clauses, filter, after),
        _ => vec![by_key(part, clauses, filter, (after, schema))],
    }
}

fn by_id(clauses: &mut Clauses<'_>, filter: &Filter, after: Option<(Uuid, &str)>) -> Vec<Branch> {
    let ids = merged(filter.ids().unwrap_or_default());
    let behind =
        after.map(|(id, compare)| format!(" and j.id {compare} {}", clauses.params.uuid(id))).unwrap_or_default();
    let conditions = if ids.iter().all(|(first, last)| first == last) {
        vec![format!("j.id = any({})", clauses.params.uuids(ids.iter().map(|(id, _)| *id).collect()))]
    } else {
        let range = |(first, last): &(Uuid, Uuid)| {
            format!("j.id between {} and {}", clauses.params.uuid(*first), clauses.params.uuid(*last))
        };
        ids.iter().map(range).collect()
    };
    let branch = |condition| Branch { condition: format!("{condition}{behind}"), order: "j.id".to_owned() };
    conditions.into_iter().map(branch).collect()
}

/// Ranges in order, those that meet as one.
fn merged(mut ranges: Vec<(Uuid, Uuid)>) -> Vec<(Uuid, Uuid)> {
    ranges.sort_unstable();
    let mut apart: Vec<(Uuid, Uuid)> = Vec::new();
    for (first, last) in ranges {
        match apart.last_mut().filter(|before| first <= before.1) {
            Some(before) => before.1 = before.1.max(last),
            None => apart.push((first, last)),
        }
    }
    apart
}

/// A key is unique within a queue: where the queue is not named, the index is asked for each queue that has keys. The order is
/// that of ids, spelled so that no index of ids looks like a way to have it.
fn by_key(
    part: Part,
    clauses: &mut Clauses<'_>,
    filter: &Filter,
    (after, schema): (Option<(Uuid, &str)>, &str),
) -> Branch {
    let mut all = vec![format!(
        "j.idempotency_key is not null and j.idempotency_key = any({})",
        clauses.params.texts(&filter.keys().unwrap_or_default())
    )];
    if part == Part::Keys {
        all.push(match filter.queues() {
            Some(queues) => format!("j.queue = any({})", clauses.params.texts(&queues)),
            None => format!("j.queue = any(array({}))", fill(include_str!("sql/key_queues.sql"), schema, &[])),
        });
    }
    all.extend(after.map(|(id, compare)| format!("j.id::text {compare} {}", clauses.params.text(&id.to_string()))));
    Branch { condition: all.join(" and "), order: "j.id::text".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one() {
        let id = Uuid::from_u128;
        let ranges = vec![(id(5), id(9)), (id(1), id(2)), (id(6), id(7)), (id(9), id(12)), (id(20), id(20))];
        assert_eq!(merged(ranges), [(id(1), id(2)), (id(5), id(12)), (id(20), id(20))]);
    }
}
