//! Queue depth: every queue with its numbers, worst first. The queue under the cursor is the one that other panes follow.
//!
//! ```text
//!     queue             ready  sched  run  exp  exh oldest  in/s done/s retry/s dead/s drains trend
//! ▸▲ webhooks             12      -    4    3    -  4m12s   0.4    0.1       -      -  never ▁▁▂▂▃▄▅▆▇█
//! ```

mod cells;
mod rank;

use std::collections::HashSet;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::parts::{Cell, Column, Cursor, Grid, arranged, dim_if_stale, movement, place_in, say};
use super::{Ask, Ctx, Pane};
use crate::fmt;
use crate::keymap::{Command, Scope};
use crate::model::{QueueId, QueueStats, Snapshot, Time};
use crate::text::Safe;
use crate::theme;
use cells::COLUMNS;
use rank::Order;

/// Rows change places at most this often, so that a line can be read.
const RESORT: Duration = Duration::from_secs(5);

/// The table of queues.
#[derive(Debug, Default)]
pub struct Queues {
    order: Order,
    /// The queues in the order of the screen.
    rows: Vec<QueueId>,
    /// The server's time when they were sorted.
    sorted_at: Option<Time>,
    cursor: Cursor<QueueId>,
    /// The number under the cursor, by its column's place in the table's own order; 0: the queue itself.
    column: usize,
}

impl Queues {
    /// The queue under the cursor, as long as it exists.
    fn current(&self, ctx: &Ctx<'_>) -> Option<&QueueId> {
        self.cursor.key().filter(|id| self.shown(ctx).contains(id))
    }

    /// Rows that the filter lets through.
    fn shown(&self, ctx: &Ctx<'_>) -> Vec<&QueueId> {
        let wanted = ctx.filter.to_lowercase();
        self.rows.iter().filter(|id| wanted.is_empty() || id.name.to_lowercase().contains(&wanted)).collect()
    }

    /// To the next number, in the order of the screen.
    fn step_column(&mut self, right: bool, ctx: &Ctx<'_>) {
        let order: Vec<usize> = match &ctx.arrangement.queues {
            Some(order) => order.clone(),
            None => (0..COLUMNS.len()).collect(),
        };
        // The trend is no number.
        let numbers: Vec<usize> = order.into_iter().filter(|column| *column != cells::TREND).collect();
        let at = numbers.iter().position(|column| *column == self.column).unwrap_or(0);
        let next = if right { (at + 1).min(numbers.len().saturating_sub(1)) } else { at.saturating_sub(1) };
        self.column = numbers.get(next).copied().unwrap_or(0);
    }

    fn sort(&mut self, snapshot: &Snapshot, ctx: &Ctx<'_>) {
        let mut queues: Vec<&QueueStats> = snapshot.queues.iter().collect();
        self.order.sort(&mut queues, ctx.findings, snapshot.taken_at);
        self.rows = queues.into_iter().map(|q| q.id.clone()).collect();
        self.sorted_at = Some(snapshot.taken_at);
    }

    /// The same order as before, with queues that came at the end and without those that went.
    fn keep_order(&mut self, snapshot: &Snapshot, ctx: &Ctx<'_>) {
        let there: HashSet<&QueueId> = snapshot.queues.iter().map(|q| &q.id).collect();
        self.rows.retain(|id| there.contains(id));
        if self.rows.len() < snapshot.queues.len() {
            self.sort(snapshot, ctx);
        }
    }

    fn table(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, snapshot: &Snapshot) {
        let rows: Vec<QueueId> = self.shown(ctx).into_iter().cloned().collect();
        let at = self.cursor.settle(rows.iter());
        let (body, columns) = (Rect { y: area.y + 1, height: area.height - 1, ..area }, columns_for(snapshot));
        let order = ctx.arrangement.queues.as_deref();
        let columns = arranged(&columns, order);
        let top = self.cursor.scroll(usize::from(body.height), rows.len());
        self.cursor.drawn_in(body);
        let grid = Grid::new(&columns, area.width);
        let sorted = cells::sorted_column(self.order).and_then(|column| place_in(order, column));
        grid.head(buf, area, &columns, sorted, ctx.theme);
        let several =
            snapshot.queues.iter().any(|q| Some(q.id.backend) != snapshot.queues.first().map(|q| q.id.backend));
        let trend = place_in(order, cells::TREND).and_then(|at| grid.width_of(at)).unwrap_or(0);
        for (line, (index, id)) in (0..body.height).zip(rows.iter().enumerate().skip(top)) {
            let Some(queue) = snapshot.queue(id) else { continue };
            let mut row = cells::row(queue, ctx, trend, several);
            row.cells = arranged(&row.cells, order);
            let here = at == Some(index);
            if here {
                row.signs[0] = Cell::new(theme::CURSOR, ctx.theme.accent);
            }
            grid.row(buf, body, line, &columns, &row);
            if here && ctx.focused {
                buf.set_style(Rect { y: body.y + line, height: 1, ..body }, ctx.theme.cursor);
                let number = place_in(order, self.column).filter(|_| self.column > 0);
                if let Some(place) = number.and_then(|column| grid.cell(body, line, column)) {
                    buf.set_style(
                        place,
                        Style::new()
                            .remove_modifier(Modifier::REVERSED)
                            .add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
                    );
                }
            }
        }
    }
}

