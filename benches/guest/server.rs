//! The PostgreSQL that everything is measured on: started here, durable as in production, on data that is thrown away or,
//! for what takes long to load, kept.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::process::Command;

use queuetop::private_pg::{Options, PrivatePg, Shutdown};
use tokio_postgres::{Client, NoTls};

use crate::Fallible;
use crate::report::say;

/// The private server is careless by default; here commits are to cost what they cost.
const SETTINGS: [(&str, &str); 7] = [
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("synchronous_commit", "on"),
    ("shared_buffers", "1GB"),
    ("max_wal_size", "8GB"),
    ("checkpoint_timeout", "1h"),
    ("max_connections", "200"),
];

/// What the reader of the figures has to know, besides the version.
const SAID: [&str; 8] = [
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "shared_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "autovacuum",
    "jit",
];

/// A running server.
pub(crate) struct Server {
    pg: PrivatePg,
    kept: bool,
}

impl Server {
    /// One whose data vanish with it.
    pub(crate) fn fresh() -> Fallible<Self> {
        Ok(Self { pg: start()?, kept: false })
    }

    /// One whose data stay in this folder, in a part for each major version. An interrupted run recovers at the next start.
    pub(crate) fn kept(folder: &Path) -> Fallible<Self> {
        let mut pg = start()?;
        pg.shut_down(Shutdown::Fast)?;
        let data = pg.socket_dir().join("data");
        let version = fs::read_to_string(data.join("PG_VERSION"))?;
        own(folder)?;
        let kept = folder.join(format!("pg{}", version.trim()));
        if !kept.join("PG_VERSION").is_file() {
            // Into another name first: a half copy must not pass for data.
            let part = kept.with_extension("part");
            if part.exists() {
                fs::remove_dir_all(&part)?;
            }
            // `cp` keeps owners and modes, which the server insists on.
            let status = Command::new("cp").arg("-a").arg(&data).arg(&part).status()?;
            if !status.success() {
                return Err(format!("the data cannot be copied to {}: {status}", part.display()).into());
            }
            fs::rename(&part, &kept)?;
        }
        // The server's guard removes the link, not what it points to.
        fs::remove_dir_all(&data)?;
        symlink(&kept, &data)?;
        say(&format!("the data of --big are kept in {}; remove it when done", kept.display()));
        pg.start_again()?;
        Ok(Self { pg, kept: true })
    }

    /// Whether its data outlive it.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    pub(crate) fn dsn(&self, database: &str) -> String {
        self.pg.dsn(database)
    }

    pub(crate) async fn admin(&self) -> Fallible<Client> {
        connect(&self.dsn("postgres")).await
    }

    /// A fresh database, an older one of the name removed.
    pub(crate) async fn create(&self, name: &str) -> Fallible<Client> {
        self.remove(name).await?;
        self.admin().await?.batch_execute(&format!("create database {name}")).await?;
        connect(&self.dsn(name)).await
    }

    /// Removes a database and cuts who still uses it.
    pub(crate) async fn remove(&self, name: &str) -> Fallible<()> {
        Ok(self.admin().await?.batch_execute(&format!("drop database if exists {name} with (force)")).await?)
    }

    /// Version and settings, in words.
    pub(crate) async fn describe(&self) -> Fallible<String> {
        let client = self.admin().await?;
        let version: String = client.query_one("show server_version", &[]).await?.get(0);
        let mut words = Vec::new();
        for name in SAID {
            let value: String = client.query_one(&format!("show {name}"), &[]).await?.get(0);
            words.push(format!("{name} {value}"));
        }
        Ok(format!("PostgreSQL {version}, {}", words.join(", ")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.kept && self.pg.shut_down(Shutdown::Fast).is_err() {
            say("the server did not shut down; its data recover at the next start");
        }
    }
}

fn start() -> Fallible<PrivatePg> {
    let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = Options { fetch: true, settings, ..Options::default() };
    Ok(PrivatePg::start(&options, &mut say)?)
}

/// A folder of ours that others cannot have prepared for us.
fn own(folder: &Path) -> Fallible<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let owner = fs::symlink_metadata(folder)?;
            if owner.is_dir() && owner.uid() == rustix::process::geteuid().as_raw() {
                return Ok(());
            }
            Err(format!("{} is not a folder of yours: name another with --data", folder.display()).into())
        }
        made => Ok(made?),
    }
}

/// A connection that works in the background.
pub(crate) async fn connect(dsn: &str) -> Fallible<Client> {
    let (client, connection) = tokio_postgres::connect(dsn, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
