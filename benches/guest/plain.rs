//! The queue that one would write first: its tables, functions and statements (`tests/data/table_queue.sql`), and the metric
//! queries that one would put on its dashboard.

use crate::Fallible;

const TEXT: &str = include_str!("../../tests/data/table_queue.sql");

/// Its five metrics as plain queries: depth, oldest ready, running and expired, what ended lately, attempts.
pub(crate) const METRICS: [&str; 5] = [
    "select queue, count(*) from jobs where status = 'queued' group by queue",
    "select queue, count(*) as queued, min(run_at) from jobs where status = 'queued' and run_at <= now()
     group by queue order by queued desc",
    "select queue, count(*), count(*) filter (where lease_until < now()) from jobs where status = 'running' group by queue",
    "select queue, count(*) from jobs where status = 'completed' and completed_at > now() - interval '5 minutes' group by queue",
    "select queue, attempts, count(*) from jobs where status in ('queued', 'running') group by queue, attempts",
];

/// A statement or definition by its name.
pub(crate) fn statement(name: &str) -> Fallible<&'static str> {
    let parts = TEXT.split("-- @ ").filter_map(|part| part.split_once('\n'));
    let found = parts.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, sql)| sql).ok_or_else(|| format!("the plain queue has no statement {name}").into())
}

/// Its tables and indexes, empty.
pub(crate) fn tables() -> Fallible<String> {
    Ok([statement("jobs")?, statement("indexes")?, statement("dead letters")?].concat())
}
