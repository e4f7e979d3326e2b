//! The jobs behind any number: one page of rows at a time, paged by key. The screen stays on its page and the cursor on
//! its job while rows come and go.
//!
//! ```text
//!    job       queue     state     tries when            worker    error
//! ▸✗ 8c1f…e2   webhooks  expired     3/8 beat 9m12s ago  7f3a…01   timeout connecting to smtp.example
//! ```

mod cells;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::parts::{Cursor, Grid, Move, arranged, dim_if_stale, movement, say};
use super::{Ask, Ctx, Pane};
use crate::fmt;
use crate::keymap::{Command, Scope};
use crate::model::again;
use crate::model::page::WINDOW_ROWS;
use crate::model::sort::Served;
use crate::model::{Filter, Job, JobRef, Page, PageCursor, PageRequest, Reading, Sort, Time};
use crate::text::Safe;

pub(super) use cells::tries;

/// The names of the columns, in their usual order.
#[must_use]
pub fn heads() -> Vec<&'static str> {
    cells::heads()
}

/// Rows of one page.
const PAGE: u32 = 200;
/// How long a page may be on its way.
const PATIENCE: Duration = Duration::from_secs(10);

/// A list of jobs.
#[derive(Debug, Default)]
pub struct Jobs {
    filter: Filter,
    sort: Sort,
    /// Where each page before this one began, and this one: the way back.
    starts: Vec<Option<PageCursor>>,
    page: Option<Page>,
    /// The latest reading failed, in words.
    trouble: Option<String>,
    /// Where the cursor goes when the page that was asked for comes.
    arrive: Option<Move>,
    /// When another page was asked for that has not come yet, by the server's clock.
    asked_at: Option<Time>,
    cursor: Cursor<JobRef>,
}

impl Jobs {
    /// A new list from the top: answers with the page to read.
    pub fn open(&mut self, filter: Filter) -> PageRequest {
        *self = Self { filter, arrive: Some(Move::First), ..Self::default() };
        self.request()
    }

    /// The same rows again; `None` while a page is on its way. A page that does not come is asked for again.
    #[must_use]
    pub fn refresh(&self, ctx: &Ctx<'_>) -> Option<PageRequest> {
        let waits = self.asked_at.is_some_and(|at| ctx.now >= at && ctx.now < at.plus(PATIENCE));
        // As rarely as its cost demands.
        let fresh = self.page.as_ref().is_some_and(|page| ctx.now < page.taken_at.plus(again::rest(page.cost)));
        let rests = waits || fresh;
        (!rests).then(|| self.request())
    }

    /// The page that is on screen.
    #[must_use]
    pub fn request(&self) -> PageRequest {
        let after = self.starts.last().cloned().flatten();
        PageRequest { filter: self.filter.clone(), sort: self.sort, after, limit: PAGE }
    }

    /// What the list shows.
    #[must_use]
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The page could not be read; the rows on screen stay.
    pub fn on_page_failed(&mut self, request: &PageRequest, reason: &str) {
        if *request == self.request() {
            self.asked_at = None;
            self.trouble = Some(reason.to_owned());
        }
    }

    fn rows(&self) -> &[Job] {
        self.page.as_ref().and_then(|page| page.jobs.value()).map_or(&[], Vec::as_slice)
    }

    /// Past the last row comes the next page, before the first the one before.
    fn turn(&mut self, step: Move, now: Time) -> Option<Ask> {
        let at = self.rows().iter().position(|job| Some(&job.at) == self.cursor.key());
        // A page may be empty and go on: then there is no row to stand on.
        let at = if self.rows().is_empty() { 0 } else { at? };
        let next = self.page.as_ref().and_then(|page| page.next.clone());
        match step {
            Move::By(1) | Move::Pages(1) if at + 1 >= self.rows().len() => {
                self.starts.push(Some(next?));
                self.arrive = Some(Move::First);
            }
            Move::By(-1) | Move::Pages(-1) if at == 0 => {
                self.starts.pop()?;
                self.arrive = Some(Move::Last);
            }
            _ => return None,
        }
        self.asked_at = Some(now);
        Some(Ask::Read(self.request()))
    }

    /// The next order that makes sense for the filter, from the top.
    fn next_sort(&mut self, now: Time) -> Ask {
        let offered = Sort::offered(&self.filter);
        let at = offered.iter().position(|(sort, _)| *sort == self.sort).map_or(0, |at| at + 1);
        self.sort = offered.get(at).map(|(sort, _)| *sort).unwrap_or_default();
        self.starts.clear();
        (self.arrive, self.asked_at) = (Some(Move::First), Some(now));
        Ask::Read(self.request())
    }

    /// `by lease`, and where no index serves that, of how many rows.
    fn sort_words(&self) -> Option<String> {
        let Sort::By { key, descending } = self.sort else { return None };
        let way = if descending { " down" } else { "" };
        let of = match self.sort.served(&self.filter) {
            Served::Index => String::new(),
            Served::Window => format!(" of the first {} rows", fmt::count(WINDOW_ROWS.unsigned_abs())),
        };
        Some(format!("by {}{way}{of}", key.as_str()))
    }

    /// The job under the cursor is not on this page any more.
    fn lost_its_job(&self) -> bool {
        let there = |at: &JobRef| self.rows().iter().any(|job| job.at == *at);
        !self.rows().is_empty() && self.cursor.key().is_some_and(|at| !there(at))
    }

