//! The dashboard: checks the terminal, the settings and the way to the database, then runs the loop.

mod build;
mod clipboard;
pub mod crash;
mod effects;
mod outside;
pub mod terminal;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use color_eyre::eyre::eyre;
use crossterm::event::EventStream;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::app::App;
use crate::args::DashboardArgs;
use crate::backends;
use crate::config::{self, Settings};
use crate::db::{Class, ConnInfo, Connector, DbError, Env, Limits, Purpose, Session, SqlLog, Statement};
use crate::engine::browse::Sessions;
use crate::engine::migrate::{self, MigrateError};
use crate::engine::{Installed, Live, Pace, Poll, Push, Wake};
use crate::keymap;
use crate::model::BackendKind;
use crate::msg::Msg;
use crate::run::{self, Ended, Sources};
use crate::text::Safe;

use self::crash::Crash;
use self::effects::Effects;
use self::terminal::Screen;
use super::target::{self, Chosen};
use super::{CommandError, nothing_there, tell};

/// A database that says no within this time is reported without touching the terminal; after it the screen comes up.
const BEFORE_SCREEN: Duration = Duration::from_millis(25);
/// The same for a local socket, where an answer is a matter of milliseconds unless the machine is busy.
const BEFORE_SCREEN_LOCAL: Duration = Duration::from_millis(300);
/// On the way out, asking the server to drop a running query takes no longer than this for each session.
const CANCEL_WITHIN: Duration = Duration::from_millis(300);
/// Messages in flight to the loop; a slow screen slows the poll.
const IN_FLIGHT: usize = 64;

/// What to show.
pub struct Plan {
    /// Makes sessions.
    pub connector: Arc<Connector>,
    /// The schema named by the operator.
    pub schema: Option<String>,
    /// Looks, rhythm and guards.
    pub settings: Settings,
    /// The name it was chosen by, without `@`.
    pub name: Option<String>,
    /// What the settings say of this database.
    pub target: config::Target,
    /// How to look into the demo's database.
    pub psql_line: Option<String>,
}

/// `queuetop [DSN]`.
///
/// # Errors
/// Wrong usage, a database that cannot be used, a terminal that cannot be drawn on, or a defect.
pub async fn run(args: DashboardArgs, crash: &Crash) -> Result<u8, CommandError> {
    terminal::usable().map_err(CommandError::Usage)?;
    let mut settings = super::load_settings(&args.screen)?;
    super::log::start(args.screen.log.as_deref())?;
    let Chosen { connector, name, target } = target::choose(args.target.dsn.as_deref(), args.screen.config.as_deref())?;
    // The command line wins over the target, the target over the rest of the file.
    if let Some(interval) = target.interval.filter(|_| args.screen.interval.is_none()) {
        settings.poll.interval = interval;
    }
    if let Some(load) = target.load.filter(|_| args.screen.load.is_none()) {
        settings.poll.load = load;
    }
    settings.safety.read_only |= target.read_only;
    let schema = args.target.schema.or_else(|| target.schema.clone());
    let plan = Plan { connector, schema, settings, name, target, psql_line: None };
    show(plan, crash).await
}

/// The way to a database, from a connection string and the surroundings.
///
/// # Errors
/// As wrong usage, naming the setting and its place.
pub fn connector(dsn: Option<&str>) -> Result<Arc<Connector>, CommandError> {
    let info = resolve(dsn)?;
    if info.password_on_command_line() {
        tell::note("the password on the command line can be seen by everybody on this machine; use ~/.pgpass");
    }
    Ok(Arc::new(Connector::new(info, SqlLog::default())))
}

/// The same for a connection string that nobody can see on a command line.
///
/// # Errors
/// As [`connector`].
pub fn quiet_connector(dsn: Option<&str>) -> Result<Arc<Connector>, CommandError> {
    Ok(Arc::new(Connector::new(resolve(dsn)?, SqlLog::default())))
}

fn resolve(dsn: Option<&str>) -> Result<ConnInfo, CommandError> {
    let info = ConnInfo::resolve(dsn, &Env::of_process()).map_err(|error| CommandError::Usage(error.to_string()))?;
    for warning in &info.warnings {
        tell::note(Safe::full(warning));
    }
    Ok(info)
}

