//! The columns of a list of jobs and what stands in them.

use crate::fmt::{self, NOT_APPLICABLE};
use crate::model::{Job, JobState, Time};
use crate::panes::parts::{Cell, Column, Row, STAMP};
use crate::panes::{Ctx, TimeStyle};
use crate::text::Safe;
use crate::theme::{self, Theme};

const COLUMNS: [Column; 9] = [
    Column::words("job", 9, 9, 0),
    Column::words("queue", 12, 20, 5),
    Column::words("state", 9, 9, 1),
    Column::number("tries", 5, 2),
    Column::number("prio", 5, 8),
    Column::words("when", 15, 15, 3),
    Column::words("worker", 9, 9, 6),
    Column::words("lease", 18, 18, 7),
    Column::words("error", 16, 400, 4),
];

/// Their names.
pub(super) fn heads() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.head).collect()
}

/// The columns, without the queue's name where all rows are of one queue, and with room for dates where times are absolute.
pub(super) fn columns(one_queue: bool, times: TimeStyle) -> [Column; 9] {
    let mut columns = COLUMNS;
    for column in columns.iter_mut().filter(|c| times != TimeStyle::Relative && ["when", "lease"].contains(&c.head)) {
        (column.width, column.most) = (STAMP, STAMP + 6);
    }
    if let Some(queue) = columns.get_mut(1).filter(|_| one_queue) {
        *queue = queue.left_out();
    }
    columns
}

/// Attempts begun and their limit, `3/8`; the last attempt stands out.
pub(in crate::panes) fn tries(job: &Job, theme: &Theme) -> Cell {
    let Some(max) = job.max_attempts else { return Cell::new(job.attempts.to_string(), theme.text) };
    let last = job.attempts >= max;
    Cell::new(format!("{}/{max}", job.attempts), if last { theme.warn } else { theme.text })
}

/// One row.
pub(super) fn row(job: &Job, ctx: &Ctx<'_>, here: bool) -> Row {
    let theme = ctx.theme;
    let (sign, style) = match job.state {
        JobState::Expired => (theme::EXPIRED, theme.act),
        JobState::Exhausted => (theme::ATTENTION, theme.act),
        JobState::Dead => ("†", theme.warn),
        _ => ("", theme.text),
    };
    let short = |text: &Option<String>| text.as_ref().map(|t| fmt::short_id(Safe::new(t).as_str()));
    let or_dot = |text: Option<String>| match text {
        Some(text) => Cell::new(text, theme.text),
        None => Cell::new(NOT_APPLICABLE, theme.quiet),
    };
    let cells = vec![
        Cell::new(fmt::short_id(Safe::new(&job.at.id).as_str()), theme.text),
        Cell::new(Safe::new(&job.at.queue.name), theme.text),
        Cell::new(job.state.as_str(), style),
        tries(job, theme),
        or_dot(job.priority.map(|p| p.to_string())),
        Cell::new(when(job, ctx), theme.text),
        or_dot(short(&job.worker)),
        or_dot(job.lease_until.map(|until| lease(until, ctx))),
        job.error
            .as_ref()
            .map_or_else(|| Cell::new(NOT_APPLICABLE, theme.quiet), |e| Cell::new(Safe::first_line(e), theme.text)),
    ];
    Row { signs: [ctx.row_sign(job, here), Cell::new(sign, style)], cells }
}

/// When it is due; for what runs, the last sign of life; for what is over, when that was.
fn when(job: &Job, ctx: &Ctx<'_>) -> String {
    let changed = job.updated_at.unwrap_or(job.run_at);
    match job.state {
        JobState::Exhausted => "no tries left".to_owned(),
        JobState::Ready | JobState::Scheduled => ctx.due(job.run_at),
        JobState::Running | JobState::Expired => format!("beat {}", ctx.ago(changed)),
        JobState::Completed => format!("done {}", ctx.ago(changed)),
        JobState::Dead => format!("died {}", ctx.ago(job.run_at)),
    }
}

fn lease(until: Time, ctx: &Ctx<'_>) -> String {
    if until < ctx.now { format!("ended {}", ctx.ago(until)) } else { format!("ends {}", ctx.due(until)) }
}
