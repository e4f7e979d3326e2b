//! Queued jobs, read as claims take them: queue by queue, highest priority first, then by `run_at`.
//!
//! Queues and priorities are found by stepping through the index, a probe each. So a list of what is ready steps over a million
//! scheduled jobs of higher priority, and one of a few queues over all others.

use super::clause::{Clauses, NOW, moments};
use super::key::{Key, Start};
use super::texts::fill;
use crate::model::filter::{Filter, MomentField, NumberField, Range, SpanField, StateSet, Test, TextField};
use crate::model::{JobState, Time};

/// What all queries of this part share.
pub(super) struct Queued<'a> {
    pub(super) schema: &'a str,
    /// Columns of a row `j`.
    pub(super) columns: &'a str,
    /// The same with queue and priority from where they were found.
    pub(super) row: &'a str,
    /// What a row must be like.
    pub(super) matches: &'a str,
    /// Of rows in one queue with one priority.
    pub(super) order: &'a str,
    /// At most so many rows.
    pub(super) window: &'a str,
}

/// The queries that together are the part from `start` on, in order.
pub(super) fn branches(queued: &Queued<'_>, clauses: &mut Clauses<'_>, filter: &Filter, start: &Start) -> Vec<String> {
    let rows = rows(clauses, filter);
    let pairs = pairs(clauses, filter);
    let named = filter.queues();
    let shared = |queues: &str, below: &str| {
        let base = rows.base.replace("j.", "p.");
        let text = include_str!("sql/queued.sql");
        let parts = [
            ("{queues}", queues),
            ("{below}", below),
            ("{base}", &base),
            ("{rows}", &rows.all),
            ("{pairs}", &pairs),
            ("{columns}", queued.columns),
            ("{row}", queued.row),
            ("{matches}", queued.matches),
            ("{order}", queued.order),
            ("{window}", queued.window),
        ];
        fill(text, queued.schema, &parts)
    };
    let from_pair = |clauses: &mut Clauses<'_>, queue: &str, priority: i32| {
        let (queue, priority) = (clauses.params.text(queue), clauses.params.int4(priority));
        let same = shared(&format!("select {queue}"), &format!(" and p.priority < {priority}"));
        [same, shared(&queues(clauses, named.as_deref(), &rows.base, Some(&queue)), "")]
    };
    match start {
        Start::Pair { queue, priority } => from_pair(clauses, queue, *priority).into(),
        Start::Row(key) => {
            let [tie, rest] = within(queued, clauses, key, &rows.all);
            let [same, others] = from_pair(clauses, &key.queue, key.priority.unwrap_or_default());
            vec![tie, rest, same, others]
        }
        _ => vec![shared(&queues(clauses, named.as_deref(), &rows.base, None), "")],
    }
}

/// Conditions on rows.
struct Rows {
    /// Those that the index leaves out rows by.
    base: String,
    /// And the range of `run_at`.
    all: String,
}

fn rows(clauses: &mut Clauses<'_>, filter: &Filter) -> Rows {
    let states = filter.states().and(StateSet::QUEUED);
    let mut base = vec!["j.status = 'queued'".to_owned()];
    let claimable = clauses.facts.has_index("jobs", &["(queue, priority DESC, run_at", "attempts < max_attempts"]);
    if claimable && states.is_within(StateSet::WAITING) {
        base.push("j.attempts < j.max_attempts".to_owned());
    }
    let mut all = base.clone();
    if states == StateSet::of(&[JobState::Ready]) {
        all.push(format!("j.run_at <= {NOW}"));
    } else if states == StateSet::of(&[JobState::Scheduled]) {
        all.push(format!("j.run_at > {NOW}"));
    }
    for test in filter.wanted() {
        let run_at: Option<Range<_>> = match test {
            Test::Span(field @ (SpanField::Due | SpanField::Overdue), span) => Some(moments(*field, span)),
            Test::Moment(MomentField::RunAt, moment) => Some(*moment),
            _ => None,
        };
        all.extend(run_at.map(|range| clauses.range("j.run_at", &range)));
    }
    Rows { base: base.join(" and "), all: all.join(" and ") }
}

/// Conditions that hold for all rows of a queue and priority, or for none.
fn pairs(clauses: &mut Clauses<'_>, filter: &Filter) -> String {
    let names = std::mem::replace(&mut clauses.names, ("q.queue", "p.priority"));
    let of_pairs = |test: &Test| {
        matches!(test, Test::Text(TextField::Queue, _) | Test::Number(NumberField::Priority, _) | Test::Kind(_))
    };
    let terms: Vec<String> = filter
        .terms()
        .iter()
        .filter(|term| of_pairs(&term.test))
        .map(|term| format!(" and {}", clauses.term(term)))
        .collect();
    clauses.names = names;
    terms.concat()
}

/// The queues to step through, behind one of them: those that are named, or all that the index has.
fn queues(clauses: &mut Clauses<'_>, only: Option<&[&str]>, base: &str, behind: Option<&str>) -> String {
    let base = base.replace("j.", "p.");
    let behind = |column: &str| behind.map(|queue| format!(" and {column} > {queue}")).unwrap_or_default();
    match only {
        Some(list) => {
            let list = clauses.params.texts(list);
            format!("select n from unnest({list}) as n where true{} order by n", behind("n"))
        }
        None => format!(
            "(select p.queue from {{schema}}.jobs p where {base}{} order by p.queue limit 1)
  union all
  select n.queue from queues b cross join lateral (
    select p.queue from {{schema}}.jobs p where {base} and p.queue > b.queue order by p.queue limit 1) n",
            behind("p.queue")
        ),
    }
}

/// The rest of the queue and priority of a row: what ties with it, and what comes later.
fn within(queued: &Queued<'_>, clauses: &mut Clauses<'_>, key: &Key, rows: &str) -> [String; 2] {
    let (queue, priority) = (clauses.params.text(&key.queue), clauses.params.int4(key.priority.unwrap_or_default()));
    let [at, created_at] =
        [key.at, key.created_at].map(|moment| clauses.params.time(moment.unwrap_or(Time::NegInfinity)));
    let behind = clauses.tie(key, false);
    // Not with `=`: see `walk`.
    let equal =
        format!("j.run_at = {at} and j.created_at >= {created_at} and j.created_at <= {created_at} and {behind}");
    let later = format!("(j.run_at, j.created_at) > ({at}, {created_at})");
    [equal, later].map(|more| {
        format!(
            "select {}, {} as matches from {}.jobs j where {rows} and j.queue = {queue} and j.priority = {priority} and {more} \
             order by {} limit {}",
            queued.columns, queued.matches, queued.schema, queued.order, queued.window
        )
    })
}