/// Shows the dashboard until the operator leaves; answers with the exit status.
///
/// # Errors
/// As [`run()`].
pub async fn show(plan: Plan, crash: &Crash) -> Result<u8, CommandError> {
    let detect = Arc::new(Installed { schema: plan.schema.clone() });
    let mut first = tokio::spawn(first_contact(Arc::clone(&plan.connector), plan.schema.clone()));
    let patience = if plan.connector.target().local_socket { BEFORE_SCREEN_LOCAL } else { BEFORE_SCREEN };
    if let Ok(answer) = tokio::time::timeout(patience, &mut first).await {
        let checked = answer.map_err(|died| CommandError::Defect(eyre!("connecting died: {died}")))?;
        let checked = match checked {
            Err(Refusal::PasswordNeeded) => ask_and_retry(&plan).await,
            other => other,
        };
        checked.map_err(|refusal| CommandError::Failed(refusal.to_string()))?;
        first = tokio::spawn(async { Ok(()) });
    }
    let mut app = build::app(&plan)?;
    if !plan.settings.keys.is_empty() {
        let table = config::key_table(&plan.settings.keys).map_err(|error| CommandError::Usage(error.to_string()))?;
        keymap::install(table);
    }
    let ended = with_screen(&plan, detect, first, &mut app, crash).await;
    let reports = crash.take();
    for report in &reports {
        tell::plain(report);
    }
    if let Some(reason) = app.refused() {
        return Err(CommandError::Failed(reason.to_owned()));
    }
    match ended? {
        Ended::Quit => Ok(0),
        Ended::Signal(number) => Ok(128_u8.saturating_add(u8::try_from(number).unwrap_or(0))),
        Ended::TerminalLost => Ok(129),
    }
}

/// Why the first contact failed for good.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("the server wants a password: set PGPASSWORD or write it into ~/.pgpass")]
    PasswordNeeded,
    #[error("{0}")]
    Db(DbError),
    #[error("{0}")]
    Unusable(String),
}

impl From<DbError> for Refusal {
    fn from(error: DbError) -> Self {
        if error.class == Class::PasswordNeeded { Self::PasswordNeeded } else { Self::Db(error) }
    }
}

