//! Indexes of ours: missing, left half built, or hardly used though large.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, schema, several, texts, whole};
use super::{Check, How};
use crate::fmt;
use crate::model::checkup::{OurPart, Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check =
    Check { id: "indexes", title: "indexes", how: How::Asked { needs: &["queuetop_migrations"], ask, judge } };

/// Without these a claim or the reaper reads the table, or a key does not hold.
const VITAL: [&str; 3] = ["jobs_queue_idempotency_key_uq", "jobs_expired_lease_idx", "jobs_claimable_idx"];
/// An unused index smaller than this costs nothing worth a word.
const LARGE: u64 = 1 << 20;
/// And the table's busiest index was used so often: it is not that nobody works here.
const BUSY: u64 = 10_000;
/// So many times as often. Not "never": a check-up itself looks at the oldest rows by some of them.
const TIMES: u64 = 1_000;
/// And usage was counted for so many seconds.
const COUNTED: f64 = 86_400.0;
/// What an index is for, where that is not a claim.
const FOR: &[(&str, &str)] = &[
    ("jobs_completed_idx", "prune_completed_jobs() and lists of completed jobs"),
    ("dead_letter_jobs_failed_at_idx", "prune_dead_letters() and lists of dead letters"),
    ("dead_letter_jobs_queue_idx", "lists of one queue's dead letters"),
    ("job_failures_ended_at_idx", "the failures of the last minutes, and prune_history()"),
    ("operator_actions_acted_at_idx", "the audit by time, and prune_history()"),
];

const SQL: &str = "
select e.name,
  case when i.indexrelid is null then 'missing' when b.pid is not null then 'building'
       when i.indisvalid and i.indisready and i.indislive then 'whole' else 'half' end as state,
  coalesce(i.indisunique, false) as is_unique,
  pg_relation_size(i.indexrelid) as bytes, s.idx_scan as used,
  (select max(o.idx_scan) from pg_stat_all_indexes o where o.relid = t.oid) as busiest,
  extract(epoch from now() - d.stats_reset)::float8 as counted,
  format('DROP INDEX CONCURRENTLY %I.%I', n.nspname, e.name) as drop_it
from unnest($2, $3) as e (name, table_name)
join pg_namespace n on n.nspname = $1
join pg_class t on t.relnamespace = n.oid and t.relname = e.table_name
left join (pg_index i join pg_class c on c.oid = i.indexrelid) on i.indrelid = t.oid and c.relname = e.name
left join pg_stat_all_indexes s on s.indexrelid = i.indexrelid
left join pg_stat_database d on d.datname = current_database()
left join pg_stat_progress_create_index b on b.index_relid = i.indexrelid
order by e.name";

fn ask(around: &Surroundings) -> Question {
    let ours = &around.contents.indexes;
    let args = vec![schema(around), texts(ours.iter().map(|one| &one.name)), texts(ours.iter().map(|one| &one.table))];
    question(around, SQL, args)
}

#[derive(Deserialize)]
struct Row {
    name: String,
    /// missing, building, half, whole
    state: String,
    is_unique: bool,
    bytes: Option<u64>,
    used: Option<u64>,
    busiest: Option<u64>,
    counted: Option<f64>,
    drop_it: String,
}

impl Row {
    fn idle(&self) -> bool {
        self.state == "whole"
            && !self.is_unique
            && self.used.is_some_and(|used| used.saturating_mul(TIMES) <= self.busiest.unwrap_or(0))
            && self.bytes.unwrap_or(0) >= LARGE
            && self.busiest.unwrap_or(0) >= BUSY
            && self.counted.is_none_or(|seconds| seconds >= COUNTED)
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let ours = &seen.around.contents.indexes;
    let mut judged = Judged::fine(format!("{} indexes are there and whole", rows.len()));
    let of = |state: &str| rows.iter().filter(|row| row.state == state).collect::<Vec<&Row>>();
    let (missing, halves) = (of("missing"), of("half"));
    judged.findings.extend(lacking(&missing, ours, "index is missing", "indexes are missing"));
    judged.findings.extend(lacking(
        &halves,
        ours,
        "index is half built and not used",
        "indexes are half built and not used",
    ));
    for row in of("building") {
        judged.findings.push(Judged::found(Severity::Info, format!("index {} is being built", row.name)).build());
    }
    judged.findings.extend(rows.iter().filter(|row| row.idle()).map(unused));
    Ok(judged)
}

fn lacking(rows: &[&Row], ours: &[OurPart], one: &str, many: &str) -> Option<Finding> {
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let vital = names.iter().any(|name| VITAL.contains(&name.as_str()));
    let severity = if vital { Severity::Act } else { Severity::Look };
    let sentence = format!("{}: {}", several(rows.len(), one, many), few(&names));
    let found = names.iter().fold(Judged::found(severity, sentence), |found, name| found.fact("index", name));
    let mut steps = Vec::new();
    for row in rows {
        if row.state == "half" {
            steps.push(row.drop_it.clone());
        }
        let statement = ours.iter().find(|part| part.name == row.name).map(|part| concurrently(&part.statement));
        steps.extend(statement);
    }
    (!rows.is_empty()).then(|| found.next(steps.join("\n")).build())
}

/// The statement of a migration in the form that does not shut writers out.
fn concurrently(statement: &str) -> String {
    let (before, after) = statement.split_once(" index ").unwrap_or((statement, ""));
    format!("{before} index concurrently {}", after.strip_prefix("if not exists ").unwrap_or(after))
}

fn unused(row: &Row) -> Finding {
    let size = fmt::bytes(row.bytes.unwrap_or(0));
    let since = row
        .counted
        .map_or_else(|| "since the statistics began".to_owned(), |seconds| format!("in {}", fmt::span(whole(seconds))));
    let serves = FOR.iter().find(|(name, _)| *name == row.name).map_or("claims and counts", |(_, serves)| serves);
    Judged::found(Severity::Info, format!("index {} takes {size} and was hardly used {since}", row.name))
        .fact("size", size)
        .fact("used", format!("{} times", fmt::count(row.used.unwrap_or(0))))
        .fact("busiest index of the table", format!("{} times", fmt::count(row.busiest.unwrap_or(0))))
        .next(format!("it serves {serves}: nothing to do while that is wanted"))
        .build()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Status;
    use super::super::fixture::{judged, surroundings};
    use super::concurrently;

    #[test]
    fn statements_become_concurrent() {
        assert_eq!(
            concurrently("create unique index if not exists a on \"q\".jobs (b) where c"),
            "create unique index concurrently a on \"q\".jobs (b) where c"
        );
        assert_eq!(concurrently("create index a on b (c)"), "create index concurrently a on b (c)");
    }

    #[test]
    fn only_a_large_index_of_a_busy_table_is_called_unused() {
        let row = |bytes: u64, used: u64, busiest: u64, counted: Value| {
            json!({"name": "jobs_completed_idx", "state": "whole", "is_unique": false,
                   "bytes": bytes, "used": used, "busiest": busiest, "counted": counted, "drop_it": ""})
        };
        let status = |row| judged("indexes", &surroundings(), &[row]).status;
        let (large, busy, days) = (super::LARGE, super::BUSY, json!(2.0 * super::COUNTED));
        assert_eq!(status(row(large, 0, busy, days.clone())), Status::Info);
        assert_eq!(status(row(large, 0, busy, Value::Null)), Status::Info);
        assert_eq!(status(row(large, 10, busy, days.clone())), Status::Info);
        assert_eq!(status(row(large, 11, busy, days.clone())), Status::Ok);
        assert_eq!(status(row(large - 1, 0, busy, days.clone())), Status::Ok);
        assert_eq!(status(row(large, 0, busy - 1, days)), Status::Ok);
        assert_eq!(status(row(large, 0, busy, json!(60.0))), Status::Ok);
    }
}
