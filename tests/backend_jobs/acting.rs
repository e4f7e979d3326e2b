//! Acting through the backend: exactly on what was seen, an answer for each.

use queuetop::backends::ActRequest;
use queuetop::model::{Action, JobRef, Outcome, PageRequest};

use super::{backend, page, queue, rows, run, session};
use crate::support::pg::database;

#[tokio::test]
async fn every_target_is_answered_in_order() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (queue, payload, status, attempts, lease_until, locked_by, created_at)
         select 'a', '{}', 'running', i, now() - i * interval '1 m', gen_random_uuid(), now() from generate_series(1, 3) as i",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let seen = rows(&page(&session, &*jobs, &PageRequest { limit: 9, ..PageRequest::default() }).await);
    run(&database, "update jobs set attempts = 7 where attempts = 2; delete from jobs where attempts = 1").await;
    let targets = seen.iter().map(|job| (job.at.clone(), job.fence.clone())).collect();
    let request = ActRequest { action: Action::Requeue { force: false }, targets, reason: Some("tested".into()) };
    let (at, results) = jobs.act(&session, &request).await.expect("answers");
    assert!(at.micros().is_some());
    let answered: Vec<_> = results.iter().map(|result| (result.id.clone(), result.outcome)).collect();
    let outcome = |attempts| match attempts {
        1 => Outcome::Gone,
        2 => Outcome::Changed,
        _ => Outcome::Done,
    };
    let expected: Vec<_> = seen.iter().map(|job| (job.at.id.clone(), outcome(job.attempts))).collect();
    assert_eq!(answered, expected);
    let core = jobs.core(&session).await.expect("numbers");
    assert_eq!(queue(&core, "a").ready.get(), Some(1));
    let (_, again) = jobs.act(&session, &request).await.expect("answers");
    assert!(again.iter().all(|result| result.outcome != Outcome::Done), "{again:?}");
}

#[tokio::test]
async fn the_other_actions_reach_their_functions() {
    let database = database().await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    for action in [Action::DeadLetter { force: true }, Action::Reap] {
        run(
            &database,
            "insert into jobs (queue, payload, status, attempts, lease_until, locked_by)
             values ('a', '{}', 'running', 1, now() - interval '1 m', gen_random_uuid())",
        )
        .await;
        let seen = rows(&page(&session, &*jobs, &PageRequest { limit: 1, ..PageRequest::default() }).await);
        let targets: Vec<(JobRef, _)> = seen.iter().map(|job| (job.at.clone(), job.fence.clone())).collect();
        let (_, results) = jobs.act(&session, &ActRequest { action, targets, reason: None }).await.expect("answers");
        assert_eq!(results.iter().map(|result| result.outcome).collect::<Vec<_>>(), [Outcome::Done], "{action:?}");
    }
}
