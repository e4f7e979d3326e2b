//! The statements of a page, put together from its parts. They hold our own words only; see `params`.

use super::clause::{Clauses, NOW, Table};
use super::facts::Facts;
use super::key::Start;
use super::params::Params;
use super::parts::Part;
use super::texts::{ERROR, LIVE, dead, fill};
use super::{named, queued, walk};
use crate::db::Statement;
use crate::model::filter::Filter;
use crate::model::page::WINDOW_SECONDS;
use crate::model::{SortKey, Time};

/// The columns of a row that was looked at.
const ROW: &str = "j.id, j.queue, j.status, j.priority, j.attempts, j.max_attempts, j.run_at, j.created_at, j.worker, \
    j.lease_until, j.updated_at";
/// The same of a queued row, which may be missing: queue and priority from where they were found.
const QUEUED_ROW: &str = "j.id, q.queue, j.status, p.priority, j.attempts, j.max_attempts, j.run_at, j.created_at, j.worker, \
    j.lease_until, j.updated_at, j.last_error, j.key_at, j.place";

/// Makes the planner take the index whose order is asked for, whatever it knows of a table that just grew. Local to the
/// transaction.
pub(super) const BY_INDEX: &str = "select set_config('enable_seqscan', 'off', true), \
    set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)";

/// How much is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// So many rows are looked at.
    pub(super) window: i64,
    /// So many of them are given.
    pub(super) rows: i64,
}

/// What every statement is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) facts: &'a Facts,
    /// Quoted.
    pub(super) schema: &'a str,
    pub(super) filter: &'a Filter,
}

/// What is selected of each row that is looked at.
struct Columns {
    /// Of a row of the table.
    table: String,
    /// Of a queued row.
    queued: String,
}

/// The rows of one part in its own order.
pub(super) fn page(asked: Asked<'_>, part: Part, (start, backwards): (&Start, bool), size: Size) -> Statement {
    let mut params = Params::default();
    let sql = page_sql(asked, part, (start, backwards), size, &mut params);
    params.statement(sql)
}

fn page_sql(
    asked: Asked<'_>,
    part: Part,
    (start, backwards): (&Start, bool),
    size: Size,
    params: &mut Params,
) -> String {
    let (window, rows) = (params.int8(size.window), params.int8(size.rows));
    let key_at = if part == Part::Completed { "j.completed_at" } else { "null::timestamptz" };
    let own = if part.table() == Table::Dead { dead(asked.facts) } else { LIVE.to_owned() };
    let place = if asked.facts.can_read(part.table().name(), "ctid") { "j.ctid" } else { "null::tid" };
    let columns = Columns {
        table: format!("{own}, j.last_error, {key_at} as key_at, {place} as place"),
        queued: QUEUED_ROW.to_owned(),
    };
    let branches = branches(asked, part, (start, backwards), (&columns, &window), params);
    let parts =
        [("{branches}", &*branches), ("{row}", ROW), ("{error}", ERROR), ("{window}", &window), ("{rows}", &rows)];
    fill(include_str!("sql/page.sql"), asked.schema, &parts)
}

/// The first rows of all parts, sorted by a key that no index serves.
pub(super) fn sorted(
    asked: Asked<'_>,
    parts: &[Part],
    (key, descending): (SortKey, bool),
    after: &Start,
    size: Size,
) -> Statement {
    let mut params = Params::default();
    let sql = sorted_sql(asked, parts, (key, descending), (after, size), &mut params);
    params.statement(sql)
}

