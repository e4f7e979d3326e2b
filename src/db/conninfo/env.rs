//! What the resolver may see of the machine: environment variables, files, who runs us. Tests build their own.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt, io,
    path::{Path, PathBuf},
};

use super::error::{ConnInfoError, Place};

/// A file as the resolver needs it.
#[derive(Debug, Clone)]
pub struct FileText {
    /// The content.
    pub bytes: Vec<u8>,
    /// The permission bits, `st_mode & 0o777`.
    pub mode: u32,
    /// False for folders, pipes and devices.
    pub regular: bool,
}

/// Reading of files.
pub trait Files: Send + Sync {
    /// Reads a whole file.
    ///
    /// # Errors
    /// Whatever the system says.
    fn read(&self, path: &Path) -> io::Result<FileText>;

    /// Whether anything is there, sockets included.
    fn exists(&self, path: &Path) -> bool;
}

/// The surroundings of a connection: all that libpq would look at besides the connection string.
pub struct Env {
    /// Environment variables by name.
    pub vars: BTreeMap<String, OsString>,
    /// The name of the operating system's user, the default for `user`.
    pub user: Option<String>,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// The files.
    pub files: Box<dyn Files>,
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env")
            .field("vars", &self.vars.keys().collect::<Vec<_>>())
            .field("user", &self.user)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

impl Env {
    /// The surroundings of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let vars: BTreeMap<String, OsString> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| {
                name.starts_with("PG") || matches!(name.as_str(), "DATABASE_URL" | "HOME" | "USER" | "LOGNAME")
            })
            .collect();
        let account = Account::of_process();
        let given = |name: &str| vars.get(name).filter(|value| !value.is_empty()).cloned();
        let user = account
            .as_ref()
            .map(|account| account.name.clone())
            .or_else(|| given("USER").or_else(|| given("LOGNAME"))?.into_string().ok());
        let home = given("HOME").map(PathBuf::from).or(account.map(|account| account.home));
        Self { vars, user, home, files: Box::new(Disk) }
    }

    /// A variable, or `None` when it is not set. Set to nothing is set, as in libpq.
    pub(super) fn var(&self, name: &'static str) -> Result<Option<String>, ConnInfoError> {
        let Some(value) = self.vars.get(name) else {
            return Ok(None);
        };
        match value.to_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(ConnInfoError::new(Place::Env(name), "its value is not UTF-8")),
        }
    }

    /// A file below the home folder.
    pub(super) fn at_home(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(name))
    }
}

/// The real file system.
struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<FileText> {
        use std::os::unix::fs::PermissionsExt;
        let about = std::fs::metadata(path)?;
        let regular = about.is_file();
        let bytes = if regular { std::fs::read(path)? } else { Vec::new() };
        let mode = about.permissions().mode() & 0o777;
        Ok(FileText { bytes, mode, regular })
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// The account that runs us, from the password database's file.
struct Account {
    name: String,
    home: PathBuf,
}

impl Account {
    fn of_process() -> Option<Self> {
        let uid = rustix::process::geteuid().as_raw().to_string();
        let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
        passwd.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let (name, id, home) = (fields.first()?, fields.get(2)?, fields.get(5)?);
            (*id == uid).then(|| Self { name: (*name).to_owned(), home: PathBuf::from(home) })
        })
    }
}
