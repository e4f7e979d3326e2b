//! Failures and dead letters: how many over time, and grouped by what they say. Failures show at once; the first death
//! comes hours after the dependency broke.
//!
//! ```text
//! retry/min    0.5 ▁▁▁▂▁▁▁▇█▃▁▁
//! dead/min     0.1 ▁▁▁▁▁▁▁▁▁▂▁▁
//!   error                        seen ago   jobs  dead retry/s dead/s
//! ▸ timeout connecting to smtp.#    2m00s     30     1     0.5    0.0
//! ```

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::parts::{Cell, Column, Cursor, Grid, RateLines, Row, dim_if_stale, inset, movement, put, say, spark};
use super::{Ask, Ctx, Pane};
use crate::fmt::{self, Figure, whole_seconds};
use crate::keymap::{Command, Scope};
use crate::model::filter::TextField;
use crate::model::{Filter, JobState, QueueId, Rates, Reading, Signature};
use crate::text::Safe;
use crate::theme;

const COLUMNS: [Column; 7] = [
    Column::words("error", 16, 72, 0),
    Column::words("queue", 8, 16, 5),
    Column::number("seen ago", 8, 3),
    Column::number("jobs", 6, 1),
    Column::number("dead", 5, 2),
    Column::number("retry/s", 7, 4),
    Column::number("dead/s", 6, 6),
];
/// Position in [`COLUMNS`].
const QUEUE: usize = 1;

/// Failures and dead letters.
#[derive(Debug)]
pub struct FailuresPane {
    lines: RateLines<2>,
    cursor: Cursor<SignatureId>,
}

/// Names a signature: its queue and its text.
type SignatureId = (QueueId, String);

impl Default for FailuresPane {
    fn default() -> Self {
        Self { lines: RateLines::new([|t| t.retried, |t| t.dead]), cursor: Cursor::default() }
    }
}

/// A label, and the rate now.
type Trend = (&'static str, fn(&Rates) -> Reading<f64>);

const TRENDS: [Trend; 2] = [("retry/min", |r| r.retried), ("dead/min", |r| r.dead)];
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
        Cell::figure(Figure::rate(&signature.dead_per_s, 6), theme),
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

/// The jobs behind a signature: dead ones where all of them died, else those that live.
fn jobs_behind(signature: &Signature) -> Filter {
    let all_died = signature.dead.get().is_some_and(|dead| Some(dead) >= signature.count.get());
    let filter = Filter::of_queue(&signature.queue).and(TextField::Signature, &signature.text);
    if all_died { filter.with_state(JobState::Dead) } else { filter }
}

impl FailuresPane {
    fn table(&mut self, buf: &mut Buffer, area: Rect, ctx: &Ctx<'_>, rows: &[&Signature]) {
        let mut columns = COLUMNS;
        if let Some(queue) = columns.get_mut(QUEUE).filter(|_| ctx.queue.is_some()) {
            *queue = queue.left_out();
        }
        let grid = Grid::new(&columns, area.width);
        grid.head(buf, area, &columns, None, ctx.theme);
        let body = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        let ids = ids(rows);
        let at = self.cursor.settle(ids.iter());
        self.cursor.drawn_in(body);
        let top = self.cursor.scroll(usize::from(body.height), rows.len());
        for (line, (index, signature)) in (0..body.height).zip(rows.iter().enumerate().skip(top)) {
            let mut row = row(signature, ctx);
            let here = at == Some(index);
            if here && ctx.focused {
                row.signs[0] = Cell::new(theme::CURSOR, ctx.theme.accent);
            }
            grid.row(buf, body, line, &columns, &row);
            if here && ctx.focused {
                buf.set_style(Rect { y: body.y + line, height: 1, ..body }, ctx.theme.cursor);
            }
        }
    }
}

fn ids(rows: &[&Signature]) -> Vec<SignatureId> {
    rows.iter().map(|s| (s.queue.clone(), s.text.clone())).collect()
}

impl Pane for FailuresPane {
    fn name(&self) -> &'static str {
        "failures"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let title = format!("FAILURES  {}", ctx.followed());
        let Some(failures) = ctx.snapshot.map(|s| &s.failures) else { return title };
        let part = |count: &Reading<u64>, what| count.value().map(|_| format!("{} {what}", Figure::words(count)));
        let parts = [part(&failures.failed_15m, "failed 15m"), part(&failures.dead_1h, "died 1h")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { title } else { format!("{title} · all: {}", parts.join(", ")) }
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Failures, Scope::List]
    }

    fn on_command(&mut self, command: Command, ctx: &Ctx<'_>) -> Option<Ask> {
        let rows = signatures(ctx);
        let ids = ids(&rows);
        if let Some(step) = movement(command) {
            self.cursor.step(ids.iter(), step);
            return None;
        }
        let at = self.cursor.settle(ids.iter()).filter(|_| command == Command::Inspect)?;
        rows.get(at).map(|signature| Ask::ShowJobs(jobs_behind(signature)))
    }

    fn on_click(&mut self, at: Position, ctx: &Ctx<'_>) -> bool {
        let ids = ids(&signatures(ctx));
        self.cursor.click(at, ids.iter())
    }

    fn on_snapshot(&mut self, ctx: &Ctx<'_>) {
        self.cursor.settle(ids(&signatures(ctx)).iter());
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
        // Two lines of trends where the table keeps three of its own, else the first alone, else none.
        let count = match area.height {
            0..=3 => 0,
            4 => 1,
            _ => 2,
        };
        let upper = inset(area);
        let values = self.lines.values(ctx, usize::from(upper.width.saturating_sub(LABEL)));
        trends(buf, upper, ctx, values, count);
        let below = Rect { y: area.y + count, height: area.height - count, ..area };
        let rows = signatures(ctx);
        match &snapshot.failures.signatures {
            Reading::Denied => say(buf, below, ctx.theme, "failures: denied for this role"),
            Reading::Unknown => say(buf, below, ctx.theme, "failures: not known yet"),
            _ if !rows.is_empty() => self.table(buf, below, ctx, &rows),
            _ if ctx.filter.is_empty() => {
                let words = format!("nothing failed in 15m, nothing dead in 1h: {}", ctx.followed());
                say(buf, below, ctx.theme, &words);
            }
            _ => {
                let words = format!("no failure contains \"{}\"", Safe::new(ctx.filter));
                say(buf, below, ctx.theme, &words);
            }
        }
        dim_if_stale(buf, area, ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BackendKind;

    fn signature(text: &str, count: u64, dead: u64) -> Signature {
        Signature {
            text: text.into(),
            queue: QueueId { backend: BackendKind::Jobs, name: "emails".into() },
            count: Reading::Exact(count),
            dead: Reading::Exact(dead),
            last_seen: None,
            retried_per_s: Reading::Unknown,
            dead_per_s: Reading::Unknown,
        }
    }

    #[test]
    fn the_jobs_behind_a_signature_have_it() {
        let filter = |count, dead| jobs_behind(&signature("timeout <n>", count, dead)).to_string();
        assert_eq!(filter(5, 0), "queue:emails signature:\"timeout <n>\"");
        assert_eq!(filter(5, 5), "queue:emails signature:\"timeout <n>\" state:dead");
    }
}
