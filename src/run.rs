//! The event loop: one `select!` over input, frames, tasks, messages and the clock. It awaits no IO: what takes time runs in
//! tasks that an [`Executor`] starts, and comes back as a [`Msg`].

use std::future::pending;
use std::time::Duration;

use color_eyre::eyre::{Report, eyre};
use crossterm::event::{Event, MouseButton, MouseEvent, MouseEventKind};
use futures::{Stream, StreamExt};
use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::layout::Position;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::app::App;
use crate::msg::{Effect, Msg, Pointer, Turn};

/// Two frames are never closer together than this.
const FRAME: Duration = Duration::from_millis(33);
/// The clock ticks this often; ages on screen have whole seconds.
const TICK: Duration = Duration::from_secs(1);

/// Who is to stop when the program is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspend {
    /// The typed key: the whole foreground job, as the shell expects.
    Job,
    /// A signal from outside: this process.
    Process,
}

/// What the surroundings tell the loop besides keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// A signal asks to end; its number.
    End(i32),
    /// A signal asks to suspend.
    Suspend,
    /// The terminal is gone.
    TerminalLost,
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The operator quit.
    Quit,
    /// A signal; its number.
    Signal(i32),
    /// The terminal went away.
    TerminalLost,
}

/// Carries out effects. The only way from the loop to the database and the terminal.
pub trait Executor {
    /// Starts what an effect asks for; must not wait. Long work goes into `tasks`.
    fn start(&mut self, effect: Effect, tasks: &mut JoinSet<()>);

    /// Gives the terminal back to the shell and returns after the program was continued. The only call that blocks: there is
    /// nothing to draw on meanwhile.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
    fn suspend(&mut self, who: Suspend) -> std::io::Result<()>;
}

/// What the loop listens to.
pub struct Sources<S, O> {
    /// Keys, pastes and sizes.
    pub input: S,
    /// Signals and the loss of the terminal.
    pub outside: O,
    /// Results of tasks.
    pub messages: mpsc::Receiver<Msg>,
    /// Long-running tasks; one that dies unexpectedly ends the program.
    pub tasks: JoinSet<()>,
}

enum Next {
    Input(Option<std::io::Result<Event>>),
    Outside(Option<Outside>),
    Frame,
    Task(Result<(), JoinError>),
    Message(Option<Msg>),
    Clock,
}

/// Runs the program until it ends.
///
/// # Errors
/// When the terminal cannot be drawn on, or a task died.
pub async fn run<B, S, O>(
    terminal: &mut Terminal<B>,
    mut sources: Sources<S, O>,
    app: &mut App,
    executor: &mut dyn Executor,
) -> Result<Ended, Report>
where
    B: Backend,
    B::Error: Send + Sync + 'static,
    S: Stream<Item = std::io::Result<Event>> + Unpin,
    O: Stream<Item = Outside> + Unpin,
{
    let start = Instant::now();
    let mut clock = interval(TICK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut frame_at = Some(start);
    let mut drawn_at = start;
    loop {
        let next = next(&mut sources, frame_at, &mut clock).await;
        let msg = match next {
            Next::Input(None) | Next::Outside(Some(Outside::TerminalLost)) => return Ok(Ended::TerminalLost),
            Next::Input(Some(event)) => translate(event?),
            Next::Outside(Some(Outside::End(signal))) => return Ok(Ended::Signal(signal)),
            Next::Outside(Some(Outside::Suspend)) => {
                suspend(terminal, executor, Suspend::Process)?;
                None
            }
            Next::Outside(None) => None,
            Next::Task(ended) => {
                ended.map_err(|e| eyre!("a background task died: {e}"))?;
                None
            }
            Next::Message(None) => return Err(eyre!("every background task is gone")),
            Next::Message(Some(msg)) => Some(msg),
            Next::Clock => Some(Msg::Clock(start.elapsed())),
            Next::Frame => {
                terminal.draw(|frame| app.draw(frame.area(), frame.buffer_mut()))?;
                frame_at = None;
                drawn_at = Instant::now();
                continue;
            }
        };
        // Time first, so that whatever happened is judged by the present clock.
        app.update(Msg::Clock(start.elapsed()));
        for effect in msg.map(|msg| app.update(msg)).unwrap_or_default() {
            match effect {
                Effect::Quit => return Ok(Ended::Quit),
                Effect::Suspend => suspend(terminal, executor, Suspend::Job)?,
                Effect::Repaint => repaint(terminal)?,
                effect => executor.start(effect, &mut sources.tasks),
            }
        }
        frame_at = frame_at.or_else(|| Some(Instant::now().max(drawn_at + FRAME)));
    }
}

async fn next<S, O>(sources: &mut Sources<S, O>, frame_at: Option<Instant>, clock: &mut tokio::time::Interval) -> Next
where
    S: Stream<Item = std::io::Result<Event>> + Unpin,
    O: Stream<Item = Outside> + Unpin,
{
    let frame = async {
        match frame_at {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
    };
    tokio::select! {
        biased;
        outside = sources.outside.next() => Next::Outside(outside),
        event = sources.input.next() => Next::Input(event),
        () = frame => Next::Frame,
        Some(ended) = sources.tasks.join_next() => Next::Task(ended),
        msg = sources.messages.recv() => Next::Message(msg),
        _ = clock.tick() => Next::Clock,
    }
}

fn translate(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Some(Msg::Key(key)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(columns, rows) => Some(Msg::Resized(columns, rows)),
        Event::Mouse(mouse) => pointer(mouse).map(Msg::Mouse),
        Event::FocusGained | Event::FocusLost => None,
    }
}

fn pointer(event: MouseEvent) -> Option<Pointer> {
    let at = Position { x: event.column, y: event.row };
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Pointer::Click(at)),
        MouseEventKind::ScrollUp => Some(Pointer::Wheel(at, Turn::Up)),
        MouseEventKind::ScrollDown => Some(Pointer::Wheel(at, Turn::Down)),
        _ => None,
    }
}

fn suspend<B: Backend>(terminal: &mut Terminal<B>, executor: &mut dyn Executor, who: Suspend) -> Result<(), Report>
where
    B::Error: Send + Sync + 'static,
{
    executor.suspend(who)?;
    repaint(terminal)
}

/// Forgets what is on screen, so that the next frame writes all of it. `Terminal::clear` would ask for the cursor.
fn repaint<B: Backend>(terminal: &mut Terminal<B>) -> Result<(), Report>
where
    B::Error: Send + Sync + 'static,
{
    let area = terminal.size()?;
    terminal.resize(ratatui::layout::Rect::new(0, 0, area.width, area.height))?;
    Ok(())
}
