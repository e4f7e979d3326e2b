//! The columns of the table of queues and what stands in them.

use ratatui::style::Style;

use crate::diagnose;
use crate::fmt::{self, Figure};
use crate::model::{BackendKind, Drain, Filter, JobState, QueueId, QueueStats, Reading, Severity};
use crate::panes::Ctx;
use crate::panes::parts::{Cell, Column, Row, Window, spark};
use crate::text::Safe;
use crate::theme::{self, Theme};

use super::rank::{self, Order};

/// In the order of the screen; the ranks say which go first where there is less room.
pub(super) const COLUMNS: [Column; 17] = [
    Column::words("queue", 10, 32, 0),
    Column::number("ready", 7, 1),
    Column::number("sched", 6, 5),
    Column::number("run", 4, 4),
    Column::number("exp", 4, 3),
    Column::number("exh", 4, 6),
    Column::number("oldest", 6, 2),
    Column::number("in/s", 5, 8),
    Column::number("done/s", 6, 9),
    Column::number("retry/s", 7, 11),
    Column::number("dead/s", 6, 12),
    Column::number("drains", 6, 7),
    Column::number("p95", 7, 13),
    Column::number("batch", 5, 14),
    Column::number("growth", 8, 15),
    Column::number("next wave", 11, 16),
    Column::words("trend", 6, 24, 10),
];

/// A wait that stands out in a queue that needs a look, in seconds.
const LONG_WAIT: f64 = 60.0;

/// Position of the trend in [`COLUMNS`].
pub(super) const TREND: usize = 16;

/// The column that an order sorts by; worst first is none of them.
pub(super) const fn sorted_column(order: Order) -> Option<usize> {
    match order {
        Order::Worst => None,
        Order::Name => Some(0),
        Order::Ready => Some(1),
        Order::Running => Some(3),
        Order::Oldest => Some(6),
        Order::Inflow => Some(7),
        Order::Dead => Some(10),
    }
}

/// The jobs behind a number of a queue, by the column's place in [`COLUMNS`].
pub(super) fn behind(queue: &QueueId, column: usize) -> Filter {
    let filter = Filter::of_queue(queue);
    match COLUMNS.get(column).map_or("", |column| column.head) {
        "ready" | "oldest" | "drains" => filter.with_state(JobState::Ready),
        "sched" => filter.with_state(JobState::Scheduled),
        "run" | "batch" => filter.with_state(JobState::Running),
        "exp" => filter.with_state(JobState::Expired),
        "exh" => filter.with_state(JobState::Exhausted),
        "done/s" | "p95" => filter.with_state(JobState::Completed),
        "retry/s" => filter.with_state(JobState::Scheduled).and_tried(),
        "dead/s" => filter.with_state(JobState::Dead),
        _ => filter,
    }
}

/// One row. `trend` is the width of the trend column, `several` tells that queues of more than one kind are shown.
pub(super) fn row(queue: &QueueStats, ctx: &Ctx<'_>, trend: u16, several: bool) -> Row {
    let theme = ctx.theme;
    let worst = diagnose::worst_of(ctx.findings, &queue.id);
    let number = |at: usize, reading: &Reading<u64>| {
        Cell::figure(Figure::count(reading, COLUMNS.get(at).map_or(0, |c| usize::from(c.width))), theme)
    };
    let rate = |reading: &Reading<f64>| Cell::figure(Figure::rate(reading, 6), theme);
    let mut oldest = Cell::figure(Figure::age(&queue.oldest_ready_seconds(ctx.now), 6), theme);
    if worst > Some(Severity::Info) && rank::wait(queue, ctx.now) > LONG_WAIT {
        oldest.style = theme.warn;
    }
    let cells = vec![
        name(queue, theme, several),
        number(1, &queue.ready),
        number(2, &queue.scheduled),
        number(3, &queue.running),
        alarming(number(4, &queue.expired), &queue.expired, theme.act),
        alarming(number(5, &queue.exhausted), &queue.exhausted, theme.warn),
        oldest,
        rate(&queue.rates.enqueued),
        rate(&queue.rates.completed),
        rate(&queue.rates.retried),
        rate(&queue.rates.dead),
        drains(queue, theme),
        Cell::figure(Figure::maybe(&queue.handling.quantiles(), 7, |took| fmt::took(took.p95)), theme),
        Cell::figure(Figure::maybe(&queue.handling.batch(), 5, |batch| format!("{batch:.1}")), theme),
        Cell::figure(Figure::growth(&queue.growth(), 8), theme),
        Cell::figure(Figure::wave(&queue.handling.wave, ctx.now), theme),
        Cell::new(depth_trend(queue, ctx, trend), theme.text),
    ];
    Row { signs: [Cell::default(), sign(queue, worst, theme)], cells }
}

fn name(queue: &QueueStats, theme: &Theme, several: bool) -> Cell {
    let name = Safe::new(&queue.id.name);
    let text = if several && queue.id.backend == BackendKind::Pgmq { format!("{name} (pgmq)") } else { name.into() };
    Cell::new(if text.is_empty() { "''".to_owned() } else { text }, theme.text)
}

/// A count that must be zero.
fn alarming(cell: Cell, count: &Reading<u64>, style: Style) -> Cell {
    if count.get().is_some_and(|n| n > 0) { Cell { style, ..cell } } else { cell }
}

fn sign(queue: &QueueStats, worst: Option<Severity>, theme: &Theme) -> Cell {
    match worst {
        Some(Severity::Act) => Cell::new(theme::ATTENTION, theme.act),
        _ if queue.paused == Some(true) => Cell::new(theme::PAUSED, theme.warn),
        Some(Severity::Look) => Cell::new(theme::ATTENTION, theme.warn),
        _ if matches!(queue.ready, Reading::About(_)) => Cell::new(theme::ESTIMATED, theme.quiet),
        _ => Cell::default(),
    }
}

/// Until when nothing is ready any more.
fn drains(queue: &QueueStats, theme: &Theme) -> Cell {
    let drain = queue.drain();
    let cell = Cell::figure(Figure::drain(&drain, 6), theme);
    let warns = matches!(drain.get(), Some(Drain::Never | Drain::Paused));
    if warns { Cell { style: theme.warn, ..cell } } else { cell }
}

/// How the depth went, over the time range of all charts.
fn depth_trend(queue: &QueueStats, ctx: &Ctx<'_>, width: u16) -> String {
    let window = Window::new(ctx.now, ctx.range, usize::from(width));
    let series = ctx.history.series(&queue.id);
    match (window, series) {
        (Some(window), Some(series)) => spark(&window.depths(series)),
        _ => String::new(),
    }
}
