//! The reaper: did it run lately, and could it do its work.

use serde::Deserialize;
use serde_json::Value;

use super::judged::{Judged, Seen, question, whole};
use super::{Check, How};
use crate::diagnose::words::Reaper;
use crate::fmt;
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "reaper",
    title: "the reaper runs",
    how: How::Asked { needs: &["maintenance_runs"], ask: |around| question(around, SQL, vec![]), judge },
};

const SQL: &str = "
select m.task, extract(epoch from clock_timestamp() - m.last_run_at)::float8 as ago, m.last_by, m.did, m.runs
from {schema}.maintenance_runs m where m.task = 'reap_expired_jobs'";

/// A task of the housekeeping, as it noted itself.
#[derive(Deserialize)]
pub(super) struct Task {
    #[serde(rename = "task")]
    pub(super) name: String,
    /// Seconds since its last run.
    pub(super) ago: Option<f64>,
    pub(super) last_by: Option<String>,
    did: Value,
    pub(super) runs: u64,
}

impl Task {
    /// What its last run could not do.
    pub(super) fn failure(&self) -> Option<Finding> {
        let failed = self.did.get("failed").and_then(Value::as_u64).filter(|failed| *failed > 0)?;
        let error = self.did.get("error").and_then(Value::as_str).unwrap_or("?");
        let rows = if failed == 1 { "1 row".to_owned() } else { format!("{} rows", fmt::count(failed)) };
        let finding =
            Judged::found(Severity::Look, format!("the last run of {} had to leave {rows} as they were", self.name))
                .fact("error", error)
                .fact(
                    "last run",
                    self.ago.map_or_else(|| "?".to_owned(), |ago| format!("{} ago", fmt::span(whole(ago)))),
                )
                .next("mend what the error names: a constraint or a trigger that is not ours");
        Some(finding.build())
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let task: Task = seen.row()?;
    let schema = &seen.around.schema_sql;
    let next = format!(
        "queuetop reaper --schema {schema}\n\
         -- or by pg_cron: SELECT cron.schedule('reap', '10 seconds', 'SELECT {schema}.reap_expired_jobs(100)')"
    );
    let by = task.last_by.clone().unwrap_or_else(|| "?".to_owned());
    let Some(ago) = task.ago.map(whole) else {
        let mut judged = Judged::fine("");
        let finding = Judged::found(Severity::Look, "no reaper has ever run: expired leases stay where they are");
        judged.findings.push(finding.fact("last run", "never").next(next).build());
        return Ok(judged);
    };
    let mut judged = Judged::fine(format!("it ran {} ago, by {by}", fmt::span(ago)));
    if ago > Reaper::SILENT_AFTER {
        let finding = Judged::found(Severity::Look, format!("no reaper seen for {}", fmt::span(ago)))
            .fact("last run", format!("{} ago", fmt::span(ago)))
            .fact("by", by)
            .fact("runs", fmt::count(task.runs))
            .next(next);
        judged.findings.push(finding.build());
    }
    judged.findings.extend(task.failure());
    Ok(judged)
}
