//! The terminal: entered once, left exactly once, on every way out. Also suspending.

use std::io::{self, IsTerminal, Stdout, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use rustix::process::{Signal, getpgrp, getpid, kill_process, kill_process_group};

use crate::run::Suspend;

/// Presses and the wheel only, in the form that knows any column; crossterm's own command would also ask for every movement.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1000l";

/// Switches a mode of the terminal; an error means that it is gone.
fn mode(sequence: &[u8]) {
    let mut out = stdout().lock();
    let _gone = out.write_all(sequence).and_then(|()| out.flush());
}

/// Whether the screen is ours at present. Shared with the panic hook, which keeps quiet while it is.
#[derive(Debug, Clone, Default)]
pub struct ScreenFlag(Arc<AtomicBool>);

impl ScreenFlag {
    /// The screen is ours.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Owns raw mode, the alternate screen and paste marks. Dropping it gives them back.
pub struct Screen {
    up: ScreenFlag,
    /// The mouse is ours too.
    mouse: bool,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When a step fails; the steps before it are undone.
    pub fn enter(up: ScreenFlag) -> io::Result<Self> {
        let mut screen = Self { up, mouse: false };
        screen.take()?;
        Ok(screen)
    }

    fn take(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.up.0.store(true, Ordering::SeqCst);
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide).inspect_err(|_| self.leave())?;
        if self.mouse {
            mode(MOUSE_ON);
        }
        Ok(())
    }

    /// Takes clicks and the wheel over, or gives them back. Selecting text with the mouse is the terminal's while they are not
    /// ours.
    pub fn mouse(&mut self, on: bool) {
        self.mouse = on;
        mode(if on { MOUSE_ON } else { MOUSE_OFF });
    }

    fn mouse_off(&self) {
        if self.mouse {
            mode(MOUSE_OFF);
        }
    }

    /// Gives the terminal back; the second time it does nothing. Errors mean that the terminal is gone: nobody can be told.
    pub fn leave(&mut self) {
        if self.up.0.swap(false, Ordering::SeqCst) {
            self.mouse_off();
            let _gone = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
            let _gone = disable_raw_mode();
        }
    }

    /// Gives the terminal to the shell until the program is continued.
    ///
    /// # Errors
    /// When the terminal cannot be taken over again.
    pub fn suspend(&mut self, who: Suspend) -> io::Result<()> {
        self.leave();
        match who {
            Suspend::Job => kill_process_group(getpgrp(), Signal::STOP)?,
            Suspend::Process => kill_process(getpid(), Signal::STOP)?,
        }
        self.take()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Standard output whose failures nobody hears of. When the terminal is gone the watch on it ends the program; until then,
/// and in the destructors of libraries, a failed write must be neither an error nor a panic.
pub struct Deaf(Stdout);

impl Write for Deaf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Ok(written) if written > 0 => Ok(written),
            _ => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let _gone = self.0.flush();
        Ok(())
    }
}

/// A terminal to draw on. Nothing is asked of it: nobody may be there to answer.
///
/// # Errors
/// When its size cannot be read.
pub fn canvas() -> io::Result<Terminal<CrosstermBackend<Deaf>>> {
    Terminal::new(CrosstermBackend::new(Deaf(stdout())))
}

/// Whether keys can be read and frames be written.
///
/// # Errors
/// What is missing and what to do instead, in one line.
pub fn usable() -> Result<(), String> {
    let instead = "use `queuetop snapshot` in scripts and pipes";
    if !stdin().is_terminal() {
        return Err(format!("standard input is not a terminal: {instead}"));
    }
    if !stdout().is_terminal() {
        return Err(format!("standard output is not a terminal: {instead}"));
    }
    match std::env::var("TERM").ok().filter(|t| !t.is_empty()).as_deref() {
        None => Err(format!("TERM is not set: {instead}")),
        Some("dumb") => Err(format!("TERM=dumb cannot show a screen: {instead}")),
        Some(_) => Ok(()),
    }
}
