//! Lease expiries: who holds what, how long is left or past due, soonest end first, and how many end when.
//!
//! ```text
//! ✗ 8c1f…e2  worker 7f3a  3/8  expired 4m12s   ▕          ▏
//!   55d0…aa  worker 91bc  1/8  2m40s left      ▕█████     ▏
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::parts::{Cell, Column, Cursor, Grid, Row, dim_if_stale, inset, movement, put, say};
use super::{Ask, Ctx, Pane};
use crate::fmt::{self, Figure, whole_seconds};
use crate::keymap::{Command, Scope};
use crate::model::{Job, JobRef, Lease, Reading, Time};
use crate::text::Safe;
use crate::theme;

const COLUMNS: [Column; 6] = [
    Column::words("job", 9, 9, 0),
    Column::words("queue", 8, 20, 4),
    Column::words("worker", 7, 9, 3),
    Column::number("tries", 5, 2),
    Column::words("lease", 15, 15, 1),
    Column::words("left", 8, 14, 5),
];
/// Positions in [`COLUMNS`].
const QUEUE: usize = 1;
const LEFT: usize = 5;

/// Who holds what.
#[derive(Debug, Default)]
pub struct Leases {
    cursor: Cursor<JobRef>,
}

impl Leases {
    /// Leases of what is followed, soonest end first; equal ends stand by id, so rows never swap for nothing.
    fn rows<'a>(ctx: &Ctx<'a>) -> Vec<&'a Job> {
        let all = ctx.snapshot.and_then(|s| s.leases.value()).map_or(&[] as &[Lease], Vec::as_slice);
        let mut rows: Vec<&Job> = all.iter().map(|l| &l.job).filter(|job| ctx.shows(job)).collect();
        rows.sort_by(|a, b| (end(a), &a.at).cmp(&(end(b), &b.at)));
        rows
    }

    fn table(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, rows: &[&Job]) {
        let at = self.cursor.settle(rows.iter().map(|job| &job.at));
        let top = self.cursor.scroll(usize::from(area.height), rows.len());
        self.cursor.drawn_in(area);
        let columns = columns_for(ctx);
        let grid = Grid::new(&columns, area.width);
        let bar = grid.width_of(LEFT).unwrap_or(0);
        for (line, (index, job)) in (0..area.height).zip(rows.iter().enumerate().skip(top)) {
            let row = row(job, ctx, bar, at == Some(index) && ctx.focused);
            grid.row(buf, area, line, &columns, &row);
            if at == Some(index) && ctx.focused {
                buf.set_style(Rect { y: area.y + line, height: 1, ..area }, ctx.theme.cursor);
            }
        }
    }
}

/// Without the queue's name where only one queue is shown.
fn columns_for(ctx: &Ctx<'_>) -> [Column; 6] {
    let mut columns = COLUMNS;
    if ctx.queue.is_some() {
        columns[QUEUE] = columns[QUEUE].left_out();
    }
    columns
}

fn row(job: &Job, ctx: &Ctx<'_>, bar: u16, here: bool) -> Row {
    let theme = ctx.theme;
    let (words, style) = lease_words(job, ctx);
    let gone = left_share(job, ctx.now).is_none_or(|share| share <= 0.0);
    let sign = if is_expired(job, ctx.now) { Cell::new(theme::EXPIRED, theme.act) } else { Cell::default() };
    let cells = vec![
        Cell::new(fmt::short_id(Safe::new(&job.at.id).as_str()), theme.text),
        Cell::new(Safe::new(&job.at.queue.name), theme.text),
        Cell::new(worker(job), theme.text),
        super::jobs::tries(job, theme),
        Cell::new(words, style),
        Cell::new(gauge(left_share(job, ctx.now), bar), if gone { theme.quiet } else { theme.text }),
    ];
    Row { signs: [ctx.row_sign(job, here), sign], cells }
}

/// The first letters of a worker's name; a lease without a holder says so.
fn worker(job: &Job) -> String {
    job.worker.as_ref().map_or_else(|| fmt::UNKNOWN.to_owned(), |w| fmt::short_id(Safe::new(w).as_str()))
}

fn end(job: &Job) -> Time {
    job.lease_until.unwrap_or(Time::NegInfinity)
}

fn is_expired(job: &Job, now: Time) -> bool {
    end(job) < now
}

fn lease_words(job: &Job, ctx: &Ctx<'_>) -> (String, ratatui::style::Style) {
    let Some(until) = job.lease_until else { return ("no lease".to_owned(), ctx.theme.act) };
    let Some(left) = until.seconds_since(ctx.now) else {
        let endless = until == Time::Infinity;
        return if endless { ("never ends".to_owned(), ctx.theme.warn) } else { ("expired".to_owned(), ctx.theme.act) };
    };
    if left < 0.0 {
        (format!("expired {}", fmt::age(whole_seconds(-left))), ctx.theme.act)
    } else {
        (format!("{} left", fmt::age(whole_seconds(left))), ctx.theme.text)
    }
}

