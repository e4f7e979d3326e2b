//! Folding: what the triggers appended is summed up by whoever claims, completes or reaps. Far behind, every poll reads it all.

use serde::Deserialize;

use super::judged::{Judged, Seen, question, whole};
use super::{Check, How};
use crate::fmt;
use crate::model::Severity;

pub(super) const CHECK: Check = Check {
    id: "folding",
    title: "counters are summed up",
    how: How::Asked { needs: &["counter_deltas", "counter_fold"], ask: |around| question(around, SQL, vec![]), judge },
};

/// Rows are counted so far at most.
const MOST: u64 = 100_000;
/// One step folds 2,000 rows, and steps follow each other while more waits: this many are ten steps behind.
const BEHIND: u64 = 20_000;

const SQL: &str = "
select (select count(*) from (select from {schema}.counter_deltas limit 100000) as rows) as waiting,
  (select extract(epoch from clock_timestamp() - d.at)::float8 from {schema}.counter_deltas d order by d.txid limit 1) as oldest,
  extract(epoch from clock_timestamp() - f.folded_at)::float8 as folded,
  f.suspect or exists (select from {schema}.counter_deltas d where d.event in ('suspect', 'emptied')) as suspect
from {schema}.counter_fold f";

#[derive(Deserialize)]
struct Row {
    waiting: u64,
    oldest: Option<f64>,
    folded: Option<f64>,
    suspect: bool,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let Row { waiting, oldest, folded, suspect } = seen.row()?;
    let schema = &seen.around.schema_sql;
    let ago =
        |seconds: Option<f64>| seconds.map_or_else(|| "never".to_owned(), |s| format!("{} ago", fmt::span(whole(s))));
    let count = format!("{}{}", fmt::count(waiting), if waiting >= MOST { "+" } else { "" });
    let mut judged = Judged::fine(format!("{count} changes wait, last summed up {}", ago(folded)));
    if waiting >= BEHIND {
        let finding = Judged::found(Severity::Look, format!("{count} changes are not summed up yet: each poll reads them all"))
            .fact("waiting", count)
            .fact("oldest", ago(oldest))
            .fact("last summed up", ago(folded))
            .next(format!(
                "SELECT {schema}.fold_counters_step()\n\
                 -- again until few are left; it is done by claim_jobs(), complete_job() and the reaper, outside of REPEATABLE READ"
            ));
        judged.findings.push(finding.build());
    }
    if suspect {
        let finding = Judged::found(
            Severity::Look,
            "the counters may be off: a table was emptied in an old snapshot, or rows from before were never counted",
        )
        .fact("last summed up", ago(folded))
        .next(format!("queuetop doctor --schema {schema} --recount"));
        judged.findings.push(finding.build());
    }
    Ok(judged)
}
