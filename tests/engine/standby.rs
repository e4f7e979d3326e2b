//! On a standby: reading goes on, acting is off, nothing is listened for; after a promotion all of it changes by itself.

use std::{
    fs,
    os::unix::{fs::MetadataExt, process::CommandExt},
    process::Command,
};

use queuetop::db::{Class, Purpose};
use queuetop::engine::Event;
use queuetop::model::{Ability, ServerFacts};
use queuetop::private_pg::{PrivatePg, Shutdown};

use super::{Engine, QUICK, start, tiny};
use crate::support::{needs, pg, wait_until};

/// Replaces the data of a fresh server by a copy of the primary's, and starts it as its standby.
fn standby_of(primary: &PrivatePg) -> Option<PrivatePg> {
    let program = needs::server_program("pg_basebackup", primary.bin_dir())?;
    let mut standby = pg::own_server();
    standby.shut_down(Shutdown::Fast).unwrap();
    let data = standby.socket_dir().join("data");
    fs::remove_dir_all(&data).unwrap();
    let owner = fs::metadata(standby.socket_dir()).unwrap();
    let mut copy = Command::new(program);
    copy.env_clear().args(["-R", "-X", "stream", "-c", "fast", "-U", "postgres", "-p", "5432", "-h"]);
    copy.arg(primary.socket_dir()).arg("-D").arg(&data).current_dir(standby.socket_dir());
    if rustix::process::geteuid().is_root() {
        copy.uid(owner.uid()).gid(owner.gid());
    }
    let output = copy.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    standby.start_again().unwrap();
    Some(standby)
}

async fn connected(engine: &mut Engine) -> Box<ServerFacts> {
    engine.until("connected", |event| if let Event::Connected(facts) = event { Some(facts) } else { None }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_read_and_its_promotion_noticed() {
    let primary = pg::own_server();
    let admin = pg::connect(&primary.dsn("postgres")).await;
    tiny::install(&admin).await;
    let Some(standby) = standby_of(&primary) else { return };
    let mut engine = start(&standby.dsn("postgres"), QUICK, true);
    let facts = connected(&mut engine).await;
    assert!(facts.standby && facts.role_word() == "read only", "{facts:?}");
    assert!(matches!(&facts.act, Ability::No(reason) if reason.contains("primary")), "{facts:?}");
    engine.number(0).await;
    // The numbers follow the primary.
    admin.batch_execute("update tiny set n = 5").await.unwrap();
    engine.number(5).await;
    // Nothing was tried that the standby must refuse.
    let listener = || engine.pushed.borrow().clone();
    wait_until("the session for lists", || listener().is_some());
    assert!(!standby.log_tail().contains("cannot execute LISTEN"), "{}", standby.log_tail());
    let act = engine.connector.connect(Purpose::Act).await.unwrap();
    let write = queuetop::db::Statement::new("update tiny set n = 6");
    let limits = queuetop::db::Limits::within(std::time::Duration::from_secs(3));
    let error = act.call("act", &write, limits).await.unwrap_err();
    assert_eq!((error.class, error.maybe_done), (Class::ReadOnly, false));
    // Promoted under our sessions: said, connected anew, acting and push are on.
    pg::connect(&standby.dsn("postgres")).await.batch_execute("select pg_promote()").await.unwrap();
    let reason = loop {
        let (reason, _) = engine.lost().await;
        if reason.contains("promoted") {
            break reason;
        }
    };
    assert!(reason.contains("connecting anew"), "{reason}");
    assert_eq!(connected(&mut engine).await.role_word(), "operator");
    while engine.push_state().await != (true, None) {}
    engine.number(5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_servers_the_wanted_kind_is_taken() {
    let primary = pg::own_server();
    let Some(standby) = standby_of(&primary) else { return };
    let hosts = format!("host={},{} user=postgres", standby.socket_dir().display(), primary.socket_dir().display());
    for (wanted, is_standby) in [
        ("any", true),
        ("standby", true),
        ("prefer-standby", true),
        ("read-only", true),
        ("primary", false),
        ("read-write", false),
    ] {
        let engine = start(&format!("{hosts} target_session_attrs={wanted}"), QUICK, false);
        let session = engine.connector.connect(Purpose::Act).await.unwrap();
        assert_eq!(session.facts().standby, is_standby, "{wanted}");
    }
    let only = format!("host={} user=postgres target_session_attrs=primary", standby.socket_dir().display());
    let error = start(&only, QUICK, false).connector.connect(Purpose::Act).await.unwrap_err();
    assert!(error.class == Class::WrongServer && error.is_retryable(), "{error:?}");
    assert!(error.to_string().contains("is a standby"), "{error}");
}
