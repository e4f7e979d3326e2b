//! Who is let in, and what is said to those who are not.

use std::{
    fs, io,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use queuetop::db::{Class, ConnInfo, Connector, Purpose, Secret, SqlLog};

use super::{connector, env, refusal, secure::Secure, session};
use crate::support::{pg, pty::Pty, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn passwords_of_every_kind() {
    let Some(secure) = Secure::start().await else { return };
    for role in ["only_scram", "only_md5", "only_clear"] {
        let dsn = secure.dsn(&format!("user={role}"));
        assert_eq!(session(&format!("{dsn} password=s3cr3t")).await.facts().user, role);
        let error = refusal(&format!("{dsn} password=hunter2")).await;
        assert_eq!((&error.class, error.sqlstate.as_deref()), (&Class::Refused, Some("28P01")), "{role}");
        assert!(error.is_final() && !format!("{error:?}").contains("hunter2"), "{error:?}");
        let error = refusal(&dsn).await;
        assert!(error.class == Class::PasswordNeeded && error.is_final(), "{role}: {error:?}");
        assert!(error.to_string().contains("PGPASSWORD"), "{error}");
        // Asked once, then remembered.
        let asking = connector(&dsn);
        let ask = |target: &queuetop::db::Target| {
            assert_eq!(target.user, role);
            Ok(Secret::new("s3cr3t"))
        };
        asking.connect_asking(Purpose::Read, ask).await.unwrap();
        asking.connect_asking(Purpose::Read, |_| panic!("asked twice")).await.unwrap();
        let refused = asking_nobody(&dsn).await;
        assert!(refused.to_string().contains("no terminal"), "{refused}");
    }
}

async fn asking_nobody(dsn: &str) -> queuetop::db::DbError {
    let nobody = |_: &queuetop::db::Target| Err(io::Error::other("no terminal"));
    connector(dsn).connect_asking(Purpose::Read, nobody).await.unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_without_a_screen_ask_for_it_too() {
    let Some(secure) = Secure::start().await else { return };
    let dsn = secure.dsn("user=only_scram");
    for (typed, said) in [("s3cr3t\r", "no queue found"), ("hunter2\r", "28P01")] {
        let mut pty = Pty::spawn(&["jobs", "--db", &dsn], 160, 10, &[]);
        pty.wait_for_text("Password for user only_scram:");
        wait_until("what is typed is hidden", || pty.has_other_settings());
        pty.send_keys(typed);
        assert_eq!(pty.wait_exit(), 1);
        let text = pty.wait_for_text(said);
        assert!(!text.contains("s3cr3t") && !text.contains("hunter2"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_file_is_used_and_must_be_private() {
    let Some(secure) = Secure::start().await else { return };
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".pgpass");
    fs::write(&file, format!("localhost:{}:*:only_scram:s3cr3t\n", secure.port)).unwrap();
    let connect = async || {
        let info = ConnInfo::resolve(Some(&secure.dsn("user=only_scram")), &env(&[], home.path())).unwrap();
        let warnings = info.warnings.join(" ");
        (Connector::new(info, SqlLog::default()).connect(Purpose::Read).await.map(drop), warnings)
    };
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(connect().await, (Ok(()), warnings) if warnings.is_empty()));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (result, warnings) = connect().await;
    assert_eq!(result.unwrap_err().class, Class::PasswordNeeded);
    assert!(warnings.contains("group or world access"), "{warnings}");
}

#[tokio::test]
async fn unreachable_hosts_and_missing_databases_say_what_to_do() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = refusal(&format!("host=127.0.0.1 port={port} user=u")).await;
    assert!(error.class == Class::Unreachable && error.is_retryable(), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains(&format!("127.0.0.1:{port}: Connection refused")) && text.contains("is the server running"),
        "{text}"
    );
    let error = refusal("host=/nowhere user=u").await;
    assert!(error.to_string().contains("[local:/nowhere]: No such file"), "{error}");
    let error = refusal("host=no-such-host.invalid user=u").await;
    assert!(error.class == Class::Unreachable && error.to_string().contains("cannot find the host"), "{error}");
    let error = refusal(&format!("host=127.0.0.1,/nowhere port={port},1 user=u")).await;
    assert!(
        error.to_string().contains("no server will do: 127.0.0.1") && error.to_string().contains("nowhere"),
        "{error}"
    );
    let error = refusal(&pg::server().dsn("missing db")).await;
    assert!(error.class == Class::NoDatabase && error.to_string().contains("psql -l"), "{error}");
}

#[tokio::test]
async fn a_host_that_accepts_and_stays_silent_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for mode in ["disable", "require"] {
        let started = Instant::now();
        let error = refusal(&format!("host=127.0.0.1 port={port} user=u connect_timeout=1 sslmode={mode}")).await;
        assert!(error.to_string().contains("connect_timeout allows, 1 s"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(3));
    }
    // With another host named, that one is taken.
    let dir = pg::server().socket_dir().display();
    let dsn = format!("host=127.0.0.1,{dir} port={port},5432 user=postgres connect_timeout=1 sslmode=disable");
    assert!(session(&dsn).await.facts().is_local());
}
