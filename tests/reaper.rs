//! `queuetop reaper`: what it takes back and removes, once and periodically, and who may not run it.

use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{LIMIT, pg};

fn reaper(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_queuetop")).arg("reaper").args(args).output().expect("runs")
}

/// Five jobs of which two are held by leases that ran out, one of them on its last attempt.
const EXPIRED: &str = "
    select enqueue_job('emails', '{}', p_max_attempts => 1);
    select enqueue_job('emails', '{}') from generate_series(1, 4);
    select claim_jobs('emails', gen_random_uuid(), 2, interval '1 minute');
    update jobs set lease_until = now() - interval '1 minute' where status = 'running';";

#[tokio::test(flavor = "multi_thread")]
async fn once_takes_back_what_expired_and_says_so() {
    let database = pg::database().await;
    let client = database.client().await;
    client.batch_execute(EXPIRED).await.unwrap();
    let output = reaper(&["--once", &database.dsn()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("requeued 1, dead-lettered 1"), "{output:?}");
    let row = client.query_one("select count(*) from jobs where status = 'queued'", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 4);
    let quiet = reaper(&["--once", &database.dsn()]);
    assert!(quiet.stdout.is_empty(), "a quiet round says nothing: {quiet:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_removes_only_what_it_is_told_to() {
    let database = pg::database().await;
    let client = database.client().await;
    client
        .batch_execute(
            "insert into jobs (queue, payload, status, completed_at)
             select 'emails', '{}', 'completed', now() - n * interval '1 day' from generate_series(1, 10) n",
        )
        .await
        .unwrap();
    let left = async || -> i64 { client.query_one("select count(*) from jobs", &[]).await.unwrap().get(0) };
    reaper(&["--once", &database.dsn()]);
    assert_eq!(left().await, 10);
    let output = reaper(&["--once", "--batch", "2", "--keep-completed", "84h", &database.dsn()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(left().await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_on_until_a_signal_and_over_a_cut() {
    let database = pg::database().await;
    let client = database.client().await;
    let mut child = Command::new(env!("CARGO_BIN_EXE_queuetop"))
        .args(["reaper", "--every", "50ms", &database.dsn()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    for _ in 0..2 {
        client.batch_execute(EXPIRED).await.unwrap();
        let limit = std::time::Instant::now() + LIMIT;
        let expired = "select count(*) from jobs where status = 'running'";
        while client.query_one(expired, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            assert!(std::time::Instant::now() < limit, "nobody reaps");
        }
        let cut = "select pg_terminate_backend(pid) from pg_stat_activity
                   where application_name = 'queuetop' and datname = current_database()";
        client.batch_execute(cut).await.unwrap();
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn an_absurd_batch_is_wrong_usage() {
    for batch in ["0", "10001", "many"] {
        assert_eq!(reaper(&["--once", "--batch", batch, "dbname=x"]).status.code(), Some(2));
    }
}
