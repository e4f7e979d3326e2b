//! The guard: a small shell that outlives us, whatever kills us, and then stops the server and removes its folder.
//!
//! It must be the only place that removes the folder of a running server, so that the normal end and the end by
//! SIGKILL are one and the same path.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use tempfile::TempDir;

use super::Error;
use super::account::{self, Account};

/// `$1` is the folder. Standard input is a pipe whose other end only we hold: `read` returns when we are gone.
/// Everything we start is in the guard's process group, so signals to group 0 need no process ids (which may be
/// stale) and also reach an `initdb` under way. It waits for `postmaster.pid` to vanish, not only for the process: under an
/// init that does not reap, a zombie looks alive. The postmaster itself kills sessions that do not end within 5 s.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
read -r _
kill -CONT 0
kill -QUIT 0
i=0
while read -r pid < "$1/data/postmaster.pid" && kill -0 "$pid" && [ $i -lt 160 ]; do sleep 0.05; i=$((i+1)); done
i=0
while ! rm -rf "$1" && [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done
kill -KILL 0
"#;

/// The guard process and the folder that it removes.
#[derive(Debug)]
pub(super) struct Guard {
    folder: PathBuf,
    child: Child,
}

impl Guard {
    pub(super) fn start(folder: TempDir, account: Option<&Account>) -> Result<Self, Error> {
        let child = account::command(Path::new("/bin/sh"), folder.path(), account)
            .arg("-c")
            .arg(SCRIPT)
            .arg("queuetop-guard")
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A group of its own: Ctrl-C on the terminal must not reach it.
            .process_group(0)
            .spawn()
            .map_err(|error| Error::io("cannot start /bin/sh", error))?;
        // From here on the folder is the guard's to remove.
        Ok(Self { folder: folder.keep(), child })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The process group that everything belonging to this server must join.
    pub(super) fn group(&self) -> u32 {
        self.child.id()
    }

    /// Closes the pipe: the guard now stops the server.
    pub(super) fn release(&mut self) {
        self.child.stdin.take();
    }

    /// Waits until the guard has done its work.
    pub(super) fn finish(&mut self) {
        self.release();
        // A guard that is gone already (killed by hand) leaves the folder to us; both calls are best effort, at the end.
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.finish();
    }
}
