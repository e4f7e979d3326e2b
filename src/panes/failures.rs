//! Failures and dead letters: how many over time, and grouped by what they say. Failures show at once; the first death
//! comes hours after the dependency broke.
//!
//! ```text
//! failed/min 0.5  ▁▁▁▂▁▁▁▇█▃▁▁
//! dead/min   0.1  ▁▁▁▁▁▁▁▁▁▂▁▁
//!  error                       last    jobs  dead retry/s
//!  timeout connecting to smtp.#  2m00s    30     1     0.5
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::parts::{Cell, Column, Grid, RateLines, Row, dim_if_stale, put, say, spark};
use super::{Ask, Ctx, Pane};
use crate::fmt::{self, Figure, whole_seconds};
use crate::keymap::{Command, Scope};
use crate::model::{Rates, Reading, Signature};
use crate::text::Safe;

const COLUMNS: [Column; 6] = [
    Column::words("error", 16, 72, 0),
    Column::words("queue", 8, 16, 5),
    Column::number("seen ago", 8, 3),
    Column::number("jobs", 6, 1),
    Column::number("dead", 5, 2),
    Column::number("retry/s", 7, 4),
];
/// Position in [`COLUMNS`].
const QUEUE: usize = 1;

/// Failures and dead letters.
#[derive(Debug)]
pub struct FailuresPane {
    lines: RateLines<2>,
}

impl Default for FailuresPane {
    fn default() -> Self {
        Self { lines: RateLines::new([|t| t.retried, |t| t.dead]) }
    }
}

/// A label, and the rate now.
type Trend = (&'static str, fn(&Rates) -> Reading<f64>);

const TRENDS: [Trend; 2] = [("failed/min", |r| r.retried), ("dead/min", |r| r.dead)];
/// Columns of a trend's label and figure.
const LABEL: u16 = 17;

/// Signatures of what is followed, most first; equal counts stand by text.
fn signatures<'a>(ctx: &Ctx<'a>) -> Vec<&'a Signature> {
    let all = ctx.snapshot.and_then(|s| s.failures.signatures.value()).map_or(&[] as &[Signature], Vec::as_slice);
    let wanted = ctx.filter.to_lowercase();
    let shown = |s: &&Signature| {
        ctx.queue.is_none_or(|queue| *queue == s.queue)
            && (wanted.is_empty()
                || s.text.to_lowercase().contains(&wanted)
                || s.queue.name.to_lowercase().contains(&wanted))
    };
    let mut rows: Vec<&Signature> = all.iter().filter(shown).collect();
    let key = |s: &Signature| std::cmp::Reverse(s.count.get().unwrap_or(0));
    rows.sort_by(|a, b| (key(a), &a.text, &a.queue).cmp(&(key(b), &b.text, &b.queue)));
    rows
}

fn row(signature: &Signature, ctx: &Ctx<'_>) -> Row {
    let theme = ctx.theme;
    let seen = signature.last_seen.and_then(|seen| ctx.now.seconds_since(seen));
    let seen = seen.map_or_else(|| fmt::UNKNOWN.to_owned(), |s| fmt::age(whole_seconds(s)));
    let dead = Cell::figure(Figure::count(&signature.dead, 5), theme);
    let dies = signature.dead.get().is_some_and(|n| n > 0);
    let cells = vec![
        Cell::new(Safe::first_line(&signature.text), theme.text),
        Cell::new(Safe::new(&signature.queue.name), theme.text),
        Cell::new(seen, theme.text),
        Cell::figure(Figure::count(&signature.count, 6), theme),
        if dies { Cell { style: theme.warn, ..dead } } else { dead },
        Cell::figure(Figure::rate(&signature.retried_per_s, 7), theme),
    ];
    Row { cells, ..Row::default() }
}

/// The first trends with their figures now, in jobs a minute.
fn trends(buf: &mut Buffer, area: Rect, ctx: &Ctx<'_>, values: &[Vec<Option<f64>>; 2], count: u16) {
    let room = Rect { x: area.x.saturating_add(LABEL), width: area.width.saturating_sub(LABEL), ..area };
    for (line, ((name, rate), values)) in (0..count).zip(TRENDS.iter().zip(values)) {
        let now = Figure::rate(&ctx.rate(*rate).map(|per_second| per_second * 60.0), 6);
        put(buf, area, line, &format!("{name:<10} {:>5}", now.text), ctx.theme.text);
        put(buf, room.intersection(area), line, &spark(values), ctx.theme.text);
    }
}

fn table(buf: &mut Buffer, area: Rect, ctx: &Ctx<'_>, rows: &[&Signature]) {
    let mut columns = COLUMNS;
    if ctx.queue.is_some() {
        columns[QUEUE] = columns[QUEUE].left_out();
    }
    let grid = Grid::new(&columns, area.width);
    grid.head(buf, area, &columns, None, ctx.theme);
    for (line, signature) in (1..area.height).zip(rows) {
        grid.row(buf, area, line, &columns, &row(signature, ctx));
    }
    let hidden = rows.len().saturating_sub(usize::from(area.height.saturating_sub(1)));
    if hidden > 0 && area.height > 2 {
        let words = format!("  and {} more", fmt::count(hidden as u64 + 1));
        let last = Rect { y: area.bottom() - 1, height: 1, ..area };
        put(buf, last, 0, &" ".repeat(usize::from(last.width)), ctx.theme.text);
        put(buf, last, 0, &words, ctx.theme.quiet);
    }
}

impl Pane for FailuresPane {
    fn name(&self) -> &'static str {
        "failures"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let title = format!("FAILURES  {}", ctx.followed());
        let Some(failures) = ctx.snapshot.map(|s| &s.failures) else { return title };
        let part = |count: &Reading<u64>, what| count.value().map(|_| format!("{} {what}", Figure::words(count)));
        let parts = [part(&failures.failed_15m, "failed in 15m"), part(&failures.dead_1h, "died in 1h")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { title } else { format!("{title} · in all: {}", parts.join(", ")) }
    }

    fn scopes(&self) -> &'static [Scope] {
        &[]
    }

    fn on_command(&mut self, _command: Command, _ctx: &Ctx<'_>) -> Option<Ask> {
        None
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let Some(snapshot) = ctx.snapshot else {
            say(buf, area, ctx.theme, "waiting for the first reading");
            return;
        };
        // Two lines of trends where the table keeps three of its own, else the second alone, else none.
        let count = match area.height {
            0..=3 => 0,
            4 => 1,
            _ => 2,
        };
        let values = self.lines.values(ctx, usize::from(area.width.saturating_sub(LABEL)));
        trends(buf, area, ctx, values, count);
        let below = Rect { y: area.y + count, height: area.height - count, ..area };
        let rows = signatures(ctx);
        match &snapshot.failures.signatures {
            Reading::Denied => say(buf, below, ctx.theme, "failures: denied for this role"),
            Reading::Unknown => say(buf, below, ctx.theme, "failures: not known yet"),
            _ if !rows.is_empty() => table(buf, below, ctx, &rows),
            _ if ctx.filter.is_empty() => say(buf, below, ctx.theme, "nothing failed in 15m, nothing dead in 1h"),
            _ => {
                let words = format!("no failure contains \"{}\"", Safe::new(ctx.filter));
                say(buf, below, ctx.theme, &words);
            }
        }
        dim_if_stale(buf, area, ctx);
    }
}
