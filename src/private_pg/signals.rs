//! Signals for a postmaster and its children, without unsafe code and without asking the server.
//!
//! It must signal only processes whose parent is the given postmaster, and that postmaster.

use std::fs;
use std::io;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::Error;

/// The postmaster and its children. They do not share a process group: each session has its own.
pub(super) fn family(postmaster: u32) -> Vec<u32> {
    let mut pids = vec![postmaster];
    let parents = parents_from_proc().or_else(|_| parents_from_ps());
    pids.extend(
        parents.unwrap_or_default().into_iter().filter(|(_, parent)| *parent == postmaster).map(|(pid, _)| pid),
    );
    pids
}

/// (process, parent) of every process, from Linux's /proc/<pid>/stat: `pid (name) state parent …`, see proc(5).
fn parents_from_proc() -> io::Result<Vec<(u32, u32)>> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // It may have ended since.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        parents.extend(parent.map(|parent| (pid, parent)));
    }
    Ok(parents)
}

/// The same where there is no /proc.
fn parents_from_ps() -> io::Result<Vec<(u32, u32)>> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().map(|word| word.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    Ok(text.lines().filter_map(pair).collect())
}

pub(super) fn signal_all(pids: &[u32], signal: Signal) -> Result<(), Error> {
    for pid in pids {
        let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) else {
            continue;
        };
        match kill_process(pid, signal) {
            // Gone already is as good.
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(Error::io("cannot signal the server", error.into())),
        }
    }
    Ok(())
}
