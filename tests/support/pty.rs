//! The real program in a real pseudo-terminal: keys in, bytes out, a terminal model that replays them, and what is left
//! of the terminal afterwards.
//!
//! The program must not lead the terminal's session: the kernel resets the line settings when a leader ends, and a
//! program that restores nothing would look clean. So a shell leads, with job control, and outlives the program.

use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{LIMIT, wait_until};

/// `$0` is the folder for messages, the rest the program. Its process id goes to `pid`; how it ended, or stopped, is
/// appended to `status`, a number a line. A line written to the pipe `go` brings a stopped program to the foreground again.
const LEADER: &str = r#"
mkfifo "$0/go"
exec 3>&2 2>/dev/null
set -m
/bin/sh -c 'echo $$ >"$0/pid"; exec "$@"' "$0" "$@" 2>&3 3>&-
echo $? >>"$0/status"
while read -r _ <"$0/go"; do
    fg >/dev/null 2>&3
    echo $? >>"$0/status"
done
"#;

/// What came out of the terminal so far.
struct Output {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

type Shared = Arc<(Mutex<Output>, Condvar)>;

/// A program in a terminal of its own.
pub(crate) struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    leader: Box<dyn Child + Send + Sync>,
    folder: TempDir,
    output: Shared,
    settings_before: String,
}

impl Pty {
    /// Starts queuetop. Its environment is bare but for `env`: no settings and no `PG*` variables of whoever runs the tests.
    pub(crate) fn spawn(args: &[&str], cols: u16, rows: u16, env: &[(&str, &str)]) -> Self {
        Self::spawn_program(env!("CARGO_BIN_EXE_queuetop"), args, (cols, rows), env)
    }

    /// The same for another program.
    pub(crate) fn spawn_program(program: &str, args: &[&str], (cols, rows): (u16, u16), env: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(size(cols, rows)).expect("a pty");
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = CommandBuilder::new("/bin/sh");
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", folder.path());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("TZ", "UTC");
        for (name, value) in env {
            command.env(name, value);
        }
        command.args(["-c", LEADER]);
        command.arg(folder.path());
        command.arg(program);
        command.args(args);
        command.cwd(folder.path());
        let settings_before = settings(&*pair.master);
        let output = Arc::new((Mutex::new(Output::new(cols, rows)), Condvar::new()));
        read_all(pair.master.try_clone_reader().expect("a reader"), Arc::clone(&output));
        let leader = pair.slave.spawn_command(command).expect("a shell");
        Self {
            writer: pair.master.take_writer().expect("a writer"),
            master: pair.master,
            leader,
            folder,
            output,
            settings_before,
        }
    }

