//! The one place that turns effects into engine calls and results into messages.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, block_in_place};

use crate::db::Connector;
use crate::engine::act::{self, Order};
use crate::engine::browse::{self, Sessions};
use crate::engine::{Event, Pace, Wake};
use crate::model::{DetailRequest, PageRequest, PanelKind, PartRequest, QueueId};
use crate::msg::{Effect, Msg};
use crate::run::{Executor, Suspend};

use super::clipboard;
use super::terminal::Screen;

/// The shell does not wait longer than this for the server.
const QUIET_WITHIN: Duration = Duration::from_millis(300);

/// Carries out effects on a database and a terminal.
pub(super) struct Effects {
    /// Makes the session for acting.
    pub connector: Arc<Connector>,
    /// Sessions to read on.
    pub sessions: Sessions,
    /// Rhythm of the poll.
    pub pace: watch::Sender<Pace>,
    /// Wakes the poll.
    pub wake: Arc<Wake>,
    /// Tells the session that listens to stop doing so.
    pub asleep: watch::Sender<bool>,
    /// Whether it listens.
    pub listens: watch::Receiver<bool>,
    /// Where results go.
    pub messages: mpsc::Sender<Msg>,
    /// The terminal.
    pub screen: Screen,
}

impl Executor for Effects {
    fn start(&mut self, effect: Effect, tasks: &mut JoinSet<()>) {
        match effect {
            Effect::PollNow => self.wake.now.notify_one(),
            Effect::SetInterval(every) => self.pace.send_modify(|pace| pace.interval = every),
            Effect::ReadPage(request) => self.read_page(request, tasks),
            Effect::ReadPanel(kind) => self.read_panel(kind, tasks),
            Effect::ReadHistory { back, span } => self.read_history(back, span, tasks),
            Effect::ReadDetail(request) => self.read_detail(request, tasks),
            Effect::ReadPart(request) => self.read_part(request, tasks),
            Effect::Act { action, targets, reason } => self.act(Order { action, targets, reason }, tasks),
            Effect::SetPaused { queue, paused, reason } => self.set_paused(queue, paused, reason, tasks),
            Effect::Mouse(on) => self.screen.mouse(on),
            Effect::Copy(text) => {
                if let Err(error) = clipboard::copy(&text) {
                    tracing::warn!(%error, "the clipboard could not be written");
                }
            }
            // The loop itself does these.
            Effect::Quit | Effect::Suspend | Effect::Repaint => {}
        }
    }

    fn suspend(&mut self, who: Suspend) -> std::io::Result<()> {
        self.stop_listening();
        let back = self.screen.suspend(who);
        self.asleep.send_replace(false);
        back
    }
}

impl Effects {
    /// Takes LISTEN back before nobody reads any more, as far as the server answers in time.
    fn stop_listening(&mut self) {
        self.asleep.send_replace(true);
        let quiet = tokio::time::timeout(QUIET_WITHIN, self.listens.wait_for(|listens| !*listens));
        let _too_slow = block_in_place(|| Handle::current().block_on(quiet)).is_err();
    }

    fn read_page(&self, request: PageRequest, tasks: &mut JoinSet<()>) {
        let (sessions, messages) = (self.sessions.clone(), self.messages.clone());
        tasks.spawn(async move {
            let msg = match browse::page(&sessions, &request).await {
                Ok(page) => Msg::PageRead(Box::new(page)),
                Err(error) => Msg::PageFailed { request, reason: error.to_string() },
            };
            deliver(&messages, msg).await;
        });
    }

    fn read_panel(&self, kind: PanelKind, tasks: &mut JoinSet<()>) {
        let (sessions, messages) = (self.sessions.clone(), self.messages.clone());
        tasks.spawn(async move {
            let msg = match browse::panel(&sessions, kind).await {
                Ok(panel) => Msg::PanelRead(Box::new(panel)),
                Err(error) => Msg::PanelFailed { kind, reason: error.to_string() },
            };
            deliver(&messages, msg).await;
        });
    }

