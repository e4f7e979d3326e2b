//! Resolution as tables: what is given, what comes out.

mod random;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use super::*;

/// A machine with the given files (mode 0600) and variables, user `me`, home `/home/me`.
struct Machine(BTreeMap<PathBuf, FileText>);

impl Files for Machine {
    fn read(&self, path: &Path) -> io::Result<FileText> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }
}

fn machine(vars: &[(&str, &str)], files: &[(&str, &str, u32)]) -> Env {
    let file = |(path, text, mode): &(&str, &str, u32)| {
        let text = FileText { bytes: text.as_bytes().to_vec(), mode: *mode, regular: true };
        (PathBuf::from(path), text)
    };
    Env {
        vars: vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
        user: Some("me".into()),
        home: Some("/home/me".into()),
        files: Box::new(Machine(files.iter().map(file).collect())),
    }
}

type Vars<'a> = &'a [(&'a str, &'a str)];

/// `user@host,host/db password` in one line.
fn summary(info: &ConnInfo) -> String {
    let hosts: Vec<String> = info
        .hosts
        .iter()
        .map(|entry| match &entry.host {
            Host::Socket(folder) => format!("{}:{}", folder.display(), entry.port),
            Host::Name(name) => format!("{name}:{}", entry.port),
        })
        .collect();
    let password = info.hosts.first().and_then(|entry| entry.password.as_ref());
    let password = password.map_or("-", |secret| secret.expose());
    format!("{}@{}/{} {password}", info.user, hosts.join(","), info.dbname)
}

