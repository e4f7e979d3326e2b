//! Failures and dead letters by error signature, over all queues or the one that is followed: what fails now comes first.
//!
//! ```text
//!    error                     fail 15m retry/s   dead replayed % failed first ago last ago queues    trend
//! ▸▲ timeout after <n> ms           412     0.4      -        -     81 %      2d4h       3s emails +1 ▁▂▂▁▁▂▅█
//!    bad address <v>                  -       -  1,204      310        -     12d1h    1h20m hooks
//!
//!  timeout after <n> ms
//!  emails: 400 failed, 0 dead · hooks: 12 failed, 0 dead
//! ```

mod cells;
mod lines;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::parts::{Cell, Cursor, Grid, dim_if_stale, inset, movement, put, say};
use super::{Ask, Ctx, Pane};
use crate::fmt::{self, Figure};
use crate::keymap::{Command, Scope};
use crate::model::filter::TextField;
use crate::model::{Filter, Groups, JobState, Panel, PanelKind, QueueId, Reading};
use crate::text::{self, Safe};
use crate::theme;
use lines::{Line, Order};

/// From this height on the error under the cursor stands in full below the table.
const WITH_FULL: u16 = 14;
/// Lines of it: as many as the longest signature takes on a narrow screen, its queues, and a gap.
const FULL: u16 = 6;

/// The view.
#[derive(Debug, Default)]
pub struct DeadLetters {
    read: Option<Groups>,
    /// The latest reading failed, in words.
    trouble: Option<String>,
    order: Order,
    /// Only the queue that is followed.
    narrow: bool,
    /// The signature it is on.
    cursor: Cursor<String>,
}

impl DeadLetters {
    /// The queue that rows are limited to.
    fn queue<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a QueueId> {
        ctx.queue.filter(|_| self.narrow)
    }

    /// The rows that queue and filter let through, in order.
    fn lines(&self, ctx: &Ctx<'_>) -> Vec<Line> {
        let all = self.read.as_ref().and_then(|read| read.groups.value()).map_or(&[] as &[_], Vec::as_slice);
        let mut lines = lines::of(all, self.queue(ctx), ctx.filter);
        self.order.sort(&mut lines);
        lines
    }

    /// What is on screen is older than it should be: the reading failed, or the next one is overdue.
    fn is_old(&self, ctx: &Ctx<'_>) -> bool {
        let Some(read) = &self.read else { return false };
        // Readings take at most 2 % of the time; twice that pause is late.
        let pause = (read.cost * 50).max(Duration::from_secs(1));
        let late = (pause * 2 + Duration::from_secs(2)).as_secs_f64();
        self.trouble.is_some() || ctx.now.seconds_since(read.taken_at).is_some_and(|age| age > late)
    }

    fn table(&mut self, buf: &mut Buffer, area: Rect, ctx: &Ctx<'_>, lines: &[Line]) {
        let columns = cells::columns(ctx.times, self.order, lines);
        let grid = Grid::new(&columns, area.width);
        grid.head(buf, area, &columns, cells::sorted_column(self.order), ctx.theme);
        let body = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        let at = self.cursor.settle(lines.iter().map(|line| &line.signature));
        self.cursor.drawn_in(body);
        let top = self.cursor.scroll(usize::from(body.height), lines.len());
        let shares = lines::Shares::of(lines, self.order);
        let room = grid.width_of(cells::QUEUES).unwrap_or(0);
        for (row, (index, line)) in (0..body.height).zip(lines.iter().enumerate().skip(top)) {
            let mut cells = cells::row(line, &shares, room, ctx);
            let here = at == Some(index);
            if here {
                cells.signs[0] = Cell::new(theme::CURSOR, ctx.theme.accent);
            }
            grid.row(buf, body, row, &columns, &cells);
            if here && ctx.focused {
                buf.set_style(Rect { y: body.y + row, height: 1, ..body }, ctx.theme.cursor);
            }
        }
    }

    /// The error under the cursor in full, and how much of it each queue has.
    fn full(&self, buf: &mut Buffer, area: Rect, ctx: &Ctx<'_>, lines: &[Line]) {
        let Some(line) = lines.iter().find(|line| Some(&line.signature) == self.cursor.key()) else { return };
        let area = inset(area);
        let width = usize::from(area.width);
        let error = cells::error(line, ctx);
        let wrapped: Vec<_> = text::wrap(&error.text, width).collect();
        for (row, piece) in (1..area.height.saturating_sub(1)).zip(&wrapped) {
            put(buf, area, row, piece, error.style);
        }
        let part = |part: &lines::Part| {
            let (failed, dead) = (Figure::words(&part.failed), Figure::words(&part.dead));
            format!("{}: {failed} failed, {dead} dead", cells::name(&part.queue))
        };
        let queues: Vec<String> = line.queues.iter().take(20).map(part).collect();
        let below =
            u16::try_from(wrapped.len()).unwrap_or(u16::MAX).saturating_add(1).min(area.height.saturating_sub(1));
        put(buf, area, below, &queues.join(" · "), ctx.theme.quiet);
    }

    /// What is said where there are no rows.
    fn words(&self, ctx: &Ctx<'_>) -> String {
        let Some(read) = &self.read else {
            return match &self.trouble {
                Some(why) => format!("failures and dead letters could not be read: {}", Safe::first_line(why)),
                None => "reading failures and dead letters".to_owned(),
            };
        };
        let within = self.queue(ctx).map(|queue| format!(" in {}", Safe::new(&queue.name))).unwrap_or_default();
        match &read.groups {
            Reading::Denied => "failures and dead letters: denied for this role".to_owned(),
            Reading::Unknown | Reading::NotApplicable => "failures and dead letters: not known".to_owned(),
            _ if !ctx.filter.is_empty() => format!("no error{within} contains \"{}\"", Safe::new(ctx.filter)),
            Reading::Exact(_) => format!("nothing failed in 15m and nothing is dead{within}"),
            _ => format!("nothing failed and nothing is dead{within} among what could be looked at"),
        }
    }
}

