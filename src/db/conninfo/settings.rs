//! Typed settings from the values that won: numbers, choices, TLS.

use std::{path::PathBuf, time::Duration};

use super::{
    env::Env,
    error::{ConnInfoError, echo},
    layers::Layers,
};

/// `sslmode`: how much TLS is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SslMode {
    /// Never TLS.
    Disable,
    /// Without TLS first; with TLS where the server insists.
    Allow,
    /// With TLS first; without where the server has none.
    Prefer,
    /// TLS, whoever answers (unless a root certificate is configured: then as `verify-ca`).
    Require,
    /// TLS with a certificate of a known authority.
    VerifyCa,
    /// TLS with a certificate of a known authority for this very host.
    VerifyFull,
}

/// `sslrootcert`: whose certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootCert {
    /// The certificate authorities of this machine.
    System,
    /// A file that was named: it must exist.
    File(PathBuf),
    /// The default file: used where it exists.
    Default(Option<PathBuf>),
}

/// `sslcertmode`: whether a client certificate is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCert {
    /// The certificate chain, PEM.
    pub cert: PathBuf,
    /// The private key, PEM.
    pub key: PathBuf,
    /// True where the certificate was asked for by name, so that it must exist.
    pub required: bool,
}

/// Which versions of TLS are acceptable, of those that exist here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersions {
    /// 1.2 and 1.3.
    Both,
    /// 1.2 only.
    Only12,
    /// 1.3 only.
    Only13,
}

/// Everything about TLS, files by name; they are read anew at each connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// How much TLS is wanted.
    pub mode: SslMode,
    /// Whose certificates are believed.
    pub root: RootCert,
    /// What is shown to the server, if it asks.
    pub client: Option<ClientCert>,
    /// Start with TLS at once, without asking the server first (PostgreSQL 17).
    pub direct: bool,
    /// Send the host name in the clear, so that proxies can route.
    pub sni: bool,
    /// Which versions of TLS are acceptable.
    pub versions: TlsVersions,
}

/// `channel_binding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Where possible.
    Prefer,
    /// Always, so that nobody can sit in between.
    Require,
}

/// `target_session_attrs`: which of several servers will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetSession {
    /// The first that answers.
    Any,
    /// One where a session may write.
    ReadWrite,
    /// One where a session may not write.
    ReadOnly,
    /// One that is not in recovery.
    Primary,
    /// One that is in recovery.
    Standby,
    /// One in recovery if there is any, else any.
    PreferStandby,
}

/// Keep-alives and dead-link detection on TCP. `None` leaves a number to the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepAlive {
    /// Whether probes are sent at all.
    pub on: bool,
    /// Silence before the first probe.
    pub idle: Option<Duration>,
    /// Between probes.
    pub interval: Option<Duration>,
    /// Unanswered probes until the link is given up.
    pub count: Option<u32>,
    /// How long sent data may stay unconfirmed until the link is given up (Linux).
    pub user_timeout: Option<Duration>,
}

/// One of a fixed list of words.
pub(super) fn choice<T: Copy>(
    layers: &Layers,
    key: &'static str,
    choices: &[(&str, T)],
    default: T,
) -> Result<T, ConnInfoError> {
    let Some(value) = layers.get(key) else {
        return Ok(default);
    };
    choices.iter().find(|(word, _)| *word == value.text).map(|(_, choice)| *choice).ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        ConnInfoError::new(value.place.clone(), format!("invalid {key} {}", echo(&value.text)))
            .hint(format!("{key} is one of {}", words.join(", ")))
    })
}

/// A whole number.
pub(super) fn number(layers: &Layers, key: &'static str) -> Result<Option<i32>, ConnInfoError> {
    let Some(value) = layers.get(key) else {
        return Ok(None);
    };
    let number = value.text.trim().parse();
    number.map(Some).map_err(|_| ConnInfoError::new(value.place.clone(), format!("{key} is not a whole number")))
}

/// A span of time; zero and less stand for "no limit of ours".
fn span(number: i32, unit: fn(u64) -> Duration) -> Option<Duration> {
    u64::try_from(number).ok().filter(|number| *number > 0).map(unit)
}

/// `connect_timeout`, per server. 10 s unless given; 0 and negative wait for ever, as in libpq.
pub(super) fn connect_timeout(layers: &Layers) -> Result<Option<Duration>, ConnInfoError> {
    Ok(span(number(layers, "connect_timeout")?.unwrap_or(10), Duration::from_secs))
}

/// The defaults notice a dead link within half a minute: idle links by probes, busy ones by the user timeout.
pub(super) fn keep_alive(layers: &Layers) -> Result<KeepAlive, ConnInfoError> {
    let count = number(layers, "keepalives_count")?.unwrap_or(3);
    Ok(KeepAlive {
        on: number(layers, "keepalives")?.unwrap_or(1) != 0,
        idle: span(number(layers, "keepalives_idle")?.unwrap_or(15), Duration::from_secs),
        interval: span(number(layers, "keepalives_interval")?.unwrap_or(5), Duration::from_secs),
        count: u32::try_from(count).ok().filter(|count| *count > 0),
        user_timeout: span(number(layers, "tcp_user_timeout")?.unwrap_or(20_000), Duration::from_millis),
    })
}

