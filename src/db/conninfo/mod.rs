//! What psql accepts as "where and how to connect", resolved into one [`ConnInfo`]: connection strings, service files,
//! `PG*` variables, password files, `DATABASE_URL`. Reads files through [`Env`] only, so that tests bring their own;
//! opens no connection.

mod env;
mod error;
mod hosts;
mod keys;
mod layers;
mod parse;
mod passfile;
mod service;
mod settings;
#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

pub use env::{Env, FileText, Files};
pub(super) use error::quoted;
pub use error::{ConnInfoError, Place};
pub use hosts::{Host, HostEntry};
use layers::Layers;
pub use settings::{ChannelBinding, ClientCert, KeepAlive, RootCert, SslMode, TargetSession, TlsSettings, TlsVersions};

/// How every session of ours is named in `pg_stat_activity`, unless the user says otherwise.
pub const APPLICATION_NAME: &str = "queuetop";

/// Everything needed to connect, complete and checked.
#[derive(Debug, Clone)]
pub struct ConnInfo {
    /// The servers to try, in order; never empty.
    pub hosts: Vec<HostEntry>,
    /// Who logs in.
    pub user: String,
    /// The database.
    pub dbname: String,
    /// The name shown in `pg_stat_activity`.
    pub application_name: String,
    /// Command-line options for the server process.
    pub options: Option<String>,
    /// TLS.
    pub tls: TlsSettings,
    /// Tying the login to the TLS channel.
    pub channel_binding: ChannelBinding,
    /// Which of several servers will do.
    pub target_session: TargetSession,
    /// Try the servers in random order.
    pub load_balance: bool,
    /// How long one server may take from the first packet to a usable session; `None`: for ever.
    pub connect_timeout: Option<Duration>,
    /// Keep-alives.
    pub keep_alive: KeepAlive,
    /// The settings look like those of a pooler in transaction mode (port 6543 or `pgbouncer=true`).
    pub looks_pooled: bool,
    /// Where the password was read, if there is one outside of password files.
    pub password_place: Option<Place>,
    /// Things that were accepted but that the user should know.
    pub warnings: Vec<String>,
}

/// Whom we talk to, for headers and dialogs; holds no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Who logs in.
    pub user: String,
    /// The database.
    pub database: String,
    /// The server or servers, as given: `db1.internal`, `[local]`, `db1:5433,db2`.
    pub host: String,
    /// True when every server is a unix socket on this machine.
    pub local_socket: bool,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @ {}", self.database, self.host)
    }
}

impl ConnInfo {
    /// Resolves a connection string (URI, key=value or database name) together with its surroundings.
    ///
    /// # Errors
    /// When a setting is unknown, invalid, or not supported. The message names the key and the place.
    pub fn resolve(dsn: Option<&str>, env: &Env) -> Result<Self, ConnInfoError> {
        let mut layers = Layers::gather(dsn, env)?;
        let Some(user) = layers.text("user").map(str::to_owned).or_else(|| env.user.clone()) else {
            let fault = ConnInfoError::new(Place::Together, "there is no user name");
            return Err(fault.hint("give user=… or set PGUSER"));
        };
        let dbname = layers.text("dbname").unwrap_or(&user).to_owned();
        let mut hosts = hosts::list(&layers, env)?;
        settings::gssencmode(&layers)?;
        let password = layers.get("password").cloned();
        let passfile = if password.is_none() { read_passfile(&mut layers, env)? } else { None };
        let given = password.as_ref().map(|password| password.text.as_str());
        hosts::add_passwords(&mut hosts, given, passfile.as_deref(), (&dbname, &user));
        let name = layers.text("application_name").or(layers.text("fallback_application_name"));
        Ok(Self {
            application_name: name.unwrap_or(APPLICATION_NAME).to_owned(),
            options: layers.text("options").map(str::to_owned),
            tls: settings::tls(&layers, env)?,
            channel_binding: settings::channel_binding(&layers)?,
            target_session: settings::target_session(&layers)?,
            load_balance: settings::load_balance(&layers)?,
            connect_timeout: settings::connect_timeout(&layers)?,
            keep_alive: settings::keep_alive(&layers)?,
            looks_pooled: layers.pooled || hosts.iter().any(|entry| entry.port == 6543),
            password_place: password.map(|password| password.place),
            warnings: layers.warnings,
            hosts,
            user,
            dbname,
        })
    }

    /// Whom we will talk to.
    #[must_use]
    pub fn target(&self) -> Target {
        let labels: Vec<String> = self.hosts.iter().map(HostEntry::label).collect();
        Target {
            user: self.user.clone(),
            database: self.dbname.clone(),
            host: labels.join(","),
            local_socket: self.hosts.iter().all(|entry| matches!(entry.host, Host::Socket(_))),
        }
    }

    /// True when the password stood in the connection string, where everybody on the machine can see it.
    #[must_use]
    pub fn password_on_command_line(&self) -> bool {
        matches!(self.password_place, Some(Place::Dsn(_)))
    }
}

fn read_passfile(layers: &mut Layers, env: &Env) -> Result<Option<String>, ConnInfoError> {
    match layers.path("passfile").or_else(|| env.at_home(".pgpass")) {
        Some(path) => passfile::load(&path, env, &mut layers.warnings),
        None => Ok(None),
    }
}
