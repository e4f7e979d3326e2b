//! Leases and workers: who works, what each holds, and who is not heard of any more. Expired ones first; below the table
//! the leases of the worker under the cursor.
//!
//! ```text
//!    worker   state          held  exp oldest  heartbeat   next end      queues        host
//! ▸✗ 7f3a…01  silent 12m        4    3  14m2s  12m4s ago   ended 7m ago  webhooks      worker-3 #4711
//!    91bc…77  works             2    -    20s     2s ago   in 4m51s      emails        worker-1 #812
//! ```

mod cells;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::parts::{Cursor, Grid, dim_if_stale, movement, put, say};
use super::{Ask, Ctx, Pane};
use crate::fmt;
use crate::keymap::{Command, Scope};
use crate::model::filter::{StateWord, TextField};
use crate::model::{Filter, Job, JobState, Panel, PanelKind, Reading, Time, WorkerStats, Workers};
use crate::text::Safe;

/// From this height on the leases of the worker under the cursor have a place below the table.
const WITH_LEASES: u16 = 16;

/// The order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Order {
    /// Expired leases first, then those not heard of for longest.
    #[default]
    Worst,
    /// Most leases first.
    Held,
    /// The oldest attempt first.
    Oldest,
    /// By name.
    Name,
}

impl Order {
    fn next(self) -> Self {
        match self {
            Self::Worst => Self::Held,
            Self::Held => Self::Oldest,
            Self::Oldest => Self::Name,
            Self::Name => Self::Worst,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Worst => "worst first",
            Self::Held => "most leases first",
            Self::Oldest => "oldest attempt first",
            Self::Name => "by name",
        }
    }

    fn sort(self, rows: &mut [&WorkerStats], now: Time) {
        let some = |time: Option<Time>| time.unwrap_or(Time::Infinity);
        // Compared in place: a frame sorts, and must not copy a thousand names.
        rows.sort_by(|a, b| {
            let first = match self {
                Self::Worst => {
                    worst(b, now).cmp(&worst(a, now)).then_with(|| some(a.last_heartbeat).cmp(&some(b.last_heartbeat)))
                }
                Self::Held => b.held.get().cmp(&a.held.get()),
                Self::Oldest => some(a.oldest_claim).cmp(&some(b.oldest_claim)),
                Self::Name => a.name.cmp(&b.name),
            };
            first.then_with(|| a.id.cmp(&b.id))
        });
    }
}

/// What counts most: leases that ran out, then silence, then leases at all.
fn worst(worker: &WorkerStats, now: Time) -> (u64, bool, bool) {
    let expired = worker.expired.get().unwrap_or(0);
    (expired, cells::silent_for(worker, now).is_some(), worker.held.get().is_some_and(|n| n > 0))
}

/// Who works.
#[derive(Debug, Default)]
pub struct WorkersPane {
    read: Option<Workers>,
    /// The latest reading failed, in words.
    trouble: Option<String>,
    order: Order,
    cursor: Cursor<String>,
}

impl WorkersPane {
    /// Rows that the follow and the filter let through, in order.
    fn rows<'a>(&'a self, ctx: &Ctx<'_>) -> Vec<&'a WorkerStats> {
        let all = self.read.as_ref().and_then(|read| read.workers.value()).map_or(&[] as &[_], Vec::as_slice);
        let wanted = ctx.filter.to_lowercase();
        let contains = |text: &str| text.to_lowercase().contains(&wanted);
        let mut rows: Vec<&WorkerStats> = all
            .iter()
            .filter(|w| {
                wanted.is_empty()
                    || contains(&w.id)
                    || [&w.name, &w.host].into_iter().flatten().any(|text| contains(text))
                    || w.queues.iter().any(|queue| contains(&queue.name))
            })
            .collect();
        self.order.sort(&mut rows, ctx.now);
        rows
    }

    fn table(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(body_height) = area.height.checked_sub(1) else { return };
        let (mut cursor, rows) = (self.cursor.clone(), self.rows(ctx));
        let at = cursor.settle(rows.iter().map(|w| &w.id).collect::<Vec<_>>().into_iter());
        cursor.drawn_in(Rect { y: area.y + 1, height: body_height, ..area });
        let top = cursor.scroll(usize::from(body_height), rows.len());
        let body = Rect { y: area.y + 1, height: body_height, ..area };
        let columns = cells::columns(ctx.times);
        let grid = Grid::new(&columns, area.width);
        grid.head(buf, area, &columns, None, ctx.theme);
        for (line, (index, worker)) in (0..body.height).zip(rows.iter().enumerate().skip(top)) {
            let here = at == Some(index);
            grid.row(buf, body, line, &columns, &cells::row(worker, ctx, here));
            if here && ctx.focused {
                buf.set_style(Rect { y: body.y + line, height: 1, ..body }, ctx.theme.cursor);
            }
        }
        self.cursor = cursor;
    }

