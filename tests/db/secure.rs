//! A server that is reached over TCP, asks for passwords and speaks TLS with certificates of our own making.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Command,
};

use queuetop::private_pg::{Options, PrivatePg};
use tempfile::TempDir;

use crate::support::{needs, pg};

/// Who may come in, and how. Names of roles say it.
const HBA: &str = "\
local     all all                trust
hostnossl all only_tls all       reject
hostssl   all only_plain all     reject
hostssl   all only_cert all      cert
host      all only_scram all     scram-sha-256
host      all only_md5 all       md5
host      all only_clear all     password
host      all nobody all         reject
host      all all all            trust
";

const ROLES: &str = "\
create role only_tls login; create role only_plain login; create role only_cert login; create role nobody login; \
set password_encryption = 'scram-sha-256'; create role only_scram login password 's3cr3t'; \
create role only_clear login password 's3cr3t'; \
set password_encryption = 'md5'; create role only_md5 login password 's3cr3t'";

/// The server with its port and the folder with the certificates.
pub(super) struct Secure {
    pub(super) server: PrivatePg,
    pub(super) port: u16,
    pub(super) certs: Certs,
}

impl Secure {
    /// Starts it; `None` without openssl to make certificates with.
    pub(super) async fn start() -> Option<Self> {
        let certs = Certs::make()?;
        let port = free_port();
        let mut options: Options = pg::options();
        options.settings.push(("listen_addresses".into(), "localhost".into()));
        options.settings.push(("port".into(), port.to_string()));
        let server = PrivatePg::start(&options, &mut |line| eprintln!("{line}")).expect("a server with TCP");
        let secure = Self { server, port, certs };
        fs::write(secure.server.socket_dir().join("data/pg_hba.conf"), HBA).unwrap();
        secure.admin(ROLES).await;
        secure.reload().await;
        Some(secure)
    }

    /// A DSN over TCP; `rest` names the user and more.
    pub(super) fn dsn(&self, rest: &str) -> String {
        format!("host=localhost port={} dbname=postgres {rest}", self.port)
    }

    pub(super) fn socket_dsn(&self, rest: &str) -> String {
        format!("host={} port={} dbname=postgres {rest}", self.server.socket_dir().display(), self.port)
    }

    pub(super) async fn admin(&self, sql: &str) {
        pg::connect(&self.socket_dsn("user=postgres")).await.batch_execute(sql).await.expect("administration");
    }

    /// Turns TLS on with the certificate `name`, and waits until it is in use.
    pub(super) async fn use_certificate(&self, name: &str) {
        let home = self.server.socket_dir();
        let owner = fs::metadata(home).unwrap();
        for (from, to) in
            [(format!("{name}.crt"), "s.crt"), (format!("{name}.key"), "s.key"), ("ca.crt".into(), "ca.crt")]
        {
            let to = home.join(to);
            fs::write(&to, fs::read(self.certs.path(&from)).unwrap()).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
            chown(&to, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        for (setting, file) in [("ssl_cert_file", "s.crt"), ("ssl_key_file", "s.key"), ("ssl_ca_file", "ca.crt")] {
            self.admin(&format!("alter system set {setting} = '{}'", home.join(file).display())).await;
        }
        self.admin("alter system set ssl = on").await;
        self.reload().await;
    }

    /// Sessions that begin later see the new settings: the postmaster tells the time of its reload.
    pub(super) async fn reload(&self) {
        let admin = pg::connect(&self.socket_dsn("user=postgres")).await;
        let when = "select pg_conf_load_time()::text";
        let before: String = admin.query_typed(when, &[]).await.unwrap()[0].get(0);
        admin.batch_execute("select pg_reload_conf()").await.unwrap();
        loop {
            let fresh = pg::connect(&self.socket_dsn("user=postgres")).await;
            if fresh.query_typed(when, &[]).await.unwrap()[0].get::<_, String>(0) != before {
                return;
            }
        }
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A throw-away certificate authority and what it signed.
pub(super) struct Certs {
    folder: TempDir,
    openssl: PathBuf,
}

impl Certs {
    /// `good` for localhost, `wrong` for another name, `expired`, `self` signed by itself, `v1` without extensions,
    /// `client` for the role `only_cert`.
    fn make() -> Option<Self> {
        let openssl = needs::program("openssl", "openssl")?;
        let certs = Self { folder: TempDir::new().expect("a folder"), openssl };
        certs.openssl("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=queuetop-test -days 2");
        certs.openssl("req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt -subj /CN=stranger -days 2");
        for (name, subject, san, days) in [
            ("good", "localhost", Some("DNS:localhost"), "2"),
            ("wrong", "localhost", Some("DNS:db.example.org"), "2"),
            ("expired", "localhost", Some("DNS:localhost"), "-1"),
            ("v1", "localhost", None, "2"),
            ("client", "only_cert", Some("DNS:client"), "2"),
        ] {
            certs.openssl(&format!(
                "req -new -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={subject}"
            ));
            let mut sign = format!(
                "x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out {name}.crt -days {days}"
            );
            if let Some(san) = san {
                fs::write(certs.path("ext"), format!("subjectAltName={san}\n")).unwrap();
                sign.push_str(" -extfile ext");
            }
            certs.openssl(&sign);
            fs::set_permissions(certs.path(&format!("{name}.key")), fs::Permissions::from_mode(0o600)).unwrap();
        }
        certs.openssl(
            "req -x509 -newkey rsa:2048 -nodes -keyout self.key -out self.crt -subj /CN=localhost -days 2 \
            -addext subjectAltName=DNS:localhost",
        );
        Some(certs)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn openssl(&self, line: &str) {
        let mut command = Command::new(&self.openssl);
        let output = command.args(line.split_whitespace()).current_dir(self.folder()).output().expect("openssl runs");
        assert!(output.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