/// Connects once and looks what is there, so that a wrong target is said in one line instead of on a screen.
async fn first_contact(connector: Arc<Connector>, schema: Option<String>) -> Result<(), Refusal> {
    let session = match connector.connect(Purpose::Read).await {
        Ok(session) => session,
        // These pass by themselves: the screen waits for it.
        Err(error) if matches!(error.class, Class::StartingUp | Class::TooManyConnections) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    look(&session, &connector, schema.as_deref()).await
}

/// Whether there is something to show on a session.
async fn look(session: &Session, connector: &Connector, schema: Option<&str>) -> Result<(), Refusal> {
    let found = backends::all(session, schema).await?;
    if found.is_empty() {
        return Err(Refusal::Unusable(nothing_there(connector, schema)));
    }
    for backend in found.iter().filter(|backend| backend.kind() == BackendKind::Jobs) {
        refuse_newer(session, backend.schema()).await?;
    }
    Ok(())
}

/// A schema from a newer program may mean other things by the same names. Where its version cannot be read, the numbers
/// are shown as far as they go.
async fn refuse_newer(session: &Session, schema: &str) -> Result<(), Refusal> {
    let table = format!("{}.{}", migrate::quote_ident(schema), migrate::HISTORY_TABLE);
    let statement = Statement::new(format!("select pg_catalog.max(version) from {table}"));
    let Ok(rows) = session.read_one("schema version", statement, Limits::within(Duration::from_secs(5))).await else {
        return Ok(());
    };
    let version = rows.first().and_then(|row| row.try_get::<_, Option<i32>>(0).ok().flatten()).unwrap_or(0);
    let ours = migrate::latest_version();
    if version > ours {
        let newer = MigrateError::Newer { schema: schema.to_owned(), version, ours };
        return Err(Refusal::Unusable(newer.to_string()));
    }
    Ok(())
}

/// Asks for the password on the terminal, which is still the shell's, and tries once more.
async fn ask_and_retry(plan: &Plan) -> Result<(), Refusal> {
    let session = plan.connector.connect_asking(Purpose::Read, target::ask_password).await?;
    look(&session, &plan.connector, plan.schema.as_deref()).await
}

async fn with_screen(
    plan: &Plan,
    detect: Arc<Installed>,
    first: JoinHandle<Result<(), Refusal>>,
    app: &mut App,
    crash: &Crash,
) -> Result<Ended, CommandError> {
    let terminal_error = |error: io::Error| CommandError::Failed(format!("the terminal cannot be used: {error}"));
    let (messages, received) = mpsc::channel(IN_FLIGHT);
    let mut tasks = JoinSet::new();
    let outside = outside::stream().map_err(terminal_error)?;
    let mut screen = Screen::enter(crash.screen.clone()).map_err(terminal_error)?;
    if plan.settings.screen.mouse {
        screen.mouse(true);
    }
    let mut effects = engine(plan, detect, first, messages, screen, &mut tasks);
    let sources = Sources { input: EventStream::new(), outside, messages: received, tasks };
    let mut canvas = terminal::canvas().map_err(terminal_error)?;
    let ended = run::run(&mut canvas, sources, app, &mut effects).await;
    effects.screen.leave();
    cancel_what_runs(&effects.sessions).await;
    Ok(ended?)
}

/// A query that still runs on the server would run on for nobody. The operator does not wait for it.
async fn cancel_what_runs(sessions: &Sessions) {
    for view in [&sessions.polling, &sessions.listening] {
        let live = view.borrow().clone();
        if let Some(live) = live {
            // Too slow to answer: the statement's own time limit ends it.
            let _too_slow = tokio::time::timeout(CANCEL_WITHIN, live.session.cancel_running()).await;
        }
    }
}

/// Starts what reads the database once the first contact went well, and hands out what carries out effects.
fn engine(
    plan: &Plan,
    detect: Arc<Installed>,
    first: JoinHandle<Result<(), Refusal>>,
    messages: mpsc::Sender<Msg>,
    screen: Screen,
    tasks: &mut JoinSet<()>,
) -> Effects {
    let pace = Pace { interval: plan.settings.poll.interval, load: plan.settings.poll.load / 100.0 };
    let (pace, pace_seen) = watch::channel(pace);
    let (polled, polling) = watch::channel(None::<Arc<Live>>);
    let (listened, listening) = watch::channel(None::<Arc<Live>>);
    let (events, told) = mpsc::channel(IN_FLIGHT);
    let (asleep, falls_asleep) = watch::channel(false);
    let (listens, listens_seen) = watch::channel(false);
    let wake = Arc::new(Wake::default());
    let poll = Poll {
        connector: Arc::clone(&plan.connector),
        detect,
        pace: pace_seen,
        wake: Arc::clone(&wake),
        live: polled,
        events: events.clone(),
    };
    let push = Push {
        connector: Arc::clone(&plan.connector),
        polled: polling.clone(),
        live: listened,
        wake: Arc::clone(&wake),
        asleep: falls_asleep,
        listens,
        events,
    };
    let target = plan.connector.target().to_string();
    let to_loop = messages.clone();
    tasks.spawn(async move {
        let _ended = to_loop.send(Msg::Connecting { target, attempt: 1 }).await;
        match first.await {
            Ok(Ok(())) => {
                tokio::join!(poll.run(), push.run(), effects::forward(told, to_loop));
            }
            Ok(Err(refusal)) => {
                let _ended = to_loop.send(Msg::Refused(refusal.to_string())).await;
            }
            Err(died) => std::panic::resume_unwind(died.into_panic()),
        }
    });
    Effects {
        connector: Arc::clone(&plan.connector),
        sessions: Sessions { listening, polling },
        pace,
        wake,
        asleep,
        listens: listens_seen,
        messages,
        screen,
    }
}