    /// The leases of the worker under the cursor, those that the snapshot holds.
    fn leases(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(id) = self.cursor.key() else { return };
        let all = ctx.snapshot.and_then(|s| s.leases.value()).map_or(&[] as &[_], Vec::as_slice);
        let jobs: Vec<&Job> =
            all.iter().map(|lease| &lease.job).filter(|job| job.worker.as_ref() == Some(id)).collect();
        let name = Safe::new(id);
        let heading = format!(" LEASES of {}: {}, soonest end first", fmt::short_id(name.as_str()), jobs.len());
        put(buf, area, 0, &heading, ctx.theme.heading);
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        if jobs.is_empty() {
            say(buf, body, ctx.theme, "it holds nothing among the leases that were read");
            return;
        }
        super::jobs::plain_list(body, buf, ctx, &jobs);
    }

    fn words(&self, ctx: &Ctx<'_>) -> String {
        match (&self.read, &self.trouble) {
            (None, Some(why)) => format!("workers could not be read: {}", Safe::first_line(why)),
            (None, None) => "reading workers".to_owned(),
            (Some(read), _) => match (&read.workers, ctx.filter.is_empty()) {
                (Reading::Denied, _) => "workers: denied for this role".to_owned(),
                (Reading::Unknown | Reading::NotApplicable, _) => "workers: not known".to_owned(),
                (_, true) => "nobody works: no job is running, and no worker registered within a day".to_owned(),
                (_, false) => format!("no worker contains \"{}\"", Safe::new(ctx.filter)),
            },
        }
    }
}

/// The jobs that a worker holds.
fn jobs_of(worker: &str) -> Filter {
    let held = [JobState::Running, JobState::Expired].map(StateWord::One);
    Filter::default().and(TextField::Worker, worker).with_states(held.to_vec())
}

impl Pane for WorkersPane {
    fn name(&self) -> &'static str {
        "workers"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let Some(read) = &self.read else { return "LEASES AND WORKERS".to_owned() };
        let rows = self.rows(ctx);
        let silent = rows.iter().filter(|w| cells::silent_for(w, ctx.now).is_some()).count();
        let more = if matches!(read.workers, Reading::AtLeast(_)) { "+" } else { "" };
        let mut parts = vec![format!("LEASES AND WORKERS  {}{more} workers, {}", rows.len(), self.order.words())];
        parts.extend((silent > 0).then(|| format!("{silent} not heard of for two leases")));
        parts.push(format!("read {}", ctx.ago(read.taken_at)));
        parts.extend(read.note.as_ref().map(|note| Safe::first_line(note).into()));
        parts.extend(self.trouble.as_ref().map(|why| format!("not read again: {}", Safe::first_line(why))));
        parts.join(" · ")
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::Workers, Scope::List]
    }

    fn on_command(&mut self, command: Command, ctx: &Ctx<'_>) -> Option<Ask> {
        let ids: Vec<String> = self.rows(ctx).into_iter().map(|w| w.id.clone()).collect();
        if let Some(step) = movement(command) {
            self.cursor.step(ids.iter(), step);
            return None;
        }
        match command {
            Command::Sort => {
                self.order = self.order.next();
                None
            }
            Command::Inspect => self.cursor.key().filter(|id| ids.contains(id)).map(|id| Ask::ShowJobs(jobs_of(id))),
            Command::Copy => self.cursor.key().cloned().map(Ask::Copy),
            _ => None,
        }
    }

    fn on_click(&mut self, at: Position, ctx: &Ctx<'_>) -> bool {
        let ids: Vec<String> = self.rows(ctx).into_iter().map(|w| w.id.clone()).collect();
        self.cursor.click(at, ids.iter())
    }

    fn panel(&self) -> Option<PanelKind> {
        Some(PanelKind::Workers)
    }

    fn on_panel(&mut self, panel: &Panel, ctx: &Ctx<'_>) {
        if let Panel::Workers(read) = panel {
            (self.read, self.trouble) = (Some(read.clone()), None);
            let ids: Vec<String> = self.rows(ctx).into_iter().map(|w| w.id.clone()).collect();
            self.cursor.settle(ids.iter());
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
        let rows = self.rows(ctx).len();
        if rows == 0 {
            say(buf, area, ctx.theme, &self.words(ctx));
        } else if area.height >= WITH_LEASES {
            let most = area.height * 3 / 5;
            let height = u16::try_from(rows + 1).unwrap_or(most).clamp(4, most);
            self.table(Rect { height, ..area }, buf, ctx);
            let below = area.height - height - 1;
            self.leases(Rect { y: area.y + height + 1, height: below, ..area }, buf, ctx);
        } else {
            self.table(area, buf, ctx);
        }
        dim_if_stale(buf, area, ctx);
    }
}
