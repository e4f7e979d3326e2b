//! The dashboard itself, the program as it is built, in a pseudo-terminal of its own; and what its screen shows.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::Fallible;

/// Columns and rows: every pane has room.
const SIZE: (u16, u16) = (160, 50);
/// A start that takes longer has failed.
const START: Duration = Duration::from_secs(30);

/// The terminal's side.
struct Screen {
    parser: Mutex<vt100::Parser>,
    watched: AtomicBool,
}

/// A running dashboard; dropping it ends it.
pub(crate) struct Dashboard {
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Screen>,
    /// Changes with every piece that arrived from the program.
    drawn: watch::Receiver<u64>,
    _master: Box<dyn MasterPty + Send>,
    /// Keeps settings of whoever runs the benchmark out.
    _home: TempDir,
}

impl Dashboard {
    /// Starts one and waits until it shows numbers of a queue whose name begins so.
    pub(crate) async fn start(dsn: &str, more: &[&str], queue: &str) -> Fallible<Self> {
        let (cols, rows) = SIZE;
        let pair = native_pty_system().openpty(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 })?;
        let home = tempfile::tempdir()?;
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_queuetop"));
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", home.path());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("TZ", "UTC");
        command.args(more);
        command.arg(dsn);
        command.cwd(home.path());
        let screen = Arc::new(Screen {
            parser: Mutex::new(vt100::Parser::new(rows.try_into()?, cols.try_into()?, 0)),
            watched: true.into(),
        });
        let (tell, drawn) = watch::channel(0);
        let mut reader = pair.master.try_clone_reader()?;
        let theirs = Arc::clone(&screen);
        thread::spawn(move || receive(&mut *reader, &theirs, &tell));
        let child = pair.slave.spawn_command(command)?;
        let mut started = Self { child, screen, drawn, _master: pair.master, _home: home };
        match started.shows(START, |text| ready(text, |name| name.starts_with(queue)).is_some()).await {
            Some(_) => Ok(started),
            None => Err(format!("a dashboard shows no numbers within {START:?}, but:\n{}", started.head()).into()),
        }
    }

    /// Several at once.
    pub(crate) async fn several(count: usize, dsn: &str, queue: &str) -> Fallible<Vec<Self>> {
        futures::future::try_join_all((0..count).map(|_| Self::start(dsn, &[], queue))).await
    }

    /// Waits until the screen is as wanted and says when that was; `None`: not within the limit.
    pub(crate) async fn shows(&mut self, limit: Duration, wanted: impl Fn(&str) -> bool) -> Option<Instant> {
        let screen = Arc::clone(&self.screen);
        let wait = self.drawn.wait_for(|_| wanted(&screen.text()));
        let shown = timeout(limit, wait).await.is_ok_and(|waited| waited.is_ok());
        shown.then(Instant::now)
    }

    /// The text on screen now.
    pub(crate) fn text(&self) -> String {
        self.screen.text()
    }

    fn head(&self) -> String {
        self.text().lines().take(8).map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    /// From here on its output is read but not looked at, as if the terminal were on another machine.
    pub(crate) fn look_away(&self) {
        self.screen.watched.store(false, Ordering::Relaxed);
    }

    pub(crate) fn pid(&self) -> Fallible<u32> {
        Ok(self.child.process_id().ok_or("the dashboard has no process")?)
    }

    pub(crate) fn has_ended(&mut self) -> Fallible<bool> {
        Ok(self.child.try_wait()?.is_some())
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Screen {
    fn lock(&self) -> MutexGuard<'_, vt100::Parser> {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn text(&self) -> String {
        self.lock().screen().contents()
    }
}

fn receive(reader: &mut dyn Read, screen: &Screen, tell: &watch::Sender<u64>) {
    let mut buffer = vec![0; 65_536];
    while let Ok(length @ 1..) = reader.read(&mut buffer) {
        if screen.watched.load(Ordering::Relaxed) {
            screen.lock().process(&buffer[..length]);
            tell.send_modify(|pieces| *pieces += 1);
        }
    }
}

/// How many ready jobs the pane of queues shows for the first queue with such a name; `None`: none is on screen, or the figure
/// is no plain number.
pub(crate) fn ready(text: &str, name: impl Fn(&str) -> bool) -> Option<u64> {
    text.lines().find_map(|line| {
        // Cursor and severity may stand before the name.
        let mut words = line.split_whitespace();
        words.by_ref().take(2).find(|word| name(word))?;
        match words.next()? {
            "-" => Some(0),
            figure => figure.replace(',', "").parse().ok(),
        }
    })
}
