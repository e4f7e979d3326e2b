//! TLS errors in words: which check failed and which option changes it.

use rustls::{CertificateError, Error};

use crate::db::{
    conninfo::SslMode,
    errors::{Class, DbError, chain},
};

/// The rustls error below a driver's error, explained. `None` if it is no TLS error.
pub(in crate::db) fn explain(error: &tokio_postgres::Error, mode: SslMode) -> Option<DbError> {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let inner = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .and_then(|inner| inner.downcast_ref::<Error>())
            .or_else(|| error.downcast_ref());
        if let Some(tls) = inner {
            return Some(in_words(tls, mode));
        }
        cause = error.source();
    }
    let text = chain(error);
    text.contains("TLS handshake").then(|| {
        let next = "does the server speak TLS? sslmode=prefer would connect without where it does not";
        DbError::new(Class::Tls, text, next)
    })
}

fn in_words(error: &Error, mode: SslMode) -> DbError {
    let (what, next) = match error {
        Error::InvalidCertificate(fault) => certificate(fault),
        Error::AlertReceived(alert) => {
            (format!("the server broke TLS off: {alert:?}"), "it may demand a client certificate: sslcert and sslkey")
        }
        other => (format!("TLS failed: {other}"), ""),
    };
    let next = match (next, mode) {
        ("", _) => String::new(),
        (next, SslMode::VerifyFull | SslMode::VerifyCa) => {
            format!("{next}; sslmode=require would encrypt without checking who answers")
        }
        (next, _) => next.to_owned(),
    };
    DbError::new(Class::Tls, what, next)
}

fn certificate(fault: &CertificateError) -> (String, &'static str) {
    let refused = "the server's certificate is refused";
    match fault {
        CertificateError::UnknownIssuer => (
            format!("{refused}: its issuer is not among the root certificates"),
            "give the issuer's certificate as sslrootcert",
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            (format!("{refused}: it has expired"), "the server needs a new one")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            (format!("{refused}: it is not valid yet"), "is this machine's clock right?")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
            format!("{refused}: {fault}"),
            "connect by a name in its Subject Alternative Name (a Common Name alone does not count), or sslmode=verify-ca",
        ),
        other => {
            let text = format!("{other:?}");
            if text.contains("UnsupportedCertVersion") {
                (format!("{refused}: it is of X.509 version 1"), "reissue it with a Subject Alternative Name")
            } else if text.contains("CaUsedAsEndEntity") {
                let what = format!("{refused}: it is an authority's own certificate");
                (what, "give this very certificate as sslrootcert")
            } else {
                (format!("{refused}: {other}"), "")
            }
        }
    }
}