    fn table(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(page) = &self.page else { return };
        let rows = page.jobs.value().map_or(&[] as &[Job], Vec::as_slice);
        let at = self.cursor.settle(rows.iter().map(|job| &job.at));
        let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
        self.cursor.drawn_in(body);
        let top = self.cursor.scroll(usize::from(body.height), rows.len());
        let order = ctx.arrangement.jobs.as_deref();
        let columns = arranged(&cells::columns(self.filter.one_queue().is_some(), ctx.times), order);
        let grid = Grid::new(&columns, area.width);
        grid.head(buf, area, &columns, None, ctx.theme);
        for (line, (index, job)) in (0..body.height).zip(rows.iter().enumerate().skip(top)) {
            let here = at == Some(index);
            let mut row = cells::row(job, ctx, here);
            row.cells = arranged(&row.cells, order);
            grid.row(buf, body, line, &columns, &row);
            if here && ctx.focused {
                buf.set_style(Rect { y: body.y + line, height: 1, ..body }, ctx.theme.cursor);
            }
        }
    }

    fn empty_words(&self) -> String {
        match (self.filter.more(), &self.page) {
            _ if self.trouble.is_some() => {
                format!("jobs could not be read: {}", Safe::first_line(self.trouble.as_deref().unwrap_or_default()))
            }
            (_, None) => "reading jobs".to_owned(),
            (_, Some(page)) if matches!(page.jobs, Reading::Denied) => "jobs: denied for this role".to_owned(),
            (_, Some(page)) if page.jobs.value().is_none() => "jobs: not known".to_owned(),
            (Some(terms), _) => format!("no {} with {}", self.kind(), Safe::new(&terms)),
            (None, _) => format!("no {}", self.kind()),
        }
    }

    /// `live jobs of emails`, `dead jobs`.
    fn kind(&self) -> String {
        let state = self.filter.states().words();
        let queue = self.filter.one_queue().map(|id| format!(" of {}", Safe::new(&id.name).truncate(24)));
        format!("{state} jobs{}", queue.unwrap_or_default())
    }
}

/// Draws jobs as a list without a cursor, as many as there is room for.
pub(super) fn plain_list(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, jobs: &[&Job]) {
    let columns = cells::columns(false, ctx.times);
    let grid = Grid::new(&columns, area.width);
    grid.head(buf, area, &columns, None, ctx.theme);
    for (line, job) in (1..area.height).zip(jobs) {
        grid.row(buf, area, line, &columns, &cells::row(job, ctx, false));
    }
}

impl Pane for Jobs {
    fn name(&self) -> &'static str {
        "jobs"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let more = self.filter.more().map(|terms| format!(" with {}", Safe::new(&terms).truncate(24)));
        let mut parts = vec![format!("JOBS  {}{}", self.kind(), more.unwrap_or_default())];
        if let Some(page) = &self.page {
            let rows = fmt::count(self.rows().len() as u64);
            let more = if page.next.is_some() { "+" } else { "" };
            parts.extend(page.jobs.value().map(|_| match self.starts.len() {
                0 => format!("{rows}{more}"),
                before => format!("page {}, {rows}{more} here", before + 1),
            }));
            parts.extend(self.sort_words());
            parts.extend(self.lost_its_job().then(|| "the job under the cursor is not here any more".to_owned()));
            parts.extend((!ctx.marks.is_empty()).then(|| format!("{} marked", ctx.marks.len())));
            parts.push(format!("read {}", ctx.ago(page.taken_at)));
            parts.extend(page.note.as_ref().map(|note| Safe::first_line(note).into()));
        }
        parts.extend(self.trouble.as_ref().map(|why| format!("not read again: {}", Safe::first_line(why))));
        parts.join(" · ")
    }

    fn scopes(&self) -> &'static [Scope] {
        &[Scope::JobList, Scope::Jobs, Scope::List]
    }

    fn on_command(&mut self, command: Command, ctx: &Ctx<'_>) -> Option<Ask> {
        if command == Command::Sort {
            return Some(self.next_sort(ctx.now));
        }
        if let Some(step) = movement(command) {
            if let Some(ask) = self.turn(step, ctx.now) {
                return Some(ask);
            }
            let rows: Vec<JobRef> = self.rows().iter().map(|job| job.at.clone()).collect();
            self.cursor.step(rows.iter(), step);
            return None;
        }
        let rows: Vec<&Job> = self.rows().iter().collect();
        if command == Command::MarkRange { ctx.mark_range(&rows, self.cursor.key()) } else { None }
    }

    fn on_click(&mut self, at: Position, _ctx: &Ctx<'_>) -> bool {
        let rows: Vec<JobRef> = self.rows().iter().map(|job| job.at.clone()).collect();
        self.cursor.click(at, rows.iter())
    }

    fn current_job<'a>(&'a self, _ctx: &Ctx<'a>) -> Option<&'a Job> {
        self.rows().iter().find(|job| Some(&job.at) == self.cursor.key())
    }

    fn on_page(&mut self, page: &Page) {
        if page.request != self.request() {
            // An answer to a question that is no longer asked.
            return;
        }
        (self.trouble, self.asked_at) = (None, None);
        let empty = page.jobs.value().is_some_and(Vec::is_empty);
        if empty && page.next.is_none() && !self.starts.is_empty() {
            // The page is gone: step back, and the next reading fills it.
            self.starts.pop();
            self.arrive = Some(Move::Last);
            return;
        }
        self.page = Some(page.clone());
        let rows: Vec<JobRef> = self.rows().iter().map(|job| job.at.clone()).collect();
        match self.arrive.take() {
            Some(step) => self.cursor.step(rows.iter(), step),
            None => drop(self.cursor.settle(rows.iter())),
        }
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        if self.rows().is_empty() {
            say(buf, area, ctx.theme, &self.empty_words());
        } else {
            self.table(area, buf, ctx);
        }
        dim_if_stale(buf, area, ctx);
    }
}
