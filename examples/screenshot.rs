//! Prints a text screenshot of the real demo, as in the README and in `assets/screenshot.txt`:
//! `cargo build --release && cargo run --release --example screenshot > assets/screenshot.txt`
//!
//! The demo runs in a pseudo-terminal of 120 columns and 36 lines until every pane has something to say.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use color_eyre::eyre::{Result, eyre};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

const ROWS: NonZeroU16 = NonZeroU16::MIN.saturating_add(35);
const COLUMNS: NonZeroU16 = NonZeroU16::MIN.saturating_add(119);
/// How long the demo lives before the picture is taken.
const WATCH: Duration = Duration::from_secs(75);

fn main() -> Result<()> {
    let pair = native_pty_system()
        .openpty(PtySize { rows: ROWS.get(), cols: COLUMNS.get(), pixel_width: 0, pixel_height: 0 })
        .map_err(|error| eyre!("no pseudo-terminal: {error}"))?;
    let mut command = CommandBuilder::new(program()?);
    command.arg("demo");
    command.env("TERM", "xterm-256color");
    command.env("LC_ALL", "C.UTF-8");
    let mut child = pair.slave.spawn_command(command).map_err(|error| eyre!("the demo does not start: {error}"))?;
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().map_err(|error| eyre!("{error}"))?;
    let (bytes, received) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            if bytes.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut screen = vt100::Parser::new(ROWS, COLUMNS, 0);
    let end = Instant::now() + WATCH;
    while let Ok(part) = received.recv_timeout(end.saturating_duration_since(Instant::now())) {
        screen.process(&part);
    }
    let picture = screen.screen().contents();
    let mut keys = pair.master.take_writer().map_err(|error| eyre!("{error}"))?;
    keys.write_all(b"q")?;
    child.wait()?;
    println!("{picture}");
    Ok(())
}

/// The program beside this one: `target/release/queuetop`.
fn program() -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let folder = here.parent().and_then(|examples| examples.parent());
    let program = folder.map(|folder| folder.join("queuetop")).filter(|program| program.exists());
    program.ok_or_else(|| eyre!("build the program first: cargo build --release"))
}
