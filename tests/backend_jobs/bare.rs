//! Without our migrations: the seed's tables alone. Numbers stop at a limit and say so; nothing unknown is a zero.

use queuetop::model::{Filter, JobState, PageRequest, Reading};

use super::{backend, page, queue, rows, run, session};
use crate::support::pg::{Database, bare_database};
use crate::support::table_queue::tables;

async fn with_tables(more: &str) -> Database {
    let database = bare_database().await;
    run(&database, &tables()).await;
    run(&database, more).await;
    database
}

const SOME: &str = "insert into jobs (queue, payload, run_at, priority, attempts)
    select 'mail', '{}', now() + (i - 8) * interval '10 s', i % 3, case when i = 1 then 8 else 0 end from generate_series(1, 10) as i;
    insert into jobs (queue, payload, status, attempts, lease_until)
    values ('mail', '{}', 'running', 8, now() - interval '1 m'), ('other', '{}', 'running', 1, now() + interval '1 m'),
           ('other', '{}', 'running', 1, null);
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
    select gen_random_uuid(), 'gone', '{}', 8, 8, 'no host 10.0.0.' || i, now() from generate_series(1, 3) as i;";

#[tokio::test]
async fn small_tables_are_read_whole() {
    let database = with_tables(SOME).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    assert!(jobs.notes().iter().any(|note| note.contains("queuetop migrate")), "{:?}", jobs.notes());
    assert!(jobs.may_act().is_err_and(|why| why.contains("queuetop migrate")));
    assert_eq!(jobs.channel(), None);
    let core = jobs.core(&session).await.expect("numbers");
    let mail = queue(&core, "mail");
    assert_eq!(mail.ready, Reading::Exact(7));
    assert_eq!(mail.scheduled, Reading::Exact(2));
    assert_eq!(mail.exhausted, Reading::Exact(1));
    assert_eq!((mail.running, mail.expired), (Reading::Exact(0), Reading::Exact(1)));
    assert_eq!(mail.attempts, Reading::Exact(vec![(0, 9), (8, 2)]));
    assert_eq!(mail.last_attempt, Reading::Exact(1));
    let waited = mail.oldest_ready_seconds(core.taken_at).get().flatten().expect("an age");
    assert!((60.0..70.0).contains(&waited), "{waited}");
    assert_eq!(mail.totals, Reading::Unknown);
    let other = queue(&core, "other");
    assert_eq!((other.running, other.expired), (Reading::Exact(1), Reading::Exact(1)));
    assert_eq!(queue(&core, "gone").dead_total, Reading::Exact(3));
    assert_eq!(core.reaper_last, Reading::Unknown);
    let failures = jobs.failures(&session).await.expect("failures");
    assert_eq!((failures.failed_15m, failures.dead_1h), (Reading::Unknown, Reading::Exact(3)));
    let signatures = failures.signatures.value().cloned().expect("signatures");
    assert_eq!(signatures.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["no host <n>.<n>.<n>.<n>"]);
}

#[tokio::test]
async fn big_ones_are_cut_and_say_so() {
    let database = with_tables(
        "insert into jobs (queue, payload, run_at, priority)
         select 'big', '{}', now() - i * interval '1 s', i % 2 from generate_series(1, 15000) as i;
         insert into jobs (queue, payload) values ('small', '{}');
         insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, original_created_at)
         select gen_random_uuid(), 'big', '{}', 8, 8, now() from generate_series(1, 10001);",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let core = jobs.core(&session).await.expect("numbers");
    let big = queue(&core, "big");
    assert!(matches!(big.ready, Reading::AtLeast(n) if n >= 2000), "{:?}", big.ready);
    assert!(matches!(big.scheduled, Reading::AtLeast(_)), "{:?}", big.scheduled);
    assert!(matches!(big.dead_total, Reading::AtLeast(n) if n >= 4_000), "{:?}", big.dead_total);
    assert_eq!(big.running, Reading::Exact(0));
    let oldest = big.oldest_ready_seconds(core.taken_at);
    assert!(matches!(oldest, Reading::About(Some(waited)) if (14_999.0..15_100.0).contains(&waited)), "{oldest:?}");
    assert_eq!(queue(&core, "small").ready, Reading::Exact(1));
    assert_eq!(jobs.failures(&session).await.expect("failures").dead_1h, Reading::Unknown);
}

#[tokio::test]
async fn an_empty_table_has_no_queues() {
    let database = with_tables("").await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    assert!(jobs.core(&session).await.expect("numbers").queues.is_empty());
    assert_eq!(jobs.leases(&session, 5).await.expect("leases"), Reading::Exact(vec![]));
}

#[tokio::test]
async fn without_the_indexes_nothing_is_asked_of_the_table() {
    let database = with_tables(SOME).await;
    run(&database, "drop index jobs_claim_ready_idx, jobs_expired_lease_idx").await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    assert!(jobs.core(&session).await.expect("numbers").queues.is_empty());
    assert_eq!(jobs.leases(&session, 5).await.expect("leases"), Reading::Unknown);
    let lost = page(&session, &*jobs, &PageRequest { limit: 5, ..PageRequest::default() }).await;
    assert_eq!(lost.jobs, Reading::Unknown);
    assert_eq!(jobs.notes().iter().filter(|note| note.contains("no index")).count(), 2);
}

#[tokio::test]
async fn lists_work_by_the_indexes_that_are_there() {
    let database = with_tables(SOME).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let only = |state| {
        let filter = Filter::default().with_state(state);
        PageRequest { filter, limit: 2, ..PageRequest::default() }
    };
    assert_eq!(rows(&page(&session, &*jobs, &only(JobState::Exhausted)).await).len(), 1);
    let first = page(&session, &*jobs, &only(JobState::Dead)).await;
    let second = page(&session, &*jobs, &PageRequest { after: first.next.clone(), ..only(JobState::Dead) }).await;
    assert_eq!((rows(&first).len(), rows(&second).len(), second.next), (2, 1, None));
    let completed = page(&session, &*jobs, &only(JobState::Completed)).await;
    assert!(completed.jobs == Reading::Unknown && completed.note.is_some());
}
