//! The throw-away PostgreSQL: it starts for anybody, and nothing of it stays, however its owner ends.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use queuetop::private_pg::{Error, Options, PrivatePg, Shutdown};
use rustix::process::{Pid, getpgid, test_kill_process};
use tokio_postgres::Client;

use crate::support::pg::{bare_database, connect, database, options, own_server};
use crate::support::wait_until;

/// Set in a copy of this test binary that only holds a server.
const HOLD: &str = "QUEUETOP_TEST_HOLD";

/// Whether a process runs. A zombie does not: under an init that does not reap, it stays for ever.
fn alive(pid: u32) -> bool {
    let Some(pid) = Pid::from_raw(i32::try_from(pid).unwrap()) else {
        return false;
    };
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).unwrap_or_default();
    let zombie = stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'));
    test_kill_process(pid).is_ok() && !zombie
}

/// What must be gone afterwards.
struct Traces {
    folder: PathBuf,
    postmaster: u32,
    guard: u32,
}

impl Traces {
    fn of(folder: &Path, postmaster: u32) -> Self {
        // Everything is in the guard's process group.
        let pid = Pid::from_raw(i32::try_from(postmaster).unwrap());
        let guard = getpgid(pid).unwrap().as_raw_pid().unsigned_abs();
        let traces = Self { folder: folder.to_owned(), postmaster, guard };
        assert!(traces.folder.is_dir() && alive(postmaster) && alive(guard));
        traces
    }

    fn gone(&self) -> bool {
        !self.folder.exists() && !alive(self.postmaster) && !alive(self.guard)
    }
}