/// The names of the columns, in their usual order.
#[must_use]
pub fn heads() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.head).collect()
}

/// The columns, the first as wide as the longest name where there is room.
fn columns_for(snapshot: &Snapshot) -> [Column; COLUMNS.len()] {
    let mut columns = COLUMNS;
    let longest = snapshot.queues.iter().map(|q| Safe::new(&q.id.name).width() + 7).max().unwrap_or(0);
    if let Some(name) = columns.first_mut() {
        name.most = name.most.min(u16::try_from(longest).unwrap_or(u16::MAX));
    }
    columns
}

impl Pane for Queues {
    fn name(&self) -> &'static str {
        "queues"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let Some(snapshot) = ctx.snapshot else { return "QUEUES".to_owned() };
        let shown = self.shown(ctx).len();
        let all = snapshot.queues.len();
        let count = if shown == all { fmt::count(all as u64) } else { format!("{shown} of {all}") };
        let range = fmt::span(i64::try_from(ctx.range.as_secs()).unwrap_or(i64::MAX));
        format!("QUEUES  {count}, {} · trend: jobs that wait, {range}", self.order.words())
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Queues, Scope::List]
    }

    fn on_command(&mut self, command: Command, ctx: &Ctx<'_>) -> Option<Ask> {
        if let Some(step) = movement(command) {
            let rows: Vec<QueueId> = self.shown(ctx).into_iter().cloned().collect();
            self.cursor.step(rows.iter(), step);
            return self.current(ctx).cloned().map(Ask::Follow);
        }
        match command {
            Command::Left | Command::Right => {
                self.step_column(command == Command::Right, ctx);
                None
            }
            Command::Sort => {
                self.order = self.order.next();
                self.sort(ctx.snapshot?, ctx);
                None
            }
            Command::Inspect => Some(Ask::ShowJobs(cells::behind(self.current(ctx)?, self.column))),
            _ => None,
        }
    }

    fn on_click(&mut self, at: Position, ctx: &Ctx<'_>) -> bool {
        let rows: Vec<QueueId> = self.shown(ctx).into_iter().cloned().collect();
        self.cursor.click(at, rows.iter())
    }

    fn current_queue(&self, ctx: &Ctx<'_>) -> Option<QueueId> {
        self.current(ctx).cloned()
    }

    fn on_snapshot(&mut self, ctx: &Ctx<'_>) {
        let Some(snapshot) = ctx.snapshot else { return };
        let due = self.sorted_at.is_none_or(|at| snapshot.taken_at >= at.plus(RESORT) || snapshot.taken_at < at);
        if due {
            self.sort(snapshot, ctx);
        } else {
            self.keep_order(snapshot, ctx);
        }
        let rows: Vec<QueueId> = self.shown(ctx).into_iter().cloned().collect();
        self.cursor.settle(rows.iter());
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        match ctx.snapshot {
            None => say(buf, area, ctx.theme, "waiting for the first reading"),
            Some(snapshot) if snapshot.queues.is_empty() => {
                say(buf, area, ctx.theme, "no queues yet: select enqueue_job('emails', '{}')");
            }
            Some(_) if self.shown(ctx).is_empty() => {
                let words = format!("no queue contains \"{}\"", Safe::new(ctx.filter));
                say(buf, area, ctx.theme, &words);
            }
            Some(snapshot) => self.table(area, buf, ctx, snapshot),
        }
        dim_if_stale(buf, area, ctx);
    }
}
