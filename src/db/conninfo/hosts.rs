//! The list of servers to try: hosts, addresses, ports and passwords, paired as libpq pairs them.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use super::{
    env::Env,
    error::{ConnInfoError, Place},
    layers::{Layers, Value},
    passfile::{self, Wanted},
};
use crate::db::secret::Secret;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A folder with a unix socket, or `@name` for an abstract one.
    Socket(PathBuf),
    /// A name or an address.
    Name(String),
}

/// One server to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEntry {
    /// Where it listens; the name that a certificate must be for.
    pub host: Host,
    /// The address to use instead of looking the name up; may carry a zone (`fe80::1%eth0`).
    pub address: Option<String>,
    /// The TCP port, and the number in the socket's file name.
    pub port: u16,
    /// What to log in with.
    pub password: Option<Secret>,
}

impl HostEntry {
    /// As shown in headers and errors: no secrets, the port only where it is not the usual one.
    #[must_use]
    pub fn label(&self) -> String {
        let name = match &self.host {
            Host::Socket(folder) if is_default_folder(folder) => "[local]".to_owned(),
            Host::Socket(folder) => format!("[local:{}]", folder.display()),
            Host::Name(name) if name.contains(':') => format!("[{name}]"),
            Host::Name(name) => name.clone(),
        };
        if self.port == DEFAULT_PORT { name } else { format!("{name}:{}", self.port) }
    }
}

const DEFAULT_PORT: u16 = 5432;

/// Where servers put their sockets: Debian's and Red Hat's choice, then PostgreSQL's own default.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

fn is_default_folder(folder: &Path) -> bool {
    SOCKET_FOLDERS.iter().any(|known| folder == Path::new(known))
}

/// The servers to try, in order, without passwords.
pub(super) fn list(layers: &Layers, env: &Env) -> Result<Vec<HostEntry>, ConnInfoError> {
    let (hosts, addresses) = (items(layers.get("host")), items(layers.get("hostaddr")));
    let count = [addresses.len(), hosts.len(), 1].into_iter().find(|count| *count > 0).unwrap_or(1);
    if !hosts.is_empty() && hosts.len() != count {
        let what = format!("{} hosts do not match {count} addresses in hostaddr", hosts.len());
        return Err(ConnInfoError::new(Place::Together, what));
    }
    let ports = ports(layers.get("port"))?;
    if ports.len() > 1 && ports.len() != count {
        let what = format!("{} ports do not match {count} hosts", ports.len());
        return Err(ConnInfoError::new(Place::Together, what).hint("give one port for all, or one for each"));
    }
    let mut entries = Vec::new();
    for index in 0..count {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
        let address = addresses.get(index).filter(|address| !address.is_empty());
        if let (Some(address), Some(value)) = (address, layers.get("hostaddr")) {
            check_address(address, &value.place)?;
        }
        let named = hosts.get(index).filter(|host| !host.is_empty());
        let found = match (named, address) {
            (Some(host), _) if host.starts_with(['/', '@']) => vec![Host::Socket(PathBuf::from(host))],
            (Some(host), _) => vec![Host::Name((*host).to_owned())],
            (None, Some(address)) => vec![Host::Name((*address).to_owned())],
            (None, None) => default_hosts(port, env),
        };
        let address = address.map(|address| (*address).to_owned());
        entries.extend(found.into_iter().map(|host| HostEntry {
            host,
            address: address.clone(),
            port,
            password: None,
        }));
    }
    Ok(entries)
}

/// Without a host: the folder that has a socket now; where none has, all that one may appear at.
fn default_hosts(port: u16, env: &Env) -> Vec<Host> {
    let present = |folder: &&&str| env.files.exists(&Path::new(folder).join(format!(".s.PGSQL.{port}")));
    if let Some(folder) = SOCKET_FOLDERS.iter().find(present) {
        return vec![Host::Socket(PathBuf::from(folder))];
    }
    let folders = SOCKET_FOLDERS.iter().take(1).filter(|folder| env.files.exists(Path::new(folder)));
    folders.map(|folder| Host::Socket(PathBuf::from(folder))).chain([Host::Name("localhost".to_owned())]).collect()
}

fn items(value: Option<&Value>) -> Vec<&str> {
    value.map(|value| value.text.split(',').map(str::trim).collect()).unwrap_or_default()
}

fn ports(value: Option<&Value>) -> Result<Vec<u16>, ConnInfoError> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let port = |text: &str| match text.trim() {
        "" => Ok(DEFAULT_PORT),
        text => match text.parse() {
            Ok(port) if port > 0 => Ok(port),
            _ => Err(ConnInfoError::new(value.place.clone(), "a port is a number from 1 to 65535")
                .hint("in a URI, write : and @ inside a password as %3A and %40")),
        },
    };
    value.text.split(',').map(port).collect()
}

fn check_address(address: &str, place: &Place) -> Result<(), ConnInfoError> {
    let (plain, _zone) = address.split_once('%').unwrap_or((address, ""));
    match plain.parse::<IpAddr>() {
        Ok(_) => Ok(()),
        Err(_) => {
            Err(ConnInfoError::new(place.clone(), "hostaddr is not a numeric IP address").hint("names go into host"))
        }
    }
}

/// Fills in the passwords: the one that was given, else what the password file has for each server.
pub(super) fn add_passwords(
    entries: &mut [HostEntry],
    given: Option<&str>,
    passfile: Option<&str>,
    (dbname, user): (&str, &str),
) {
    for entry in entries {
        let host = match &entry.host {
            Host::Socket(folder) if is_default_folder(folder) => "localhost",
            Host::Socket(folder) => folder.to_str().unwrap_or_default(),
            Host::Name(name) => name,
        };
        let wanted = Wanted { host, port: entry.port, dbname, user };
        entry.password = given.map(Secret::new).or_else(|| passfile.and_then(|text| passfile::find(text, wanted)));
    }
}
