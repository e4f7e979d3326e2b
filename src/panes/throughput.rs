//! Throughput: jobs per second over time, what comes in against what is done. Time that was not seen is a gap, not a zero.
//!
//! ```text
//! in 52.1/s    done 49.8/s    retry 1.2/s    dead 0.1/s
//! handler 15m: p50 ~108ms p95 ~1.2s p99 ~9.7s   batch 4.0 jobs
//! waiting  12,403 jobs ▁▂▃▃▄▅▆▇
//!  0.6┤        ⢀⣀⡠⠤⠒⠉⠉⠒⠤⣀   in
//!     │⣀⡠⠤⠒⠉⠉⠁              done
//!    0┼──────┴───────┴───────┴
//!   -15m   -10m    -5m      now
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::parts::{DepthLine, Line, Pick, Plot, RateLines, dim_if_stale, inset, put, say, spark};
use super::{Ctx, Pane};
use crate::fmt::{self, Figure};
use crate::model::{Quantiles, QueueStats, Rates, Reading};
use crate::text;

/// A name, and its rate now.
type Kind = (&'static str, fn(&Rates) -> Reading<f64>);

/// What is drawn, and the rate of each now.
const KINDS: [Kind; 4] =
    [("in", |r| r.enqueued), ("done", |r| r.completed), ("retry", |r| r.retried), ("dead", |r| r.dead)];
const PICKS: [Pick; 4] = [|t| t.enqueued, |t| t.completed, |t| t.retried, |t| t.dead];

/// Lines over time.
#[derive(Debug)]
pub struct Throughput {
    lines: RateLines<4>,
    depth: DepthLine,
}

impl Default for Throughput {
    fn default() -> Self {
        Self { lines: RateLines::new(PICKS), depth: DepthLine::default() }
    }
}

impl Pane for Throughput {
    fn name(&self) -> &'static str {
        "throughput"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let range = fmt::span(i64::try_from(ctx.range.as_secs()).unwrap_or(i64::MAX));
        format!("THROUGHPUT  {}, jobs/s, {range}", ctx.followed())
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        if ctx.snapshot.is_none() && ctx.series().next().is_none() {
            say(buf, area, ctx.theme, "waiting for the first reading");
            return;
        }
        let area = inset(area);
        put(buf, area, 0, &rates_now(ctx, usize::from(area.width)), ctx.theme.text);
        let mut head = 1;
        let lines = if area.height < WITH_HANDLING { 0 } else { 1 + usize::from(area.height >= WITH_TWO) };
        for words in handling_now(ctx, usize::from(area.width)).iter().take(lines) {
            put(buf, area, head, words, ctx.theme.text);
            head += 1;
        }
        if area.height >= WITH_DEPTH {
            self.waiting(buf, area, head, ctx);
            head += 1;
        }
        let below = Rect { y: area.y.saturating_add(head), height: area.height.saturating_sub(head), ..area };
        if let Some(plot) = Plot::new(below) {
            chart(&plot, buf, ctx, self.lines.values(ctx, plot.dots()));
        } else {
            let room = usize::from(below.width.saturating_sub(LABEL));
            trends(below, buf, ctx, self.lines.values(ctx, room));
        }
        dim_if_stale(buf, area, ctx);
    }
}

/// The rates now, as many as fit.
fn rates_now(ctx: &Ctx<'_>, width: usize) -> String {
    let mut line = String::new();
    for (name, rate) in KINDS {
        let figure = Figure::rate(&ctx.rate(rate), 6).text;
        let unit = if figure == fmt::ZERO { "" } else { "/s" };
        // A width that does not change with the figure, so that the next name stays where it is.
        let next = format!("{}{name} {:<7}", if line.is_empty() { "" } else { "  " }, figure + unit);
        if line.len() + next.trim_end().len() > width && !line.is_empty() {
            break;
        }
        line += &next;
    }
    line.trim_end().to_owned()
}