/// What was left out, and why.
fn limits(read: &Groups, ctx: &Ctx<'_>) -> Vec<String> {
    let since = |what: &str, time| format!("{what} since {} only", ctx.ago(time));
    let mut limits: Vec<String> = Vec::new();
    limits.extend(read.failed_since.map(|time| since("failures", time)));
    limits.extend(read.dead_since.map(|time| since("dead letters", time)));
    limits.extend(read.note.as_ref().map(|note| Safe::first_line(note).into()));
    limits
}

/// The jobs behind a row: the dead ones where there are any, else those that live.
fn jobs_behind(line: &Line, queue: Option<&QueueId>) -> Filter {
    let dead = line.dead.get().is_some_and(|n| n > 0);
    let filter = queue.map_or_else(Filter::default, Filter::of_queue).and(TextField::Signature, &line.signature);
    if dead { filter.with_state(JobState::Dead) } else { filter }
}

impl Pane for DeadLetters {
    fn name(&self) -> &'static str {
        "dead"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let Some(read) = &self.read else { return "FAILURES AND DEAD LETTERS".to_owned() };
        let dead = match read.dead.value() {
            Some(_) => format!("{} in all", Figure::words(&read.dead)),
            None if read.dead == Reading::Denied => "denied".to_owned(),
            None => "not known".to_owned(),
        };
        let mut parts = vec![format!("DEAD LETTERS  {dead}")];
        parts.extend(match self.lines(ctx).len() {
            0 => None,
            1 => Some(format!("1 error, {}", self.order.words())),
            n => Some(format!("{} errors, {}", fmt::count(n as u64), self.order.words())),
        });
        parts.extend(self.queue(ctx).map(|queue| format!("only {}", Safe::new(&queue.name).truncate(24))));
        parts.push(format!("read {}", ctx.ago(read.taken_at)));
        parts.extend(self.trouble.as_ref().map(|why| format!("not read again: {}", Safe::first_line(why))));
        parts.extend(limits(read, ctx));
        let seconds = read.trend_span.map(|span| i64::try_from(span.as_secs()).unwrap_or(i64::MAX));
        parts.extend(seconds.map(|seconds| format!("trend: failed and died, {}", fmt::span(seconds))));
        parts.join(" · ")
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Groups, Scope::List]
    }

    fn on_command(&mut self, command: Command, ctx: &Ctx<'_>) -> Option<Ask> {
        let lines = self.lines(ctx);
        let signatures = lines.iter().map(|line| &line.signature);
        if let Some(step) = movement(command) {
            self.cursor.step(signatures, step);
            return None;
        }
        match command {
            Command::Sort => self.order = self.order.next(),
            Command::Narrow => self.narrow = !self.narrow,
            Command::Inspect | Command::Copy => {
                let line = lines.get(self.cursor.settle(signatures)?)?;
                return Some(match command {
                    Command::Copy => Ask::Copy(line.signature.clone()),
                    _ => Ask::ShowJobs(jobs_behind(line, self.queue(ctx))),
                });
            }
            _ => {}
        }
        None
    }

    fn on_click(&mut self, at: Position, ctx: &Ctx<'_>) -> bool {
        let lines = self.lines(ctx);
        self.cursor.click(at, lines.iter().map(|line| &line.signature))
    }

    fn panel(&self) -> Option<PanelKind> {
        Some(PanelKind::Groups)
    }

    fn on_panel(&mut self, panel: &Panel, ctx: &Ctx<'_>) {
        if let Panel::Groups(read) = panel {
            (self.read, self.trouble) = (Some(read.clone()), None);
            let lines = self.lines(ctx);
            self.cursor.settle(lines.iter().map(|line| &line.signature));
        }
    }

    fn on_panel_failed(&mut self, reason: &str) {
        self.trouble = Some(reason.to_owned());
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let lines = self.lines(ctx);
        if lines.is_empty() {
            say(buf, area, ctx.theme, &self.words(ctx));
        } else if area.height >= WITH_FULL {
            let height = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX).min(area.height - FULL);
            self.table(buf, Rect { height, ..area }, ctx, &lines);
            self.full(buf, Rect { y: area.y + height, height: FULL, ..area }, ctx, &lines);
        } else {
            self.table(buf, area, ctx, &lines);
        }
        let stale = ctx.stale || self.is_old(ctx);
        dim_if_stale(buf, area, &Ctx { stale, ..*ctx });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StateSet;

    fn behind(signature: &str, dead: Reading<u64>) -> Filter {
        jobs_behind(&Line { signature: signature.to_owned(), dead, ..Line::default() }, None)
    }

    #[test]
    fn the_jobs_behind_an_error_have_its_signature() {
        for signature in ["timeout connecting to smtp.<n>", "unique \"users_email_key\"", ""] {
            let filter = behind(signature, Reading::Exact(0));
            assert_eq!(filter.to_string().parse(), Ok(filter.clone()), "{filter}");
            assert!(filter.to_string().starts_with("signature:"), "{filter}");
        }
        assert!(behind("x", Reading::Exact(1)).to_string().contains("state:dead"));
    }

    #[test]
    fn dead_ones_are_shown_where_there_are_any() {
        for (dead, want) in [
            (Reading::Exact(1), StateSet::DEAD),
            (Reading::AtLeast(4), StateSet::DEAD),
            (Reading::Exact(0), StateSet::LIVE),
            (Reading::Denied, StateSet::LIVE),
        ] {
            assert_eq!(behind("x", dead).states(), want);
        }
    }
}
