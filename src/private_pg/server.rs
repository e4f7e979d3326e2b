//! The server's processes: initdb, the postmaster, and the signals that stop, kill, freeze and thaw them.
//!
//! It must start everything inside the guard's process group, and must know nothing of where the programs come from.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use super::account::{self, Account};
use super::signals::{family, signal_all};
use super::{Error, PORT, Shutdown};

/// A start that takes longer is a hang. A busy machine took 1 s.
const START_LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(10);

/// Durability is off (the data is thrown away), everything that the dashboard looks at is on.
const SETTINGS: [(&str, &str); 6] = [
    ("listen_addresses", ""),
    ("fsync", "off"),
    ("synchronous_commit", "off"),
    ("full_page_writes", "off"),
    ("max_connections", "60"),
    ("track_io_timing", "on"),
];

/// A fresh folder, 0700. Directly under /tmp, not `TMPDIR`: a socket path has room for about 100 bytes, and macOS's is long.
pub(super) fn folder(account: Option<&Account>) -> Result<TempDir, Error> {
    let folder = tempfile::Builder::new()
        .prefix("queuetop-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in("/tmp")
        .map_err(|error| Error::io("cannot make a folder in /tmp", error))?;
    if let Some(account) = account {
        account
            .own(folder.path())
            .map_err(|error| Error::io("cannot give the folder to the server's account", error))?;
    }
    Ok(folder)
}

/// One cluster and its postmaster.
#[derive(Debug)]
pub(super) struct Server {
    bin_dir: PathBuf,
    folder: PathBuf,
    group: u32,
    account: Option<Account>,
    arguments: Vec<String>,
    pid: u32,
    child: Option<Child>,
}

impl Server {
    pub(super) fn start(
        bin_dir: &Path,
        folder: &Path,
        group: u32,
        account: Option<Account>,
        settings: &[(String, String)],
    ) -> Result<Self, Error> {
        let mut server = Self {
            bin_dir: bin_dir.to_owned(),
            folder: folder.to_owned(),
            group,
            account,
            arguments: arguments(bin_dir, folder, settings),
            pid: 0,
            child: None,
        };
        server.initdb()?;
        server.launch()?;
        Ok(server)
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    fn command(&self, program: &str) -> Result<Command, Error> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log())
            .map_err(|error| Error::io("cannot write the server's log", error))?;
        let again = log.try_clone().map_err(|error| Error::io("cannot write the server's log", error))?;
        let program = self.bin_dir.join(program);
        let mut command = account::command(&program, &self.folder, self.account.as_ref());
        command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(again)
            // A process id always fits.
            .process_group(i32::try_from(self.group).unwrap_or(0));
        Ok(command)
    }

    fn initdb(&self) -> Result<(), Error> {
        // `trust` is safe: the socket's folder is 0700 and there is no TCP port.
        let status = self
            .command("initdb")?
            .args(["-D", "data", "-U", "postgres", "-A", "trust"])
            .args(["-E", "UTF8", "--locale=C", "-N"])
            .status()
            .map_err(|error| Error::io("cannot run initdb", error))?;
        if status.success() {
            return Ok(());
        }
        Err(self.failed("initdb", status))
    }

    /// Starts the postmaster on the existing data and waits until it is ready.
    pub(super) fn launch(&mut self) -> Result<(), Error> {
        if self.child.is_some() {
            return Ok(());
        }
        let began = Instant::now();
        let mut log_from = self.log_len();
        let mut child = self.spawn()?;
        while !self.ready(child.id()) {
            if let Some(status) = exited(&mut child)? {
                // After a kill its sessions may hold the shared memory a moment longer.
                let log = self.log_since(log_from);
                if log.contains("shared memory block") && began.elapsed() < START_LIMIT {
                    thread::sleep(POLL);
                    log_from = self.log_len();
                    child = self.spawn()?;
                    continue;
                }
                return Err(self.failed("the server", status));
            }
            if began.elapsed() > START_LIMIT {
                let what = format!("the server was not ready after {} s", START_LIMIT.as_secs());
                let log = self.log_tail();
                // Both best effort: the error to tell is the one above.
                let _ = child.kill();
                let _ = child.wait();
                return Err(Error::Server { what, log });
            }
            thread::sleep(POLL);
        }
        self.pid = child.id();
        self.child = Some(child);
        Ok(())
    }

    fn spawn(&self) -> Result<Child, Error> {
        // Our own child, not pg_ctl's: its end is seen at once.
        self.command("postgres")?.args(&self.arguments).spawn().map_err(|error| Error::io("cannot run postgres", error))
    }

    /// Line 1 of `postmaster.pid` is the process, line 8 its state. A file left by a killed server names another process.
    fn ready(&self, pid: u32) -> bool {
        let text = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
        let mut lines = text.lines().map(str::trim);
        lines.next() == Some(pid.to_string().as_str()) && lines.nth(6) == Some("ready")
    }

    pub(super) fn shut_down(&mut self, how: Shutdown) -> Result<(), Error> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        match how {
            Shutdown::Fast | Shutdown::Immediate => {
                signal_all(&family(child.id()), Signal::CONT)?;
                let signal = if how == Shutdown::Fast { Signal::INT } else { Signal::QUIT };
                signal_all(&[child.id()], signal)?;
            }
            Shutdown::Kill => signal_all(&family(child.id()), Signal::KILL)?,
        }
        child.wait().map(|_| ()).map_err(|error| Error::io("cannot wait for the server", error))
    }

    pub(super) fn halt(&self) -> Result<(), Error> {
        self.signal_family(Signal::STOP)
    }

    pub(super) fn resume(&self) -> Result<(), Error> {
        self.signal_family(Signal::CONT)
    }

    fn signal_family(&self, signal: Signal) -> Result<(), Error> {
        match &self.child {
            Some(child) => signal_all(&family(child.id()), signal),
            None => Ok(()),
        }
    }

    /// Waits for the end of a server that the guard stops.
    pub(super) fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.wait();
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn log_len(&self) -> u64 {
        fs::metadata(self.log()).map_or(0, |metadata| metadata.len())
    }

    /// The last lines of the log.
    pub(super) fn log_tail(&self) -> String {
        self.log_since(0)
    }

    /// The same of what was written behind a length.
    fn log_since(&self, from: u64) -> String {
        tail(&self.log(), from).unwrap_or_else(|error| format!("(no log: {error})"))
    }

    fn failed(&self, who: &str, status: ExitStatus) -> Error {
        Error::Server { what: format!("{who} ended with {status}"), log: self.log_tail() }
    }
}

