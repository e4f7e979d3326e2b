//! `queuetop doctor` as it is typed: what it says, where, its exit status, and the question before it mends.

use serde_json::Value;

use crate::support::pg::{self, Database};
use crate::support::program;
use crate::support::pty::Pty;
use crate::support::roles::Place;
use crate::support::table_queue;

/// Exit status, standard output, standard error.
async fn doctor(dsn: &str, args: &[&str]) -> (Option<i32>, String, String) {
    program::said(program::command(&[&["doctor", dsn], args].concat())).await
}

/// A healthy installation: somebody reaps.
async fn healthy() -> Database {
    let database = pg::database().await;
    database.client().await.batch_execute("select reap_expired_jobs()").await.expect("a reaper");
    database
}

async fn run(database: &Database, sql: &str) {
    database.client().await.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

#[tokio::test]
async fn the_exit_status_follows_the_worst_finding() {
    let database = healthy().await;
    let (status, out, err) = doctor(&database.dsn(), &[]).await;
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    assert!(
        out.lines().next().is_some_and(|line| line.contains("PostgreSQL") && line.contains("schema public")),
        "{out}"
    );
    assert!(out.lines().last().is_some_and(|line| line.ends_with(" fine") && line.starts_with("24 checks: ")), "{out}");
    run(
        &database,
        "update maintenance_runs set last_run_at = now() - interval '1 day' where task = 'reap_expired_jobs'",
    )
    .await;
    let (status, out, _) = doctor(&database.dsn(), &[]).await;
    assert_eq!(status, Some(3));
    // Worst first, with proof and next step.
    let lines: Vec<&str> = out.lines().skip(2).collect();
    assert_eq!(lines[0], "warning   reaper               no reaper seen for 1d");
    assert!(
        lines[1..6].contains(&"          last run: 1d ago")
            && lines[1..6].contains(&"          > queuetop reaper --schema public"),
        "{out}"
    );
    assert_eq!(doctor(&database.dsn(), &["--fail-on", "critical"]).await.0, Some(0));
    run(&database, "alter table jobs disable trigger all").await;
    assert_eq!(doctor(&database.dsn(), &["--fail-on", "critical"]).await.0, Some(3));
    let bare = pg::bare_database().await;
    let (status, out, _) = doctor(&bare.dsn(), &[]).await;
    assert_eq!(status, Some(3));
    assert!(out.contains("critical  installed") && out.contains("> queuetop migrate\n"), "{out}");
    assert!(out.contains("there is no queue (also "), "{out}");
    let (status, _, err) = doctor("host=/nowhere", &[]).await;
    assert!(status == Some(1) && err.starts_with("queuetop: "), "{err}");
    for wrong in [
        &["--fail-on", "x"][..],
        &["--dry-run"],
        &["--yes"],
        &["--recount", "--role", "x"],
        &["--recount", "--yes", "--dry-run"],
    ] {
        assert_eq!(doctor(&database.dsn(), wrong).await.0, Some(2), "{wrong:?}");
    }
}

#[tokio::test]
async fn single_queues_are_judged_by_the_rules_of_the_verdict() {
    let database = healthy().await;
    run(&database, "insert into jobs (queue, payload, attempts, max_attempts) values ('mail', '{}', 3, 3)").await;
    let exhausted = |text: &str| {
        let whole: Value = serde_json::from_str(text).expect("JSON");
        let checks = whole["checks"].as_array().expect("checks").clone();
        let queues = checks.iter().find(|check| check["check"] == "queues").expect("queues").clone();
        queues["findings"].as_array().expect("findings").iter().find(|one| one["id"] == "exhausted-jobs").cloned()
    };
    let found = exhausted(&doctor(&database.dsn(), &["--format", "json"]).await.1).expect("a finding");
    assert_eq!((found["queue"].as_str(), found["severity"].as_str()), (Some("mail"), Some("info")));
    run(&database, "update jobs set attempts = 2").await;
    assert_eq!(exhausted(&doctor(&database.dsn(), &["--format", "json"]).await.1), None);
    // The queue is a moment old: that its failures are not known yet is no reason to call it fine.
    let (_, out, _) = doctor(&database.dsn(), &[]).await;
    assert!(out.contains("unknown   queues               not known: how many attempts fail"), "{out}");
    let minutes = "insert into history_minutes select date_trunc('minute', now()) - i * interval '1 minute'
                     from generate_series(1, 9) i on conflict do nothing;
                   insert into queue_history (minute, queue, enqueued, completed) select minute, 'mail', 1, 1
                     from history_minutes on conflict do nothing";
    run(&database, minutes).await;
    let (_, out, _) = doctor(&database.dsn(), &[]).await;
    assert!(out.contains("ok        queues               the one queue "), "{out}");
}

#[tokio::test]
async fn json_has_the_same_in_stable_names_and_foreign_text_is_harmless() {
    let database = healthy().await;
    let client = database.client().await;
    let name = "a\u{1b}]0;x\u{7}\u{202e}";
    client.batch_execute("set session_replication_role = replica").await.expect("no triggers");
    client.execute("insert into jobs (queue, payload) values ($1, '{}')", &[&name]).await.expect("a job");
    let (status, out, err) = doctor(&database.dsn(), &["--format", "json"]).await;
    assert_eq!((status, err.as_str()), (Some(3), ""));
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out}");
    let whole: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((whole["schema"].as_str(), whole["worst"].as_str()), (Some("public"), Some("warning")));
    assert_eq!(whole["version"], whole["newest_version"]);
    let checks = whole["checks"].as_array().expect("checks");
    assert_eq!(checks.len(), 24);
    let drift = &checks[0];
    assert_eq!((drift["check"].as_str(), drift["status"].as_str()), (Some("drift"), Some("warning")));
    assert_eq!(drift["findings"][0]["next_step"][0], "queuetop doctor --schema public --recount");
    assert_eq!(drift["findings"][0]["evidence"][0]["value"], "0 counted, 1 true");
    let fine = checks.iter().find(|check| check["check"] == "triggers").expect("triggers");
    assert!(fine["status"] == "ok" && fine["fine"].is_string() && fine["not_checked"].is_null(), "{fine}");
    let (_, out, _) = doctor(&database.dsn(), &[]).await;
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}') && out.contains(r"a\x1b]0;x\x07\u{202e}"), "{out}");
    let (_, out, _) = doctor(&database.dsn(), &["--recount", "--dry-run"]).await;
    assert_eq!(
        out.lines().next(),
        Some(
            r"a\x1b]0;x\x07\u{202e}: ready 0 counted, 1 true; attempts are counted wrongly; the times at which jobs come due are counted wrongly"
        )
    );
}

