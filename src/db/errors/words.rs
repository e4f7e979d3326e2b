//! SQLSTATE codes and fixed texts to classes and next steps. One table; no other place decides by a code.

use super::Class;

/// The class and the next step for a server's code and first line.
/// Codes: PostgreSQL documentation, appendix "Error Codes"; poolers' texts: measured with PgBouncer 1.18, or from the
/// poolers' sources.
pub(super) fn of_code(code: &str, said: &str) -> (Class, &'static str) {
    match code {
        "28P01" => (Class::Refused, "check the password: PGPASSWORD, .pgpass, or the prompt"),
        "28000" => (Class::Refused, "pg_hba.conf on the server decides who may come in, from where, and how"),
        "3D000" => (Class::NoDatabase, "name another database, or create it; psql -l lists what there is"),
        "57P03" => (Class::StartingUp, "it will be tried again"),
        "57P01" | "57P02" | "57P05" => (Class::Shutdown, "it will be tried again"),
        "25P03" => (Class::Shutdown, "the server ended a session that was idle in a transaction"),
        "53300" => (Class::TooManyConnections, "all connection slots are taken; it will be tried again"),
        "57014" if said.contains("statement timeout") => {
            (Class::StatementTimeout, "this is queuetop's own limit, set for the statement")
        }
        "57014" => (Class::Cancelled, "somebody cancelled the statement"),
        "55P03" => (Class::LockTimeout, "another session holds the lock; queuetop waits for its own limit only"),
        "42501" => (Class::Denied(denied_object(said)), "queuetop doctor prints the missing GRANT"),
        "42P01" | "42883" | "42703" | "3F000" | "42704" => (Class::Undefined, ""),
        "25006" => (Class::ReadOnly, "this server or session takes no writes"),
        "08P01" if said.contains("startup parameter") => (
            Class::Settings,
            "the pooler does not pass it on: leave out options and PGOPTIONS, or list it in ignore_startup_parameters",
        ),
        "26000" | "42P05" => (Class::Settings, "a pooler hands sessions around between statements"),
        "XX000" | "08P01" | "08006" | "08000" if is_tenant(said) => {
            (Class::Refused, "copy user and host from the provider's dashboard: user is postgres.<project> there")
        }
        "XX000" | "08P01" if is_full(said) => (Class::TooManyConnections, "the pool is full; it will be tried again"),
        "XX000" | "08P01" if said.contains("SSL connection is required") => {
            (Class::Tls, "use sslmode=require or stronger")
        }
        code if code.starts_with("28") => (Class::Refused, ""),
        code if code.starts_with("08") => (Class::LinkLost, "it will be tried again"),
        _ => (Class::Other, ""),
    }
}

/// The class and the next step for an error without a code.
pub(super) fn of_text(text: &str) -> (Class, &'static str) {
    const TEXTS: &[(&str, Class, &str)] = &[
        ("password missing", Class::PasswordNeeded, "set PGPASSWORD, add a line to .pgpass, or start in a terminal"),
        ("server does not support TLS", Class::Tls, "sslmode=prefer or disable would connect without encryption"),
        ("did not use channel binding", Class::Refused, "channel_binding=prefer would do without"),
        ("unsupported authentication method", Class::Refused, "Kerberos, GSSAPI and SSPI are not supported"),
        ("unsupported SASL mechanism", Class::Refused, "SCRAM-SHA-256 and passwords are supported"),
        ("invalid configuration", Class::Settings, ""),
        ("TLS handshake", Class::Tls, ""),
        ("authentication error", Class::Refused, ""),
        ("connection closed", Class::LinkLost, ""),
        ("error deserializing", Class::Shape, "the objects may be of another version than this program"),
        ("invalid column", Class::Shape, "the objects may be of another version than this program"),
    ];
    TEXTS
        .iter()
        .find(|(part, ..)| text.contains(part))
        .map_or((Class::Other, ""), |(_, class, next)| (class.clone(), *next))
}

/// Supavisor: unknown tenant, user or cluster.
fn is_tenant(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    said.contains("tenant")
}

/// Supavisor and PgBouncer: no client slot left.
fn is_full(said: &str) -> bool {
    ["EMAXCONNSESSION", "MaxClientsInSessionMode", "max clients", "no more connections allowed"]
        .iter()
        .any(|text| said.contains(text))
}

/// `permission denied for table jobs` → `table jobs`. Only the English text tells; elsewhere the whole line is shown.
fn denied_object(said: &str) -> Option<String> {
    let object = said.strip_prefix("permission denied for ").or_else(|| said.strip_prefix("must be owner of "));
    object.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_classes() {
        let class = |code, said| of_code(code, said).0;
        assert_eq!(class("42501", "permission denied for table jobs"), Class::Denied(Some("table jobs".into())));
        assert_eq!(class("42501", "keine Berechtigung für Tabelle jobs"), Class::Denied(None));
        assert_eq!(class("57014", "canceling statement due to statement timeout"), Class::StatementTimeout);
        assert_eq!(class("57014", "canceling statement due to user request"), Class::Cancelled);
        assert_eq!(class("XX000", "Tenant or user not found"), Class::Refused);
        assert_eq!(class("08P01", "unsupported startup parameter: options"), Class::Settings);
        assert_eq!(class("08P01", "no more connections allowed (max_client_conn)"), Class::TooManyConnections);
        assert_eq!(class("XX001", "boom"), Class::Other);
    }
}