fn sorted_sql(
    asked: Asked<'_>,
    parts: &[Part],
    (key, descending): (SortKey, bool),
    (after, size): (&Start, Size),
    params: &mut Params,
) -> String {
    let (window, rows) = (params.int8(size.window), params.int8(size.rows));
    let each = |part: &Part| {
        let table = part.table();
        let sorted = sorted_by(asked.facts, table, (key, descending));
        let narrow = |sorted: &str| format!("j.id, {} as dead, {sorted} as sorted", table == Table::Dead);
        let columns = Columns { table: narrow(&sorted), queued: narrow("j.sorted") };
        branches(asked, *part, (&Start::Top, false), (&columns, &window), params)
    };
    let branches = parts.iter().map(each).collect::<Vec<_>>().join("\n        union all\n        ");
    let behind = match after {
        Start::Sorted { value, id } => {
            let compare = if descending { "<" } else { ">" };
            let value = if is_time(key) { params.time(Time::from_pg_micros(*value)) } else { params.int8(*value) };
            format!(" and (l.sorted, l.id) {compare} ({value}, {})", params.uuid(*id))
        }
        _ => String::new(),
    };
    let rows_of = |table: Table| {
        let (own, dead) = if table == Table::Dead { (dead(asked.facts), "") } else { (LIVE.to_owned(), "not ") };
        format!("select {own}, j.last_error from {{schema}}.{} j where {dead}p.dead and j.id = p.id", table.name())
    };
    let tables = [Table::Live, Table::Dead].into_iter().filter(|table| parts.iter().any(|part| part.table() == *table));
    let rows_of_page = tables.map(rows_of).collect::<Vec<_>>().join("\n    union all\n    ");
    let filled = [
        ("{branches}", &*branches),
        ("{rows_of_page}", &rows_of_page),
        ("{behind}", &behind),
        ("{direction}", if descending { " desc" } else { "" }),
        ("{row}", ROW),
        ("{error}", ERROR),
        ("{window}", &window),
        ("{rows}", &rows),
    ];
    fill(include_str!("sql/sorted.sql"), asked.schema, &filled)
}

/// The queries that together are a part from `start` on: each gives its rows in order, and they come one behind the other.
fn branches(
    asked: Asked<'_>,
    part: Part,
    (start, backwards): (&Start, bool),
    (columns, window): (&Columns, &str),
    params: &mut Params,
) -> String {
    let mut clauses = Clauses::new(asked.facts, part.table(), params);
    let matches = in_time(&clauses.verdict(asked.filter, part.states()));
    let whole = |walk: Vec<walk::Branch>| {
        let one = |branch: walk::Branch| {
            format!(
                "select {}, {matches} as matches from {}.{} j where {} order by {} limit {window}",
                columns.table,
                asked.schema,
                part.table().name(),
                branch.condition,
                branch.order
            )
        };
        walk.into_iter().map(one).collect()
    };
    let queries: Vec<String> = match part {
        Part::Queued => {
            let queued = queued::Queued {
                schema: asked.schema,
                columns: &columns.table,
                row: &columns.queued,
                matches: &matches,
                order: if clauses.has_places() { "j.run_at, j.created_at" } else { "j.run_at, j.created_at, j.id" },
                window,
            };
            queued::branches(&queued, &mut clauses, asked.filter, start)
        }
        Part::Ids | Part::DeadIds | Part::Keys | Part::DeadKeys => {
            whole(named::branches(part, &mut clauses, asked.filter, (start, asked.schema)))
        }
        _ => whole(walk::branches(part, &mut clauses, asked.filter, (start, backwards))),
    };
    queries.iter().map(|query| format!("({query})")).collect::<Vec<_>>().join("\n        union all\n        ")
}

/// A verdict that is null when the time for looking at rows is over.
fn in_time(verdict: &str) -> String {
    format!("case when clock_timestamp() < {NOW} + interval '{WINDOW_SECONDS} s' then {verdict} end")
}

/// A sort key that is never null: what has no value comes last.
fn sorted_by(facts: &Facts, table: Table, (key, descending): (SortKey, bool)) -> String {
    let has_priority = table == Table::Live || facts.can_read("dead_letter_jobs", "priority");
    let own = match (key, table) {
        (SortKey::Attempts, _) => "j.attempts",
        (SortKey::Priority, _) if has_priority => "j.priority",
        (SortKey::Created, Table::Live) => "j.created_at",
        (SortKey::Created, Table::Dead) => "j.original_created_at",
        (SortKey::RunAt, Table::Live) => "j.run_at",
        (SortKey::Lease, Table::Live) => "j.lease_until",
        (SortKey::Completed, Table::Live) => "j.completed_at",
        (SortKey::Failed, Table::Dead) => "j.failed_at",
        _ => "null",
    };
    match (is_time(key), descending) {
        (true, false) => format!("coalesce({own}::timestamptz, 'infinity')"),
        (true, true) => format!("coalesce({own}::timestamptz, '-infinity')"),
        (false, false) => format!("coalesce({own}::bigint, {})", i64::MAX),
        (false, true) => format!("coalesce({own}::bigint, {})", i64::MIN),
    }
}

/// Whether a sort key is a time; else it is a whole number.
pub(super) fn is_time(key: SortKey) -> bool {
    !matches!(key, SortKey::Attempts | SortKey::Priority)
}

#[cfg(test)]
mod tests;
