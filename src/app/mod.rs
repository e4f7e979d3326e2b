//! The program's core: messages in, effects out, and a drawing of the state between. No IO, no clock, no runtime.
//!
//! ```text
//!  header    target, server, role, TLS, push or poll, age and cost, clock          header.rs
//!  verdict   what is worst, in words                                               header.rs
//!  queues    ┐
//!  panes     ┘ one file each in `panes`; overlays above them in `overlays`         draw.rs
//!  footer    keys that count now, or the answer to the last action                 footer.rs
//! ```

mod act;
mod detail;
mod draw;
mod filter;
mod footer;
mod header;
mod keys;
mod mouse;
mod overlay;
mod panel;
mod undo;
mod update;
pub mod world;

use std::time::Duration;

use crate::model::{Again, Job, Redaction};
use crate::msg::Effect;
use crate::panes::jobs::Jobs;
use crate::panes::{self, Ctx, Pane};
use mouse::Places;
use undo::Undo;
use world::World;

pub use overlay::Overlay;

/// What the settings say that the core needs to know.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    /// Refuse every action.
    pub read_only: bool,
    /// More jobs than this are confirmed by typing.
    pub typed_above: usize,
    /// `database@host` that are not production although not local.
    pub not_production: Vec<String>,
    /// Whether the settings call the target production; `None`: they say nothing.
    pub production: Option<bool>,
    /// Saved filters: name and text.
    pub filters: Vec<(String, String)>,
    /// What of payloads is hidden.
    pub redaction: Redaction,
    /// Shown on a key: how to look into the demo's database.
    pub psql_line: Option<String>,
}

/// Which view fills the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Queues and the panes about them.
    Overview,
    /// The list of jobs.
    Jobs,
    /// One of `panes::full`, by its place there.
    Full(usize),
}

/// A line for the operator in place of the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Notice {
    text: String,
    good: bool,
    until: Duration,
}

/// The whole program without its surroundings.
pub struct App {
    /// What is known.
    pub world: World,
    guards: Guards,
    view: View,
    overview: Vec<Box<dyn Pane>>,
    jobs: Jobs,
    full: Vec<Box<dyn Pane>>,
    /// The reading of the full view on screen.
    panel: Again,
    focus: usize,
    lower: usize,
    zoomed: bool,
    /// What lies over the view, the topmost last: it takes the keys.
    overlays: Vec<Overlay>,
    places: Places,
    /// The jobs of the action on its way, as they were seen.
    acting: Vec<Job>,
    /// Filters that were typed, the latest last.
    filters: Vec<String>,
    /// What can be undone, the latest last.
    undo: Vec<Undo>,
    notice: Option<Notice>,
    refused: Option<String>,
}

/// Notices stay this long, or until the next key.
const NOTICE_FOR: Duration = Duration::from_secs(20);
/// Where the pane of leases stands in `panes::overview`: what the small layout shows first below the queues.
const FIRST_LOWER: usize = 2;

impl App {
    /// A program that knows nothing yet.
    #[must_use]
    pub fn new(world: World, guards: Guards) -> Self {
        Self {
            world,
            guards,
            view: View::Overview,
            overview: panes::overview(),
            jobs: Jobs::default(),
            full: panes::full(),
            panel: Again::default(),
            focus: 0,
            lower: FIRST_LOWER,
            zoomed: false,
            overlays: Vec::new(),
            places: Places::new(),
            acting: Vec::new(),
            filters: Vec::new(),
            undo: Vec::new(),
            notice: None,
            refused: None,
        }
    }

    /// The view on screen.
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }

    /// The overlay that takes the keys.
    #[must_use]
    pub fn overlay(&self) -> Option<&Overlay> {
        self.overlays.last()
    }

    /// Why the first contact was refused, if it was.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    fn focused(&self) -> &dyn Pane {
        match self.view {
            View::Overview => self.overview[self.focus].as_ref(),
            View::Jobs => &self.jobs,
            View::Full(index) => self.full[index].as_ref(),
        }
    }

    /// The pane that takes the keys, and what it may look at.
    fn focused_mut(&mut self) -> (&mut dyn Pane, Ctx<'_>) {
        let pane: &mut dyn Pane = match self.view {
            View::Overview => self.overview[self.focus].as_mut(),
            View::Jobs => &mut self.jobs,
            View::Full(index) => self.full[index].as_mut(),
        };
        (pane, self.world.ctx(true))
    }

    fn notify(&mut self, text: impl Into<String>, good: bool) {
        self.notice = Some(Notice { text: text.into(), good, until: self.world.mono + NOTICE_FOR });
    }
}

/// What `update` answers: usually nothing to do.
type Effects = Vec<Effect>;
