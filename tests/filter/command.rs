//! `queuetop jobs` as it is typed: what it prints where, page by page, and its exit status.

use serde_json::Value;

use super::run as sql;
use crate::support::pg::{bare_database, database};
use crate::support::program;

/// Exit status, standard output, standard error.
async fn run(args: &[&str]) -> (Option<i32>, String, String) {
    program::said(program::command(&[&["jobs"], args].concat())).await
}

const HOSTILE: &str = "insert into jobs (id, queue, payload, last_error, run_at, priority)
    select ('00000000-0000-0000-0000-00000000000' || i)::uuid, E'=cmd\\u001b]0;x\\u0007,\"q\"', '{}',
           E'\\u009b31m 漢字 \\u202e', 'infinity', i from generate_series(1, 5) as i";

#[tokio::test]
async fn json_pages_go_on_by_their_cursor_and_are_exact() {
    let database = database().await;
    sql(&database, HOSTILE).await;
    let dsn = database.dsn();
    let mut ids = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut args = vec!["--db", &dsn, "--format", "json", "--limit", "2", "--filter", "-queue:other"];
        if let Some(cursor) = &cursor {
            args.extend(["--after", cursor]);
        }
        let (status, out, err) = run(&args).await;
        assert_eq!((status, err.as_str()), (Some(0), ""));
        assert!(!out.contains(|c: char| c != '\n' && c.is_control()), "{out:?}");
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (end, jobs) = lines.split_last().expect("a last line");
        for job in jobs {
            ids.push(job["id"].as_str().expect("an id").to_owned());
            assert_eq!(job["queue"], "=cmd\u{1b}]0;x\u{7},\"q\"");
            assert_eq!(job["error"], "\u{9b}31m 漢字 \u{202e}");
            assert_eq!(
                (&job["run_at"], &job["state"], &job["worker"]),
                (&"infinity".into(), &"scheduled".into(), &Value::Null)
            );
        }
        assert_eq!((&end["page"]["jobs"], &end["page"]["filter"]), (&jobs.len().into(), &"-queue:other".into()));
        cursor = end["page"]["next"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<String> = (1..=5).rev().map(|i| format!("00000000-0000-0000-0000-00000000000{i}")).collect();
    assert_eq!(ids, expected, "highest priority first");
}

#[tokio::test]
async fn tables_and_csv_are_harmless_and_tell_the_cursor_aside() {
    let database = database().await;
    sql(&database, HOSTILE).await;
    let dsn = database.dsn();
    let (status, out, err) = run(&["--db", &dsn, "--limit", "2"]).await;
    assert_eq!(status, Some(0));
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(out.starts_with("job ") && out.contains(r"\x1b]0;x\x07") && out.contains("infinity"), "{out}");
    let cursor = err.strip_prefix("queuetop: there is more: --after ").expect("a cursor").trim();
    let rest = run(&["--db", &dsn, "--format", "csv", "--after", cursor]).await;
    assert_eq!((rest.0, rest.2.as_str()), (Some(0), ""));
    let lines: Vec<&str> = rest.1.split("\r\n").collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(lines[0].starts_with("id,queue,backend,state,"), "{lines:?}");
    assert!(lines[1].starts_with(
        "\"00000000-0000-0000-0000-000000000003\",\"'=cmd\\x1b]0;x\\x07,\"\"q\"\"\",jobs,scheduled,3,0,8,infinity,"
    ));
    let other = run(&["--db", &dsn, "--filter", "state:dead", "--after", cursor]).await;
    assert_eq!(other.0, Some(2));
    assert!(other.2.contains("this cursor belongs to another list: --filter '' --sort natural"), "{}", other.2);
}

#[tokio::test]
async fn a_wrong_filter_is_pointed_at() {
    for (filter, expected) in [
        ("漢字 quue:x", "  漢字 quue:x\n       ^^^^\nqueuetop: --filter: no field is called quue: did you mean queue?"),
        ("queue:", "  queue:\n        ^\nqueuetop: --filter: expected a value"),
        (
            "\u{1b}[m attempts:x",
            "  \\x1b[m attempts:x\n                  ^\nqueuetop: --filter: expected a whole number",
        ),
    ] {
        let (status, out, err) = run(&["--db", "postgresql://nowhere.invalid/x", "--filter", filter]).await;
        assert_eq!((status, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.starts_with(expected), "{err:?}");
    }
    for bad in [["--sort", "age"], ["--limit", "0"], ["--after", "x"], ["--format", "xml"]] {
        assert_eq!(run(&bad).await.0, Some(2), "{bad:?}");
    }
}

#[tokio::test]
async fn what_is_not_there_or_not_allowed_is_a_failure() {
    let empty = bare_database().await;
    let (status, out, err) = run(&["--db", &empty.dsn()]).await;
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(err.contains("no queue found in"), "{err}");
    let database = database().await;
    sql(&database, "drop role if exists filter_nobody; create role filter_nobody login").await;
    let (status, _, err) = run(&["--db", &database.dsn_as("filter_nobody")]).await;
    assert_eq!(status, Some(1));
    assert!(err.contains("filter_nobody may not read jobs"), "{err}");
    let (status, _, err) = run(&["--db", &database.dsn(), "--filter", "kind:pgmq"]).await;
    assert_eq!(status, Some(1));
    assert!(err.contains("no pgmq queue in"), "{err}");
    let (status, out, err) = run(&["--db", &database.dsn(), "--filter", "payload.a:b"]).await;
    assert_eq!((status, out.lines().count()), (Some(0), 1));
    assert_eq!(err, "queuetop: payload search reads the payload of each row: at most 10,000 rows or 2 s a page\n");
}
