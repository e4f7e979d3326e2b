//! Roles that may not read everything: what is denied is denied by itself and says which grant is missing.

use queuetop::model::{Filter, Handling, JobRef, JobState, PageRequest, Reading};

use super::{backend, detail, page, queue, rows, run, session};
use crate::support::pg::{Database, bare_database, database};
use crate::support::table_queue::tables;

/// A role that may log in, with these rights. Roles are the server's: each test has its own.
async fn with_role(database: &Database, role: &str, grants: &str) -> String {
    run(database, &format!("drop role if exists {role}; create role {role} login; {}", grants.replace("{role}", role)))
        .await;
    database.dsn_as(role)
}

const ONE: &str = "select enqueue_job('mail', '{\"secret\": 1}'); select enqueue_job('mail', '{}');
    select claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 1)";

fn live() -> PageRequest {
    PageRequest { limit: 10, ..PageRequest::default() }
}

#[tokio::test]
async fn nobody_is_told_zeros() {
    let database = database().await;
    run(&database, ONE).await;
    let session = session(&with_role(&database, "rights_nobody", "").await).await;
    let jobs = backend(&session).await;
    let core = jobs.core(&session).await.expect("an answer");
    assert!(core.queues.is_empty());
    assert_eq!(core.reaper_last, Reading::Denied);
    assert_eq!(jobs.leases(&session, 5).await.expect("an answer"), Reading::Denied);
    let failures = jobs.failures(&session).await.expect("an answer");
    assert_eq!(
        (failures.failed_15m, failures.dead_1h, failures.signatures),
        (Reading::Denied, Reading::Denied, Reading::Denied)
    );
    assert_eq!(jobs.handling(&session).await.expect("an answer").others, Handling::denied());
    let denied = page(&session, &*jobs, &live()).await;
    assert!(denied.jobs == Reading::Denied && denied.note.is_some());
    let notes = jobs.notes().join("; ");
    assert!(notes.contains("GRANT queue_viewer TO rights_nobody"), "{notes}");
    assert!(jobs.may_act().is_err_and(|why| why.contains("GRANT queue_operator TO rights_nobody")));
}

#[tokio::test]
async fn a_viewer_reads_everything_and_may_not_act() {
    let database = database().await;
    run(&database, ONE).await;
    let session = session(&with_role(&database, "rights_viewer", "grant queue_viewer to {role}").await).await;
    let jobs = backend(&session).await;
    assert_eq!(jobs.notes(), Vec::<String>::new());
    let core = jobs.core(&session).await.expect("numbers");
    assert_eq!((queue(&core, "mail").ready, queue(&core, "mail").running), (Reading::Exact(1), Reading::Exact(1)));
    assert_eq!(rows(&page(&session, &*jobs, &live()).await).len(), 2);
    assert!(jobs.leases(&session, 5).await.expect("leases").value().is_some_and(|leases| leases.len() == 1));
    assert!(jobs.may_act().is_err_and(|why| why.contains("GRANT queue_operator")));
}

#[tokio::test]
async fn an_operator_may_act() {
    let database = database().await;
    let session = session(&with_role(&database, "rights_operator", "grant queue_operator to {role}").await).await;
    let jobs = backend(&session).await;
    assert_eq!((jobs.notes(), jobs.may_act()), (vec![], Ok(())));
}

#[tokio::test]
async fn rows_hidden_by_row_level_security_are_not_no_rows() {
    let database = database().await;
    run(&database, ONE).await;
    let grants = "grant usage on schema public to {role}; grant select on jobs to {role}";
    let session = session(&with_role(&database, "rights_hidden", grants).await).await;
    let jobs = backend(&session).await;
    assert_eq!(jobs.leases(&session, 5).await.expect("an answer"), Reading::Denied);
    assert_eq!(page(&session, &*jobs, &live()).await.jobs, Reading::Denied);
    assert!(jobs.notes().iter().any(|note| note.contains("row level security")), "{:?}", jobs.notes());
}

#[tokio::test]
async fn a_payload_that_may_not_be_read_is_denied_alone() {
    let database = bare_database().await;
    run(&database, &tables()).await;
    run(&database, "insert into jobs (queue, payload, last_error) values ('mail', '{}', 'x')").await;
    let grants = "grant usage on schema public to {role};
        grant select (id, queue, status, priority, attempts, max_attempts, run_at, created_at, locked_by, lease_until,
                      updated_at, last_error) on jobs to {role}";
    let session = session(&with_role(&database, "rights_no_payload", grants).await).await;
    let jobs = backend(&session).await;
    let core = jobs.core(&session).await.expect("numbers");
    assert_eq!(queue(&core, "mail").ready, Reading::Exact(1));
    assert_eq!(queue(&core, "mail").dead_total, Reading::Denied);
    let job: JobRef = rows(&page(&session, &*jobs, &live()).await)[0].at.clone();
    let found = detail(&session, &*jobs, &job).await.expect("a job");
    assert_eq!((found.payload, found.attempts), (Reading::Denied, Reading::Unknown));
    let filter = Filter::default().with_state(JobState::Dead);
    assert_eq!(page(&session, &*jobs, &PageRequest { filter, ..live() }).await.jobs, Reading::Denied);
}
