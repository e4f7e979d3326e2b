//! What cannot be shown is said in one line, with the right exit status, and the terminal is not touched.

use std::process::{Command, Stdio};

use crate::support::pg;
use crate::support::pty::Pty;

/// Runs in a terminal to its end; answers with the exit status and what was printed.
fn refused(args: &[&str]) -> (i32, String) {
    let pty = Pty::spawn(args, 80, 24, &[]);
    let status = pty.wait_exit();
    pty.assert_restored();
    let bytes = pty.raw_bytes();
    assert!(!bytes.contains(&0x1b), "escape bytes: {:?}", String::from_utf8_lossy(&bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains("queuetop: ") || text.contains("error: "), "{text}");
    (status, text)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_a_queue_says_what_to_run() {
    let database = pg::bare_database().await;
    let (status, text) = refused(&[&database.dsn()]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("queuetop migrate"), "{text}");
}

#[test]
fn a_database_that_does_not_exist_is_named() {
    let dsn = pg::server().dsn("no_such_db");
    let (status, text) = refused(&[&dsn]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("no_such_db"), "{text}");
}

#[test]
fn a_host_where_nobody_answers_is_named() {
    let (status, text) = refused(&["postgresql://postgres@127.0.0.1:1/app"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("127.0.0.1"), "{text}");
}

#[test]
fn wrong_usage_is_status_2() {
    for args in [&["--no-such-flag"][..], &["postgresql://u@h/db?no_such_key=1"], &["--interval", "soon"]] {
        let pty = Pty::spawn(args, 80, 24, &[]);
        assert_eq!(pty.wait_exit(), 2, "{args:?}: {}", pty.text());
        pty.assert_restored();
    }
}

#[test]
fn without_a_terminal_it_says_so_in_one_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_queuetop"))
        .arg(pg::server().dsn("postgres"))
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    assert!(text.contains("not a terminal") && text.contains("snapshot"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_newer_than_the_program_is_said() {
    let database = pg::database().await;
    let client = database.client().await;
    client
        .execute(
            "insert into queuetop_migrations select 9999, name, applied_on, checksum from queuetop_migrations limit 1",
            &[],
        )
        .await
        .unwrap();
    let (status, text) = refused(&[&database.dsn()]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("newer"), "{text}");
}
