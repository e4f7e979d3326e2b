//! The counters against the tables, a queue at a time, bounded in rows and in time. Nothing counts while triggers are off.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, several};
use super::{Check, How};
use crate::fmt;
use crate::model::Severity;

pub(super) const CHECK: Check = Check {
    id: "drift",
    title: "counters agree with the tables",
    how: How::Asked {
        needs: &["jobs", "dead_letter_jobs", "job_counts", "counter_deltas", "queue_counters"],
        ask: |around| question(around, SQL, vec![]),
        judge,
    },
};

/// Rows of one figure are counted so far at most.
const CAP: u64 = 20_000;
/// The figures of so many queues are shown.
const SHOWN: usize = 12;

/// Queues are found in the counters and in the rows (a queue that nobody counted is in the rows alone): the queued ones by
/// hopping along the index. They come in random order, so that each run compares others where there is no time for all.
const SQL: &str = "
with recursive hop as (
  (select j.queue from {schema}.jobs j where j.status = 'queued' order by j.queue limit 1)
  union all
  select (select j.queue from {schema}.jobs j where j.status = 'queued' and j.queue > h.queue order by j.queue limit 1)
  from hop h where h.queue is not null
), names as materialized (
  select queue from (select queue from hop limit 1000) as hops where queue is not null
  union select queue from {schema}.queue_counters where queue <> ''
  union select queue from {schema}.job_counts
  union select queue from (select queue from {schema}.jobs where status = 'running' limit 10000) as held
  union select queue from (select queue from {schema}.dead_letter_jobs limit 10000) as dead
)
select n.queue, case when clock_timestamp() < statement_timestamp() + interval '2500 ms' then
    (select coalesce(jsonb_agg(jsonb_build_object('figure', d.figure, 'counted', d.counted, 'truth', d.truth)), '[]')
     from (select figure, counted, truth from {schema}.counter_drift(n.queue)
           union all
           select 'dead', dead.counted, dead.truth
           from (select coalesce((select q.dead_rows + q.replayed_rows from {schema}.queue_counters q where q.queue = n.queue), 0)
                        + coalesce((select sum(w.n) from {schema}.counter_deltas w where w.queue = n.queue
                                    and w.status in ('dead', 'replayed') and w.txid >= {schema}.counter_floor()), 0) as counted,
                        (select count(*) from (select from {schema}.dead_letter_jobs l where l.queue = n.queue limit 20000) as rows) as truth
                ) as dead
           where dead.counted <> dead.truth and (dead.truth < 20000 or dead.counted < dead.truth)
     ) as d)
  end as wrong
from (select queue from names order by random() limit 200) as n";

#[derive(Deserialize)]
struct Row {
    queue: String,
    wrong: Option<Vec<Wrong>>,
}

#[derive(Deserialize)]
struct Wrong {
    figure: String,
    counted: i64,
    truth: u64,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let mut rows: Vec<Row> = seen.rows()?;
    rows.sort_by(|a, b| a.queue.cmp(&b.queue));
    let late = rows.iter().filter(|row| row.wrong.is_none()).count();
    let mut judged =
        Judged::fine(format!("{} compared, all agree", several(rows.len() - late, "queue was", "queues were")));
    if late > 0 {
        judged.unseen.push(format!("{} not compared in time", several(late, "queue was", "queues were")));
    }
    let wrong: Vec<(String, &[Wrong])> = rows
        .iter()
        .filter_map(|row| {
            row.wrong.as_deref().filter(|wrong| !wrong.is_empty()).map(|wrong| (label(&row.queue), wrong))
        })
        .collect();
    if !wrong.is_empty() {
        let names: Vec<String> = wrong.iter().map(|(name, _)| name.clone()).collect();
        let what = several(names.len(), "queue", "queues");
        let mut found = Judged::found(Severity::Look, format!("the counters are wrong for {what}: {}", few(&names)));
        for (name, figures) in wrong.iter().take(SHOWN) {
            for Wrong { figure, counted, truth } in *figures {
                let more = if *truth >= CAP { "+" } else { "" };
                found = found.fact(
                    &format!("{name}, {figure}"),
                    format!("{counted} counted, {}{more} true", fmt::count(*truth)),
                );
            }
        }
        let next = format!("queuetop doctor --schema {} --recount", seen.around.schema_sql);
        judged.findings.push(found.next(next).build());
    }
    Ok(judged)
}

/// A queue's name for running text.
fn label(queue: &str) -> String {
    const SHOWN: usize = 40;
    let cut: String = queue.chars().take(SHOWN).collect();
    if cut.len() < queue.len() { format!("{cut}…") } else { cut }
}
