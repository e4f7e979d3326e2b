//! From settings to a session: which server, which address, with or without TLS, within which time.

use std::{
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::timeout;
use tokio_postgres::config::{self, Config};

use super::{
    cancel::Canceller,
    conninfo::{ChannelBinding, ConnInfo, Host, HostEntry, SslMode, Target, TargetSession},
    errors::{Class, DbError, seconds},
    facts::{SessionFacts, question},
    link::Link,
    secret::Secret,
    session::Session,
    socket::{Peer, Socket, addresses},
    sqllog::SqlLog,
    statement::Limits,
    tls::{Tls, explain},
};
use crate::model::TlsState;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Reading: the server is told to refuse writes.
    Read,
    /// Acting.
    Act,
}

/// Makes sessions.
#[derive(Debug)]
pub struct Connector {
    info: ConnInfo,
    log: SqlLog,
    /// What the user typed when asked.
    typed: Mutex<Option<Secret>>,
}

/// For the first question of a session about itself.
const GREETING: Limits = Limits::within(Duration::from_secs(5));

impl Connector {
    /// A connector; all its sessions write to `log`.
    #[must_use]
    pub fn new(info: ConnInfo, log: SqlLog) -> Self {
        Self { info, log, typed: Mutex::new(None) }
    }

    /// Whom we talk to.
    #[must_use]
    pub fn target(&self) -> Target {
        self.info.target()
    }

    /// The settings.
    #[must_use]
    pub fn info(&self) -> &ConnInfo {
        &self.info
    }

    /// The log of all statements of all sessions.
    #[must_use]
    pub fn log(&self) -> &SqlLog {
        &self.log
    }

    /// Uses this password from now on.
    pub fn set_password(&self, password: Secret) {
        *self.typed.lock().unwrap_or_else(PoisonError::into_inner) = Some(password);
    }

    /// Connects; where a password is wanted and there is none, `ask` is called once and the answer kept.
    ///
    /// # Errors
    /// As [`Connector::connect`]; also when asking fails.
    pub async fn connect_asking(
        &self,
        purpose: Purpose,
        ask: impl FnOnce(&Target) -> io::Result<Secret>,
    ) -> Result<Session, DbError> {
        match self.connect(purpose).await {
            Err(error) if error.class == Class::PasswordNeeded => {
                let password = ask(&self.target());
                self.set_password(password.map_err(|failed| error.context(&failed.to_string()))?);
                self.connect(purpose).await
            }
            result => result,
        }
    }

    /// Connects to the first server that answers and is of the wanted kind. Names are looked up anew each time.
    ///
    /// # Errors
    /// Why there is no session. With several servers: what each of them said.
    pub async fn connect(&self, purpose: Purpose) -> Result<Session, DbError> {
        let settings = self.info.tls.clone();
        // Certificate files are read on a thread that may block.
        let prepared = tokio::task::spawn_blocking(move || Tls::prepare(&settings)).await;
        let tls = prepared.map_err(|error| DbError::new(Class::Tls, error.to_string(), ""))??;
        let wanted = match self.info.target_session {
            TargetSession::PreferStandby => &[TargetSession::Standby, TargetSession::Any][..],
            one => &[one],
        };
        let mut failures = Vec::new();
        for kind in wanted {
            failures.clear();
            for entry in self.in_order() {
                match self.host(entry, &tls, *kind, purpose).await {
                    Ok(session) => return Ok(session),
                    // Who does not let us in here will not do so elsewhere; nor will a wrong password get better.
                    Err(error) if !error.is_retryable() => return Err(error.context(&entry.label())),
                    Err(error) => failures.push(error.context(&entry.label())),
                }
            }
        }
        Err(all_failed(failures))
    }

    fn in_order(&self) -> Vec<&HostEntry> {
        let mut entries: Vec<&HostEntry> = self.info.hosts.iter().collect();
        if self.info.load_balance {
            fastrand::shuffle(&mut entries);
        }
        entries
    }

    /// Tries all addresses of one server.
    async fn host(
        &self,
        entry: &HostEntry,
        tls: &Tls,
        kind: TargetSession,
        purpose: Purpose,
    ) -> Result<Session, DbError> {
        let limit = self.info.connect_timeout;
        let found = within(limit, "looking the name up", async {
            addresses(entry).await.map_err(|error| {
                let next = "is the host name right, and does DNS work here?";
                DbError::new(Class::Unreachable, format!("cannot find the host: {error}"), next)
            })
        });
        let mut last = DbError::new(Class::Unreachable, "the host has no address", "");
        for peer in found.await? {
            let opened = within(limit, "connecting", self.address(entry, &peer, tls));
            let session = match opened.await {
                Ok(session) => session,
                Err(error) if error.class == Class::Unreachable => {
                    last = error;
                    continue;
                }
                Err(error) => return Err(error),
            };
            return settle(session, kind, purpose).await;
        }
        Err(last)
    }