/// From this height on the handling has a line of its own, then a second one where it needs that, then there is the depth.
const WITH_HANDLING: u16 = 8;
const WITH_TWO: u16 = 12;
const WITH_DEPTH: u16 = 14;

/// How jobs were handled in the last 15 minutes, and how attempts end now, in lines of `width`.
fn handling_now(ctx: &Ctx<'_>, width: usize) -> Vec<String> {
    let handling = ctx.handling();
    let (quantiles, ends) = (handling.quantiles(), ctx.rates().shares());
    let took = |pick: fn(&Quantiles) -> f64| Figure::maybe(&quantiles, 7, |q| fmt::took(pick(q))).text;
    let took = match quantiles.value() {
        Some(Some(_)) => format!("p50 {} p95 {} p99 {}", took(|q| q.p50), took(|q| q.p95), took(|q| q.p99)),
        _ => took(|q| q.p50),
    };
    let ends = Figure::maybe(&ends, 6, |ends| {
        let [ok, retry, dead] = ends.map(fmt::percent);
        format!("ok {ok} retry {retry} dead {dead}")
    });
    let batch = handling.batch();
    let unit = if batch.get().flatten().is_some() { " jobs" } else { "" };
    let batch = Figure::maybe(&batch, 6, |batch| format!("{batch:.1}")).text + unit;
    let parts = [format!("handler 15m: {took}"), format!("ends {}", ends.text), format!("batch {batch}")];
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if text::width(line) + SEPARATOR.len() + text::width(&part) <= width => {
                *line += SEPARATOR;
                *line += &part;
            }
            _ => lines.push(part),
        }
    }
    lines
}

const SEPARATOR: &str = "   ";

/// Columns of the depth's figure.
const DEPTH: u16 = 21;

impl Throughput {
    /// How many jobs wait, and how many did over the time range.
    fn waiting(&mut self, buf: &mut Buffer, area: Rect, row: u16, ctx: &Ctx<'_>) {
        let now = ctx.count(QueueStats::depth);
        let unit = if now.get().is_some() { "jobs" } else { "" };
        put(buf, area, row, &format!("waiting {:>7} {unit}", Figure::count(&now, 7).text), ctx.theme.text);
        let room = Rect { x: area.x.saturating_add(DEPTH), width: area.width.saturating_sub(DEPTH), ..area };
        let trend = spark(self.depth.values(ctx, usize::from(room.width)));
        put(buf, room, row, &trend, ctx.theme.text);
    }
}

/// Columns of a trend's name.
const LABEL: u16 = 6;

fn chart(plot: &Plot, buf: &mut Buffer, ctx: &Ctx<'_>, values: &[Vec<Option<f64>>; 4]) {
    let back = i64::try_from(ctx.range.as_secs()).unwrap_or(i64::MAX);
    let [come, done, ..] = values;
    // What is done is drawn last: where both lines meet, all is well, and that is what shows.
    let lines = [
        Line { name: "in", values: come, style: ctx.theme.text },
        Line { name: "done", values: done, style: ctx.theme.accent },
    ];
    if lines.iter().all(|line| line.values.iter().all(Option::is_none)) {
        let words = format!("nothing was seen in the last {}", fmt::span(back));
        put(buf, plot.area(), 0, &words, ctx.theme.quiet);
        return;
    }
    plot.draw(buf, &lines, back, ctx.theme);
}

/// Where a chart has no room: one row for each trend.
fn trends(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, values: &[Vec<Option<f64>>; 4]) {
    let room = Rect { x: area.x.saturating_add(LABEL), width: area.width.saturating_sub(LABEL), ..area };
    for (row, ((name, _), values)) in (0..area.height).zip(KINDS.iter().zip(values)) {
        put(buf, area, row, name, ctx.theme.quiet);
        put(buf, room, row, &spark(values), ctx.theme.text);
    }
}
