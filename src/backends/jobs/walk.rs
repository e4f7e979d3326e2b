//! A part read along an index on one column: the ranges that together are all of it behind a row, in their order.
//!
//! Ranges are put one behind the other, and reading stops when the page is full. Ties are not spelled with `=`: the planner
//! would then not care which way it reads the index, and ties would come in another order.

use super::clause::{Clauses, NOW, moments};
use super::key::{Key, Start};
use super::parts::Part;
use crate::model::JobState;
use crate::model::filter::{Filter, MomentField, SpanField, Test};

/// A condition, and the order in which its rows come.
pub(super) struct Branch {
    pub(super) condition: String,
    pub(super) order: String,
}

/// One index.
struct Walk {
    column: &'static str,
    nullable: bool,
    falls: bool,
    /// What all its rows have.
    base: Vec<String>,
    /// What the rows that have a value in the column have.
    range: Vec<String>,
    /// Rows without a value can be in the list.
    nulls: bool,
}

/// The ranges of a part from `start` on; `backwards`: from its other end.
pub(super) fn branches(
    part: Part,
    clauses: &mut Clauses<'_>,
    filter: &Filter,
    (start, backwards): (&Start, bool),
) -> Vec<Branch> {
    let walk = walk(part, clauses, filter, backwards);
    let direction = match (walk.falls, walk.nullable) {
        (false, _) => "",
        (true, false) => " desc",
        (true, true) => " desc nulls first",
    };
    let mut order = format!("{}{direction}", walk.column);
    if walk.column != "j.id" && !clauses.has_places() {
        order.push_str(if walk.falls { ", j.id desc" } else { ", j.id" });
    }
    let conditions = match start {
        Start::Row(key) => behind(&walk, key, clauses),
        _ => walk.all(),
    };
    conditions.into_iter().map(|condition| Branch { condition, order: order.clone() }).collect()
}

fn walk(part: Part, clauses: &mut Clauses<'_>, filter: &Filter, backwards: bool) -> Walk {
    let (column, nullable, falls, base): (_, _, _, &[&str]) = match part {
        Part::Running => ("j.lease_until", true, false, &["j.status = 'running'"]),
        Part::Completed => ("j.completed_at", true, true, &["j.status = 'completed'"]),
        Part::Exhausted => ("j.run_at", false, false, &["j.status = 'queued'", "j.attempts >= j.max_attempts"]),
        Part::Dead => ("j.failed_at", false, true, &[]),
        _ => ("j.id", false, false, &[]),
    };
    let mut base: Vec<String> = base.iter().map(|condition| (*condition).to_owned()).collect();
    let (mut range, mut nulls) = (Vec::new(), nullable);
    for test in filter.wanted() {
        let on_column = match (part, test) {
            (Part::Running, Test::Span(SpanField::Lease, span)) => Some(moments(SpanField::Lease, span)),
            (Part::Completed, Test::Moment(MomentField::Completed, moment))
            | (Part::Dead, Test::Moment(MomentField::Failed, moment)) => Some(*moment),
            _ => None,
        };
        range.extend(on_column.map(|on_column| clauses.range(column, &on_column)));
    }
    if part == Part::Running {
        let states = filter.states();
        range.extend((!states.has(JobState::Expired)).then(|| format!("{column} >= {NOW}")));
        range.extend((!states.has(JobState::Running)).then(|| format!("{column} < {NOW}")));
        nulls = states.has(JobState::Expired);
    }
    let by_queue = part == Part::Dead && clauses.facts.has_index("dead_letter_jobs", &["(queue, failed_at)"]);
    if let (Some([name]), true) = (filter.queues().as_deref(), by_queue) {
        base.push(format!("j.queue = {}", clauses.params.text(name)));
    }
    Walk { column, nullable, falls: falls != backwards, base, range, nulls }
}

impl Walk {
    fn rows(&self, more: &[String]) -> String {
        let all: Vec<&str> = self.base.iter().chain(more).map(String::as_str).collect();
        if all.is_empty() { "true".to_owned() } else { all.join(" and ") }
    }

    fn with_value(&self, more: &[String]) -> String {
        self.rows(&[more, &self.range].concat())
    }

    fn without_value(&self, more: &[String]) -> Option<String> {
        let missing = [&[format!("{} is null", self.column)], more].concat();
        self.nulls.then(|| self.rows(&missing))
    }

    /// Those without a value come last, whichever way the others are read.
    fn all(&self) -> Vec<String> {
        let value = if self.nullable { vec![format!("{} is not null", self.column)] } else { vec![] };
        [Some(self.with_value(&value)), self.without_value(&[])].into_iter().flatten().collect()
    }
}

/// The ranges behind a row, or from it on.
fn behind(walk: &Walk, key: &Key, clauses: &mut Clauses<'_>) -> Vec<String> {
    let column = walk.column;
    let beyond = if walk.falls { "<" } else { ">" };
    if column == "j.id" {
        let at = clauses.params.uuid(key.id);
        return vec![walk.with_value(&[format!("j.id {beyond}{} {at}", if key.with_it { "=" } else { "" })])];
    }
    let place = clauses.tie(key, walk.falls);
    let Some(time) = key.at else {
        return walk.without_value(&[place]).into_iter().collect();
    };
    let at = clauses.params.time(time);
    let equal = walk.with_value(&[format!("{column} >= {at}"), format!("{column} <= {at}"), place]);
    let later = walk.with_value(&[format!("{column} {beyond} {at}")]);
    [Some(equal), Some(later), walk.without_value(&[])].into_iter().flatten().collect()
}