    /// Tries one address, with and without TLS as `sslmode` says.
    async fn address(&self, entry: &HostEntry, peer: &Peer, tls: &Tls) -> Result<Session, DbError> {
        use config::SslMode::{Disable, Prefer, Require};
        let (first, second) = match (peer, self.info.tls.mode) {
            (Peer::Unix(_), _) | (_, SslMode::Disable) => (Disable, None),
            (_, SslMode::Allow) => (Disable, Some(Require)),
            (_, SslMode::Prefer) => (Prefer, Some(Disable)),
            (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => (Require, None),
        };
        let result = self.attempt(entry, peer, tls, first).await;
        match (result, second) {
            // As libpq: where pg_hba.conf or TLS itself refuses the one way, the other way is tried.
            (Err(error), Some(second)) if error.class == Class::Tls || error.sqlstate.as_deref() == Some("28000") => {
                self.attempt(entry, peer, tls, second).await.map_err(|_| error)
            }
            (result, _) => result,
        }
    }

    async fn attempt(
        &self,
        entry: &HostEntry,
        peer: &Peer,
        tls: &Tls,
        mode: config::SslMode,
    ) -> Result<Session, DbError> {
        let keep_alive = self.info.keep_alive;
        let socket = Socket::open(peer, &keep_alive).await.map_err(|error| DbError::of_io(&error))?;
        let (startup, local_port) = (socket.startup(), socket.local_port());
        let host = match &entry.host {
            Host::Name(name) => name.clone(),
            // Never looked at: a unix socket has no TLS.
            Host::Socket(_) => "localhost".to_owned(),
        };
        let (connector, encrypted) = tls.connector(&host);
        let connected = self.config(entry, mode).connect_raw(socket, connector).await;
        let (client, connection) = connected
            .map_err(|error| explain(&error, self.info.tls.mode).unwrap_or_else(|| DbError::of_driver(&error)))?;
        let token = client.cancel_token();
        let encrypted = encrypted.load(Ordering::Relaxed);
        let mut session = Session {
            client,
            link: Link::drive(connection),
            canceller: Canceller { token, peer: peer.clone(), host, tls: tls.clone(), keep_alive },
            facts: SessionFacts::unknown(),
            log: self.log.clone(),
            given_up: AtomicBool::new(false),
            looks_pooled: self.info.looks_pooled,
            standby: AtomicBool::new(false),
            busy: AtomicU64::new(0),
        };
        let rows = session.read_one("session", question(), GREETING).await?;
        let row = rows.first().ok_or_else(|| DbError::shape("the server says nothing about itself"))?;
        let mut facts = SessionFacts::read(row)?;
        facts.host = entry.label();
        facts.tls = tls_state(peer, encrypted, tls);
        // A pooler has another process number and another port towards the server than we have towards it.
        facts.direct = match (startup.pid(), local_port) {
            (Some(pid), _) => pid == facts.pid,
            (None, Some(port)) => facts.client_port == Some(i32::from(port)),
            (None, None) => false,
        };
        session.facts = facts;
        Ok(session)
    }

    fn config(&self, entry: &HostEntry, mode: config::SslMode) -> Config {
        let mut config = Config::new();
        config.user(&self.info.user).dbname(&self.info.dbname).application_name(&self.info.application_name);
        config.ssl_mode(mode).channel_binding(match self.info.channel_binding {
            ChannelBinding::Disable => config::ChannelBinding::Disable,
            ChannelBinding::Prefer => config::ChannelBinding::Prefer,
            ChannelBinding::Require => config::ChannelBinding::Require,
        });
        if self.info.tls.direct {
            config.ssl_negotiation(config::SslNegotiation::Direct);
        }
        if let Some(options) = &self.info.options {
            config.options(options);
        }
        let typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(password) = typed.as_ref().or(entry.password.as_ref()) {
            config.password(password.expose());
        }
        config
    }
}

fn tls_state(peer: &Peer, encrypted: bool, tls: &Tls) -> TlsState {
    match (peer, encrypted) {
        (Peer::Unix(_), _) => TlsState::Socket,
        (_, false) => TlsState::Plain,
        (_, true) if tls.checks() => TlsState::Verified,
        (_, true) => TlsState::Encrypted,
    }
}

/// Checks that the server is of the wanted kind and tells it what the session is for.
async fn settle(session: Session, kind: TargetSession, purpose: Purpose) -> Result<Session, DbError> {
    let (standby, read_only) = (session.facts.standby, session.facts.read_only);
    let fault = match kind {
        TargetSession::ReadWrite if read_only => "the session is read-only",
        TargetSession::ReadOnly if !read_only => "the session is not read-only",
        TargetSession::Primary if standby => "the server is a standby",
        TargetSession::Standby if !standby => "the server is not a standby",
        _ => "",
    };
    if !fault.is_empty() {
        let next = "target_session_attrs asks for another kind of server";
        return Err(DbError::new(Class::WrongServer, fault, next));
    }
    // A guard rail beside the read-only transactions. Alone in its message, since the message's own transaction began
    // before it. Only where the server itself answers: through a pooler it would stick to other programs' sessions.
    if purpose == Purpose::Read && session.facts.direct {
        session.control("session", "set default_transaction_read_only = on", GREETING).await?;
    }
    Ok(session)
}

async fn within<T>(
    limit: Option<Duration>,
    what: &str,
    work: impl Future<Output = Result<T, DbError>>,
) -> Result<T, DbError> {
    let Some(limit) = limit else {
        return work.await;
    };
    timeout(limit, work).await.unwrap_or_else(|_| {
        let message = format!("{what} took longer than connect_timeout allows, {}", seconds(limit));
        Err(DbError::new(Class::Unreachable, message, "is a firewall in between, or does the server hang?"))
    })
}

/// One failure for all servers; what it is follows from the last one, the words from all.
fn all_failed(mut failures: Vec<DbError>) -> DbError {
    let several = failures.len() > 1;
    let all: Vec<String> = failures.iter().map(|failure| failure.message.clone()).collect();
    let mut last = failures.pop().unwrap_or_else(|| DbError::new(Class::Unreachable, "no server was tried", ""));
    if several {
        last.message = format!("no server will do: {}", all.join(" · "));
    }
    last
}
