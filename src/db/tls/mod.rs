//! TLS as `sslmode` and friends ask for it, with rustls. Reads certificate files anew for each connect, so that renewed
//! ones are taken up; opens no connection.

mod explain;
mod verify;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

pub(super) use explain::explain;
use rustls::{
    ClientConfig, RootCertStore, SupportedProtocolVersion,
    version::{TLS12, TLS13},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;
use verify::{Trust, Verifier};

use super::{
    conninfo::{ClientCert, RootCert, SslMode, TlsSettings, TlsVersions, quoted},
    errors::{Class, DbError},
    socket::Socket,
};

/// The encrypted stream over a socket of type `S`.
pub(super) type TlsStream<S> = <MakeRustlsConnect as MakeTlsConnect<S>>::Stream;

/// The driver's own plug over a socket of type `S`.
type Plug<S> = <MakeRustlsConnect as MakeTlsConnect<S>>::TlsConnect;

/// A plug that notes whether TLS came about.
pub(super) struct Noted {
    plug: Plug<Socket>,
    used: Arc<AtomicBool>,
}

impl TlsConnect<Socket> for Noted {
    type Stream = TlsStream<Socket>;
    type Error = std::io::Error;
    type Future = <Plug<Socket> as TlsConnect<Socket>>::Future;

    fn connect(self, stream: Socket) -> Self::Future {
        self.used.store(true, Ordering::Relaxed);
        self.plug.connect(stream)
    }
}

/// TLS settings with their files read.
#[derive(Clone)]
pub(super) struct Tls {
    make: MakeRustlsConnect,
    checks: bool,
}

impl Tls {
    /// Reads the files and sets everything up. Blocks on files.
    pub(super) fn prepare(settings: &TlsSettings) -> Result<Self, DbError> {
        let verifier = Verifier::new(trust(settings)?)?;
        let checks = verifier.checks();
        let builder = ClientConfig::builder_with_provider(verifier.provider())
            .with_protocol_versions(&versions(settings))
            .map_err(|error| DbError::new(Class::Tls, error.to_string(), ""))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match settings.client.as_ref().filter(|client| client.required || client.cert.exists()) {
            None => builder.with_no_client_auth(),
            Some(client) => {
                let (chain, key) = read_client(client)?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| file_fault(&client.cert, &format!("certificate and key do not fit: {error}")))?
            }
        };
        config.enable_sni = settings.sni;
        if settings.direct {
            config.alpn_protocols = vec![b"postgresql".to_vec()];
        }
        Ok(Self { make: MakeRustlsConnect::new(config), checks })
    }

    /// Whether the server's certificate is checked at all.
    pub(super) fn checks(&self) -> bool {
        self.checks
    }

    /// A plug for one connection to `host`, and the sign whether it was used.
    pub(super) fn connector(&self, host: &str) -> (Noted, Arc<AtomicBool>) {
        let used = Arc::new(AtomicBool::new(false));
        (Noted { plug: self.plug::<Socket>(host), used: Arc::clone(&used) }, used)
    }

    /// The bare plug, for where nobody asks whether it was used.
    pub(super) fn plug<S>(&self, host: &str) -> Plug<S>
    where
        MakeRustlsConnect: MakeTlsConnect<S, Error = std::convert::Infallible>,
    {
        // A zone names an interface of this machine; it is no part of a server's name.
        let name = host.split_once('%').map_or(host, |(name, _zone)| name);
        let Ok(plug) = self.make.clone().make_tls_connect(name);
        plug
    }
}

fn versions(settings: &TlsSettings) -> Vec<&'static SupportedProtocolVersion> {
    match settings.versions {
        TlsVersions::Both => vec![&TLS13, &TLS12],
        TlsVersions::Only12 => vec![&TLS12],
        TlsVersions::Only13 => vec![&TLS13],
    }
}

/// Whom to believe. As in libpq, a root certificate file that exists makes every mode check the chain.
fn trust(settings: &TlsSettings) -> Result<Trust, DbError> {
    let must_verify = matches!(settings.mode, SslMode::VerifyCa | SslMode::VerifyFull);
    let check_name = settings.mode == SslMode::VerifyFull;
    let roots = match &settings.root {
        RootCert::System => system_roots()?,
        RootCert::File(file) | RootCert::Default(Some(file)) if file.exists() => read_certs(file)?,
        RootCert::File(file) | RootCert::Default(Some(file)) if must_verify => {
            let message = format!("root certificate file {} does not exist", quoted(file));
            let next =
                "give sslrootcert=FILE, or sslrootcert=system for this machine's authorities, or a weaker sslmode";
            return Err(DbError::new(Class::Tls, message, next));
        }
        RootCert::Default(None) if must_verify => {
            let message = "there is no root certificate to check the server's against";
            return Err(DbError::new(Class::Tls, message, "give sslrootcert=FILE or sslrootcert=system"));
        }
        RootCert::File(_) | RootCert::Default(_) => return Ok(Trust::Anybody),
    };
    let mut store = RootCertStore::empty();
    let (added, _ignored) = store.add_parsable_certificates(roots.iter().cloned());
    if added == 0 {
        return Err(DbError::new(Class::Tls, "no root certificate can be used", "sslrootcert is a PEM file"));
    }
    Ok(Trust::Roots { store, roots, check_name })
}

fn system_roots() -> Result<Vec<CertificateDer<'static>>, DbError> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        let message = format!("this machine has no certificate authorities to believe {}", why.join(", "));
        return Err(DbError::new(Class::Tls, message, "install ca-certificates, or give sslrootcert=FILE"));
    }
    Ok(found.certs)
}

fn read_certs(file: &Path) -> Result<Vec<CertificateDer<'static>>, DbError> {
    let certs: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    match certs {
        Ok(certs) if certs.is_empty() => Err(file_fault(file, "holds no certificate in PEM form")),
        Ok(certs) => Ok(certs),
        Err(error) => Err(file_fault(file, &error.to_string())),
    }
}

fn read_client(client: &ClientCert) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), DbError> {
    let chain = read_certs(&client.cert)?;
    check_key_rights(&client.key)?;
    let key = PrivateKeyDer::from_pem_file(&client.key)
        .map_err(|error| file_fault(&client.key, &format!("{error}; an encrypted key must be decrypted first")))?;
    Ok((chain, key))
}

/// libpq's rule: u=rw or less if it is ours, u=rw,g=r or less if it is root's.
fn check_key_rights(file: &Path) -> Result<(), DbError> {
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::metadata(file).map_err(|error| file_fault(file, &error.to_string()))?;
    let others = if about.uid() == 0 && !rustix::process::geteuid().is_root() { 0o037 } else { 0o077 };
    if about.mode() & others != 0 {
        return Err(file_fault(file, "has group or world access; permissions should be u=rw (0600) or less"));
    }
    Ok(())
}

fn file_fault(file: &Path, what: &str) -> DbError {
    DbError::new(Class::Tls, format!("certificate file {}: {what}", quoted(file)), "")
}