fn resolved(dsn: &str) -> String {
    match ConnInfo::resolve(Some(dsn), &machine(&[], &[])) {
        Ok(info) => summary(&info),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn connection_strings() {
    let table = [
        // URIs. The first ten are from PostgreSQL's documentation.
        ("postgresql://", "me@localhost:5432/me -"),
        ("postgresql://localhost", "me@localhost:5432/me -"),
        ("postgresql://localhost:5433", "me@localhost:5433/me -"),
        ("postgresql://localhost/mydb", "me@localhost:5432/mydb -"),
        ("postgresql://user@localhost", "user@localhost:5432/user -"),
        ("postgresql://user:secret@localhost", "user@localhost:5432/user secret"),
        (
            "postgresql://other@localhost/otherdb?connect_timeout=10&application_name=a",
            "other@localhost:5432/otherdb -",
        ),
        ("postgresql://host1:123,host2:456/somedb?target_session_attrs=any", "me@host1:123,host2:456/somedb -"),
        ("postgresql://[2001:db8::1234]/database", "me@2001:db8::1234:5432/database -"),
        ("postgresql://%2Fvar%2Flib%2Fpostgresql/dbname", "me@/var/lib/postgresql:5432/dbname -"),
        ("postgres:///mydb?host=/tmp/x&port=5433", "me@/tmp/x:5433/mydb -"),
        ("postgres://u:p%40ss%2F%25@h/d", "u@h:5432/d p@ss/%"),
        ("postgres://u:pa?ss@h/d", "u@h:5432/d pa?ss"),
        ("postgres://u:@h/d", "u@h:5432/d -"),
        ("postgres://h1,h2:5433/d", "me@h1:5432,h2:5433/d -"),
        ("postgres://h1,h2/d?port=6000", "me@h1:6000,h2:6000/d -"),
        ("postgres://h/d?user=a&user=b", "b@h:5432/d -"),
        ("postgres://[::1]:5433", "me@::1:5433/me -"),
        ("postgres://[fe80::1%25eth0]/d", "me@fe80::1%eth0:5432/d -"),
        ("postgres://h/d%2Fe", "me@h:5432/d/e -"),
        // key=value.
        ("host=h port=5433 dbname=d user=u password=p", "u@h:5433/d p"),
        (" host = h  user='a b' password='it\\'s \\\\ fine' ", "a b@h:5432/a b it's \\ fine"),
        ("host=h password=a\\ b", "me@h:5432/me a b"),
        ("host=h password=", "me@h:5432/me -"),
        ("host=h password= user=x", "me@h:5432/me user=x"),
        ("host=h password=''", "me@h:5432/me -"),
        ("host=a,b port=1,2", "me@a:1,b:2/me -"),
        ("host=/run/pg user=u", "u@/run/pg:5432/u -"),
        ("hostaddr=127.0.0.1", "me@127.0.0.1:5432/me -"),
        ("host=db hostaddr=127.0.0.1", "me@db:5432/me -"),
        // A bare word is a database.
        ("mydb", "me@localhost:5432/mydb -"),
        ("", "me@localhost:5432/me -"),
    ];
    for (dsn, expected) in table {
        assert_eq!(resolved(dsn), expected, "{dsn}");
    }
}

#[test]
fn faults_name_the_place_and_never_the_secret() {
    let table = [
        ("postgres://u:hunter2@x@h/d", "character 22"),
        ("postgres://u:hunter2/x@h/d", "unescaped @"),
        ("postgres://u:12/hunter2@h/d", "unescaped @ behind the host"),
        ("postgres://u:hunter2%zz@h/d", "two hexadecimal digits"),
        ("postgres://h:hunter2/d", "a port is a number"),
        ("postgres://[::1/d", "closing bracket"),
        ("postgres://[]/d", "empty"),
        ("postgres://[::1]x/d", "neither a port"),
        ("postgres://h/d?hunter2", "lacks its ="),
        ("postgres://h/d?password=a=hunter2", "more than one ="),
        ("postgres://h/d?password=a&hunter2=b", "not repeated"),
        ("postgres://h/d?sslmod=require", "did you mean sslmode?"),
        ("postgres://h/d?frobnicate=1", "unknown key \"frobnicate\""),
        ("postgres://h/%00", "%00"),
        ("mysql://u:hunter2@h/d", "not a PostgreSQL URI"),
        ("jdbc:postgresql://h/d?password=hunter2", "not a PostgreSQL URI"),
        ("u:hunter2@h/d", "without its scheme"),
        ("password=my hunter2 host=h", "character 13: a word lacks its ="),
        ("password=my hunter2=h", "not repeated"),
        ("password='hunter2", "closing quote"),
        ("host=h port=0", "1 to 65535"),
        ("host=h port=65536", "1 to 65535"),
        ("host=a,b port=1,2,3", "3 ports do not match 2 hosts"),
        ("host=a,b hostaddr=127.0.0.1", "2 hosts do not match 1"),
        ("hostaddr=localhost", "not a numeric IP address"),
        ("host=h sslmode=sometimes", "invalid sslmode \"sometimes\""),
        ("host=h sslmode=disable sslrootcert=system", "verify-full"),
        ("host=h sslnegotiation=direct", "sslmode=require or stronger"),
        ("host=h ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2", "no TLS version"),
        ("host=h connect_timeout=soon", "connect_timeout is not a whole number"),
        ("host=h target_session_attrs=leader", "read-write, read-only, primary"),
        ("host=h sslcrl=/x", "sslcrl is not supported"),
        ("host=h require_auth=scram-sha-256", "require_auth is not supported"),
        ("host=h gssencmode=require", "gssencmode=require is not supported"),
        ("service=nowhere", "definition of service \"nowhere\" not found"),
    ];
    for (dsn, expected) in table {
        let shown = resolved(dsn);
        assert!(shown.starts_with("error: ") && shown.contains(expected), "{dsn}: {shown}");
        assert!(!shown.contains("hunter2"), "{dsn}: {shown}");
        assert!(!shown.contains('\n'), "{dsn}: {shown}");
    }
}

const SERVICES: &str = "[app]\nhost=from-service\nuser=service-user\nsslmode=require\n[other]\nhost=x\n";

#[test]
fn explicit_beats_service_beats_environment() {
    let vars = [
        ("PGSERVICEFILE", "/s"),
        ("PGHOST", "from-env"),
        ("PGUSER", "env-user"),
        ("PGPORT", "6000"),
        ("PGDATABASE", "env-db"),
        ("PGPASSWORD", "env-pw"),
    ];
    let env = machine(&vars, &[("/s", SERVICES, 0o644)]);
    let table = [
        (None, "env-user@from-env:6000/env-db env-pw"),
        (Some("host=given"), "env-user@given:6000/env-db env-pw"),
        (Some("service=app"), "service-user@from-service:6000/env-db env-pw"),
        (Some("service=app user=given"), "given@from-service:6000/env-db env-pw"),
        (Some("postgres://given/?service=app&password=p"), "service-user@given:6000/env-db p"),
        (Some("word"), "env-user@from-env:6000/word env-pw"),
    ];
    for (dsn, expected) in table {
        assert_eq!(summary(&ConnInfo::resolve(dsn, &env).unwrap()), expected, "{dsn:?}");
    }
    let mode = ConnInfo::resolve(Some("service=app"), &env).unwrap().tls.mode;
    assert_eq!(mode, SslMode::Require);
}

#[test]
fn service_files_are_looked_for_where_libpq_looks() {
    let table: [(Vars<'_>, &str); 4] = [
        (&[], "/home/me/.pg_service.conf"),
        (&[("PGSERVICEFILE", "/else")], "/else"),
        (&[("PGSYSCONFDIR", "/etc/x")], "/etc/x/pg_service.conf"),
        (&[], "/etc/postgresql-common/pg_service.conf"),
    ];
    for (vars, path) in table {
        let mut vars = vars.to_vec();
        vars.push(("PGSERVICE", "app"));
        let info = ConnInfo::resolve(None, &machine(&vars, &[(path, SERVICES, 0o644)])).unwrap();
        assert_eq!(summary(&info), "service-user@from-service:5432/service-user -", "{path}");
    }
    let env = machine(&[("PGSERVICEFILE", "/missing"), ("PGSERVICE", "app")], &[]);
    let error = ConnInfo::resolve(None, &env).unwrap_err().to_string();
    assert!(error.contains("/missing"), "{error}");
}

#[test]
fn database_url_is_heard_last_and_whole() {
    let url = ("DATABASE_URL", "postgres://u:p@url-host/url-db");
    let table: [(Vars<'_>, Option<&str>, &str); 5] = [
        (&[url], None, "u@url-host:5432/url-db p"),
        (&[url], Some("other"), "me@localhost:5432/other -"),
        (&[url, ("PGHOST", "h")], None, "me@h:5432/me -"),
        (&[url, ("PGHOST", "")], None, "u@url-host:5432/url-db p"),
        (&[("DATABASE_URL", "")], None, "me@localhost:5432/me -"),
    ];
    for (vars, dsn, expected) in table {
        assert_eq!(summary(&ConnInfo::resolve(dsn, &machine(vars, &[])).unwrap()), expected, "{vars:?}");
    }
    let env = machine(&[("DATABASE_URL", "postgres://h:hunter2")], &[]);
    let error = ConnInfo::resolve(None, &env).unwrap_err().to_string();
    assert!(error.contains("DATABASE_URL") && !error.contains("hunter2"), "{error}");
}

#[test]
fn passwords_come_from_the_password_file() {
    let text = "h1:*:*:*:one\nh2:*:*:*:two\nlocalhost:*:*:*:sock\n/s:*:*:*:path\n";
    let env = |mode| machine(&[], &[("/home/me/.pgpass", text, mode), ("/tmp/.s.PGSQL.5432", "", 0o777)]);
    let passwords = |dsn: &str, mode| {
        let info = ConnInfo::resolve(Some(dsn), &env(mode)).unwrap();
        let all = info.hosts.iter().map(|entry| entry.password.as_ref().map_or("-", |secret| secret.expose()));
        (all.collect::<Vec<_>>().join(","), info.warnings.len())
    };
    assert_eq!(passwords("host=h1,h2,h3", 0o600), ("one,two,-".into(), 0));
    assert_eq!(passwords("host=h1 password=given", 0o600), ("given".into(), 0));
    assert_eq!(passwords("host=h1", 0o640), ("-".into(), 1));
    assert_eq!(passwords("host=h1", 0o400), ("one".into(), 0));
    assert_eq!(passwords("", 0o600), ("sock".into(), 0));
    assert_eq!(passwords("host=/s", 0o600), ("path".into(), 0));
    assert_eq!(passwords("host=h1 passfile=/none", 0o600), ("-".into(), 0));
}

#[test]
fn what_else_is_set() {
    let vars =
        [("PGAPPNAME", "x"), ("PGCONNECT_TIMEOUT", "3"), ("PGREQUIRESSL", "1"), ("PGTARGETSESSIONATTRS", "standby")];
    let info = ConnInfo::resolve(Some("host=h"), &machine(&vars, &[])).unwrap();
    assert_eq!(info.application_name, "x");
    assert_eq!(info.connect_timeout, Some(Duration::from_secs(3)));
    assert_eq!(info.tls.mode, SslMode::Require);
    assert_eq!(info.target_session, TargetSession::Standby);
    let info = ConnInfo::resolve(Some("host=h connect_timeout=0 tcp_user_timeout=1500"), &machine(&[], &[])).unwrap();
    assert_eq!(info.application_name, "queuetop");
    assert_eq!(info.connect_timeout, None);
    assert_eq!(info.keep_alive.user_timeout, Some(Duration::from_millis(1500)));
    assert_eq!(info.keep_alive.idle, Some(Duration::from_secs(15)));
    let info = ConnInfo::resolve(Some("host=h sslrootcert=system"), &machine(&[], &[])).unwrap();
    assert_eq!(info.tls.mode, SslMode::VerifyFull);
    let info = ConnInfo::resolve(Some("postgres://h/d?pgbouncer=true&connection_limit=1"), &machine(&[], &[])).unwrap();
    assert!(info.looks_pooled && info.warnings.len() == 2, "{:?}", info.warnings);
    assert!(ConnInfo::resolve(Some("host=h port=6543"), &machine(&[], &[])).unwrap().looks_pooled);
}

#[test]
fn targets_are_told_without_secrets() {
    let target = |dsn: &str| ConnInfo::resolve(Some(dsn), &machine(&[], &[])).unwrap().target();
    assert_eq!(target("postgres://u:hunter2@db1.internal/app").to_string(), "app @ db1.internal");
    assert_eq!(target("postgres://a:5433,[::1]:6000/app").host, "a:5433,[::1]:6000");
    assert_eq!(target("host=/tmp dbname=app").host, "[local]");
    assert_eq!(target("host=/x port=1 dbname=app").host, "[local:/x]:1");
    assert!(target("host=/tmp").local_socket && !target("host=/tmp,b").local_socket);
    let info = ConnInfo::resolve(Some("postgres://u:hunter2@h/d"), &machine(&[], &[])).unwrap();
    assert!(info.password_on_command_line());
    assert!(!format!("{info:?}").contains("hunter2"));
}
