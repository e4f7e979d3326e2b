//! The suites of what the backend reads and does once more, but through a real PgBouncer: in each of its modes the same must come out.

use std::env;
use std::process::{Command, Stdio};

use crate::support::{bouncer::VIA, needs};

fn once_more(mode: &str) {
    if needs::program("pgbouncer", "pgbouncer").is_none() {
        return;
    }
    let tests = env::current_exe().expect("this program");
    let mut command = Command::new(tests);
    // The plans are the same whatever the way, and the counts of scans are of the whole server.
    command
        .args(["backend_jobs::", "bulk::", "--skip", "backend_jobs::cost", "--test-threads", "1"])
        .env(VIA, mode)
        .stdin(Stdio::null());
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "through a pooler in {mode} mode: {said}");
    let passed = said.split("test result: ok. ").nth(1).and_then(|rest| rest.split(' ').next());
    assert!(passed.and_then(|number| number.parse().ok()).is_some_and(|number: u32| number > 40), "{said}");
}

#[test]
fn in_transaction_mode() {
    once_more("transaction");
}

#[test]
fn in_session_mode() {
    once_more("session");
}
