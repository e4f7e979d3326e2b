//! `queuetop requeue` and its siblings as they are typed: what they change, what they print, and their exit status.

use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::pg::{Database, database};
use crate::support::pty::Pty;
use crate::support::{program, wait_until_async};

/// A database and a home of its own for the journals.
struct Place {
    database: Database,
    home: TempDir,
}

const EXPIRED: &str = "insert into jobs (id, queue, payload, status, attempts, lease_until, locked_by, claimed_at)
    select ('00000000-0000-4000-8000-0000000000' || to_char(i, 'FM00'))::uuid, case when i % 2 = 0 then 'even' else 'odd' end, '{}',
           'running', 1, now() - interval '1 s', gen_random_uuid(), now() from generate_series(1, 30) as i";
const DEAD: &str = "insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, failed_at, original_created_at)
    select gen_random_uuid(), 'q', '{}', 8, 8, 'boom', now() - i * interval '1 s', now() from generate_series(1, 60) as i";

impl Place {
    async fn with(sql: &str) -> Self {
        let database = database().await;
        database.client().await.batch_execute(sql).await.expect("rows");
        Self { database, home: TempDir::new().expect("a folder") }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = program::command(args);
        command.args(["--db", &self.database.dsn()]).env("HOME", self.home.path());
        command
    }

    /// Exit status, standard output, standard error.
    async fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        program::said(self.command(args)).await
    }

    async fn number(&self, sql: &str) -> i64 {
        self.database.client().await.query_one(sql, &[]).await.expect("a number").get(0)
    }

    fn journals(&self) -> Vec<std::path::PathBuf> {
        let folder = self.home.path().join(".local/state/queuetop/runs");
        std::fs::read_dir(folder).map(|files| files.flatten().map(|file| file.path()).collect()).unwrap_or_default()
    }
}

const QUEUED: &str = "select count(*) from jobs where status = 'queued'";
const FIRST: &str = "00000000-0000-4000-8000-000000000001";
const NOWHERE: &str = "00000000-0000-4000-8000-0000000000ff";

#[tokio::test]
async fn without_yes_and_without_a_terminal_nothing_is_done() {
    let place = Place::with(EXPIRED).await;
    let (status, out, err) = place.run(&["requeue", "--filter", "queue:odd"]).await;
    assert_eq!((status, out.as_str()), (Some(2), ""));
    assert!(err.contains("--yes") && err.contains("requeue 15 jobs that match `queue:odd`"), "{err}");
    let (status, out, _) = place.run(&["requeue", "--filter", "queue:odd", "--dry-run"]).await;
    assert_eq!(status, Some(0));
    assert!(out.contains("would requeue 15 jobs") && out.contains("and 10 more"), "{out}");
    assert_eq!(place.number(QUEUED).await, 0);
    assert!(place.journals().is_empty());
}

#[tokio::test]
async fn the_set_that_matches_is_the_set_that_changes_and_every_job_is_answered_for() {
    let place = Place::with(EXPIRED).await;
    let results = place.home.path().join("results.jsonl");
    let results = results.to_str().expect("UTF-8");
    let args = [
        "reap",
        "--filter",
        "queue:odd",
        "--yes",
        "--format",
        "json",
        "--reason",
        "it's \u{1b}[31mred",
        "--results",
        results,
    ];
    let (status, out, err) = place.run(&args).await;
    assert_eq!((status, err.as_str()), (Some(0), ""));
    let whole: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&whole["asked"], &whole["done"]), (&15.into(), &15.into()));
    assert_eq!(whole["results"].as_array().map(Vec::len), Some(15));
    assert_eq!(std::fs::read_to_string(results).expect("the file").lines().count(), 15);
    assert_eq!(place.number("select count(*) from jobs where status = 'queued' and queue = 'odd'").await, 15);
    assert_eq!(place.number("select count(*) from jobs where status = 'running'").await, 15);
    assert_eq!(place.number("select count(*) from operator_actions where reason = E'it''s \\u001b[31mred'").await, 1);
    assert!(place.journals().is_empty(), "a run that came to its end leaves no journal");
    let (status, _, err) = place.run(&args).await;
    assert_eq!(status, Some(2));
    assert!(err.contains("is there already"), "{err}");
}

