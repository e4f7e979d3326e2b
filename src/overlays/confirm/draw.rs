//! The look of a confirmation. All but a long list of jobs must be in view, else it says so and cannot be confirmed.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::frame::{self, Line, labelled, wrapped};
use super::super::outlook::{outlook, state_at};
use super::guard::Shown;
use super::{Confirm, Place};
use crate::fmt;
use crate::model::{Action, Job, JobState, QueueId};
use crate::panes::Ctx;
use crate::panes::parts::put;
use crate::text::Safe;

/// No wider than this: lines must be easy to read.
const WIDEST: usize = 76;
/// Narrower than this nothing can be read.
const NARROWEST: usize = 24;
/// A long list shows at least so many rows.
const LIST_ROWS: usize = 4;

/// The parts from top to bottom.
struct Parts {
    top: Vec<Line>,
    list: Vec<Line>,
    bottom: Vec<Line>,
    /// The row of the text field in `bottom`.
    field: Option<usize>,
}

impl Confirm {
    /// Draws it into the middle of the screen `area`.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let columns = usize::from(area.width).saturating_sub(2).min(WIDEST);
        let blocked = self.blocked(ctx);
        let parts = self.parts(columns, blocked.as_deref(), ctx);
        let list_least = parts.list.len().min(LIST_ROWS);
        let fixed = parts.top.len() + parts.bottom.len();
        let rows = (fixed + parts.list.len()).min(usize::from(area.height).saturating_sub(2));
        let widest_id = self.jobs.iter().map(|job| Safe::new(&job.at.id).width() + 2).max().unwrap_or(0);
        let needs = NARROWEST.max(if self.jobs.len() > 1 { widest_id } else { 0 });
        let place = size(columns, rows).and_then(|(c, r)| frame::centered(area, c, r));
        let Some(place) = place.filter(|_| columns >= needs && rows >= fixed + list_least) else {
            self.guard.shown = Shown::Blocked("the screen is too small".into());
            frame::too_small(area, buf, ctx.theme, (needs + 2, fixed + list_least + 2));
            return;
        };
        self.guard.shown = blocked.map_or(Shown::Whole, Shown::Blocked);
        let border = if self.forced() || self.place.production { ctx.theme.act } else { ctx.theme.accent };
        let inner = frame::draw(place, &self.title(), border, buf);
        self.put(&parts, inner, buf, ctx);
    }

    fn put(&mut self, parts: &Parts, inner: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let below = |from: usize, rows: usize| {
            let (from, rows) = (u16::try_from(from).unwrap_or(u16::MAX), u16::try_from(rows).unwrap_or(u16::MAX));
            Rect { y: inner.y.saturating_add(from), height: rows, ..inner }.intersection(inner)
        };
        frame::lines(buf, inner, &parts.top);
        let rows = usize::from(inner.height).saturating_sub(parts.top.len() + parts.bottom.len());
        // The last row of a list that does not fit says where one is in it.
        let long = parts.list.len() > rows;
        let shown = if long { rows.saturating_sub(1) } else { rows };
        let first = self.scroll.settle(parts.list.len(), shown);
        frame::lines(buf, below(parts.top.len(), shown), parts.list.iter().skip(first));
        if let (true, Some(label)) = (long, self.scroll.label("jobs")) {
            put(buf, below(parts.top.len() + shown, 1), 0, &format!("  {label}, ↑ ↓ scroll"), ctx.theme.quiet);
        }
        let bottom = below(parts.top.len() + rows, parts.bottom.len());
        frame::lines(buf, bottom, &parts.bottom);
        if let (Some(typed), Some(at)) = (&self.guard.typed, parts.field) {
            let row = below(parts.top.len() + rows + at, 1);
            let room = Rect { x: row.x.saturating_add(2), width: row.width.saturating_sub(2), ..row };
            typed.field.render(room, buf, ctx.theme);
        }
    }

    /// Why it must not be confirmed now.
    fn blocked(&self, ctx: &Ctx<'_>) -> Option<String> {
        if ctx.stale {
            return Some("The numbers are old. It can be confirmed after a fresh reading.".into());
        }
        if !self.jobs.iter().any(|job| outlook(self.action, job, ctx.now).allowed) {
            return Some("There is nothing to do here.".into());
        }
        None
    }

    fn forced(&self) -> bool {
        matches!(
            self.action,
            Action::Requeue { force: true } | Action::DeadLetter { force: true } | Action::Replay { force: true }
        )
    }

    fn title(&self) -> String {
        let verb = self.action.verb();
        let capital: String = verb.chars().take(1).flat_map(char::to_uppercase).chain(verb.chars().skip(1)).collect();
        format!("{capital} {}", count_of(self.jobs.len()))
    }

    fn parts(&self, columns: usize, blocked: Option<&str>, ctx: &Ctx<'_>) -> Parts {
        let theme = ctx.theme;
        let mut top = self.place_lines(columns, ctx);
        let list = match self.jobs.as_slice() {
            [one] => {
                top.extend(self.one_job(one, columns, ctx));
                Vec::new()
            }
            many => {
                top.extend(labelled("jobs", &format!("{}, as they were seen:", many.len()), columns, theme.text));
                many.iter().enumerate().map(|(at, job)| self.row(at, job, ctx)).collect()
            }
        };
        let mut bottom = vec![Line::new("", theme.text)];
        bottom.extend(self.what_happens(columns, ctx));
        bottom.extend(self.guard.lines(self.action.verb(), blocked, columns, ctx.theme));
        // The field stands above the line of keys.
        let field = bottom.len().checked_sub(2).filter(|_| self.guard.typed.is_some() && blocked.is_none());
        Parts { top, list, bottom, field }
    }

    fn place_lines(&self, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
        let mut lines = self.place.lines(columns, ctx);
        let mut queues: BTreeMap<&QueueId, usize> = BTreeMap::new();
        for job in &self.jobs {
            *queues.entry(&job.at.queue).or_default() += 1;
        }
        let names: Vec<String> = match queues.len() {
            1 => queues.keys().map(|queue| Safe::new(&queue.name).into()).collect(),
            _ => queues.iter().map(|(queue, jobs)| format!("{} ({jobs})", Safe::new(&queue.name))).collect(),
        };
        let label = if names.len() == 1 { "queue" } else { "queues" };
        lines.extend(labelled(label, &names.join(", "), columns, ctx.theme.text));
        lines
    }

    fn one_job(&self, job: &Job, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
        let theme = ctx.theme;
        let mut lines = labelled("job", Safe::new(&job.at.id).as_str(), columns, theme.text);
        let max = job.max_attempts.map_or_else(String::new, |max| format!(" of {max}"));
        lines.extend(labelled("", &as_seen(job, &max, ctx), columns, theme.text));
        if let Some(worker) = &job.worker {
            let beat = job.updated_at.map_or_else(|| fmt::UNKNOWN.into(), |at| ctx.ago(at));
            lines.extend(labelled("holder", &format!("worker {}", Safe::new(worker)), columns, theme.text));
            lines.extend(labelled("heartbeat", &beat, columns, theme.text));
        }
        if let Some(change) = self.changes.get(&0) {
            let words = format!("{change}: it changed while this box was open");
            lines.extend(labelled("changed", &words, columns, theme.warn));
        }
        lines
    }

    fn row(&self, at: usize, job: &Job, ctx: &Ctx<'_>) -> Line {
        let id = Safe::new(&job.at.id);
        if let Some(change) = self.changes.get(&at) {
            return Line::new(format!("  {id}  changed: {change}"), ctx.theme.warn);
        }
        // A live lease says by itself that it is running; rows are short of room.
        let seen = as_seen(job, "", ctx);
        Line::new(format!("  {id}  {}", seen.trim_start_matches("running, ")), ctx.theme.text)
    }

    /// What will be done and what will be refused; of many jobs by state, with counts.
    fn what_happens(&self, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
        let style = |allowed| if allowed { ctx.theme.text } else { ctx.theme.warn };
        let mut lines = Vec::new();
        if let [one] = self.jobs.as_slice() {
            let outlook = outlook(self.action, one, ctx.now);
            lines.extend(wrapped(&outlook.one, columns, style(outlook.allowed)));
        } else {
            let mut groups: BTreeMap<(bool, JobState, &'static str), usize> = BTreeMap::new();
            for job in &self.jobs {
                let outlook = outlook(self.action, job, ctx.now);
                *groups.entry((!outlook.allowed, state_at(job, ctx.now), outlook.many)).or_default() += 1;
            }
            for ((refused, state, many), count) in groups {
                let verdict = if refused { "refused, " } else { "" };
                let words = format!("{count} {}: {verdict}{many}", state.as_str());
                lines.extend(wrapped(&words, columns, style(!refused)));
            }
        }
        if !self.changes.is_empty() && self.jobs.len() > 1 {
            let words = format!("{} changed meanwhile: refused where the change matters", self.changes.len());
            lines.extend(wrapped(&words, columns, ctx.theme.warn));
        }
        lines
    }
}

