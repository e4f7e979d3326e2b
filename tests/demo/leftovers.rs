//! The program as a process: what it prints, how it ends, and that its server goes with it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::pty::Pty;
use crate::support::wait_until;

/// The command line of every process, with its parent, that has `word` in it. Zombies have none.
fn processes(word: &str) -> Vec<(u32, Vec<String>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line: Vec<String> =
            line.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into()).collect();
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        if let Some(parent) = parent.filter(|_| line.iter().any(|part| part.contains(word))) {
            found.push((parent, line));
        }
    }
    found
}

/// The folder of the server that the process `owner` has started, once there is one.
fn folder(owner: u32) -> PathBuf {
    let mut folder = None;
    wait_until("the demo starts its server", || {
        folder = processes("queuetop-guard")
            .into_iter()
            .find(|(parent, _)| *parent == owner)
            .and_then(|(_, line)| line.into_iter().find(|part| part.starts_with("/tmp/queuetop-")).map(PathBuf::from));
        folder.is_some()
    });
    folder.unwrap()
}

fn gone(folder: &Path) -> bool {
    !folder.exists() && processes(&folder.display().to_string()).is_empty()
}

fn headless(time: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_queuetop"))
        .args(["demo", "--headless", "--for", time, "--seed", "5"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program")
}

fn output(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().expect("its end");
    eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn headless_prints_every_queue_and_leaves_nothing() {
    let child = headless("6s");
    let folder = folder(child.id());
    let (status, text) = output(child);
    assert_eq!(status, Some(0));
    assert!(gone(&folder));
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let value = |queue: &str, figure: &str| {
        let queues = whole["queues"].as_array().expect("queues");
        let found = queues.iter().find(|row| row["queue"] == queue).unwrap_or_else(|| panic!("no {queue}"));
        assert_eq!(found[figure]["known"], "exact", "{queue} {figure}");
        found[figure]["value"].as_f64().unwrap_or_else(|| panic!("{queue} {figure}: {}", found[figure]))
    };
    assert!(value("emails", "completed_per_s") > 1.0);
    assert!(value("reports", "scheduled") > 10.0);
    assert!(value("webhooks", "retried_per_s") > 0.1);
    assert!(value("webhooks", "dead_total") > 10.0);
    assert!(value("thumbnails", "running") + value("thumbnails", "expired") > 0.0);
    assert!(value("invoices", "ready") > 50.0);
    assert!(value("newsletter", "oldest_ready_seconds") > 600.0);
}

#[test]
fn a_signal_ends_it_early_and_cleanly() {
    let mut child = headless("1h");
    let folder = folder(child.id());
    // It says so when the queue is being installed; whether it runs already or not, the end is the same.
    let mut said = [0; 64];
    let _count = child.stderr.as_mut().expect("progress").read(&mut said).expect("progress");
    wait_until("its server runs", || folder.join("data/postmaster.pid").exists());
    kill_process(Pid::from_child(&child), Signal::TERM).expect("signalled");
    let (status, _) = output(child);
    assert_eq!(status, Some(143));
    assert!(gone(&folder));
}

#[test]
fn killed_it_leaves_nothing_either() {
    let mut child = headless("1h");
    let folder = folder(child.id());
    wait_until("workers are at work", || !processes("postgres: postgres demo").is_empty());
    child.kill().expect("killed");
    child.wait().expect("its end");
    wait_until("the server and its folder are gone", || gone(&folder));
}

#[test]
fn on_the_screen_it_lives_and_q_leaves() {
    let mut pty = Pty::spawn(&["demo"], 120, 40, &[]);
    let folder = folder(u32::try_from(pty.pid().as_raw_pid()).unwrap());
    for queue in ["emails", "reports", "webhooks", "thumbnails", "invoices", "newsletter"] {
        pty.wait_for_text(queue);
    }
    pty.send_keys("D");
    pty.wait_for_text(&format!("psql -h {}", folder.display()));
    pty.send_keys("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
    assert!(gone(&folder));
}

#[test]
fn bad_input_is_said_in_one_line() {
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_queuetop")).arg("demo").args(args).output().expect("run");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    let (status, said) = run(&["--headless", "--rate", "0"]);
    assert_eq!(status, Some(2));
    assert_eq!(said, "queuetop: --rate must be more than 0 and at most 100, not 0\n");
    let (status, said) = run(&["--headless", "--pg-bin", "/nowhere"]);
    assert_eq!(status, Some(1));
    assert!(said.contains("/nowhere"), "{said}");
    let (status, said) = run(&[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("not a terminal"), "{said}");
}
