//! What happened ([`Msg`]) and what to do about it ([`Effect`]). These two lists are the program's story.

use std::time::Duration;

use crossterm::event::KeyEvent;
use ratatui::layout::Position;

use crate::model::{
    Action, ActionReport, DetailRequest, Fence, JobDetail, JobRef, Page, PageRequest, Panel, PanelKind, PartRead,
    PartRequest, Point, QueueId, ServerFacts, Snapshot,
};

/// Longer texts are not put on the clipboard: many terminals drop an OSC 52 sequence of more than 100,000 bytes as a whole,
/// and this is what goes into one, in base64.
pub const COPY_MOST: usize = 74_994;

/// A fact, told to `update`.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse, where it is switched on.
    Mouse(Pointer),
    /// The terminal has another size; both in cells.
    Resized(u16, u16),
    /// Time passed: monotonic since the program's start.
    Clock(Duration),
    /// A connection is being made: to where, and which try it is.
    Connecting {
        /// Host label without secrets.
        target: String,
        /// 1 for the first.
        attempt: u32,
    },
    /// Connected; what was found.
    Connected(Box<ServerFacts>),
    /// The very first contact was refused for good: the program ends with this reason.
    Refused(String),
    /// The connection, or one reading, failed.
    Lost {
        /// In plain words, with the next step.
        reason: String,
        /// When the next try comes; `None`: it does not help to try again by itself.
        retry_in: Option<Duration>,
        /// The session is up; only the reading failed.
        connected: bool,
    },
    /// A reading of all numbers.
    Polled(Box<Snapshot>),
    /// Minutes from the database's own history.
    HistoryRead(Vec<(QueueId, Vec<Point>)>),
    /// More of the past could not be read.
    HistoryFailed(String),
    /// How changes are learned: by push or by polling only, and why.
    PushState {
        /// Notifications arrive.
        live: bool,
        /// Why not.
        note: Option<String>,
    },
    /// The rhythm that the load budget allows now.
    Rhythm {
        /// Time from poll to poll.
        every: Duration,
        /// Database time as a share of wall time, 0 to 1.
        load: f64,
        /// Database time of the last poll.
        cost: Duration,
        /// How many dashboards share what the server may lose to them all; 1: this one has what it asked for.
        sharers: u32,
    },
    /// A page of jobs.
    PageRead(Box<Page>),
    /// A page could not be read.
    PageFailed {
        /// What was asked.
        request: PageRequest,
        /// In plain words.
        reason: String,
    },
    /// What a full view shows was read.
    PanelRead(Box<Panel>),
    /// It could not be read.
    PanelFailed {
        /// Which.
        kind: PanelKind,
        /// In plain words.
        reason: String,
    },
    /// A job was read; `None`: it is gone.
    DetailRead {
        /// Which.
        job: JobRef,
        /// What was found.
        detail: Option<Box<JobDetail>>,
    },
    /// A job could not be read.
    DetailFailed {
        /// Which.
        job: JobRef,
        /// In plain words.
        reason: String,
    },
    /// More of a payload or an error was read.
    PartRead {
        /// What was asked.
        request: PartRequest,
        /// What was found.
        read: Box<PartRead>,
    },
    /// It could not be read.
    PartFailed {
        /// What was asked.
        request: PartRequest,
        /// In plain words.
        reason: String,
    },
    /// An action was answered.
    Acted(Box<ActionReport>),
    /// A queue was paused or goes on.
    Paused {
        /// Which.
        queue: QueueId,
        /// It is paused.
        paused: bool,
        /// It was not so before.
        changed: bool,
    },
    /// Pausing a queue, or letting it go on, failed.
    PauseFailed {
        /// Which.
        queue: QueueId,
        /// In plain words.
        reason: String,
    },
    /// An action failed as a whole. When `unknown`, it may have happened.
    ActFailed {
        /// What was asked.
        action: Action,
        /// Of how many jobs.
        count: usize,
        /// In plain words.
        reason: String,
        /// The answer was lost after the question was sent.
        unknown: bool,
    },
}

/// What the mouse did, and where on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// The first button was pressed.
    Click(Position),
    /// The wheel was turned by one step, up or down.
    Wheel(Position, Turn),
}

/// Where the wheel was turned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Away from the hand.
    Up,
    /// Towards the hand.
    Down,
}

/// A request, carried out outside of `update`.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// End the program.
    Quit,
    /// Give the terminal back to the shell until `fg`.
    Suspend,
    /// Let the mouse point, or leave it to the terminal.
    Mouse(bool),
    /// Repaint everything at the next frame.
    Repaint,
    /// Poll now.
    PollNow,
    /// Poll about this often; the load budget may stretch it.
    SetInterval(Duration),
    /// Read a page of jobs.
    ReadPage(PageRequest),
    /// Read what a full view shows.
    ReadPanel(PanelKind),
    /// Read more of the past.
    ReadHistory {
        /// So far back.
        back: Duration,
        /// In spans of this length.
        span: Duration,
    },
    /// Read one job.
    ReadDetail(DetailRequest),
    /// Read more of a payload or an error.
    ReadPart(PartRequest),
    /// Act, exactly on what was seen.
    Act {
        /// What to do.
        action: Action,
        /// The jobs as they were seen.
        targets: Vec<(JobRef, Fence)>,
        /// The operator's reason, for the audit.
        reason: Option<String>,
    },
    /// Pause a queue, or let it go on.
    SetPaused {
        /// Which.
        queue: QueueId,
        /// Pause it.
        paused: bool,
        /// The operator's reason, for the audit.
        reason: Option<String>,
    },
    /// Put a text on the clipboard of the user's terminal (OSC 52); at most [`COPY_MOST`] bytes.
    Copy(String),
}