#[tokio::test]
async fn the_status_says_whether_all_some_or_none_were_done() {
    let place = Place::with(EXPIRED).await;
    let (status, out, _) = place.run(&["requeue", FIRST, NOWHERE, FIRST, "--yes"]).await;
    assert_eq!(status, Some(4));
    assert!(out.starts_with("requeued 1 of 2 in ") && out.contains(&format!("{NOWHERE} gone, no such job")), "{out}");
    let (status, out, _) = place.run(&["requeue", FIRST, "--yes"]).await;
    assert_eq!(status, Some(5));
    assert!(out.contains("refused, ready"), "{out}");
    let (status, out, _) = place.run(&["requeue", "--filter", "queue:nobody", "--yes"]).await;
    assert_eq!((status, out.starts_with("requeued 0 of 0")), (Some(0), true));
    for (args, why) in [
        (&["requeue", "12", "--yes"][..], "`12` is no id"),
        (&["requeue", "--filter", "state:nonsense", "--yes"], "--filter"),
        (&["requeue", "--yes"], "required"),
        (&["reschedule", FIRST, "--at", "soon", "--yes"], "--at"),
        (&["replay", "--continue", "/nonexistent", "--yes"], "/nonexistent"),
        (&["requeue", FIRST, "--rate", "0/s", "--yes"], "jobs a second"),
    ] {
        let (status, _, err) = place.run(args).await;
        assert_eq!(status, Some(2), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
}

#[tokio::test]
async fn every_action_has_its_command() {
    let place = Place::with(EXPIRED).await;
    let ids = "select id::text from jobs where queue = 'even' order by id";
    let rows = place.database.client().await.query(ids, &[]).await.expect("ids");
    let ids: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let lives = "update jobs set lease_until = now() + interval '1 h' where queue = 'even'";
    place.database.client().await.batch_execute(lives).await.expect("leases");
    assert_eq!(place.run(&["requeue", &ids[0], "--yes"]).await.0, Some(5), "a live lease");
    assert_eq!(place.run(&["requeue", &ids[0], "--force", "--yes"]).await.0, Some(0));
    assert_eq!(place.run(&["reschedule", &ids[0], "--at", "in 1h", "--yes"]).await.0, Some(0));
    assert_eq!(place.run(&["set-priority", &ids[0], "--to", "-7", "--yes"]).await.0, Some(0));
    let there = "select count(*) from jobs where priority = -7 and run_at > now() + interval '59 min'";
    assert_eq!(place.number(there).await, 1);
    assert_eq!(place.run(&["dead-letter", &ids[0], "--yes", "--reason", "poison"]).await.0, Some(0));
    assert_eq!(place.number("select count(*) from dead_letter_jobs").await, 1);
    assert_eq!(place.run(&["replay", &ids[0], "--yes"]).await.0, Some(0));
    assert_eq!(place.run(&["replay", &ids[0], "--yes"]).await.0, Some(5), "once");
    assert_eq!(place.run(&["replay", &ids[0], "--force", "--yes"]).await.0, Some(0));
    assert_eq!(place.number("select count(*) from jobs where replay_of is not null").await, 2);
    let (status, out, _) = place.run(&["pause", "odd", "even", "--yes"]).await;
    assert_eq!((status, out.as_str()), (Some(0), "odd is paused\neven is paused\n"));
    let (status, out, _) = place.run(&["resume", "odd", "other", "--yes"]).await;
    assert_eq!((status, out.as_str()), (Some(0), "odd is running\nother is running already\n"));
    assert_eq!(place.number("select count(*) from queues where paused").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_says_how_to_go_on_and_nothing_is_done_twice() {
    let place = Place::with(DEAD).await;
    let mut command = place.command(&["replay", "--filter", "queue:q", "--rate", "20/s", "--yes"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let client = place.database.client().await;
    let replayed =
        async || -> i64 { client.query_one("select count(*) from jobs", &[]).await.expect("a number").get(0) };
    wait_until_async("a replay", async || replayed().await > 0).await;
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("an end");
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(130), "{err}");
    let journal =
        err.split("--continue ").nth(1).and_then(|rest| rest.lines().next()).expect("how to go on").to_owned();
    let some = replayed().await;
    assert!((1..60).contains(&some), "{some}");
    let (_, _, err) = place.run(&["requeue", NOWHERE, "--yes"]).await;
    assert!(err.contains(&format!("of 60 left): --continue {journal}")), "{err}");
    let (status, _, err) = place.run(&["requeue", "--continue", &journal, "--yes"]).await;
    assert_eq!(status, Some(2), "{err}");
    let (status, out, err) = place.run(&["replay", "--continue", &journal, "--yes", "--rate", "max"]).await;
    assert_eq!(status, Some(0), "{err}");
    assert!(out.starts_with("replayed 60 of 60"), "{out}");
    assert_eq!(replayed().await, 60);
    assert!(place.journals().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_a_wide_set_is_answered_with_its_number() {
    let place = Place::with(EXPIRED).await;
    let dsn = place.database.dsn();
    let args = ["requeue", "--db", &dsn, "--filter", ""];
    let home = place.home.path().to_str().expect("UTF-8");
    for (answer, status, queued) in [("\r", 5, 0), ("y\r", 5, 0), ("30\r", 0, 30)] {
        let mut pty = Pty::spawn(&args, 120, 40, &[("HOME", home)]);
        pty.wait_for_text("type 30 to do it");
        pty.send_keys(answer);
        assert_eq!(pty.wait_exit(), status, "{answer:?}: {}", pty.text());
        assert_eq!(place.number(QUEUED).await, queued);
    }
}

#[tokio::test]
async fn a_production_target_wants_to_be_called_so() {
    let place = Place::with(EXPIRED).await;
    let folder = place.home.path().join(".config/queuetop");
    std::fs::create_dir_all(&folder).expect("a folder");
    let settings = format!(
        "[targets.prod]\ndsn = \"{0}\"\nproduction = true\n[targets.seen]\ndsn = \"{0}\"\nread_only = true\n",
        place.database.dsn()
    );
    std::fs::write(folder.join("config.toml"), settings).expect("settings");
    let run = async |args: &[&str]| {
        let mut command = program::command(args);
        command.env("HOME", place.home.path());
        let (status, _, err) = program::said(command).await;
        (status, err)
    };
    let (status, err) = run(&["requeue", FIRST, "--db", "@prod", "--yes"]).await;
    assert_eq!(status, Some(2));
    assert!(err.contains("--production"), "{err}");
    let (status, err) = run(&["requeue", FIRST, "--db", "@seen", "--yes"]).await;
    assert_eq!(status, Some(2));
    assert!(err.contains("read-only"), "{err}");
    assert_eq!(place.number(QUEUED).await, 0);
    assert_eq!(run(&["requeue", FIRST, "--db", "@prod", "--yes", "--production"]).await.0, Some(0));
    assert_eq!(place.number(QUEUED).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_settings_guard_is_guarded_here_too() {
    let place = Place::with(EXPIRED).await;
    let folder = place.home.path().join(".config/queuetop");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "[safety]\nread_only = true\n").expect("settings");
    let (status, _, err) = place.run(&["requeue", FIRST, "--yes"]).await;
    assert_eq!(status, Some(2));
    assert!(err.contains("safety.read_only"), "{err}");
    assert_eq!(place.run(&["pause", "odd", "--yes"]).await.0, Some(2));
    std::fs::write(folder.join("config.toml"), "[safety]\ntyped_above = 1\n").expect("settings");
    let mut command = place.command(&["requeue", FIRST, "--yes"]);
    command.env("QUEUETOP_READ_ONLY", "1");
    assert_eq!(program::said(command).await.0, Some(2));
    assert_eq!(place.number(QUEUED).await, 0);
    assert_eq!(place.number("select count(*) from queues where paused").await, 0);
    // Two are wide here, and one is not.
    let (dsn, home) = (place.database.dsn(), place.home.path().to_str().expect("UTF-8"));
    let second = FIRST.replace("0001", "0002");
    for (ids, question, answer) in [(&[FIRST, &second][..], "type 2 to do it", "2\r"), (&[FIRST], "y to do it", "n\r")]
    {
        let mut pty = Pty::spawn(&[&["requeue", "--db", &dsn], ids].concat(), 160, 40, &[("HOME", home)]);
        pty.wait_for_text(question);
        pty.send_keys(answer);
        pty.wait_exit();
    }
    assert_eq!(place.number(QUEUED).await, 2);
}

#[tokio::test]
async fn answers_stand_in_the_order_of_the_ids() {
    let place = Place::with(EXPIRED).await;
    let given: Vec<String> = [7, 3, 255, 5, 3].iter().map(|n| FIRST.replace("0001", &format!("{n:04}"))).collect();
    let ids: Vec<&str> = given.iter().map(String::as_str).collect();
    let (status, out, _) = place.run(&[&["requeue", "--yes", "--format", "json"], &ids[..]].concat()).await;
    assert_eq!(status, Some(4));
    let whole: Value = serde_json::from_str(&out).expect("JSON");
    let told: Vec<&str> =
        whole["results"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(told, [ids[0], ids[1], ids[3], ids[2]], "what is nowhere stands last");
}
