//! The table form, for people: the columns of the dashboard's table of queues.

use crate::fmt::Figure;
use crate::model::{QueueStats, Time};
use crate::text::{Safe, Side, fit, width};

use super::Taken;

const HEADS: [&str; 13] = [
    "queue", "backend", "ready", "sched", "run", "exp", "exh", "oldest", "in/s", "done/s", "retry/s", "dead/s", "dead",
];
/// Figures have this much room before they are shortened.
const ROOM: usize = 12;

/// Lines with aligned columns; foreign text only in its harmless form.
pub(super) fn to_table(taken: &Taken) -> String {
    let now = taken.snapshot.taken_at;
    let mut rows = vec![HEADS.map(str::to_owned)];
    rows.extend(taken.snapshot.queues.iter().map(|stats| row(stats, now)));
    let mut widths = [0; HEADS.len()];
    for row in &rows {
        for (at, cell) in row.iter().enumerate() {
            widths[at] = widths[at].max(width(cell));
        }
    }
    let mut text = format!("{}  {}\n", Safe::full(&taken.server), now.to_rfc3339());
    for row in &rows {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let side = if at < 2 { Side::Left } else { Side::Right };
            fit(cell, widths[at], side)
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn row(stats: &QueueStats, now: Time) -> [String; HEADS.len()] {
    [
        Safe::new(&stats.id.name).to_string(),
        stats.id.backend.to_string(),
        Figure::count(&stats.ready, ROOM).text,
        Figure::count(&stats.scheduled, ROOM).text,
        Figure::count(&stats.running, ROOM).text,
        Figure::count(&stats.expired, ROOM).text,
        Figure::count(&stats.exhausted, ROOM).text,
        Figure::age(&stats.oldest_ready_seconds(now), ROOM).text,
        Figure::rate(&stats.rates.enqueued, ROOM).text,
        Figure::rate(&stats.rates.completed, ROOM).text,
        Figure::rate(&stats.rates.retried, ROOM).text,
        Figure::rate(&stats.rates.dead, ROOM).text,
        Figure::count(&stats.dead_total, ROOM).text,
    ]
}