pub(super) fn channel_binding(layers: &Layers) -> Result<ChannelBinding, ConnInfoError> {
    use ChannelBinding::{Disable, Prefer, Require};
    let choices = [("disable", Disable), ("prefer", Prefer), ("require", Require)];
    choice(layers, "channel_binding", &choices, Prefer)
}

pub(super) fn target_session(layers: &Layers) -> Result<TargetSession, ConnInfoError> {
    use TargetSession::{Any, PreferStandby, Primary, ReadOnly, ReadWrite, Standby};
    let choices = [
        ("any", Any),
        ("read-write", ReadWrite),
        ("read-only", ReadOnly),
        ("primary", Primary),
        ("standby", Standby),
        ("prefer-standby", PreferStandby),
    ];
    choice(layers, "target_session_attrs", &choices, Any)
}

pub(super) fn load_balance(layers: &Layers) -> Result<bool, ConnInfoError> {
    choice(layers, "load_balance_hosts", &[("disable", false), ("random", true)], false)
}

/// Kerberos encryption is never made: fine unless it is demanded.
pub(super) fn gssencmode(layers: &Layers) -> Result<(), ConnInfoError> {
    let choices = [("disable", false), ("prefer", false), ("require", true)];
    match (choice(layers, "gssencmode", &choices, false)?, layers.get("gssencmode")) {
        (true, Some(value)) => Err(ConnInfoError::new(value.place.clone(), "gssencmode=require is not supported")
            .hint("encrypt with TLS: sslmode=require or stronger")),
        _ => Ok(()),
    }
}

pub(super) fn tls(layers: &Layers, env: &Env) -> Result<TlsSettings, ConnInfoError> {
    use SslMode::{Allow, Disable, Prefer, Require, VerifyCa, VerifyFull};
    let choices = [
        ("disable", Disable),
        ("allow", Allow),
        ("prefer", Prefer),
        ("require", Require),
        ("verify-ca", VerifyCa),
        ("verify-full", VerifyFull),
    ];
    let root = match layers.path("sslrootcert") {
        Some(file) if file.as_os_str() == "system" => RootCert::System,
        Some(file) => RootCert::File(file),
        None => RootCert::Default(env.at_home(".postgresql/root.crt")),
    };
    let default = if root == RootCert::System { VerifyFull } else { Prefer };
    let mode = choice(layers, "sslmode", &choices, default)?;
    let weak = |key: &'static str, what: &str| {
        let place = layers.get(key).map(|value| value.place.clone());
        let place = place.unwrap_or(super::error::Place::Together);
        Err(ConnInfoError::new(place, format!("the present sslmode is too weak for {what}")))
    };
    if root == RootCert::System && mode != VerifyFull {
        return weak("sslrootcert", "sslrootcert=system").map_err(|error| error.hint("use sslmode=verify-full"));
    }
    let direct = choice(layers, "sslnegotiation", &[("postgres", false), ("direct", true)], false)?;
    if direct && matches!(mode, Disable | Allow | Prefer) {
        return weak("sslnegotiation", "sslnegotiation=direct")
            .map_err(|error| error.hint("use sslmode=require or stronger"));
    }
    let versions = [("TLSv1", 0), ("TLSv1.1", 1), ("TLSv1.2", 2), ("TLSv1.3", 3)];
    let lowest = choice(layers, "ssl_min_protocol_version", &versions, 2)?;
    let highest = choice(layers, "ssl_max_protocol_version", &versions, 3)?;
    if highest < 2 || lowest > highest {
        return Err(ConnInfoError::new(
            super::error::Place::Together,
            "no TLS version is left between \
            ssl_min_protocol_version and ssl_max_protocol_version",
        )
        .hint("TLSv1.2 and TLSv1.3 are supported"));
    }
    Ok(TlsSettings {
        mode,
        root,
        client: client_cert(layers, env)?,
        direct,
        sni: choice(layers, "sslsni", &[("1", true), ("0", false)], true)?,
        versions: match (lowest, highest) {
            (3, _) => TlsVersions::Only13,
            (_, 2) => TlsVersions::Only12,
            _ => TlsVersions::Both,
        },
    })
}

fn client_cert(layers: &Layers, env: &Env) -> Result<Option<ClientCert>, ConnInfoError> {
    let shown = choice(layers, "sslcertmode", &[("disable", 0), ("allow", 1), ("require", 2)], 1)?;
    if shown == 2 {
        return Err(ConnInfoError::new(super::error::Place::Together, "sslcertmode=require is not supported")
            .hint("a server that needs a certificate refuses you without"));
    }
    let named = layers.path("sslcert");
    let required = named.is_some();
    let cert = named.or_else(|| env.at_home(".postgresql/postgresql.crt"));
    let key = layers.path("sslkey").or_else(|| env.at_home(".postgresql/postgresql.key"));
    match (cert, key) {
        (Some(cert), Some(key)) if shown == 1 => Ok(Some(ClientCert { cert, key, required })),
        _ => Ok(None),
    }
}
