//! From settings to a session: which server, which address, of which kind, within which time.

use std::{
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::timeout;

use super::{
    conninfo::{ConnInfo, HostEntry, Target, TargetSession},
    errors::{Class, DbError, seconds},
    secret::Secret,
    session::Session,
    socket::addresses,
    sqllog::SqlLog,
    statement::Limits,
    tls::Tls,
};

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
    pub(super) info: ConnInfo,
    pub(super) log: SqlLog,
    /// What the user typed when asked.
    pub(super) typed: Mutex<Option<Secret>>,
}

/// For the first question of a session about itself.
pub(super) const GREETING: Limits = Limits::within(Duration::from_secs(5));

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
