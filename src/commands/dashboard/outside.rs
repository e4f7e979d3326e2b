//! What comes from outside of the program while it runs: signals, and the loss of the terminal.

use std::io::{self, stdin};
use std::os::fd::{AsFd, OwnedFd};

use futures::stream::{self, Stream, StreamExt};
use rustix::event::{PollFd, PollFlags, poll};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::run::Outside;

/// `SIGTSTP`, where the kind has no name in tokio.
const TSTP: i32 = rustix::process::Signal::TSTP.as_raw();

/// Everything from outside as one stream that never ends by itself.
///
/// # Errors
/// When a handler cannot be installed.
pub(super) fn stream() -> io::Result<impl Stream<Item = Outside> + Unpin> {
    let ends = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit()];
    let mut all = Vec::new();
    for kind in ends {
        all.push(each(signal(kind)?, Outside::End(kind.as_raw_value())).boxed());
    }
    all.push(each(signal(SignalKind::from_raw(TSTP))?, Outside::Suspend).boxed());
    all.push(hung_up()?.boxed());
    Ok(stream::select_all(all).chain(stream::pending()))
}

fn each(signal: Signal, meaning: Outside) -> impl Stream<Item = Outside> {
    stream::unfold(signal, move |mut signal| async move { signal.recv().await.map(|()| (meaning, signal)) })
}

/// Watches the terminal itself: libraries have been seen to read a hung-up terminal over and over. The thread sleeps in
/// the kernel until the terminal hangs up.
fn hung_up() -> io::Result<impl Stream<Item = Outside>> {
    let (tell, told) = mpsc::channel(1);
    let terminal = stdin().as_fd().try_clone_to_owned()?;
    std::thread::Builder::new().name("terminal-watch".into()).spawn(move || {
        if wait_for_hang_up(&terminal) {
            // The loop may be gone already; then nobody needs to know.
            let _ended = tell.blocking_send(Outside::TerminalLost);
        }
    })?;
    Ok(stream::unfold(told, |mut told| async move { told.recv().await.map(|what| (what, told)) }))
}

fn wait_for_hang_up(terminal: &OwnedFd) -> bool {
    loop {
        let mut watched = [PollFd::new(terminal, PollFlags::empty())];
        match poll(&mut watched, None) {
            Ok(_) => return watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
