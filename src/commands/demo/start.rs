//! The demo as a value: a private server with a past and a living workload, until it is stopped.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::past;
use super::workload::{self, Shared};
use crate::db::{ConnInfo, ConnInfoError, Connector, DbError, Env, Purpose, SqlLog};
use crate::engine::migrate::{self, MigrateError};
use crate::private_pg::{self, PrivatePg};

/// The name of its database.
const DATABASE: &str = "demo";
/// How long the workload may take to end; then it is ended.
const ENDING: Duration = Duration::from_secs(3);

/// How the demo is made.
#[derive(Debug, Clone)]
pub struct DemoOptions {
    /// Seed of everything random.
    pub seed: u64,
    /// Multiplies the rate of the workload: more than 0, at most 100.
    pub rate: f64,
    /// Folder with PostgreSQL's server programs.
    pub pg_bin: Option<PathBuf>,
    /// Whether a server may be fetched where none is installed.
    pub fetch: bool,
}

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// No rate.
    #[error("--rate must be more than 0 and at most 100, not {0}")]
    Rate(f64),
    /// No server.
    #[error("{0}")]
    Server(#[from] private_pg::Error),
    /// The server is there, but no way to it.
    #[error("the demo's own server cannot be used: {0}")]
    Address(#[from] ConnInfoError),
    /// The server refused something.
    #[error("the demo's own server cannot be used: {0}")]
    Database(#[from] DbError),
    /// The queue could not be installed.
    #[error("the queue cannot be installed in the demo's database: {0}")]
    Migrate(#[from] MigrateError),
    /// A defect.
    #[error("starting the demo's server died: {0}")]
    Died(#[from] JoinError),
}

/// A running demo.
pub struct Demo {
    server: PrivatePg,
    tasks: JoinSet<()>,
    stop: CancellationToken,
}

impl Demo {
    /// Starts the server, installs the queue, puts a past in and sets the workload going. `progress` gets one line for each
    /// step that a waiting user should know of.
    ///
    /// # Errors
    /// See [`DemoError`]; nothing is left behind then.
    pub async fn start(options: DemoOptions, progress: &mut (dyn FnMut(&str) + Send)) -> Result<Self, DemoError> {
        if !(options.rate > 0.0 && options.rate <= 100.0) {
            return Err(DemoError::Rate(options.rate));
        }
        progress("starting a private PostgreSQL");
        let server = start_server(&options, progress).await?;
        let admin = connector(&server.dsn("postgres"))?;
        let mut session = admin.connect(Purpose::Act).await?;
        let created = session.driver().batch_execute(&format!("create database {DATABASE}")).await;
        created.map_err(|error| DbError::of_driver(&error))?;

        progress("installing the queue and a past of 45 minutes");
        let workers = connector(&format!("{}&application_name=queuetop-demo", server.dsn(DATABASE)))?;
        let mut session = workers.connect(Purpose::Act).await?;
        migrate::run(session.driver(), &migrate::Options::default()).await?;
        past::put(&mut session, options.seed, options.rate).await?;

        let shared = Shared::new(workers, options.seed, options.rate);
        Ok(Self { server, tasks: workload::start(&shared), stop: shared.stop.clone() })
    }

    /// Connection URI of its database.
    #[must_use]
    pub fn dsn(&self) -> String {
        self.server.dsn(DATABASE)
    }

    /// How sessions with its database are made.
    ///
    /// # Errors
    /// When this machine's name for us cannot be found.
    pub fn connector(&self) -> Result<Arc<Connector>, DemoError> {
        connector(&self.dsn())
    }

    /// What to type to look inside with psql.
    #[must_use]
    pub fn psql_line(&self) -> String {
        self.server.psql_line(DATABASE)
    }

    /// Stops the workload, then the server, and removes everything.
    pub async fn stop(mut self) {
        self.stop.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(ENDING, ended).await.is_err() {
            tracing::warn!(parts = self.tasks.len(), "parts of the demo's workload did not end in time");
            self.tasks.shutdown().await;
        }
        let server = self.server;
        // Only a panic could be told, and it has been told already.
        let _ended = spawn_blocking(move || server.stop()).await;
    }
}

/// Starts the server on a thread that may block, and passes on what it says.
async fn start_server(options: &DemoOptions, progress: &mut (dyn FnMut(&str) + Send)) -> Result<PrivatePg, DemoError> {
    let wanted =
        private_pg::Options { bin_dir: options.pg_bin.clone(), fetch: options.fetch, ..private_pg::Options::default() };
    let (tell, mut told) = mpsc::unbounded_channel::<String>();
    let starting = spawn_blocking(move || {
        // Nobody listens any more when the program ends meanwhile.
        PrivatePg::start(&wanted, &mut |line| drop(tell.send(line.to_owned())))
    });
    while let Some(line) = told.recv().await {
        progress(&line);
    }
    Ok(starting.await??)
}

/// The way to the private server. What the environment says about other servers must not interfere.
fn connector(dsn: &str) -> Result<Arc<Connector>, DemoError> {
    let mut env = Env::of_process();
    env.vars.clear();
    Ok(Arc::new(Connector::new(ConnInfo::resolve(Some(dsn), &env)?, SqlLog::default())))
}
