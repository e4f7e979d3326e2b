//! Housekeeping: what is kept for ever though nobody decided so, and tasks that could not do their work.

use serde::Deserialize;

use super::judged::{Judged, Seen, question, whole};
use super::reaper::Task;
use super::{Check, How};
use crate::fmt;
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "housekeeping",
    title: "old rows are removed",
    how: How::Asked {
        needs: &["maintenance_runs", "jobs", "dead_letter_jobs", "job_failures", "operator_actions"],
        ask: |around| question(around, SQL, vec![]),
        judge,
    },
};

/// The oldest row of each table by an index that begins with its time; rows by the statistics, -1: never analysed.
const SQL: &str = "
select m.task, extract(epoch from clock_timestamp() - m.last_run_at)::float8 as ago, m.last_by, m.did, m.runs,
  o.what, o.oldest, o.rows, o.bytes
from (values
  ('prune_completed_jobs', 'completed jobs',
    (select extract(epoch from clock_timestamp() - j.completed_at)::float8 from {schema}.jobs j
     where j.status = 'completed' and j.completed_at > '-infinity' order by j.completed_at limit 1),
    '{schema}.jobs'::regclass),
  ('prune_dead_letters', 'dead letters',
    (select extract(epoch from clock_timestamp() - d.failed_at)::float8 from {schema}.dead_letter_jobs d
     where d.failed_at > '-infinity' order by d.failed_at limit 1),
    '{schema}.dead_letter_jobs'::regclass),
  ('prune_history', 'failed attempts',
    (select extract(epoch from clock_timestamp() - f.ended_at)::float8 from {schema}.job_failures f
     where f.ended_at > '-infinity' order by f.ended_at limit 1),
    '{schema}.job_failures'::regclass),
  ('prune_history', 'operator actions',
    (select extract(epoch from clock_timestamp() - a.acted_at)::float8 from {schema}.operator_actions a
     where a.acted_at > '-infinity' order by a.acted_at limit 1),
    '{schema}.operator_actions'::regclass)
) as v (task, what, oldest, rel)
cross join lateral (select v.what, v.oldest, c.reltuples::float8 as rows, pg_total_relation_size(c.oid) as bytes
                    from pg_class c where c.oid = v.rel) as o
left join {schema}.maintenance_runs m on m.task = v.task
order by m.task, o.what";

/// Rows younger than this are nobody's burden.
const OLD: i64 = 30 * 86_400;
/// A task that ran within this time is somebody's decision what to keep.
const LATELY: i64 = 7 * 86_400;
/// Fewer rows than this are mentioned, not warned of.
const MANY: f64 = 100_000.0;

#[derive(Deserialize)]
struct Row {
    #[serde(flatten)]
    task: Task,
    what: String,
    oldest: Option<f64>,
    rows: f64,
    bytes: u64,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let mut judged = Judged::fine("nothing is older than 30 days without a task that removes it");
    let mut told: Vec<&str> = Vec::new();
    for row in &rows {
        judged.findings.extend(kept(row, &seen.around.schema_sql));
        if !told.contains(&row.task.name.as_str()) {
            judged.findings.extend(row.task.failure());
            told.push(&row.task.name);
        }
    }
    Ok(judged)
}

fn kept(row: &Row, schema: &str) -> Option<Finding> {
    let oldest = row.oldest.map(whole).filter(|oldest| *oldest > OLD)?;
    if row.task.ago.is_some_and(|ago| whole(ago) <= LATELY) {
        return None;
    }
    let ran = row.task.ago.map_or_else(|| "never".to_owned(), |ago| format!("{} ago", fmt::span(whole(ago))));
    let many = row.rows >= MANY;
    let severity = if many { Severity::Look } else { Severity::Info };
    let option = match row.task.name.as_str() {
        "prune_completed_jobs" => "--keep-completed 168h",
        "prune_dead_letters" => "--keep-dead 2160h",
        _ => "--keep-history 2160h",
    };
    let found =
        Judged::found(severity, format!("{} are kept since {}, and nothing removes them", row.what, fmt::span(oldest)))
            .fact("oldest", format!("{} ago", fmt::span(oldest)))
            .fact("table and indexes", fmt::bytes(row.bytes))
            .fact(&format!("{} last ran", row.task.name), ran);
    let found = if row.rows < 0.0 { found } else { found.fact("rows of the table, about", format!("{:.0}", row.rows)) };
    Some(
        found
            .next(format!(
                "queuetop reaper --schema {schema} {option}\n-- or call {schema}.{}() from cron",
                row.task.name
            ))
            .build(),
    )
}