#[tokio::test]
async fn recount_compares_and_mends_only_when_told_to() {
    let database = healthy().await;
    assert_eq!(
        doctor(&database.dsn(), &["--recount"]).await,
        (Some(0), "the counters are exact\n".into(), String::new())
    );
    run(
        &database,
        "set session_replication_role = replica; insert into jobs (queue, payload) values ('a', '{}'), ('a', '{}')",
    )
    .await;
    let (status, out, _) = doctor(&database.dsn(), &["--recount", "--dry-run"]).await;
    assert_eq!(status, Some(3));
    assert!(out.starts_with("a: ready 0 counted, 2 true; "), "{out}");
    let (status, _, err) = doctor(&database.dsn(), &["--recount"]).await;
    assert!(status == Some(2) && err.contains("--yes"), "{err}");
    assert_eq!(doctor(&database.dsn(), &["--recount", "--dry-run"]).await.0, Some(3), "nothing was mended");
    let (status, out, err) = doctor(&database.dsn(), &["--recount", "--yes"]).await;
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(
        out.starts_with("a: ready 0 counted, 2 true; ") && out.ends_with("mended: the counters are exact\n"),
        "{out}"
    );
    assert_eq!(doctor(&database.dsn(), &["--recount", "--dry-run"]).await.0, Some(0));
    let bare = pg::bare_database().await;
    let (status, _, err) = doctor(&bare.dsn(), &["--recount", "--yes"]).await;
    assert!(status == Some(1) && err.contains("no queue found"), "{err}");
    run(&bare, &table_queue::tables()).await;
    let (status, _, err) = doctor(&bare.dsn(), &["--recount", "--yes"]).await;
    assert!(status == Some(1) && err.contains("run: queuetop migrate"), "{err}");
}

#[tokio::test]
async fn who_may_not_mend_is_told_the_grant() {
    let place = Place::new("Job \"Queue\"").await;
    let admin = place.as_role("postgres").await;
    let uncounted = format!(
        "set session_replication_role = replica; insert into {} (queue, payload) values ('a', '{{}}')",
        place.name("jobs")
    );
    admin.batch_execute(&uncounted).await.expect("a job");
    let recount = async |role: &str, more: &str| doctor(&place.dsn(role), &["--recount", more]).await;
    let (status, out, err) = recount("viewer", "--yes").await;
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(err.contains("role viewer may not mend the counters; run: GRANT queue_operator TO viewer"), "{err}");
    assert_eq!(recount("viewer", "--dry-run").await.0, Some(3), "to compare it is enough to read");
    for role in ["worker", "nobody"] {
        let (status, _, err) = recount(role, "--dry-run").await;
        assert!(status == Some(1) && err.contains(&format!("run: GRANT queue_viewer TO {role}")), "{err}");
    }
    assert_eq!(recount("operator", "--yes").await.0, Some(0));
    assert_eq!(recount("viewer", "--dry-run").await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_terminal_it_asks_and_only_a_y_is_one() {
    let database = healthy().await;
    run(&database, "set session_replication_role = replica; insert into jobs (queue, payload) values ('a', '{}')")
        .await;
    for (answer, status) in [("\r", 1), ("n\r", 1), ("yy\r", 1), ("y\r", 0)] {
        let mut pty = Pty::spawn(&["doctor", "--recount", &database.dsn()], 120, 24, &[]);
        pty.wait_for_text("a: ready 0 counted, 1 true");
        pty.wait_for_text("mend the counters of 1 queue in");
        pty.send_keys(answer);
        assert_eq!(pty.wait_exit(), status, "{answer:?}");
        let wrong = doctor(&database.dsn(), &["--recount", "--dry-run"]).await.0 == Some(3);
        assert_eq!(wrong, status == 1, "{answer:?}");
    }
}
