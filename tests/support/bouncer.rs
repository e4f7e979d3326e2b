//! A real PgBouncer in front of the tests' server.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use tempfile::TempDir;

use super::{needs, pg, wait_until};

/// A running PgBouncer in front of the tests' server.
pub(crate) struct Bouncer {
    child: Child,
    folder: TempDir,
    /// Where it listens.
    pub(crate) port: u16,
}

impl Bouncer {
    /// With a pool of `pool` server connections for each database.
    pub(crate) fn start(mode: &str, pool: u32) -> Option<Self> {
        let program = needs::program("pgbouncer", "pgbouncer")?;
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::Builder::new().prefix("queuetop-bouncer-").tempdir_in("/tmp").unwrap();
        let server = pg::server().socket_dir();
        let config = format!(
            "[databases]\n* = host={} port=5432 user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir = {}\nauth_type = any\npool_mode = {mode}\ndefault_pool_size = {pool}\nmax_client_conn = 100\n",
            server.display(),
            folder.path().display(),
        );
        fs::write(folder.path().join("pgbouncer.ini"), config).unwrap();
        // It refuses to run as root: it runs as whoever runs the server.
        let owner = fs::metadata(server).unwrap();
        chown(folder.path(), Some(owner.uid()), Some(owner.gid())).unwrap();
        // It ends with our end of the pipe, so that it cannot outlive the tests, however they end.
        let guard = "\"$0\" \"$1\" & pooler=$!; cat; kill $pooler; wait $pooler; rm -rf \"$2\"";
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", guard])
            .arg(program)
            .arg(folder.path().join("pgbouncer.ini"))
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if rustix::process::geteuid().is_root() {
            command.uid(owner.uid()).gid(owner.gid());
        }
        let child = command.spawn().expect("PgBouncer starts");
        wait_until("PgBouncer listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Self { child, folder, port })
    }

    /// Through TCP.
    pub(crate) fn dsn(&self, dbname: &str) -> String {
        format!("host=127.0.0.1 port={} dbname={dbname} user=postgres", self.port)
    }

    /// Through its socket.
    pub(crate) fn socket_dsn(&self, dbname: &str) -> String {
        format!("host={} port={} dbname={dbname} user=postgres", self.folder.path().display(), self.port)
    }
}

/// The mode of pooling through which the suites of the backend are to run, see `db::through_a_pooler`.
pub(crate) const VIA: &str = "QUEUETOP_TEST_VIA";

/// A way around the straight one to a database, where one is asked for.
pub(crate) fn detour(dbname: &str) -> Option<String> {
    static SHARED: OnceLock<Option<Bouncer>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| Bouncer::start(&std::env::var(VIA).ok()?, 5));
    shared.as_ref().map(|bouncer| bouncer.dsn(dbname))
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
