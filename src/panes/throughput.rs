//! Throughput: jobs per second over time, what comes in against what is done. Time that was not seen is a gap, not a zero.
//!
//! ```text
//! in 52.1/s    done 49.8/s    retry 1.2/s    dead 0.1/s
//!  0.6┤        ⢀⣀⡠⠤⠒⠉⠉⠒⠤⣀   in
//!     │⣀⡠⠤⠒⠉⠉⠁              done
//!    0┼──────┴───────┴───────┴
//!   -15m   -10m    -5m      now
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::parts::{Line, Plot, Window, dim_if_stale, put, say, spark};
use super::{Ask, Ctx, Pane};
use crate::fmt::{self, Figure};
use crate::keymap::{Command, Scope};
use crate::model::{Rates, Reading, Totals};

/// What is drawn: a name, what it counts, and its rate now.
type Kind = (&'static str, fn(&Totals) -> u64, fn(&Rates) -> Reading<f64>);

const IN: Kind = ("in", |t| t.enqueued, |r| r.enqueued);
const DONE: Kind = ("done", |t| t.completed, |r| r.completed);
const RETRY: Kind = ("retry", |t| t.retried, |r| r.retried);
const DEAD: Kind = ("dead", |t| t.dead, |r| r.dead);

/// Lines over time.
#[derive(Debug)]
pub struct Throughput;

impl Pane for Throughput {
    fn name(&self) -> &'static str {
        "throughput"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let range = fmt::span(i64::try_from(ctx.range.as_secs()).unwrap_or(i64::MAX));
        format!("THROUGHPUT  {}, jobs/s, {range}", ctx.followed())
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
        if ctx.snapshot.is_none() && ctx.series().next().is_none() {
            say(buf, area, ctx.theme, "waiting for the first reading");
            return;
        }
        put(buf, area, 0, &rates_now(ctx, usize::from(area.width)), ctx.theme.text);
        let below = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        match Plot::new(below) {
            Some(plot) => chart(&plot, buf, ctx),
            None => trends(below, buf, ctx),
        }
        dim_if_stale(buf, area, ctx);
    }
}

/// The rates now, as many as fit.
fn rates_now(ctx: &Ctx<'_>, width: usize) -> String {
    let mut line = String::new();
    for (name, _, rate) in [IN, DONE, RETRY, DEAD] {
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

fn values(ctx: &Ctx<'_>, len: usize, pick: fn(&Totals) -> u64) -> Vec<Option<f64>> {
    let window = Window::new(ctx.now, ctx.range, len);
    window.map(|w| w.rates(ctx.series(), pick)).unwrap_or_default()
}

fn chart(plot: &Plot, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let back = i64::try_from(ctx.range.as_secs()).unwrap_or(i64::MAX);
    let line = |(name, pick, _): Kind, style| Line { name, values: values(ctx, plot.dots(), pick), style };
    // What is done is drawn last: where both lines meet, all is well, and that is what shows.
    let lines = [line(IN, ctx.theme.text), line(DONE, ctx.theme.accent)];
    if lines.iter().all(|line| line.values.iter().all(Option::is_none)) {
        let words = format!("nothing was seen in the last {}", fmt::span(back));
        say(buf, plot.area(), ctx.theme, &words);
        return;
    }
    plot.draw(buf, &lines, back, ctx.theme);
}

/// Where a chart has no room: one row for each trend.
fn trends(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    const LABEL: u16 = 6;
    let room = Rect { x: area.x.saturating_add(LABEL), width: area.width.saturating_sub(LABEL), ..area };
    for (row, (name, pick, _)) in (0..area.height).zip([IN, DONE, RETRY, DEAD]) {
        put(buf, area, row, name, ctx.theme.quiet);
        put(buf, room, row, &spark(&values(ctx, usize::from(room.width), pick)), ctx.theme.text);
    }
}