    fn read_history(&self, back: Duration, span: Duration, tasks: &mut JoinSet<()>) {
        let (sessions, messages) = (self.sessions.clone(), self.messages.clone());
        tasks.spawn(async move {
            let msg = match browse::history(&sessions, back, span).await {
                Ok(series) => Msg::HistoryRead(series),
                Err(error) => Msg::HistoryFailed(error.to_string()),
            };
            deliver(&messages, msg).await;
        });
    }

    fn read_detail(&self, request: DetailRequest, tasks: &mut JoinSet<()>) {
        let (sessions, messages) = (self.sessions.clone(), self.messages.clone());
        tasks.spawn(async move {
            let read = browse::detail(&sessions, &request).await;
            let job = request.job;
            let msg = match read {
                Ok(detail) => Msg::DetailRead { job, detail: detail.map(Box::new) },
                Err(error) => Msg::DetailFailed { job, reason: error.to_string() },
            };
            deliver(&messages, msg).await;
        });
    }

    fn read_part(&self, request: PartRequest, tasks: &mut JoinSet<()>) {
        let (sessions, messages) = (self.sessions.clone(), self.messages.clone());
        tasks.spawn(async move {
            let msg = match browse::part(&sessions, &request).await {
                Ok(read) => Msg::PartRead { request, read: Box::new(read) },
                Err(error) => Msg::PartFailed { request, reason: error.to_string() },
            };
            deliver(&messages, msg).await;
        });
    }

    fn act(&self, order: Order, tasks: &mut JoinSet<()>) {
        let (connector, sessions) = (Arc::clone(&self.connector), self.sessions.clone());
        let messages = self.messages.clone();
        tasks.spawn(async move {
            let (action, count) = (order.action, order.targets.len());
            let msg = match act::act(&connector, &sessions, order).await {
                Ok(report) => Msg::Acted(Box::new(report)),
                Err(failure) => Msg::ActFailed { action, count, reason: failure.reason, unknown: failure.unknown },
            };
            deliver(&messages, msg).await;
        });
    }

    fn set_paused(&self, queue: QueueId, paused: bool, reason: Option<String>, tasks: &mut JoinSet<()>) {
        let (connector, sessions) = (Arc::clone(&self.connector), self.sessions.clone());
        let messages = self.messages.clone();
        tasks.spawn(async move {
            let msg = match act::set_paused(&connector, &sessions, &queue, paused, reason.as_deref()).await {
                Ok(changed) => Msg::Paused { queue, paused, changed },
                Err(failure) => Msg::PauseFailed { queue, reason: failure.reason },
            };
            deliver(&messages, msg).await;
        });
    }
}

/// Hands a message to the loop; when the loop is gone, so is the need.
async fn deliver(messages: &mpsc::Sender<Msg>, msg: Msg) {
    let _ended = messages.send(msg).await;
}

/// What the engine tells, as messages. Ends when the engine does or the loop is gone.
pub(super) async fn forward(mut events: mpsc::Receiver<Event>, messages: mpsc::Sender<Msg>) {
    while let Some(event) = events.recv().await {
        if messages.send(message(event)).await.is_err() {
            return;
        }
    }
}

fn message(event: Event) -> Msg {
    match event {
        Event::Connecting { target, attempt } => Msg::Connecting { target, attempt },
        Event::Connected(facts) => Msg::Connected(facts),
        Event::Lost { reason, retry_in, connected } => Msg::Lost { reason, retry_in, connected },
        Event::Polled(snapshot) => Msg::Polled(snapshot),
        Event::HistoryRead(series) => Msg::HistoryRead(series),
        Event::PushState { live, note } => Msg::PushState { live, note },
        Event::Rhythm { every, load, cost, sharers } => Msg::Rhythm { every, load, cost, sharers },
    }
}
