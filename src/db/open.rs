//! One session on one address: the socket, TLS as `sslmode` says, the login, and the session's first question about itself.

use std::sync::{
    PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio_postgres::config::{self, Config};

use super::{
    cancel::Canceller,
    connect::{Connector, GREETING},
    conninfo::{ChannelBinding, Host, HostEntry, SslMode},
    errors::{Class, DbError},
    facts::{SessionFacts, question},
    link::Link,
    session::Session,
    socket::{Peer, Socket},
    tls::{Tls, explain},
};
use crate::model::TlsState;

impl Connector {
    /// Tries one address, with and without TLS as `sslmode` says.
    pub(super) async fn address(&self, entry: &HostEntry, peer: &Peer, tls: &Tls) -> Result<Session, DbError> {
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