async fn one(client: &Client, sql: &str) -> String {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn it_serves_and_leaves_nothing() {
    let pg = own_server();
    let traces = Traces::of(pg.socket_dir(), pg.pid());
    let mode = fs::metadata(pg.socket_dir()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let client = connect(&pg.dsn("postgres")).await;
    assert_eq!(one(&client, "show listen_addresses").await, "");
    assert_eq!(one(&client, "show server_encoding").await, "UTF8");
    assert_eq!(one(&client, "show max_connections").await, "300");
    assert!(pg.psql_line("postgres").contains("-U postgres postgres"));
    // An open session does not hold it up.
    pg.stop();
    assert!(traces.gone());
}

#[tokio::test]
async fn two_servers_do_not_meet() {
    let (one_pg, other) = (own_server(), own_server());
    assert_ne!(one_pg.socket_dir(), other.socket_dir());
    let client = connect(&one_pg.dsn("postgres")).await;
    client.batch_execute("create database only_here").await.unwrap();
    connect(&one_pg.dsn("only_here")).await;
    let client = connect(&other.dsn("postgres")).await;
    let count = "select count(*)::text from pg_database where datname = 'only_here'";
    assert_eq!(one(&client, count).await, "0");
}

#[tokio::test]
async fn data_survives_every_way_down() {
    let mut pg = own_server();
    let client = connect(&pg.dsn("postgres")).await;
    client.batch_execute("create table kept as select 'yes' as it; checkpoint").await.unwrap();
    for how in [Shutdown::Fast, Shutdown::Immediate, Shutdown::Kill] {
        let before = pg.pid();
        pg.shut_down(how).unwrap();
        assert!(!alive(before), "{how:?}");
        assert!(tokio_postgres::connect(&pg.dsn("postgres"), tokio_postgres::NoTls).await.is_err());
        pg.start_again().unwrap();
        assert_ne!(pg.pid(), before, "{how:?}");
        let client = connect(&pg.dsn("postgres")).await;
        assert_eq!(one(&client, "select it from kept").await, "yes", "{how:?}");
    }
}

#[tokio::test]
async fn a_halted_server_goes_on_and_can_be_dropped() {
    let pg = own_server();
    let client = connect(&pg.dsn("postgres")).await;
    pg.halt().unwrap();
    let (query, ()) = tokio::join!(one(&client, "select 'late'"), async {
        // The query is on its way now, and nobody answers it.
        tokio::task::yield_now().await;
        pg.resume().unwrap();
    });
    assert_eq!(query, "late");
    pg.halt().unwrap();
    let traces = Traces::of(pg.socket_dir(), pg.pid());
    drop(pg);
    assert!(traces.gone());
}

#[test]
fn a_server_that_does_not_start_shows_its_log_and_leaves_nothing() {
    let mut options = options();
    options.settings = vec![("max_connections".to_owned(), "many".to_owned())];
    let error = PrivatePg::start(&options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::Server { .. }));
    assert!(error.to_string().contains("max_connections"), "{error}");
}

/// Not a test by itself: as a process of its own it holds a server until its standard input ends.
#[test]
fn hold_a_server() {
    if env::var_os(HOLD).is_none() {
        return;
    }
    let pg = own_server();
    println!("\nheld {} {}", pg.socket_dir().display(), pg.pid());
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
    pg.stop();
}

/// Runs [`hold_a_server`] in its own process; the command can be changed before it starts.
fn holder(program: &Path, change: impl FnOnce(&mut Command)) -> (Child, Traces) {
    let mut command = Command::new(program);
    command
        .args(["--exact", "private_pg::hold_a_server", "--nocapture"])
        .env(HOLD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    change(&mut command);
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("held ") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the holder ended early");
    }
    // It has more to say at its end.
    thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
    let words: Vec<&str> = line.split_whitespace().collect();
    let traces = Traces::of(Path::new(words[1]), words[2].parse().unwrap());
    (child, traces)
}

#[test]
fn a_killed_owner_leaves_nothing() {
    let (mut child, traces) = holder(&env::current_exe().unwrap(), |_| {});
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("server and folder are gone", || traces.gone());
}

#[test]
fn the_users_environment_does_not_reach_it() {
    let long = format!("/tmp/{}", "long/".repeat(30));
    let (mut child, traces) = holder(&env::current_exe().unwrap(), |command| {
        command
            .env("TMPDIR", &long)
            .env("PGPORT", "5999")
            .env("PGHOST", "elsewhere.invalid")
            .env("PGOPTIONS", "-c nonsense=1")
            .env("LC_ALL", "xx_XX.UTF-8");
    });
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(traces.gone());
}

#[test]
fn an_ordinary_user_can_run_it() {
    if !rustix::process::geteuid().is_root() {
        // Then all the other tests show it.
        return;
    }
    // The build folder may be below a private home.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("tests");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    let (mut child, traces) = holder(&program, |command| {
        command.uid(65_534).gid(65_534).current_dir("/").env("HOME", "/nonexistent");
    });
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(traces.gone());
}

#[test]
fn a_fetched_server_runs_where_none_is_installed() {
    // It downloads 14 MB, so only on request.
    if env::var_os("QUEUETOP_TEST_FETCH").is_none() {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let options =
        Options { fetch: true, ignore_installed: true, cache_dir: Some(cache.path().to_owned()), ..Options::default() };
    let mut said = Vec::new();
    for _ in 0..2 {
        let pg = PrivatePg::start(&options, &mut |line| said.push(line.to_owned())).unwrap();
        assert!(pg.bin_dir().starts_with(cache.path().canonicalize().unwrap()));
    }
    assert_eq!(said.len(), 1, "fetched once: {said:?}");
    assert!(said[0].contains("fetching PostgreSQL 18"));
}

#[tokio::test]
async fn databases_of_tests_are_apart() {
    let (one_db, other) = tokio::join!(database(), bare_database());
    assert_ne!(one_db.name(), other.name());
    let client = one_db.client().await;
    client.batch_execute("create role databases_apart login").await.unwrap();
    let client = one_db.client_as("databases_apart").await;
    assert_eq!(one(&client, "select current_user::text").await, "databases_apart");
    assert_eq!(one(&client, "select current_database()::text").await, one_db.name());
}
