//! One private server for the whole test process, and a fresh database for each test.
//!
//! The server is never stopped from here: statics are not dropped, its guard sees the process end, however it ends.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{LazyLock, OnceLock};
use std::thread;

use queuetop::engine::migrate;
use queuetop::private_pg::{Options, PrivatePg};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};

/// Name of the database that migrated ones are copied from.
const TEMPLATE: &str = "queuetop_template";

/// How tests start a server. `QUEUETOP_TEST_PG=fetched` takes the pinned server even where one is installed.
pub(crate) fn options() -> Options {
    Options {
        fetch: true,
        ignore_installed: std::env::var("QUEUETOP_TEST_PG").is_ok_and(|which| which == "fetched"),
        settings: vec![("max_connections".to_owned(), "300".to_owned())],
        ..Options::default()
    }
}

/// A server of its own, for a test that kills or freezes it.
pub(crate) fn own_server() -> PrivatePg {
    // Past the test harness, which hides what passing tests print: a download must be seen.
    let mut say = |line: &str| writeln!(io::stderr(), "{line}").expect("standard error");
    PrivatePg::start(&options(), &mut say).unwrap_or_else(|error| panic!("{error}"))
}

/// The shared server; started by whoever asks first.
pub(crate) fn server() -> &'static PrivatePg {
    static SERVER: OnceLock<PrivatePg> = OnceLock::new();
    SERVER.get_or_init(own_server)
}

/// A client whose connection runs on the test's runtime.
pub(crate) async fn connect(dsn: &str) -> Client {
    let (client, connection) =
        tokio_postgres::connect(dsn, NoTls).await.unwrap_or_else(|error| panic!("cannot connect to {dsn}: {error:?}"));
    tokio::spawn(connection);
    client
}

/// A database that only this test uses; removed afterwards, open connections or not.
#[derive(Debug)]
pub(crate) struct Database {
    name: String,
}

impl Database {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// URI for the superuser.
    pub(crate) fn dsn(&self) -> String {
        server().dsn(&self.name)
    }

    /// URI for another role.
    pub(crate) fn dsn_as(&self, role: &str) -> String {
        self.dsn().replace("user=postgres", &format!("user={role}"))
    }

    /// A new connection as superuser.
    pub(crate) async fn client(&self) -> Client {
        connect(&self.dsn()).await
    }

    /// A new connection as another role (it must be allowed to log in).
    pub(crate) async fn client_as(&self, role: &str) -> Client {
        connect(&self.dsn_as(role)).await
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        static REMOVER: LazyLock<Sender<String>> = LazyLock::new(start_remover);
        // The remover lives as long as the process; without it the database goes with the server.
        let _ = REMOVER.send(self.name.clone());
    }
}

/// A database with the `jobs` backend installed.
pub(crate) async fn database() -> Database {
    static READY: OnceCell<()> = OnceCell::const_new();
    READY.get_or_init(make_template).await;
    create(TEMPLATE).await
}

/// An empty database.
pub(crate) async fn bare_database() -> Database {
    create("template1").await
}

async fn create(template: &str) -> Database {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let admin = connect(&server().dsn("postgres")).await;
    admin.batch_execute(&format!("create database {name} template {template}")).await.expect("a fresh database");
    Database { name }
}

async fn make_template() {
    let admin = connect(&server().dsn("postgres")).await;
    admin.batch_execute(&format!("create database {TEMPLATE}")).await.expect("the template");
    let mut client = connect(&server().dsn(TEMPLATE)).await;
    migrate::run(&mut client, &migrate::Options::default()).await.expect("a migrated template");
    drop(client);
    // A database with open sessions cannot be copied; the server waits up to 5 s for this one to end, and no other can begin.
    let closed = format!("alter database {TEMPLATE} with allow_connections false");
    admin.batch_execute(&closed).await.expect("a closed template");
}

/// Dropping cannot await, so a thread with a runtime of its own removes what is done with.
fn start_remover() -> Sender<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || remove_all(&receiver));
    sender
}

fn remove_all(names: &Receiver<String>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let admin = runtime.block_on(connect(&server().dsn("postgres")));
    for name in names {
        let sql = format!("drop database {name} with (force)");
        if let Err(error) = runtime.block_on(admin.batch_execute(&sql)) {
            eprintln!("cannot remove {name}: {error:?}");
        }
    }
}
