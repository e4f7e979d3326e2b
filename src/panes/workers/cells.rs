//! The columns of the table of workers and what stands in them.

use std::time::Duration;

use crate::fmt::{self, Figure, NOT_APPLICABLE, whole_seconds};
use crate::model::{Time, WorkerStats};
use crate::panes::parts::{Cell, Column, Row, STAMP};
use crate::panes::{Ctx, TimeStyle};
use crate::text::Safe;
use crate::theme::{self, Theme};

const COLUMNS: [Column; 9] = [
    Column::words("worker", 9, 9, 0),
    Column::words("state", 13, 13, 1),
    Column::number("held", 5, 2),
    Column::number("exp", 4, 3),
    Column::number("oldest", 7, 5),
    Column::words("heartbeat", 12, 12, 4),
    Column::words("next end", 15, 15, 6),
    Column::words("queues", 10, 20, 7),
    Column::words("registered as", 14, 60, 8),
];

/// A worker that registered and holds nothing says so every 30 s; after three times that it is not heard of any more.
const REGISTERS_WITHIN: Duration = Duration::from_secs(90);

/// The columns, with room for dates where times are absolute.
pub(super) fn columns(times: TimeStyle) -> [Column; 9] {
    let mut columns = COLUMNS;
    let dated = columns.iter_mut().filter(|c| ["heartbeat", "next end"].contains(&c.head));
    for column in dated.filter(|_| times != TimeStyle::Relative) {
        (column.width, column.most) = (STAMP, STAMP + 6);
    }
    columns
}

/// The latest sign of life.
fn last_sign(worker: &WorkerStats) -> Option<Time> {
    worker.last_heartbeat.max(worker.last_seen.get().flatten())
}

/// For how many seconds nothing was heard of a worker, where that is longer than two leases; for one that holds nothing,
/// longer than its registration would take.
pub(super) fn silent_for(worker: &WorkerStats, now: Time) -> Option<f64> {
    let patience = match (worker.last_heartbeat, worker.lease) {
        (Some(_), Some(lease)) => lease.saturating_mul(2),
        (Some(_), None) => return None,
        (None, _) => REGISTERS_WITHIN,
    };
    now.seconds_since(last_sign(worker)?).filter(|seconds| *seconds > patience.as_secs_f64())
}

/// One row.
pub(super) fn row(worker: &WorkerStats, ctx: &Ctx<'_>, here: bool) -> Row {
    let theme = ctx.theme;
    let expired = worker.expired.get().is_some_and(|n| n > 0);
    let quiet = || Cell::new(NOT_APPLICABLE, theme.quiet);
    let (state, sign) = state(worker, ctx);
    let age = |time: Option<Time>| {
        let seconds = time.and_then(|time| ctx.now.seconds_since(time));
        seconds.map_or_else(quiet, |s| Cell::new(fmt::age(whole_seconds(s)), theme.text))
    };
    let mut exp = Cell::figure(Figure::count(&worker.expired, 4), theme);
    if expired {
        exp.style = theme.act;
    }
    let cursor = if here { Cell::new(theme::CURSOR, theme.accent) } else { Cell::default() };
    let cells = vec![
        Cell::new(name(worker), theme.text),
        state,
        Cell::figure(Figure::count(&worker.held, 5), theme),
        exp,
        age(worker.oldest_claim),
        last_sign(worker).map_or_else(quiet, |time| Cell::new(ctx.ago(time), theme.text)),
        worker.first_end.map_or_else(quiet, |end| next_end(end, ctx)),
        queues(worker, theme),
        registered(worker, theme),
    ];
    Row { signs: [cursor, sign], cells }
}

fn name(worker: &WorkerStats) -> String {
    if worker.id.is_empty() { fmt::UNKNOWN.to_owned() } else { fmt::short_id(Safe::new(&worker.id).as_str()) }
}

fn state(worker: &WorkerStats, ctx: &Ctx<'_>) -> (Cell, Cell) {
    let theme = ctx.theme;
    let expired = worker.expired.get().is_some_and(|n| n > 0);
    let sign = if expired { Cell::new(theme::EXPIRED, theme.act) } else { Cell::default() };
    if let Some(seconds) = silent_for(worker, ctx.now) {
        let text = format!("silent {}", fmt::age(whole_seconds(seconds)));
        let holds = worker.last_heartbeat.is_some();
        let style = if holds { theme.act } else { theme.quiet };
        return (Cell::new(text, style), if expired || !holds { sign } else { Cell::new(theme::ATTENTION, theme.act) });
    }
    let cell = match (expired, worker.held.get()) {
        (true, _) => Cell::new("expired", theme.act),
        (false, Some(0)) => Cell::new("idle", theme.quiet),
        (false, _) => Cell::new("works", theme.text),
    };
    (cell, sign)
}

fn next_end(end: Time, ctx: &Ctx<'_>) -> Cell {
    match end {
        Time::NegInfinity => Cell::new("no lease", ctx.theme.act),
        end if end < ctx.now => Cell::new(format!("ended {}", ctx.ago(end)), ctx.theme.act),
        end => Cell::new(ctx.due(end), ctx.theme.text),
    }
}

fn queues(worker: &WorkerStats, theme: &Theme) -> Cell {
    let names: Vec<String> = worker.queues.iter().map(|queue| Safe::new(&queue.name).into()).collect();
    if names.is_empty() { Cell::new(NOT_APPLICABLE, theme.quiet) } else { Cell::new(names.join(", "), theme.text) }
}

/// `name host #pid version`, as far as it registered.
fn registered(worker: &WorkerStats, theme: &Theme) -> Cell {
    let text = |text: &Option<String>| text.as_ref().map(|t| Safe::first_line(t).to_string());
    let parts =
        [text(&worker.name), text(&worker.host), worker.pid.map(|pid| format!("#{pid}")), text(&worker.version)];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    match (parts.is_empty(), &worker.last_seen) {
        (false, _) => Cell::new(parts.join(" "), theme.text),
        (true, crate::model::Reading::Denied) => Cell::new("denied", theme.quiet),
        (true, _) => Cell::new(NOT_APPLICABLE, theme.quiet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Reading;

    fn worker(heartbeat: Option<i64>, lease_s: u64, seen: Option<i64>) -> WorkerStats {
        let at = |s: i64| Time::At(s * 1_000_000);
        WorkerStats {
            id: "w".into(),
            name: None,
            host: None,
            pid: None,
            version: None,
            last_seen: Reading::Exact(seen.map(at)),
            last_heartbeat: heartbeat.map(at),
            held: Reading::Exact(u64::from(heartbeat.is_some())),
            expired: Reading::Exact(0),
            oldest_claim: None,
            first_end: None,
            lease: heartbeat.map(|_| Duration::from_secs(lease_s)),
            queues: Vec::new(),
        }
    }

    #[test]
    fn a_worker_is_silent_after_two_leases_without_a_sign_of_life() {
        let now = Time::At(1_000 * 1_000_000);
        for (worker, want) in [
            (worker(Some(990), 300, None), None),
            (worker(Some(400), 300, None), None),
            (worker(Some(399), 300, None), Some(601.0)),
            (worker(Some(100), 300, Some(999)), None),
            (worker(None, 0, Some(950)), None),
            (worker(None, 0, Some(900)), Some(100.0)),
            (worker(None, 0, None), None),
        ] {
            assert_eq!(silent_for(&worker, now), want, "{worker:?}");
        }
    }
}
