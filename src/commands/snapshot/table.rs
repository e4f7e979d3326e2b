//! The table form, for people: the columns of the dashboard's table of queues, and how jobs were handled.

use crate::fmt::{self, Figure};
use crate::model::{Quantiles, QueueStats, Time};
use crate::text::{Safe, Side, fit, width};

use super::Taken;

const HEADS: [&str; 23] = [
    "queue",
    "backend",
    "ready",
    "sched",
    "run",
    "exp",
    "exh",
    "oldest",
    "in/s",
    "done/s",
    "retry/s",
    "dead/s",
    "dead",
    "growth",
    "drains",
    "p50",
    "p95",
    "p99",
    "batch",
    "ok",
    "retried",
    "died",
    "next wave",
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
    let (took, ends) = (stats.handling.quantiles(), stats.rates.shares());
    let took = |pick: fn(&Quantiles) -> f64| Figure::maybe(&took, ROOM, |took| fmt::took(pick(took))).text;
    let share = |pick: fn(&[f64; 3]) -> f64| Figure::maybe(&ends, ROOM, |ends| fmt::percent(pick(ends))).text;
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
        Figure::growth(&stats.growth(), ROOM).text,
        Figure::drain(&stats.drain(), ROOM).text,
        took(|took| took.p50),
        took(|took| took.p95),
        took(|took| took.p99),
        Figure::maybe(&stats.handling.batch(), ROOM, |batch| format!("{batch:.1}")).text,
        share(|[ok, _, _]| *ok),
        share(|[_, retried, _]| *retried),
        share(|[_, _, died]| *died),
        Figure::wave(&stats.handling.wave, now).text,
    ]
}
