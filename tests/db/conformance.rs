//! psql and queuetop with the same settings: who gets in, as whom, where, with TLS or not, and who is refused.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use queuetop::db::{ConnInfo, Connector, Purpose, SqlLog, Statement};
use tempfile::TempDir;

use super::{LIMITS, env, secure::Secure};
use crate::support::needs;

/// User, database, TLS, by socket or address, options, name.
const WHO: &str = "select concat_ws(' ', current_user, current_database(), \
    (select ssl from pg_stat_ssl where pid = pg_backend_pid()), coalesce(host(inet_server_addr()), 'socket'), \
    current_setting('work_mem'), nullif(nullif(current_setting('application_name'), 'psql'), 'queuetop'))";

/// What psql says, or `refused`.
fn theirs(psql: &Path, dsn: Option<&str>, vars: &[(&str, &str)], home: &Path) -> String {
    let mut command = Command::new(psql);
    command.env_clear().env("HOME", home).envs(vars.iter().copied()).args(["-XAtw", "-c", WHO]).args(dsn);
    let output = command.output().expect("psql runs");
    if output.status.success() {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    } else {
        "refused".to_owned()
    }
}

/// What we say, or `refused` with the reason behind it.
async fn ours(dsn: Option<&str>, vars: &[(&str, &str)], home: &Path) -> (String, String) {
    let info = match ConnInfo::resolve(dsn, &env(vars, home)) {
        Ok(info) => info,
        Err(error) => return ("refused".to_owned(), error.to_string()),
    };
    let session = match Connector::new(info, SqlLog::default()).connect(Purpose::Read).await {
        Ok(session) => session,
        Err(error) => return ("refused".to_owned(), error.to_string()),
    };
    let rows = session.read_one("who", Statement::new(WHO), LIMITS).await.expect("an answer");
    (rows[0].get(0), String::new())
}

fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Everything that the table names: `{port}` and so on are replaced.
struct Names(Vec<(&'static str, String)>);

impl Names {
    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

fn set_up(secure: &Secure, home: &TempDir) -> Names {
    let folder = home.path();
    let service = format!(
        "[app]\nhost=localhost\nport={0}\ndbname=app\nuser=only_scram\npassword=s3cr3t\nsslmode=require\n\
         [plain]\nhost=localhost\nport={0}\nuser=postgres\ndbname=app\nsslmode=disable\n[broken]\nhost=localhost\nnonsense\n",
        secure.port
    );
    private(&folder.join(".pg_service.conf"), &service);
    private(&folder.join("services"), &service.replace("[app]", "[other]"));
    private(&folder.join(".pgpass"), &format!("localhost:{}:app:only_scram:s3cr3t\n", secure.port));
    private(&folder.join("pass"), "*:*:*:only_md5:s3cr3t\n");
    private(&folder.join("open"), "*:*:*:only_md5:s3cr3t\n");
    fs::set_permissions(folder.join("open"), fs::Permissions::from_mode(0o644)).unwrap();
    Names(vec![
        ("{port}", secure.port.to_string()),
        ("{home}", folder.display().to_string()),
        ("{ca}", secure.certs.path("ca.crt").display().to_string()),
        ("{other}", secure.certs.path("other.crt").display().to_string()),
        ("{sock}", secure.server.socket_dir().display().to_string()),
        ("{%sock}", secure.server.socket_dir().display().to_string().replace('/', "%2F")),
    ])
}

type Row = (Option<&'static str>, &'static [(&'static str, &'static str)]);

const NO_VARS: &[(&str, &str)] = &[];
const HERE: &[(&str, &str)] = &[("PGHOST", "localhost"), ("PGPORT", "{port}"), ("PGUSER", "postgres")];

const TABLE: &[Row] = &[
    // Connection strings.
    (Some("postgresql://postgres@localhost:{port}/app"), NO_VARS),
    (Some("postgres://only_scram:s3cr3t@localhost:{port}/app"), NO_VARS),
    (Some("postgres://only_scram:%733cr3t@localhost:{port}/app?sslmode=require"), NO_VARS),
    (Some("postgres://only_md5:wrong@localhost:{port}/app"), NO_VARS),
    (Some("postgres://only_md5@localhost:{port}/app"), NO_VARS),
    (Some("postgres://postgres@{%sock}:{port}/app"), NO_VARS),
    (Some("postgres:///app?host={sock}&port={port}&user=postgres"), NO_VARS),
    (Some("postgres://postgres@[::1]:{port}/app"), NO_VARS),
    (Some("postgres://postgres@127.0.0.1:{port}/app?ssl=true"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}/app?nonsense=1"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}/missing"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}/?dbname=app"), NO_VARS),
    (Some("postgres://postgres@localhost:1,localhost:{port}/app"), NO_VARS),
    (Some("postgres://postgres@localhost:1/app"), NO_VARS),
    (Some("postgres://postgres@localhost:{port},localhost:1/app?target_session_attrs=read-write"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}/app?target_session_attrs=standby"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}/app?target_session_attrs=read-only"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}/app?target_session_attrs=prefer-standby"), NO_VARS),
    (Some("postgres://postgres@localhost:{port}/app?target_session_attrs=primary"), NO_VARS),
    (Some("host=localhost port={port} dbname=app user=postgres"), NO_VARS),
    (Some("host = localhost port={port} dbname='app' user='postgres'"), NO_VARS),
    (Some("host=localhost port={port} dbname=app user=postgres sslmode=disable"), NO_VARS),
    (Some("host=localhost port={port} dbname=app user=postgres sslmode=sometimes"), NO_VARS),
    (Some("host=localhost port={port} dbname=app user='postgres"), NO_VARS),
    (Some("host=localhost port=x dbname=app user=postgres"), NO_VARS),
    (Some("hostaddr=127.0.0.1 port={port} dbname=app user=postgres"), NO_VARS),
    (Some("host=nowhere.invalid hostaddr=127.0.0.1 port={port} dbname=app user=postgres"), NO_VARS),
    (Some("host=localhost,localhost port=1,{port} dbname=app user=postgres"), NO_VARS),
    (Some("host=localhost,localhost port=1,2,3 dbname=app user=postgres"), NO_VARS),
    (Some("host={sock} port={port} user=postgres dbname=app options='-c work_mem=123kB'"), NO_VARS),
    (Some("host={sock} port={port} user=postgres dbname=app application_name=mine"), NO_VARS),
    (Some("host={sock} port={port} user=postgres dbname=app sslmode=require"), NO_VARS),
    // The environment, and what is stronger.
    (None, HERE),
    (Some("app"), HERE),
    (Some("dbname=app user=only_scram"), HERE),
    (Some("dbname=app"), &[("PGHOST", "{sock}"), ("PGPORT", "{port}"), ("PGUSER", "postgres"), ("PGAPPNAME", "named")]),
    (
        None,
        &[
            ("PGHOST", "localhost"),
            ("PGPORT", "{port}"),
            ("PGUSER", "only_md5"),
            ("PGPASSWORD", "s3cr3t"),
            ("PGDATABASE", "app"),
        ],
    ),
    (Some("postgres:///app"), &[("PGHOSTADDR", "127.0.0.1"), ("PGPORT", "{port}"), ("PGUSER", "postgres")]),
    (
        Some("host=localhost port={port} user=postgres dbname=app"),
        &[("PGHOST", "nowhere.invalid"), ("PGSSLMODE", "disable")],
    ),
    (Some("host=localhost port={port} user=postgres dbname=app"), &[("PGOPTIONS", "-c work_mem=321kB")]),
    (
        Some("host=localhost port={port} user=postgres dbname=app"),
        &[("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", "{ca}")],
    ),
    (Some("host=localhost port={port} user=postgres dbname=app"), &[("PGTARGETSESSIONATTRS", "standby")]),
    (Some("host=localhost port={port} user=postgres dbname=app"), &[("PGREQUIRESSL", "1")]),
    (Some("host=localhost port={port} user=postgres dbname=app"), &[("PGCONNECT_TIMEOUT", "x")]),
    // Service files.
    (Some("service=app"), NO_VARS),
    (Some("service=app sslmode=disable"), NO_VARS),
    (Some("postgres:///?service=plain"), NO_VARS),
    (None, &[("PGSERVICE", "plain")]),
    (Some("dbname=postgres"), &[("PGSERVICE", "plain"), ("PGUSER", "nobody")]),
    (Some("service=other"), NO_VARS),
    (Some("service=other"), &[("PGSERVICEFILE", "{home}/services")]),
    (Some("service=plain"), &[("PGSERVICEFILE", "{home}/missing")]),
    (Some("service=broken"), NO_VARS),
    // Password files.
    (Some("host=localhost port={port} user=only_scram dbname=app"), NO_VARS),
    (Some("host=127.0.0.1 port={port} user=only_scram dbname=app"), NO_VARS),
    (Some("host=localhost port={port} user=only_md5 dbname=app"), &[("PGPASSFILE", "{home}/pass")]),
    (Some("host=localhost port={port} user=only_md5 dbname=app passfile={home}/pass"), NO_VARS),
    (Some("host=localhost port={port} user=only_md5 dbname=app"), &[("PGPASSFILE", "{home}/open")]),
    // TLS.
    (Some("host=localhost port={port} user=only_tls dbname=app"), NO_VARS),
    (Some("host=localhost port={port} user=only_tls dbname=app sslmode=disable"), NO_VARS),
    (Some("host=localhost port={port} user=only_tls dbname=app sslmode=allow"), NO_VARS),
    (Some("host=localhost port={port} user=only_plain dbname=app"), NO_VARS),
    (Some("host=localhost port={port} user=only_plain dbname=app sslmode=require"), NO_VARS),
    (Some("host=localhost port={port} user=postgres dbname=app sslmode=verify-full"), NO_VARS),
    (Some("host=localhost port={port} user=postgres dbname=app sslmode=verify-full sslrootcert={ca}"), NO_VARS),
    (Some("host=127.0.0.1 port={port} user=postgres dbname=app sslmode=verify-full sslrootcert={ca}"), NO_VARS),
    (Some("host=127.0.0.1 port={port} user=postgres dbname=app sslmode=verify-ca sslrootcert={ca}"), NO_VARS),
    (Some("host=localhost port={port} user=postgres dbname=app sslmode=verify-ca sslrootcert={other}"), NO_VARS),
    (Some("host=localhost port={port} user=postgres dbname=app sslmode=require sslrootcert={other}"), NO_VARS),
    (Some("host=localhost port={port} user=postgres dbname=app sslmode=require sslrootcert={ca}"), NO_VARS),
    (Some("host=localhost port={port} user=only_scram dbname=app sslmode=disable channel_binding=require"), NO_VARS),
    (Some("host=localhost port={port} user=nobody dbname=app"), NO_VARS),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_same_settings_lead_to_the_same_place() {
    let Some(secure) = Secure::start().await else { return };
    let Some(psql) = needs::server_program("psql", secure.server.bin_dir()) else { return };
    secure.use_certificate("good").await;
    secure.admin("create database app").await;
    let home = TempDir::new().unwrap();
    let names = set_up(&secure, &home);
    let (mut different, mut connected) = (Vec::new(), 0);
    for (dsn, vars) in TABLE {
        let dsn = dsn.map(|dsn| names.fill(dsn));
        let vars: Vec<(&str, String)> = vars.iter().map(|(name, value)| (*name, names.fill(value))).collect();
        let vars: Vec<(&str, &str)> = vars.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let theirs = theirs(&psql, dsn.as_deref(), &vars, home.path());
        let (ours, reason) = ours(dsn.as_deref(), &vars, home.path()).await;
        connected += usize::from(theirs != "refused");
        if ours != theirs {
            different.push(format!("{dsn:?} {vars:?}\n  psql: {theirs}\n  ours: {ours} {reason}"));
        }
    }
    assert!((40..TABLE.len() - 20).contains(&connected), "{connected} of {} rows connect", TABLE.len());
    assert!(different.is_empty(), "{}", different.join("\n"));
}
