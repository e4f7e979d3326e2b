//! Dead rows of the queue's tables: is vacuum allowed to come, and does it.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, schema, texts, whole};
use super::{Check, How};
use crate::fmt;
use crate::model::checkup::{Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check =
    Check { id: "dead-rows", title: "vacuum keeps up", how: How::Asked { needs: &["jobs"], ask, judge } };

/// Tables whose rows change all the time.
const BUSY: [&str; 8] = [
    "jobs",
    "dead_letter_jobs",
    "counter_deltas",
    "counter_fold",
    "job_counts",
    "job_slots",
    "queue_counters",
    "workers",
];

/// Fewer dead rows are nobody's burden.
const SOME: f64 = 10_000.0;
/// So many times what calls vacuum.
const TIMES: f64 = 3.0;
/// Vacuum looks around once a minute and has a queue of tables.
const PATIENCE: i64 = 10 * 60;
/// So many that they are there although vacuum came: it could not remove them.
const STUCK: f64 = 1_000_000.0;

/// `due`: the number of dead rows at which autovacuum comes.
const SQL: &str = "
select c.relname as name, format('%I.%I', n.nspname, c.relname) as table_sql, s.n_live_tup::float8 as live, s.n_dead_tup::float8 as dead,
  extract(epoch from clock_timestamp() - greatest(s.last_autovacuum, s.last_vacuum))::float8 as vacuumed,
  extract(epoch from clock_timestamp() - greatest(pg_postmaster_start_time(), d.stats_reset))::float8 as counted,
  current_setting('autovacuum')::boolean and current_setting('track_counts')::boolean as running,
  coalesce((select o.option_value::boolean from pg_options_to_table(c.reloptions) o where o.option_name = 'autovacuum_enabled'), true) as enabled,
  coalesce((select o.option_value::float8 from pg_options_to_table(c.reloptions) o where o.option_name = 'autovacuum_vacuum_threshold'),
           current_setting('autovacuum_vacuum_threshold')::float8)
  + coalesce((select o.option_value::float8 from pg_options_to_table(c.reloptions) o where o.option_name = 'autovacuum_vacuum_scale_factor'),
             current_setting('autovacuum_vacuum_scale_factor')::float8) * greatest(c.reltuples, 0) as due,
  pg_table_size(c.oid) as bytes
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_stat_all_tables s on s.relid = c.oid
left join pg_stat_database d on d.datname = current_database()
where n.nspname = $1 and c.relkind = 'r' and c.relname = any($2)
order by s.n_dead_tup desc nulls last, c.relname";

fn ask(around: &Surroundings) -> Question {
    question(around, SQL, vec![schema(around), texts(&BUSY.map(str::to_owned))])
}

#[derive(Deserialize)]
struct Row {
    name: String,
    table_sql: String,
    live: Option<f64>,
    dead: Option<f64>,
    vacuumed: Option<f64>,
    counted: Option<f64>,
    running: bool,
    enabled: bool,
    due: f64,
    bytes: u64,
}

impl Row {
    fn last(&self) -> String {
        self.vacuumed
            .map_or_else(|| "not known to have come".to_owned(), |ago| format!("{} ago", fmt::span(whole(ago))))
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let most = rows.iter().filter_map(|row| row.dead).fold(0.0, f64::max);
    let mut judged = Judged::fine(format!("at most {most:.0} dead rows in a table of the queue"));
    if rows.iter().all(|row| row.dead.is_none()) {
        judged.unseen.push("the server keeps no statistics of these tables".to_owned());
    }
    if rows.iter().any(|row| !row.running) {
        let finding = Judged::found(
            Severity::Act,
            "autovacuum is off on this server: dead rows stay, and every claim steps over them",
        )
        .next("ALTER SYSTEM SET autovacuum = on\nALTER SYSTEM SET track_counts = on\nSELECT pg_reload_conf()");
        judged.findings.push(finding.build());
    }
    let off: Vec<&Row> = rows.iter().filter(|row| !row.enabled).collect();
    if !off.is_empty() {
        let names: Vec<String> = off.iter().map(|row| row.name.clone()).collect();
        let steps: Vec<String> =
            off.iter().map(|row| format!("ALTER TABLE {} RESET (autovacuum_enabled)", row.table_sql)).collect();
        let found = names.iter().fold(
            Judged::found(
                Severity::Act,
                format!("autovacuum is off for {}: dead rows stay, and every claim steps over them", few(&names)),
            ),
            |found, name| found.fact("table", name),
        );
        judged.findings.push(found.next(steps.join("\n")).build());
    }
    judged.findings.extend(rows.iter().filter_map(piled));
    Ok(judged)
}

fn piled(row: &Row) -> Option<Finding> {
    let (dead, live) = (row.dead?, row.live.unwrap_or(0.0));
    // Without a vacuum that is known of, as long as was counted.
    let since = row.vacuumed.or(row.counted).map_or(0, whole);
    let late = dead >= SOME && dead >= TIMES * row.due && since >= PATIENCE;
    let stuck = dead >= STUCK && dead >= 5.0 * live;
    if !late && !stuck {
        return None;
    }
    let so = if late {
        format!("vacuum was last seen {}", row.last())
    } else {
        "vacuum comes and cannot remove them".to_owned()
    };
    let next = if late {
        format!(
            "VACUUM (VERBOSE) {}\n-- its output says how many it cannot remove yet: then see `horizon`",
            row.table_sql
        )
    } else {
        "see `horizon`: something keeps a snapshot from before they died".to_owned()
    };
    let finding =
        Judged::found(Severity::Look, format!("{} has {dead:.0} dead rows beside {live:.0} live ones: {so}", row.name))
            .fact("dead rows", format!("{dead:.0}"))
            .fact("vacuum is due at", format!("{:.0}", row.due))
            .fact("last vacuum", row.last())
            .fact("size", fmt::bytes(row.bytes))
            .next(next);
    Some(finding.build())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Status;
    use super::super::fixture::{judged, surroundings};

    #[test]
    fn a_burst_that_vacuum_has_not_seen_yet_is_no_alarm() {
        for (dead, live, vacuumed, counted, status) in [
            (360_000.0, 10_000.0, Some(60.0), 1e6, Status::Ok),
            (360_000.0, 10_000.0, None, 60.0, Status::Ok),
            (360_000.0, 10_000.0, None, 600.0, Status::Warning),
            (360_000.0, 10_000.0, Some(600.0), 1e6, Status::Warning),
            (9_999.0, 10.0, Some(1e6), 1e6, Status::Ok),
            (1_000_000.0, 100_000.0, Some(30.0), 1e6, Status::Warning),
            (1_000_000.0, 900_000.0, Some(30.0), 1e6, Status::Ok),
        ] {
            let row = json!({"name": "jobs", "table_sql": "public.jobs", "live": live, "dead": dead, "vacuumed": vacuumed,
                "counted": counted, "running": true, "enabled": true, "due": 1200.0, "bytes": 1});
            let checked = judged("dead-rows", &surroundings(), &[row]);
            assert_eq!(checked.status, status, "{dead} {vacuumed:?} {counted}: {checked:?}");
        }
    }
}