fn arguments(bin_dir: &Path, folder: &Path, settings: &[(String, String)]) -> Vec<String> {
    let mut arguments = vec!["-D".to_owned(), "data".to_owned()];
    arguments.extend(["-k".to_owned(), folder.display().to_string()]);
    arguments.extend(["-p".to_owned(), PORT.to_string()]);
    let statements = has_pg_stat_statements(bin_dir).then_some(("shared_preload_libraries", "pg_stat_statements"));
    let given = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    // The last one wins.
    for (name, value) in SETTINGS.into_iter().chain(statements).chain(given) {
        arguments.extend(["-c".to_owned(), format!("{name}={value}")]);
    }
    arguments
}

/// Preloading a library that is not there keeps the server from starting, so look for it; it is a package of its own on some systems.
fn has_pg_stat_statements(bin_dir: &Path) -> bool {
    let output = Command::new(bin_dir.join("pg_config")).arg("--sharedir").output();
    output.is_ok_and(|output| {
        let share = String::from_utf8_lossy(&output.stdout);
        Path::new(share.trim()).join("extension/pg_stat_statements.control").is_file()
    })
}

fn exited(child: &mut Child) -> Result<Option<ExitStatus>, Error> {
    child.try_wait().map_err(|error| Error::io("cannot watch the server", error))
}

/// The last lines of a file behind `from`, at most 2 kB.
fn tail(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let end = file.metadata()?.len();
    file.seek(SeekFrom::Start(from.max(end.saturating_sub(2_000))))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    Ok(lines[lines.len().saturating_sub(12)..].join("\n"))
}
