//! Random and hostile strings: never a panic, never a secret or a control character in a message.

use proptest::prelude::*;

use super::machine;
use crate::db::conninfo::ConnInfo;

/// Pieces that strings of connections are made of, and a secret that must never come back.
fn piece() -> impl Strategy<Value = String> {
    const SECRET: &str = "s3cr3tPW";
    let fixed = [
        "postgres://",
        "postgresql://",
        "host",
        "port",
        "user",
        "password",
        "dbname",
        "sslmode",
        "service",
        "=",
        "=",
        " ",
        "'",
        "\\",
        "@",
        ":",
        "/",
        "?",
        "&",
        ",",
        "[",
        "]",
        "%",
        "%41",
        "%00",
        "#",
        "5432",
        "::1",
        "require",
        "ssl=true",
        "\0",
        "é",
        "漢",
        "\u{202e}",
        "\u{1b}[2J",
        "\n",
        "\t",
    ];
    prop_oneof![
        8 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        2 => Just(SECRET.to_owned()),
        1 => "[a-z]{1,6}",
        1 => any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_strings_neither_panic_nor_leak(pieces in prop::collection::vec(piece(), 0..24)) {
        let dsn = pieces.concat();
        // A secret that stands where a choice or a service name belongs is no secret.
        let excused = ["sslmode", "service"].iter().any(|key| dsn.contains(key));
        match ConnInfo::resolve(Some(&dsn), &machine(&[], &[])) {
            Ok(info) => prop_assert!(!info.hosts.is_empty()),
            Err(error) => {
                let shown = error.to_string();
                prop_assert!(excused || !shown.contains("s3cr3tPW"), "{dsn:?}: {shown}");
                prop_assert!(!shown.contains(char::is_control), "{dsn:?}: {shown}");
            }
        }
    }

    #[test]
    fn random_service_and_password_files_neither_panic_nor_leak(pieces in prop::collection::vec(piece(), 0..24)) {
        let text = pieces.concat();
        let service = format!("[app]\n{text}");
        let files = [("/s", service.as_str(), 0o600), ("/home/me/.pgpass", text.as_str(), 0o600)];
        let env = machine(&[("PGSERVICEFILE", "/s")], &files);
        if let Err(error) = ConnInfo::resolve(Some("service=app host=h"), &env) {
            let shown = error.to_string();
            prop_assert!(text.contains("sslmode") || !shown.contains("s3cr3tPW"), "{text:?}: {shown}");
        }
        prop_assert!(ConnInfo::resolve(Some("host=h"), &env).is_ok());
    }
}

#[test]
fn hostile_strings_are_escaped_in_messages() {
    let hostile: serde_json::Value =
        serde_json::from_str(include_str!("../../../../tests/data/hostile_strings.json")).unwrap();
    for entry in hostile.as_array().unwrap() {
        let text = entry["text"].as_str().unwrap();
        for dsn in [
            text.to_owned(),
            format!("postgres://{text}"),
            format!("postgres://u:{text}@h/d"),
            format!("host=h sslmode='{text}'"),
            format!("host=h {text}=x"),
            format!("service='{text}'"),
        ] {
            if let Err(error) = ConnInfo::resolve(Some(&dsn), &machine(&[], &[])) {
                let shown = error.to_string();
                assert!(!shown.contains(char::is_control) && shown.len() < 600, "{dsn:?}: {shown:?}");
            }
        }
    }
}