/// What is left of the lease as a share of its length, which runs from the last heartbeat to its end.
fn left_share(job: &Job, now: Time) -> Option<f64> {
    let until = job.lease_until?;
    let whole = until.seconds_since(job.updated_at?)?;
    let left = until.seconds_since(now)?;
    (whole > 0.0).then(|| (left / whole).clamp(0.0, 1.0))
}

/// `▕█████     ▏`: full is a lease just given.
fn gauge(share: Option<f64>, width: u16) -> String {
    let room = usize::from(width).saturating_sub(2);
    if room == 0 {
        return String::new();
    }
    let steps = room as f64;
    let full = share.map_or(0, |share| (0..room).filter(|step| (*step as f64) + 0.5 <= share * steps).count());
    format!("▕{}{}▏", "█".repeat(full), " ".repeat(room - full))
}

/// How many end when, from the leases that were read: `ends in 1m: 2 · 5m: 40 · later: 3`.
fn when(rows: &[&Job], now: Time) -> String {
    let within = |seconds: f64| {
        let ends = |job: &&&Job| end(job).seconds_since(now).is_some_and(|left| (0.0..=seconds).contains(&left));
        rows.iter().filter(ends).count()
    };
    let (one, five) = (within(60.0), within(300.0));
    let alive = rows.iter().filter(|job| !is_expired(job, now)).count();
    format!("end within 1m: {one}  5m: {five}  later: {}", alive.saturating_sub(five))
}

/// Why there is no row: nothing runs, or others end sooner and only so many are read.
fn no_rows(ctx: &Ctx<'_>) -> String {
    let live = ctx.count(|q| q.running.combine(q.expired, u64::saturating_add));
    let read = ctx.snapshot.and_then(|s| s.leases.value()).map_or(0, Vec::len);
    match live.get() {
        Some(0) => "nothing is running: no leases".to_owned(),
        Some(_) if read > 0 => {
            format!("no lease of {} is among the {} that end soonest", ctx.followed(), fmt::count(read as u64))
        }
        _ => "no lease was seen".to_owned(),
    }
}

impl Pane for Leases {
    fn name(&self) -> &'static str {
        "leases"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let (running, expired) = (ctx.count(|q| q.running), ctx.count(|q| q.expired));
        let counts = match (running.value(), expired.value()) {
            (None, None) => String::new(),
            _ => format!(": {} running, {} expired", Figure::words(&running), Figure::words(&expired)),
        };
        format!("LEASES  {}{counts}", ctx.followed())
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Jobs, Scope::List]
    }

    fn on_command(&mut self, command: Command, ctx: &Ctx<'_>) -> Option<Ask> {
        let rows = Self::rows(ctx);
        if let Some(step) = movement(command) {
            self.cursor.step(rows.iter().map(|job| &job.at), step);
            return None;
        }
        if command == Command::MarkRange { ctx.mark_range(&rows, self.cursor.key()) } else { None }
    }

    fn on_click(&mut self, at: Position, ctx: &Ctx<'_>) -> bool {
        self.cursor.click(at, Self::rows(ctx).iter().map(|job| &job.at))
    }

    fn current_job<'a>(&'a self, ctx: &Ctx<'a>) -> Option<&'a Job> {
        Self::rows(ctx).into_iter().find(|job| Some(&job.at) == self.cursor.key())
    }

    fn on_snapshot(&mut self, ctx: &Ctx<'_>) {
        self.cursor.settle(Self::rows(ctx).iter().map(|job| &job.at));
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let rows = Self::rows(ctx);
        match ctx.snapshot.map(|s| &s.leases) {
            None => say(buf, area, ctx.theme, "waiting for the first reading"),
            Some(Reading::Denied) => say(buf, area, ctx.theme, "leases: denied for this role"),
            Some(Reading::Unknown | Reading::NotApplicable) => say(buf, area, ctx.theme, "leases: not known yet"),
            Some(_) if rows.is_empty() && !ctx.filter.is_empty() => {
                let words = format!("no lease contains \"{}\"", Safe::new(ctx.filter));
                say(buf, area, ctx.theme, &words);
            }
            Some(_) if rows.is_empty() => say(buf, area, ctx.theme, &no_rows(ctx)),
            Some(_) => {
                // Summary and headings give way before a row does.
                let (head, summary) = (u16::from(area.height > 5), u16::from(area.height > 3));
                let body = Rect { y: area.y + head, height: area.height - head - summary, ..area };
                self.table(body, buf, ctx, &rows);
                if head == 1 {
                    let columns = columns_for(ctx);
                    Grid::new(&columns, area.width).head(buf, area, &columns, None, ctx.theme);
                }
                if summary == 1 {
                    put(buf, inset(area), area.height - 1, &when(&rows, ctx.now), ctx.theme.quiet);
                }
            }
        }
        dim_if_stale(buf, area, ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_total() {
        for (share, width, want) in [
            (Some(0.5), 12, "▕█████     ▏"),
            (Some(1.0), 5, "▕███▏"),
            (Some(0.0), 5, "▕   ▏"),
            (None, 5, "▕   ▏"),
            (Some(f64::NAN), 5, "▕   ▏"),
            (Some(1.0), 2, ""),
            (Some(7.0), 4, "▕██▏"),
        ] {
            assert_eq!(gauge(share, width), want, "{share:?}");
        }
    }
}
