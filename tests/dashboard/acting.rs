//! Keys change exactly what was seen, and say what happened.

use std::time::{Duration, Instant};

use super::{dashboard, text};
use crate::support::LIMIT;
use crate::support::pty::Pty;

/// Focuses the leases and waits until the cursor stands on an expired one.
fn on_leases(pty: &mut Pty) {
    pty.wait_for_text("emails");
    pty.send_keys("\t");
    pty.send_keys("\t");
    pty.wait_for(|screen| screen.contains("inspect") && screen.contains("expired"), LIMIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requeued_job_is_claimable_in_the_database() {
    let (_database, client, mut pty) = dashboard(120, 40).await;
    on_leases(&mut pty);
    pty.send_keys("r");
    pty.wait_for_text("[y]");
    pty.wait_for(|screen| screen.contains("Requeue 1 job") && screen.contains("claimable now"), LIMIT);
    confirm(&mut pty, "requeued 1 of 1");
    assert_eq!(text(&client, "select count(*)::text from jobs where status = 'running'").await, "1");
    assert_eq!(text(&client, "select action || ' ' || session_user from operator_actions").await, "requeue postgres");
    pty.send_keys("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

#[tokio::test(flavor = "multi_thread")]
async fn marked_jobs_are_dead_lettered_together() {
    let (_database, client, mut pty) = dashboard(120, 40).await;
    on_leases(&mut pty);
    pty.send_keys("  d");
    pty.wait_for_text("2 jobs");
    confirm(&mut pty, "dead-lettered 2 of 2");
    assert_eq!(text(&client, "select count(*)::text from dead_letter_jobs").await, "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_changed_meanwhile_is_refused_with_its_state_now() {
    let (_database, client, mut pty) = dashboard(120, 40).await;
    on_leases(&mut pty);
    pty.send_keys("z");
    pty.wait_for_text("FROZEN");
    client
        .batch_execute(
            "update jobs set status = 'completed', completed_at = now(), locked_by = null, lease_until = null
                        where status = 'running'",
        )
        .await
        .unwrap();
    pty.send_keys("x");
    pty.wait_for_text("[y]");
    let screen = confirm(&mut pty, "not reaped");
    assert!(screen.contains("completed"), "{screen}");
    assert_eq!(text(&client, "select count(*)::text from jobs where status = 'completed'").await, "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_only_read_is_told_so_and_changes_nothing() {
    let (database, client, pty) = dashboard(120, 40).await;
    drop(pty);
    let role = format!("viewer_{}", database.name());
    client.batch_execute(&format!("create role \"{role}\" login; grant queue_viewer to \"{role}\"")).await.unwrap();
    let mut pty = Pty::spawn(&[&database.dsn_as(&role)], 120, 40, &[]);
    pty.wait_for_text("viewer");
    on_leases(&mut pty);
    pty.send_keys("d");
    pty.wait_for_text("cannot dead-letter");
    assert!(pty.text().contains("queue_operator"), "{}", pty.text());
    drop(pty);
    client.batch_execute(&format!("drop owned by \"{role}\"; drop role \"{role}\"")).await.unwrap();
}

/// Presses `y` as a person does, with a pause before each press (faster keys count as typed before the box appeared),
/// until the box takes it; then waits for the answer.
fn confirm(pty: &mut Pty, answer: &str) -> String {
    let deadline = Instant::now() + LIMIT;
    pty.wait_for_text("[y]");
    while pty.text().contains("[y]") {
        assert!(Instant::now() < deadline, "the box stays:\n{}", pty.text());
        std::thread::sleep(Duration::from_millis(400));
        pty.send_keys("y");
        std::thread::sleep(Duration::from_millis(200));
    }
    pty.wait_for_text(answer)
}
