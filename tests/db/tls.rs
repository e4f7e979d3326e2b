//! TLS with good and bad certificates, and what is said about the bad ones.

use queuetop::db::{Class, Purpose, Statement};
use queuetop::model::TlsState;

use super::{LIMITS, connector, refusal, secure::Secure, session, value};

const MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// What is said where a root certificate is needed and there is none.
const NO_ROOT: &str = "~root certificate";

/// A certificate that does not stand the check: what need not be checked goes on without TLS, as in libpq.
fn refused_with(words: &'static str) -> [&'static str; 6] {
    ["plain", "plain", "plain", words, words, words]
}

/// Per mode: connected how (`plain`, `tls`, `checked`), or which words refuse it.
async fn outcomes(secure: &Secure, rest: &str) -> Vec<String> {
    let mut outcomes = Vec::new();
    for mode in MODES {
        let result = connector(&secure.dsn(&format!("{rest} sslmode={mode}"))).connect(Purpose::Read).await;
        outcomes.push(match result.map(|session| session.facts().tls) {
            Ok(TlsState::Plain) => "plain".to_owned(),
            Ok(TlsState::Encrypted) => "tls".to_owned(),
            Ok(TlsState::Verified) => "checked".to_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        });
    }
    outcomes
}

/// Compares by prefix of words: `~text` stands for any refusal that holds the text.
fn check(name: &str, outcomes: &[String], expected: [&str; 6]) {
    for ((outcome, expected), mode) in outcomes.iter().zip(expected).zip(MODES) {
        let fits = expected.strip_prefix('~').map_or(outcome == expected, |part| outcome.contains(part));
        assert!(fits, "{name}, {mode}: {outcome}, not {expected}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mode_with_every_certificate() {
    let Some(secure) = Secure::start().await else { return };
    let no_tls = "~server does not support TLS";
    let root = format!("user=postgres sslrootcert={}", secure.certs.path("ca.crt").display());
    let expected = ["plain", "plain", "plain", no_tls, NO_ROOT, NO_ROOT];
    check("no TLS", &outcomes(&secure, "user=postgres").await, expected);
    check("no TLS, root", &outcomes(&secure, &root).await, ["plain", "plain", "plain", no_tls, no_tls, no_tls]);
    for (name, expected) in [
        ("good", ["plain", "plain", "checked", "checked", "checked", "checked"]),
        ("wrong", ["plain", "plain", "checked", "checked", "checked", "~db.example.org"]),
        ("expired", refused_with("~expired")),
        ("self", refused_with("~certificate is refused")),
        ("v1", refused_with("~X.509 version 1")),
    ] {
        secure.use_certificate(name).await;
        check(name, &outcomes(&secure, &root).await, expected);
        // Without a root nothing is checked, and `require` takes anybody, exactly as libpq.
        let unchecked = ["plain", "plain", "tls", "tls", NO_ROOT, NO_ROOT];
        check(name, &outcomes(&secure, "user=postgres").await, unchecked);
    }
    // A self-signed certificate that is named as its own root.
    secure.use_certificate("self").await;
    let own = format!("user=postgres sslrootcert={}", secure.certs.path("self.crt").display());
    check("own root", &outcomes(&secure, &own).await, ["plain", "plain", "checked", "checked", "checked", "checked"]);
    let other = format!("user=postgres sslmode=verify-ca sslrootcert={}", secure.certs.path("other.crt").display());
    let error = refusal(&secure.dsn(&other)).await;
    assert!(error.class == Class::Tls && error.is_final(), "{error:?}");
    assert!(error.next.contains("sslmode=require would encrypt"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_that_need_the_one_way_get_it() {
    let Some(secure) = Secure::start().await else { return };
    secure.use_certificate("good").await;
    let expected = ["~pg_hba.conf", "tls", "tls", "tls", NO_ROOT, NO_ROOT];
    check("only_tls", &outcomes(&secure, "user=only_tls").await, expected);
    let expected = ["plain", "plain", "plain", "~pg_hba.conf", NO_ROOT, NO_ROOT];
    check("only_plain", &outcomes(&secure, "user=only_plain").await, expected);
    check("nobody", &outcomes(&secure, "user=nobody").await[..4], ["~pg_hba.conf"; 6]);
    // A socket has no TLS, whatever is asked for, as in libpq.
    let session = session(&secure.socket_dsn("user=postgres sslmode=require")).await;
    assert_eq!(session.facts().tls, TlsState::Socket);
}

#[tokio::test(flavor = "multi_thread")]
async fn client_certificates_channel_binding_and_versions() {
    let Some(secure) = Secure::start().await else { return };
    secure.use_certificate("good").await;
    let path = |name: &str| secure.certs.path(name).display().to_string();
    let cert = format!("user=only_cert sslmode=require sslcert={} sslkey={}", path("client.crt"), path("client.key"));
    assert_eq!(session(&secure.dsn(&cert)).await.facts().user, "only_cert");
    let error = refusal(&secure.dsn("user=only_cert sslmode=require")).await;
    assert!(error.message.contains("valid client certificate"), "{error}");
    std::fs::set_permissions(path("client.key"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let error = refusal(&secure.dsn(&cert)).await;
    assert!(error.message.contains("group or world access"), "{error}");
    let error = refusal(&secure.dsn("user=postgres sslmode=require sslcert=/nowhere.crt")).await;
    assert!(error.message.contains("/nowhere.crt"), "{error}");
    // SCRAM tied to the channel.
    let bound = secure.dsn("user=only_scram password=s3cr3t channel_binding=require sslmode=require");
    assert_eq!(session(&bound).await.facts().user, "only_scram");
    let error = refusal(&secure.dsn("user=only_md5 password=s3cr3t channel_binding=require sslmode=require")).await;
    assert!(error.message.contains("channel binding"), "{error}");
    for (limit, version) in
        [("ssl_max_protocol_version=TLSv1.2", "TLSv1.2"), ("ssl_min_protocol_version=TLSv1.3", "TLSv1.3")]
    {
        let session = session(&secure.dsn(&format!("user=postgres sslmode=require {limit}"))).await;
        let used = "select version from pg_stat_ssl where pid = pg_backend_pid()";
        assert_eq!(value::<String>(&session, used).await.unwrap(), version);
        assert!(session.facts().direct, "proven by the port, as the start cannot be read");
        assert_eq!(value::<String>(&session, "show default_transaction_read_only").await.unwrap(), "on");
    }
    // A cancel request goes through TLS as well.
    let session = session(&secure.dsn("user=postgres sslmode=require")).await;
    let (result, ()) =
        tokio::join!(session.read_one("slow", Statement::new("select pg_sleep(4)::text"), LIMITS), async {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            session.cancel_running().await;
        });
    assert_eq!(result.unwrap_err().class, Class::Cancelled);
}
