//! Whose server certificates are believed: anybody's, those of given authorities, or those for the right name only.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    server::ParsedCertificate,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::db::errors::{Class, DbError};

/// Whom to believe.
pub(super) enum Trust {
    /// Anybody: encryption without knowing who is at the other end, as `sslmode=require` does in libpq.
    Anybody,
    /// Whoever one of the roots vouches for.
    Roots { store: RootCertStore, roots: Vec<CertificateDer<'static>>, check_name: bool },
}

#[derive(Debug)]
pub(super) struct Verifier {
    provider: Arc<CryptoProvider>,
    checks: Option<Checks>,
}

#[derive(Debug)]
struct Checks {
    chain: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
    check_name: bool,
}

impl Verifier {
    pub(super) fn new(trust: Trust) -> Result<Self, DbError> {
        let provider = Arc::new(ring::default_provider());
        let checks = match trust {
            Trust::Anybody => None,
            Trust::Roots { store, roots, check_name } => {
                let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider))
                    .build()
                    .map_err(|error| DbError::new(Class::Tls, error.to_string(), ""))?;
                Some(Checks { chain, roots, check_name })
            }
        };
        Ok(Self { provider, checks })
    }

    /// Whether anything is checked.
    pub(super) fn checks(&self) -> bool {
        self.checks.is_some()
    }

    pub(super) fn provider(&self) -> Arc<CryptoProvider> {
        Arc::clone(&self.provider)
    }
}

impl Checks {
    fn check(
        &self,
        cert: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        match self.chain.verify_server_cert(cert, between, name, &[], now) {
            Ok(_) => Ok(()),
            // The chain is checked before the name, so this error says that the chain is good.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.check_name => Ok(()),
            // A self-signed certificate that is its own root: webpki never takes an authority for a server.
            Err(error) if is_ca_as_server(&error) && self.roots.iter().any(|root| root == cert) => {
                if self.check_name {
                    verify_server_name(&ParsedCertificate::try_from(cert)?, name)?;
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// webpki's error type is not ours to name.
fn is_ca_as_server(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other)) if format!("{other:?}").contains("CaUsedAsEndEntity"))
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        cert: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(checks) = &self.checks {
            checks.check(cert, between, name, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    /// Where anybody is believed the signature is not looked at: webpki cannot even read X.509 v1 certificates.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.checks {
            Some(_) => verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.checks {
            Some(_) => verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
