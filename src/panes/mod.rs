//! Panes: regions of a view. One file a pane, one line in [`overview`]. A pane keeps its own cursor and sort, draws from a
//! [`Ctx`] and answers commands with an [`Ask`]. It knows no database and no `App`.

pub mod attempts;
pub mod dead;
pub mod failures;
mod followed;
pub mod jobs;
pub mod leases;
pub(crate) mod parts;
pub mod queues;
mod rows;
pub mod throughput;
pub mod workers;

use std::collections::BTreeMap;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::keymap::{Command, Scope};
use crate::model::spelling::suggestion;
use crate::model::{
    Filter, Finding, History, Job, JobRef, Page, PageRequest, Panel, PanelKind, QueueId, ServerFacts, Snapshot, Time,
};
use crate::theme::Theme;

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeStyle {
    /// "4m12s ago", "in 5m".
    #[default]
    Relative,
    /// Absolute, UTC.
    Utc,
    /// Absolute, this machine's zone.
    Local,
}

/// Which columns tables show, by their places in the tables' own order; `None`: all of them as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Of the table of queues.
    pub queues: Option<Vec<usize>>,
    /// Of the list of jobs.
    pub jobs: Option<Vec<usize>>,
}

impl Arrangement {
    /// From names as the settings have them.
    ///
    /// # Errors
    /// The table, and the name that is unknown (with the known ones) or there twice, or that there is none.
    pub fn new(queues: Option<&[String]>, jobs: Option<&[String]>) -> Result<Self, (&'static str, String)> {
        let places =
            |wanted: Option<&[String]>, heads: &[&'static str]| wanted.map(|names| places_of(names, heads)).transpose();
        Ok(Self {
            queues: places(queues, &queues::heads()).map_err(|why| ("queues", why))?,
            jobs: places(jobs, &jobs::heads()).map_err(|why| ("jobs", why))?,
        })
    }
}

fn places_of(names: &[String], heads: &[&'static str]) -> Result<Vec<usize>, String> {
    let mut places = Vec::new();
    for name in names {
        let known: Vec<&str> = heads.iter().copied().filter(|head| !head.is_empty()).collect();
        let place = heads
            .iter()
            .position(|head| head == name && !head.is_empty())
            .ok_or_else(|| format!("no column `{name}`{}", suggestion(name, &known)))?;
        if places.contains(&place) {
            return Err(format!("column `{name}` is there twice"));
        }
        places.push(place);
    }
    if places.is_empty() { Err("at least one column".into()) } else { Ok(places) }
}

/// Marked jobs with their fences as seen when they were marked.
pub type Marks = BTreeMap<JobRef, Job>;

/// Everything a pane may look at while it draws or answers.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// The last good reading; `None` before the first.
    pub snapshot: Option<&'a Snapshot>,
    /// What the rules say of it, worst first.
    pub findings: &'a [Finding],
    /// What happened over time.
    pub history: &'a History,
    /// The server, once connected.
    pub server: Option<&'a ServerFacts>,
    /// The queue that the panes follow; `None`: all of them.
    pub queue: Option<&'a QueueId>,
    /// Marked jobs.
    pub marks: &'a Marks,
    /// The server's time now.
    pub now: Time,
    /// The data is older than it should be: draw it dimmed.
    pub stale: bool,
    /// Length of the time range of charts.
    pub range: Duration,
    /// How times are written.
    pub times: TimeStyle,
    /// Styles and signs.
    pub theme: &'a Theme,
    /// Literal text that queues and jobs must contain; empty: no filter.
    pub filter: &'a str,
    /// Which columns tables show.
    pub arrangement: &'a Arrangement,
    /// This pane takes the keys.
    pub focused: bool,
}

/// What a pane asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// The panes follow this queue from now on.
    Follow(QueueId),
    /// Open one job.
    Inspect(JobRef),
    /// Show the jobs behind a number.
    ShowJobs(Filter),
    /// Read a page.
    Read(PageRequest),
    /// Mark these jobs.
    MarkAll(Vec<Job>),
    /// Put a text on the clipboard.
    Copy(String),
}

/// A region of a view.
pub trait Pane {
    /// One short word, for tabs.
    fn name(&self) -> &'static str;

    /// The heading line: name, what is shown, units. Foreign text only through `text::Safe`.
    fn title(&self, ctx: &Ctx<'_>) -> String;

    /// Scopes of keys that count while this pane is focused, innermost first.
    fn scopes(&self) -> &'static [Scope] {
        &[]
    }

    /// Answers a movement or a command of its own (sort, range marks, `Inspect` where a row is no job). `None`: nothing to
    /// ask. Acting on, marking, copying and inspecting the job under the cursor are done by the app for every pane alike,
    /// through [`Pane::current_job`].
    fn on_command(&mut self, _command: Command, _ctx: &Ctx<'_>) -> Option<Ask> {
        None
    }

    /// A click on a place of the screen: the cursor goes to the row there. True: it was there already.
    fn on_click(&mut self, _at: Position, _ctx: &Ctx<'_>) -> bool {
        false
    }

    /// The job under the cursor, where rows are jobs.
    fn current_job<'a>(&'a self, _ctx: &Ctx<'a>) -> Option<&'a Job> {
        None
    }

    /// The queue under the cursor, where rows are queues: the panes below follow it.
    fn current_queue(&self, _ctx: &Ctx<'_>) -> Option<QueueId> {
        None
    }

    /// The reading changed: put the cursor back on its id, or on nothing.
    fn on_snapshot(&mut self, _ctx: &Ctx<'_>) {}

    /// A page arrived.
    fn on_page(&mut self, _page: &Page) {}

    /// The reading that a full view shows besides the snapshot; it is read again and again while it is on screen.
    fn panel(&self) -> Option<PanelKind> {
        None
    }

    /// That reading arrived.
    fn on_panel(&mut self, _panel: &Panel, _ctx: &Ctx<'_>) {}

    /// That reading failed, for this reason; what is on screen stays.
    fn on_panel_failed(&mut self, _reason: &str) {}

    /// Draws into `area` (below the title line, which the app draws). Total for any size and any data.
    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>);
}

/// The panes of the overview, in the order of `Tab`: the table of queues first.
#[must_use]
pub fn overview() -> Vec<Box<dyn Pane>> {
    vec![
        Box::new(queues::Queues::default()),
        Box::new(throughput::Throughput::default()),
        Box::new(leases::Leases::default()),
        Box::new(attempts::Attempts),
        Box::new(failures::FailuresPane::default()),
    ]
}

/// The full views beside the list of jobs, in the order of their number keys.
#[must_use]
pub fn full() -> Vec<Box<dyn Pane>> {
    vec![Box::new(workers::WorkersPane::default()), Box::new(dead::DeadLetters::default())]
}
