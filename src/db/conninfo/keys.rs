//! The one table of connection keys: what libpq knows (up to version 18), under which variable, and what we do with it.
//! Keys that other programs put into copied URLs are listed too, so that they are named and never silently dropped.

use crate::model::spelling;

/// What we do with a key that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Obeyed.
    Obeyed,
    /// Without effect here and harmless: accepted in silence.
    Harmless,
    /// Changes what the user may rely on, and we cannot do it: refused, with the reason.
    Refused(&'static str),
    /// Of another program: accepted with a warning.
    Foreign,
}

/// One known key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) env: Option<&'static str>,
    pub(super) r#use: Use,
}

const fn obeyed(name: &'static str, env: Option<&'static str>) -> Key {
    let r#use = Use::Obeyed;
    Key { name, env, r#use }
}

const fn harmless(name: &'static str, env: Option<&'static str>) -> Key {
    let r#use = Use::Harmless;
    Key { name, env, r#use }
}

const fn refused(name: &'static str, env: Option<&'static str>, why: &'static str) -> Key {
    let r#use = Use::Refused(why);
    Key { name, env, r#use }
}

const fn foreign(name: &'static str) -> Key {
    let (env, r#use) = (None, Use::Foreign);
    Key { name, env, r#use }
}

/// Source: PostgreSQL documentation, "Parameter Key Words" and "Environment Variables" of libpq.
pub(super) const KEYS: &[Key] = &[
    obeyed("service", Some("PGSERVICE")),
    obeyed("servicefile", Some("PGSERVICEFILE")),
    obeyed("host", Some("PGHOST")),
    obeyed("hostaddr", Some("PGHOSTADDR")),
    obeyed("port", Some("PGPORT")),
    obeyed("dbname", Some("PGDATABASE")),
    obeyed("user", Some("PGUSER")),
    obeyed("password", Some("PGPASSWORD")),
    obeyed("passfile", Some("PGPASSFILE")),
    obeyed("channel_binding", Some("PGCHANNELBINDING")),
    obeyed("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    obeyed("options", Some("PGOPTIONS")),
    obeyed("application_name", Some("PGAPPNAME")),
    obeyed("fallback_application_name", None),
    obeyed("keepalives", None),
    obeyed("keepalives_idle", None),
    obeyed("keepalives_interval", None),
    obeyed("keepalives_count", None),
    obeyed("tcp_user_timeout", None),
    obeyed("sslmode", Some("PGSSLMODE")),
    obeyed("sslnegotiation", Some("PGSSLNEGOTIATION")),
    obeyed("sslcert", Some("PGSSLCERT")),
    obeyed("sslkey", Some("PGSSLKEY")),
    obeyed("sslcertmode", Some("PGSSLCERTMODE")),
    obeyed("sslrootcert", Some("PGSSLROOTCERT")),
    obeyed("sslsni", Some("PGSSLSNI")),
    obeyed("ssl_min_protocol_version", Some("PGSSLMINPROTOCOLVERSION")),
    obeyed("ssl_max_protocol_version", Some("PGSSLMAXPROTOCOLVERSION")),
    obeyed("gssencmode", Some("PGGSSENCMODE")),
    obeyed("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    obeyed("load_balance_hosts", Some("PGLOADBALANCEHOSTS")),
    harmless("client_encoding", Some("PGCLIENTENCODING")),
    harmless("sslcompression", Some("PGSSLCOMPRESSION")),
    harmless("krbsrvname", Some("PGKRBSRVNAME")),
    harmless("gsslib", Some("PGGSSLIB")),
    harmless("gssdelegation", Some("PGGSSDELEGATION")),
    harmless("max_protocol_version", Some("PGMAXPROTOCOLVERSION")),
    refused("min_protocol_version", Some("PGMINPROTOCOLVERSION"), "only protocol 3.0 is spoken"),
    refused("sslpassword", None, "encrypted client keys are not read: decrypt the key file"),
    refused("sslcrl", Some("PGSSLCRL"), "revocation lists are not checked"),
    refused("sslcrldir", Some("PGSSLCRLDIR"), "revocation lists are not checked"),
    refused("sslkeylogfile", None, "session keys are never written to a file"),
    refused("requirepeer", Some("PGREQUIREPEER"), "the owner of the server process is not checked"),
    refused("require_auth", Some("PGREQUIREAUTH"), "the method of authentication is not checked"),
    refused("replication", None, "queuetop makes ordinary sessions only"),
    refused("scram_client_key", None, "give a password instead"),
    refused("scram_server_key", None, "give a password instead"),
    refused("oauth_issuer", None, "OAuth is not supported"),
    refused("oauth_client_id", None, "OAuth is not supported"),
    refused("oauth_client_secret", None, "OAuth is not supported"),
    refused("oauth_scope", None, "OAuth is not supported"),
    foreign("pgbouncer"),
    foreign("connection_limit"),
    foreign("pool_timeout"),
    foreign("pool_size"),
    foreign("max_connections"),
    foreign("socket_timeout"),
    foreign("statement_cache_size"),
    foreign("prepared_statements"),
    foreign("prepareThreshold"),
    foreign("schema"),
    foreign("currentSchema"),
    foreign("supa"),
    foreign("sslaccept"),
    foreign("uselibpqcompat"),
    foreign("workaround"),
];

/// Looks a key up; names are compared as libpq does, case included.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether what follows this key in a connection string may be the rest of a secret that lacks its quotes.
pub(super) fn is_secret(name: &str) -> bool {
    matches!(name, "password" | "sslpassword" | "scram_client_key" | "scram_server_key" | "oauth_client_secret")
}

/// The known key that an unknown one was probably meant to be: equal but for case, or one slip away.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    spelling::nearest(name, KEYS.iter().map(|key| key.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_recognised() {
        assert_eq!(nearest("sslmod"), Some("sslmode"));
        assert_eq!(nearest("SSLMODE"), Some("sslmode"));
        assert_eq!(nearest("db_name"), Some("dbname"));
        assert_eq!(nearest("hunter2"), None);
    }
}
