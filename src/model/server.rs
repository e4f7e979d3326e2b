//! What is known of the server and of the role's rights there.

use super::BackendKind;

/// Whether the connection is encrypted, as negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsState {
    /// A unix socket: encryption does not apply.
    Socket,
    /// Encrypted; the certificate was checked.
    Verified,
    /// Encrypted; the certificate was not checked.
    Encrypted,
    /// Plain text over the network.
    Plain,
    /// Not known yet.
    #[default]
    Unknown,
}

/// Whether something may be done, and if not, what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ability {
    /// May be done.
    Yes,
    /// May not be done: the reason in words, with the missing grant where there is one.
    No(String),
    /// Not known yet.
    #[default]
    Unknown,
}

/// Facts of the server and the session, read at connect and now and then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerFacts {
    /// `user @ database @ host` parts without secrets.
    pub user: String,
    /// Database name.
    pub database: String,
    /// Host name or socket folder.
    pub host: String,
    /// A local socket: not production until the configuration says otherwise.
    pub local: bool,
    /// `server_version`, as the server says.
    pub version: String,
    /// `server_version_num`.
    pub version_num: i32,
    /// A standby: read only.
    pub standby: bool,
    /// Encryption.
    pub tls: TlsState,
    /// Backends found, with the schema each lives in.
    pub backends: Vec<(BackendKind, String)>,
    /// Whether this role may act on jobs.
    pub act: Ability,
    /// What is missing or limited, in words, for the header and the detail.
    pub notes: Vec<String>,
}

impl ServerFacts {
    /// `database@host`, as `safety.not_production` of the settings names it.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}@{}", self.database, self.host)
    }

    /// Whether it counts as production: as the settings state of the target, else when it is neither local nor among the places
    /// that the settings call harmless.
    #[must_use]
    pub fn is_production(&self, stated: Option<bool>, harmless: &[String]) -> bool {
        stated.unwrap_or_else(|| !self.local && !harmless.contains(&self.place()))
    }

    /// What the role may do, in one word.
    #[must_use]
    pub fn role_word(&self) -> &'static str {
        match (&self.act, self.standby) {
            (_, true) => "read only",
            (Ability::Yes, _) => "operator",
            (Ability::No(_), _) => "viewer",
            (Ability::Unknown, _) => "?",
        }
    }
}
