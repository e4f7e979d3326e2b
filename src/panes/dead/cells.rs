//! The columns of the table of errors and what stands in them.

use super::lines::{Line, Order, Shares};
use crate::fmt::{self, Figure, NOT_APPLICABLE, whole_seconds};
use crate::model::{QueueId, Reading, Time};
use crate::panes::parts::{Cell, Column, Row, STAMP, spark};
use crate::panes::{Ctx, TimeStyle};
use crate::text::{self, Safe};
use crate::theme;

/// In the order of the screen; the ranks say which go first where there is less room.
const COLUMNS: [Column; 10] = [
    Column::words("error", 36, 90, 0),
    Column::number("fail 15m", 8, 1),
    Column::number("retry/s", 7, 6),
    Column::number("dead", 6, 2),
    Column::number("replayed", 8, 7),
    Column::number("% failed", 8, 8),
    Column::number("first ago", 9, 9),
    Column::number("last ago", 8, 3),
    Column::words("queues", 12, 30, 5),
    Column::words("trend", 12, 12, 4),
];
/// Positions in [`COLUMNS`].
const RETRIED: usize = 2;
const DEAD: usize = 3;
const REPLAYED: usize = 4;
const SHARE: usize = 5;
const FIRST: usize = 6;
const LAST: usize = 7;
pub(super) const QUEUES: usize = 8;

/// The columns, with room for dates where times are absolute, and with the name of what shares are of.
pub(super) fn columns(times: TimeStyle, order: Order, lines: &[Line]) -> [Column; 10] {
    let mut columns = COLUMNS;
    if order.is_of_dead(lines) {
        columns[SHARE].head = "% dead";
    }
    if times != TimeStyle::Relative {
        columns[FIRST] = Column { rank: COLUMNS[FIRST].rank, ..Column::words("first seen", STAMP, STAMP, 0) };
        columns[LAST] = Column { rank: COLUMNS[LAST].rank, ..Column::words("last seen", STAMP, STAMP, 0) };
    }
    columns
}

/// The column that an order sorts by; worst first is none of them.
pub(super) const fn sorted_column(order: Order) -> Option<usize> {
    match order {
        Order::Worst => None,
        Order::Retried => Some(RETRIED),
        Order::Dead => Some(DEAD),
        Order::Open => Some(REPLAYED),
        Order::Newest => Some(FIRST),
        Order::Latest => Some(LAST),
        Order::Text => Some(0),
    }
}

/// One row; `room` is the width of the column of queues.
pub(super) fn row(line: &Line, shares: &Shares, room: u16, ctx: &Ctx<'_>) -> Row {
    let theme = ctx.theme;
    let fails = line.failed.get().is_some_and(|n| n > 0);
    let warn_if = |cell: Cell, warn: bool| if warn { Cell { style: theme.warn, ..cell } } else { cell };
    let cells = vec![
        error(line, ctx),
        warn_if(Cell::figure(Figure::count(&line.failed, 8), theme), fails),
        Cell::figure(Figure::rate(&line.retried, 7), theme),
        warn_if(Cell::figure(Figure::count(&line.dead, 6), theme), line.open() > 0),
        Cell::figure(Figure::count(&line.replayed, 8), theme),
        share(shares.share(line), ctx),
        seen(line.first_seen, ctx),
        seen(line.last_seen, ctx),
        Cell::new(queues(line, usize::from(room)), theme.text),
        Cell::new(trend(line), theme.text),
    ];
    let sign = if fails { Cell::new(theme::ATTENTION, theme.warn) } else { Cell::default() };
    Row { signs: [Cell::default(), sign], cells }
}

/// The signature; one without text is still seen.
pub(super) fn error(line: &Line, ctx: &Ctx<'_>) -> Cell {
    let error = Safe::first_line(&line.signature);
    if error.as_str().is_empty() {
        Cell::new("(no error text)", ctx.theme.quiet)
    } else {
        Cell::new(error, ctx.theme.text)
    }
}

/// A share in percent; a part of nothing has none.
fn share(share: Reading<f64>, ctx: &Ctx<'_>) -> Cell {
    let theme = ctx.theme;
    match (share, share.get()) {
        (_, Some(0.0)) => Cell::new(fmt::ZERO, theme.quiet),
        (Reading::Exact(_), Some(value)) => Cell::new(fmt::percent(value), theme.text),
        (_, Some(value)) => {
            let text = fmt::percent(value);
            Cell::new(if text.starts_with('<') { text } else { format!("~{text}") }, theme.text)
        }
        (missing, None) => Cell::figure(Figure::rate(&missing, 8), theme),
    }
}

fn seen(time: Option<Time>, ctx: &Ctx<'_>) -> Cell {
    let theme = ctx.theme;
    match (time, ctx.times) {
        (None, _) => Cell::new(NOT_APPLICABLE, theme.quiet),
        (Some(time), TimeStyle::Relative) => {
            let seconds = ctx.now.seconds_since(time);
            Cell::new(seconds.map_or_else(|| fmt::UNKNOWN.to_owned(), |s| fmt::age(whole_seconds(s))), theme.text)
        }
        (Some(time), _) => Cell::new(ctx.ago(time), theme.text),
    }
}

/// The queue with most of it, and how many more there are: `emails +2`.
fn queues(line: &Line, room: usize) -> String {
    let more = if line.queues.len() > 1 { format!(" +{}", line.queues.len() - 1) } else { String::new() };
    let first = line.queues.first().map(|part| name(&part.queue)).unwrap_or_default();
    format!("{}{more}", text::truncate(&first, room.saturating_sub(more.len())))
}

/// A queue's name; one without letters is still seen.
pub(super) fn name(queue: &QueueId) -> String {
    let name = Safe::new(&queue.name);
    if name.as_str().is_empty() { "''".to_owned() } else { name.into() }
}

fn trend(line: &Line) -> String {
    spark(&line.trend.iter().map(|n| Some(*n as f64)).collect::<Vec<_>>())
}
