//! `queuetop migrate` as it is typed: what it says, where, and its exit status.

use std::process::{Command, Output, Stdio};

use queuetop::engine::migrate::latest_version;

use crate::support::bouncer::Bouncer;
use crate::support::pg;
use crate::support::queue::count;
use crate::support::table_queue::statement;

fn migrate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_queuetop"))
        .arg("migrate")
        .args(args)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Exit status, standard output, standard error.
async fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let output = tokio::task::spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        migrate(&args)
    });
    let output = output.await.expect("no panic");
    (output.status.code(), said(&output.stdout), said(&output.stderr))
}

#[tokio::test]
async fn it_says_what_it_would_do_does_it_and_then_has_nothing_to_do() {
    let database = pg::bare_database().await;
    let client = database.client().await;
    let (status, out, err) = run(&[&database.dsn(), "--dry-run", "--schema", "Job Queue"]).await;
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("schema \"Job Queue\": not installed\ncreate the schema\n"), "{out}");
    assert!(out.contains("apply V1__jobs\n") && out.contains(&format!("apply V{}__", latest_version())), "{out}");
    assert_eq!(count(&client, "select from pg_namespace where nspname = 'Job Queue'").await, 0);
    let (status, out, err) = run(&[&database.dsn(), "--schema", "Job Queue"]).await;
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(out.contains("applied V1__jobs\n"), "{out}");
    assert!(out.ends_with(&format!("schema Job Queue: now at version {}\n", latest_version())), "{out}");
    let (status, out, _) = run(&[&database.dsn(), "--schema", "Job Queue"]).await;
    assert_eq!(status, Some(0));
    assert!(out.ends_with(&format!("nothing to do, version {}\n", latest_version())), "{out}");
}

#[tokio::test]
async fn what_it_refuses_is_one_clear_message_and_status_1() {
    let database = pg::bare_database().await;
    let client = database.client().await;
    for name in ["jobs", "claim function"] {
        client.batch_execute(&statement(name, &[])).await.expect("somebody's objects");
    }
    let (status, out, err) = run(&[&database.dsn()]).await;
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(err.contains("public.claim_jobs(p_queue text") && err.contains("--replace-functions"), "{err}");
    for (schema, why) in [("pg_mine", "belong to PostgreSQL"), ("", "empty"), ("a\u{1b}[2Jb", "control character")] {
        let (status, out, err) = run(&[&database.dsn(), "--schema", schema]).await;
        assert_eq!((status, out.as_str()), (Some(1), ""));
        assert!(err.contains(why) && !err.contains('\u{1b}'), "{err}");
    }
    let (status, out, err) = run(&[&database.dsn(), "--replace-functions"]).await;
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(out.contains("built index jobs_claimable_idx\n"), "{out}");
}

#[tokio::test]
async fn the_printed_sql_goes_to_standard_output_alone() {
    let (status, out, err) = run(&["--print", "--schema", "q"]).await;
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(
        out.starts_with("-- queuetop's SQL for schema \"q\"") && out.contains("create table if not exists \"q\".jobs")
    );
    // Whoever reads it may have read enough.
    let mut child = Command::new(env!("CARGO_BIN_EXE_queuetop"))
        .args(["migrate", "--print"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), said(&output.stderr).as_str()), (Some(0), ""));
    let database = pg::database().await;
    let (status, out, _) = run(&[&database.dsn(), "--print"]).await;
    assert_eq!(status, Some(0));
    assert!(!out.contains("create table"), "what is there already is not printed: {out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn through_a_transaction_pooler_it_refuses_and_says_why() {
    let database = pg::bare_database().await;
    for (mode, works) in [("transaction", false), ("session", true)] {
        let Some(bouncer) = Bouncer::start(mode, 2) else { return };
        let (status, _, err) = run(&[&bouncer.dsn(database.name())]).await;
        assert_eq!(status, Some(i32::from(!works)), "{mode}: {err}");
        assert_eq!(err.contains("pooler in transaction mode"), !works, "{mode}: {err}");
    }
}
