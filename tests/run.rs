//! The event loop with made-up input, signals and tasks, on a screen in memory.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use futures::stream::{self, BoxStream, StreamExt};
use queuetop::app::world::World;
use queuetop::app::{App, Guards};
use queuetop::msg::{Effect, Msg};
use queuetop::panes::TimeStyle;
use queuetop::run::{Ended, Executor, Outside, Sources, Suspend, run};
use queuetop::theme::Theme;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Notes what it is asked to do.
#[derive(Default)]
struct Noted {
    effects: Vec<Effect>,
    suspended: Vec<Suspend>,
}

impl Executor for Noted {
    fn start(&mut self, effect: Effect, _tasks: &mut JoinSet<()>) {
        self.effects.push(effect);
    }

    fn suspend(&mut self, who: Suspend) -> io::Result<()> {
        self.suspended.push(who);
        Ok(())
    }
}

type Input = BoxStream<'static, io::Result<Event>>;

struct Rig {
    terminal: Terminal<TestBackend>,
    app: App,
    noted: Noted,
    messages: mpsc::Sender<Msg>,
    received: Option<mpsc::Receiver<Msg>>,
}

impl Rig {
    fn new() -> Self {
        let world = World::new(Theme::default(), TimeStyle::Relative, Duration::from_mins(15), Duration::from_secs(1));
        let (messages, received) = mpsc::channel(64);
        Self {
            terminal: Terminal::new(TestBackend::new(80, 24)).unwrap(),
            app: App::new(world, Guards::default()),
            noted: Noted::default(),
            messages,
            received: Some(received),
        }
    }

    async fn run(&mut self, input: Input, outside: Vec<Outside>, tasks: JoinSet<()>) -> color_eyre::Result<Ended> {
        let sources = Sources {
            input,
            outside: stream::iter(outside).chain(stream::pending()),
            messages: self.received.take().unwrap(),
            tasks,
        };
        run(&mut self.terminal, sources, &mut self.app, &mut self.noted).await
    }

    fn screen(&self) -> String {
        self.terminal.backend().to_string()
    }
}

/// Keys one after the other, then silence.
fn keys(text: &str) -> Input {
    let events: Vec<_> = text.chars().map(key).map(Ok).collect();
    stream::iter(events).chain(stream::pending()).boxed()
}

fn key(c: char) -> Event {
    Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))
}

#[tokio::test(start_paused = true)]
async fn a_key_quits() {
    let ended = Rig::new().run(keys("q"), vec![], JoinSet::new()).await;
    assert_eq!(ended.unwrap(), Ended::Quit);
}

#[tokio::test(start_paused = true)]
async fn signals_end_it_and_say_which() {
    let ended = Rig::new().run(keys(""), vec![Outside::End(15)], JoinSet::new()).await;
    assert_eq!(ended.unwrap(), Ended::Signal(15));
}

#[tokio::test(start_paused = true)]
async fn it_ends_with_its_terminal() {
    let lost = Rig::new().run(keys(""), vec![Outside::TerminalLost], JoinSet::new()).await;
    assert_eq!(lost.unwrap(), Ended::TerminalLost);
    let end_of_input = Rig::new().run(stream::empty().boxed(), vec![], JoinSet::new()).await;
    assert_eq!(end_of_input.unwrap(), Ended::TerminalLost);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_dies_ends_the_program() {
    let mut tasks = JoinSet::new();
    tasks.spawn(async { panic!("the poll fell over") });
    let error = Rig::new().run(keys(""), vec![], tasks).await.unwrap_err();
    assert!(format!("{error:#}").contains("died"), "{error:#}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_done_ends_nothing() {
    let mut tasks = JoinSet::new();
    tasks.spawn(async {});
    let input = stream::once(async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(key('q'))
    });
    let input = input.chain(stream::pending()).boxed();
    assert_eq!(Rig::new().run(input, vec![], tasks).await.unwrap(), Ended::Quit);
}

#[tokio::test(start_paused = true)]
async fn what_is_told_is_drawn_and_keys_answer_while_nothing_else_comes() {
    let mut rig = Rig::new();
    rig.messages.send(Msg::Connecting { target: "app @ db1".into(), attempt: 1 }).await.unwrap();
    let input = stream::iter([Ok(key('?'))]).chain(stream::once(async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)))
    }));
    let ended = rig.run(input.chain(stream::pending()).boxed(), vec![], JoinSet::new()).await;
    assert_eq!(ended.unwrap(), Ended::Quit);
    assert!(rig.screen().contains("Keys and signs"), "{}", rig.screen());
}

#[tokio::test(start_paused = true)]
async fn suspending_repaints_afterwards() {
    let mut rig = Rig::new();
    let input = stream::once(async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(key('q'))
    });
    let outside = vec![Outside::Suspend];
    let ended = rig.run(input.chain(stream::pending()).boxed(), outside, JoinSet::new()).await;
    assert_eq!(ended.unwrap(), Ended::Quit);
    assert_eq!(rig.noted.suspended, [Suspend::Process]);
    assert!(rig.screen().contains("connecting"), "{}", rig.screen());
}