impl Place {
    /// Who would act on which database.
    pub(super) fn lines(&self, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
        let server = &self.server;
        let host = if server.local { "local socket".to_owned() } else { Safe::new(&server.host).into() };
        let kind = if server.standby { "replica" } else { "primary" };
        let guard = if self.production { ", production" } else { "" };
        let (user, database) = (Safe::new(&server.user), Safe::new(&server.database));
        let line = format!("{user} @ {database} @ {host} ({kind}{guard})");
        let style = if self.production { ctx.theme.act } else { ctx.theme.text };
        labelled("database", &line, columns, style)
    }
}

/// A job's state, lease and attempt; `max` follows the number of the attempt.
fn as_seen(job: &Job, max: &str, ctx: &Ctx<'_>) -> String {
    let attempt = format!("attempt {}{max}", job.attempts);
    match (state_at(job, ctx.now), job.lease_until) {
        (JobState::Expired, Some(end)) => format!("expired {}, {attempt}", ctx.ago(end)),
        (JobState::Expired, None) => format!("running without a lease, {attempt}"),
        (JobState::Running, Some(end)) => format!("running, lease ends {}, {attempt}", ctx.due(end)),
        (JobState::Scheduled, _) => format!("scheduled {}, {attempt}", ctx.due(job.run_at)),
        (state, _) => format!("{}, {attempt}", state.as_str()),
    }
}

fn size(columns: usize, rows: usize) -> Option<(u16, u16)> {
    Some((u16::try_from(columns).ok()?, u16::try_from(rows).ok()?))
}

/// "1 job", "3 jobs".
fn count_of(jobs: usize) -> String {
    if jobs == 1 { "1 job".into() } else { format!("{} jobs", fmt::count(u64::try_from(jobs).unwrap_or(u64::MAX))) }
}