    /// Types. Special keys as a terminal sends them: `"\r"`, `"\x1b"`, `"\t"`, `"\x1b[A"`.
    pub(crate) fn send_keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("typed");
        self.writer.flush().expect("typed");
    }

    /// Waits until the screen's text is as wanted and returns it; fails the test with the screen otherwise.
    pub(crate) fn wait_for(&self, wanted: impl Fn(&str) -> bool, limit: Duration) -> String {
        let began = Instant::now();
        let mut output = self.lock();
        loop {
            let text = output.parser.screen().contents();
            if wanted(&text) {
                return text;
            }
            let left = limit.saturating_sub(began.elapsed());
            assert!(!left.is_zero(), "not on screen within {limit:?}; it shows:\n{text}");
            output = self.output.1.wait_timeout(output, left).expect("no panic").0;
        }
    }

    /// [`Self::wait_for`] some text, as long as anything may take.
    pub(crate) fn wait_for_text(&self, text: &str) -> String {
        self.wait_for(|screen| screen.contains(text), LIMIT)
    }

    /// The text on screen now.
    pub(crate) fn text(&self) -> String {
        self.with_screen(vt100::Screen::contents)
    }

    /// Looks at cells, colours, the cursor and the modes that are on.
    pub(crate) fn with_screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.lock().parser.screen())
    }

    /// Every byte that was written so far.
    pub(crate) fn raw_bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// Changes the size, as a user dragging the window.
    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        let (cols_there, rows_there) = (non_zero(cols), non_zero(rows));
        self.lock().parser.screen_mut().set_size(rows_there, cols_there);
        self.master.resize(size(cols, rows)).expect("resized");
    }

    /// Process id of the program.
    pub(crate) fn pid(&self) -> Pid {
        let mut pid = None;
        wait_until("the program starts", || {
            let text = fs::read_to_string(self.folder.path().join("pid")).unwrap_or_default();
            pid = text.trim_end().parse().ok().filter(|_| text.ends_with('\n'));
            pid.is_some()
        });
        pid.and_then(Pid::from_raw).expect("a process id")
    }

    /// Sends a signal to the program alone.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("signalled");
    }

    /// Waits until the program has ended and returns its exit status, 128+n when a signal n ended it.
    pub(crate) fn wait_exit(&self) -> i32 {
        self.wait_status(1)
    }

    /// Waits until the program has stopped or ended for the n-th time and returns its status as a shell sees it (128+n for signal n).
    pub(crate) fn wait_status(&self, nth: usize) -> i32 {
        let mut status = None;
        let began = Instant::now();
        while status.is_none() {
            assert!(began.elapsed() < LIMIT, "it does not end; the screen shows:\n{}", self.text());
            thread::sleep(Duration::from_millis(10));
            let text = fs::read_to_string(self.folder.path().join("status")).unwrap_or_default();
            status = text.split_inclusive('\n').nth(nth - 1).and_then(|line| line.trim_end().parse().ok());
        }
        self.drain();
        status.expect("a status")
    }

    /// Brings a stopped program to the foreground again, as `fg`.
    pub(crate) fn foreground(&self) {
        fs::write(self.folder.path().join("go"), "\n").expect("the shell listens");
    }

    /// The line settings of the terminal now (`stty -a`, as text).
    pub(crate) fn settings(&self) -> String {
        settings(&*self.master)
    }

    /// Whether the program has changed how the terminal treats what is typed: it hides a password, or draws a screen.
    pub(crate) fn has_other_settings(&self) -> bool {
        self.settings() != self.settings_before
    }

    /// Fails the test unless the terminal is as it was before the program: line settings, cursor, modes, main screen.
    pub(crate) fn assert_restored(&self) {
        assert_eq!(self.settings(), self.settings_before, "line settings");
        self.with_screen(|screen| {
            assert!(!screen.alternate_screen(), "still on the alternate screen");
            assert!(!screen.hide_cursor(), "cursor hidden");
            assert!(!screen.bracketed_paste(), "bracketed paste on");
            assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        });
    }

    /// What the program wrote before its end may still be on its way through the terminal: a mark of ours, written into it
    /// behind everything else, comes last.
    fn drain(&self) {
        const MARK: &[u8] = b"\x1b]7;end\x07";
        let tty = self.master.tty_name().expect("its name");
        let mut terminal = fs::OpenOptions::new().write(true).open(tty).expect("the terminal");
        terminal.write_all(MARK).expect("written");
        let began = Instant::now();
        let mut output = self.lock();
        while !output.bytes.ends_with(MARK) {
            let left = LIMIT.saturating_sub(began.elapsed());
            assert!(!left.is_zero(), "the terminal does not drain");
            output = self.output.1.wait_timeout(output, left).expect("no panic").0;
        }
        let length = output.bytes.len() - MARK.len();
        output.bytes.truncate(length);
    }

    fn lock(&self) -> MutexGuard<'_, Output> {
        self.output.0.lock().expect("the reader did not panic")
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Whatever still runs must not outlive a failed test. If it is gone already, that is as good.
        let pid: PathBuf = self.folder.path().join("pid");
        let ended = self.folder.path().join("status").exists();
        if let Some(pid) = fs::read_to_string(pid).ok().filter(|_| !ended).and_then(|text| text.trim_end().parse().ok())
        {
            let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
        }
        let _ = self.leader.kill();
        let _ = self.leader.wait();
    }
}

impl Output {
    fn new(cols: u16, rows: u16) -> Self {
        Self { parser: vt100::Parser::new(non_zero(rows), non_zero(cols), 0), bytes: Vec::new() }
    }
}

fn read_all(mut reader: Box<dyn Read + Send>, shared: Shared) {
    thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        while let Ok(length @ 1..) = reader.read(&mut buffer) {
            let mut output = shared.0.lock().expect("no panic");
            output.parser.process(&buffer[..length]);
            output.bytes.extend_from_slice(&buffer[..length]);
            shared.1.notify_all();
        }
    });
}

fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("line settings"))
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn non_zero(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a size above zero")
}
