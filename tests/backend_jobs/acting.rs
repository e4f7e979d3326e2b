//! Acting through the backend: exactly on what was seen, an answer for each, and what became of it afterwards.

use queuetop::backends::{ActRequest, Acted, Backend};
use queuetop::db::Session;
use queuetop::model::{Action, Filter, Job, JobState, Outcome, PageRequest, TargetResult, Time};
use uuid::Uuid;

use super::{backend, page, queue, rows, run, session};
use crate::support::pg::{Database, database};
use crate::support::queue::one;

const EXPIRED: &str = "insert into jobs (queue, payload, status, attempts, lease_until, locked_by)
    values ('a', '{}', 'running', 1, now() - interval '1 m', gen_random_uuid())";
const WAITING: &str =
    "insert into jobs (queue, payload, run_at, priority) values ('a', '{}', now() + interval '1 h', 3)";
const DEAD: &str = "insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, failed_at, original_created_at)
    values (gen_random_uuid(), 'a', '{}', 8, 8, 'boom', now(), now())";

fn request(action: Action, seen: &[Job]) -> ActRequest {
    let targets = seen.iter().map(|job| (job.at.clone(), job.fence.clone())).collect();
    ActRequest { action, targets, reason: Some("tested".into()), token: Uuid::new_v4() }
}

async fn act(session: &Session, jobs: &dyn Backend, request: &ActRequest) -> Acted {
    jobs.act(session, request).await.unwrap_or_else(|error| panic!("{request:?}: {error}"))
}

async fn seen(session: &Session, jobs: &dyn Backend, filter: Filter) -> Vec<Job> {
    rows(&page(session, jobs, &PageRequest { filter, limit: 9, ..PageRequest::default() }).await)
}

fn outcomes(results: &[TargetResult]) -> Vec<Outcome> {
    results.iter().map(|result| result.outcome).collect()
}

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
    let all = seen(&session, &*jobs, Filter::default()).await;
    run(&database, "update jobs set attempts = 7 where attempts = 2; delete from jobs where attempts = 1").await;
    let first = request(Action::Requeue { force: false }, &all);
    let acted = act(&session, &*jobs, &first).await;
    assert!(acted.at.micros().is_some());
    let answered: Vec<_> = acted.results.iter().map(|result| (result.id.clone(), result.outcome)).collect();
    let outcome = |attempts| match attempts {
        1 => Outcome::Gone,
        2 => Outcome::Changed,
        _ => Outcome::Done,
    };
    let expected: Vec<_> = all.iter().map(|job| (job.at.id.clone(), outcome(job.attempts))).collect();
    assert_eq!(answered, expected);
    let core = jobs.core(&session).await.expect("numbers");
    assert_eq!(queue(&core, "a").ready.get(), Some(1));
    let again = act(&session, &*jobs, &request(Action::Requeue { force: false }, &all)).await;
    assert!(again.results.iter().all(|result| result.outcome != Outcome::Done), "{again:?}");
}

#[tokio::test]
async fn every_action_reaches_its_function_and_can_be_undone_where_it_should() {
    let database = database().await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let dead = || Filter::default().with_state(JobState::Dead);
    for (action, sql, state) in [
        (Action::Requeue { force: false }, EXPIRED, Filter::default()),
        (Action::DeadLetter { force: true }, EXPIRED, Filter::default()),
        (Action::Reap, EXPIRED, Filter::default()),
        (Action::Replay { force: false }, DEAD, dead()),
        (Action::Reschedule { run_at: Time::Infinity }, WAITING, Filter::default()),
        (Action::SetPriority { priority: -7 }, WAITING, Filter::default()),
    ] {
        run(&database, &format!("truncate jobs, dead_letter_jobs; {sql}")).await;
        let before = seen(&session, &*jobs, state.clone()).await;
        let acted = act(&session, &*jobs, &request(action, &before)).await;
        assert_eq!(outcomes(&acted.results), [Outcome::Done], "{action:?}");
        let audit = acted.audit.expect("an audit row");
        let undone = act(&session, &*jobs, &request(Action::Undo { audit }, &before)).await;
        assert_eq!(outcomes(&undone.results), [Outcome::Done], "{action:?} undone: {undone:?}");
        let after = seen(&session, &*jobs, state).await;
        assert_eq!(after.len(), 1, "{action:?}");
        assert_eq!(
            (&after[0].at, after[0].run_at, after[0].priority),
            (&before[0].at, before[0].run_at, before[0].priority)
        );
    }
}

#[tokio::test]
async fn who_changes_a_time_or_a_priority_compares_it() {
    let database = database().await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    for (change, action, done) in [
        ("run_at = now() + interval '2 h'", Action::Reschedule { run_at: Time::Infinity }, false),
        ("run_at = now() + interval '2 h'", Action::SetPriority { priority: 1 }, true),
        ("priority = 9", Action::SetPriority { priority: 1 }, false),
        ("priority = 9", Action::Requeue { force: false }, true),
    ] {
        run(&database, &format!("truncate jobs; {WAITING}")).await;
        let before = seen(&session, &*jobs, Filter::default()).await;
        run(&database, &format!("update jobs set {change}")).await;
        let acted = act(&session, &*jobs, &request(action, &before)).await;
        let want = if done { Outcome::Done } else { Outcome::Changed };
        assert_eq!(outcomes(&acted.results), [want], "{change}, then {action:?}");
    }
}

#[tokio::test]
async fn a_lost_answer_is_found_by_its_token() {
    let database = database().await;
    run(&database, EXPIRED).await;
    run(&database, WAITING).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let all = seen(&session, &*jobs, Filter::default()).await;
    let request = request(Action::Reap, &all);
    assert_eq!(jobs.lookup(&session, request.token).await.expect("an answer"), None);
    let acted = act(&session, &*jobs, &request).await;
    let found = jobs.lookup(&session, request.token).await.expect("an answer").expect("it was done");
    assert_eq!((found.results, found.audit), (acted.results, acted.audit));
    assert_eq!(recorded(&database).await, 1);
}

/// Audit rows with a token.
async fn recorded(database: &Database) -> i64 {
    one(&database.client().await, "select count(*) from operator_actions where token is not null", &[]).await
}

#[tokio::test]
async fn a_queue_is_paused_and_goes_on() {
    let database = database().await;
    run(&database, WAITING).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    for (paused, changed) in [(true, true), (true, false), (false, true), (false, false)] {
        assert_eq!(jobs.set_paused(&session, "a", paused, Some("why")).await.expect("an answer"), changed);
        let core = jobs.core(&session).await.expect("numbers");
        assert_eq!(queue(&core, "a").paused, Some(paused));
    }
}
