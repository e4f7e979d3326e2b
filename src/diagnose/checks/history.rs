//! The minutes that the counters keep: are they dropped when they are older than they should be.

use serde::Deserialize;

use super::judged::{Judged, Seen, question, whole};
use super::{Check, How};
use crate::fmt;
use crate::model::Severity;

pub(super) const CHECK: Check = Check {
    id: "history",
    title: "history is kept as long as set",
    how: How::Asked {
        needs: &["queue_history", "history_minutes", "counter_fold", "queue_settings"],
        ask: |around| question(around, SQL, vec![]),
        judge,
    },
};

const SQL: &str = "
select {schema}.setting_number('history_days', 7, 1, 400) as days,
  (select extract(epoch from clock_timestamp() - h.minute)::float8 from {schema}.queue_history h order by h.minute limit 1) as oldest,
  (select c.reltuples::float8 from pg_class c where c.oid = '{schema}.queue_history'::regclass) as rows,
  (select extract(epoch from clock_timestamp() - f.sampled_minute)::float8 from {schema}.counter_fold f) as sampled";

#[derive(Deserialize)]
struct Row {
    days: i64,
    oldest: Option<f64>,
    rows: f64,
    sampled: Option<f64>,
}

/// Each fold drops up to 5,000 rows a minute; what is a day late is behind for good.
const GRACE: i64 = 86_400;

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let Row { days, oldest, rows, sampled } = seen.row()?;
    let oldest = oldest.map(whole);
    let reach =
        oldest.map_or_else(|| "it is empty".to_owned(), |oldest| format!("it reaches back {}", fmt::span(oldest)));
    let mut judged = Judged::fine(format!("{days} days are kept, {reach}"));
    if let Some(oldest) = oldest.filter(|oldest| *oldest > days * 86_400 + GRACE) {
        let last = sampled.map_or_else(|| "never".to_owned(), |ago| format!("{} ago", fmt::span(whole(ago))));
        let sentence = format!("the history reaches back {}, though {days} days are to be kept", fmt::span(oldest));
        let finding = Judged::found(Severity::Look, sentence)
            .fact("history_days", days.to_string())
            .fact("oldest minute", format!("{} ago", fmt::span(oldest)))
            .fact("last kept minute", last);
        let finding = if rows < 0.0 { finding } else { finding.fact("rows, about", format!("{rows:.0}")) };
        let next = "folding drops it, a step a minute: claim_jobs(), complete_job() or a reaper must be called";
        judged.findings.push(finding.next(next).build());
    }
    Ok(judged)
}
