//! One job in full: what is read of it, in which parts, and what is not sent twice.

use queuetop::backends::Backend;
use queuetop::db::{Session, SqlLog};
use queuetop::model::{
    DetailRequest, Excerpt, Filter, JobDetail, JobRef, JobState, PageRequest, Part, PartRequest, Preview, Reading,
    Stamps,
};

use super::{backend, detail, logged_session, page, rows, run, session};
use crate::support::pg::{Database, bare_database, database};
use crate::support::table_queue::tables;

/// The first job of a list, dead or not.
async fn first(session: &Session, jobs: &dyn Backend, filter: Filter) -> JobRef {
    rows(&page(session, jobs, &PageRequest { filter, limit: 5, ..PageRequest::default() }).await).remove(0).at
}

async fn live(session: &Session, jobs: &dyn Backend) -> JobRef {
    first(session, jobs, Filter::default()).await
}

async fn again(session: &Session, jobs: &dyn Backend, job: &JobRef, known: Stamps) -> JobDetail {
    let request = DetailRequest { job: job.clone(), known };
    jobs.detail(session, &request).await.expect("an answer").expect("a job")
}

async fn part(session: &Session, jobs: &dyn Backend, (job, part): (&JobRef, Part), from: u64, chars: u32) -> Excerpt {
    let request = PartRequest { job: job.clone(), part, from, chars };
    jobs.part(session, &request).await.expect("an answer").piece.expect("a text")
}

fn read(preview: &Preview) -> &Excerpt {
    match preview {
        Preview::Read(excerpt) => excerpt,
        Preview::Same => panic!("it was not sent"),
    }
}

fn payload(detail: &JobDetail) -> &Excerpt {
    read(detail.payload.value().expect("a payload"))
}

fn error(detail: &JobDetail) -> &Excerpt {
    read(detail.error.value().and_then(Option::as_ref).expect("an error"))
}

fn stamps(detail: &JobDetail) -> Stamps {
    Stamps { payload: Some(payload(detail).stamp.clone()), error: Some(error(detail).stamp.clone()) }
}

#[tokio::test]
async fn the_job_in_full() {
    let database = database().await;
    run(
        &database,
        "select enqueue_job('mail', jsonb_build_object('to', repeat('é', 50000)), p_idempotency_key => 'k1');
         select retry_job(id, locked_by, E'first\\nline two', '0 s')
         from claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 1);
         update jobs set run_at = now();
         select claim_jobs('mail', '00000000-0000-0000-0000-000000000002', 1)",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let job = live(&session, &*jobs).await;
    let found = detail(&session, &*jobs, &job).await.expect("a job");
    assert_eq!((found.job.state, found.job.attempts), (JobState::Running, 2));
    assert_eq!((payload(&found).next, payload(&found).bytes), (None, 100_010));
    assert_eq!((error(&found).text.as_str(), error(&found).next), ("first\nline two", None));
    let attempts = found.attempts.value().expect("attempts");
    assert_eq!(attempts.len(), 1);
    assert_eq!((attempts[0].number, attempts[0].outcome.as_str()), (1, "failed"));
    assert!(found.claimed_at >= attempts[0].ended_at && found.completed_at.is_none());
    assert_eq!(found.more, [("idempotency key".to_owned(), "k1".to_owned())]);
    assert!(!found.cost.is_zero());
    run(&database, "delete from jobs").await;
    assert_eq!(detail(&session, &*jobs, &job).await, None);
}

#[tokio::test]
async fn a_completed_job_tells_when() {
    let database = database().await;
    run(
        &database,
        "select enqueue_job('mail', '{}');
         select complete_job(id, locked_by) from claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 1)",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let job = first(&session, &*jobs, Filter::default().with_state(JobState::Completed)).await;
    let found = detail(&session, &*jobs, &job).await.expect("a job");
    assert_eq!(found.job.state, JobState::Completed);
    assert!(found.claimed_at.is_some() && found.completed_at >= found.claimed_at);
}

#[tokio::test]
async fn a_dead_letter_is_found_from_either_side() {
    let database = database().await;
    run(&database, "select enqueue_job('mail', '{}', p_priority => 3)").await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let job = live(&session, &*jobs).await;
    run(
        &database,
        "select move_to_dead_letter(id, locked_by, 'bad')
         from claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 1)",
    )
    .await;
    let dead = first(&session, &*jobs, Filter::default().with_state(JobState::Dead)).await;
    assert!(dead.dead && !job.dead);
    let found = detail(&session, &*jobs, &dead).await.expect("a dead letter");
    assert_eq!((found.job.state, found.job.priority, found.replayed_as.clone()), (JobState::Dead, Some(3), None));
    assert!(matches!(found.attempts, Reading::Exact(ref attempts) if attempts.len() == 1));
    let moved = detail(&session, &*jobs, &job).await.expect("it was moved meanwhile");
    assert_eq!(moved.job.at, dead);
    run(&database, "select operator_replay(jsonb_build_array(jsonb_build_object('id', id))) from dead_letter_jobs")
        .await;
    let replayed = detail(&session, &*jobs, &dead).await.expect("a dead letter");
    assert_eq!(replayed.replayed_as, Some(live(&session, &*jobs).await.id));
}

/// A payload of 5 MB and an error of 1 MB, both with characters of several bytes. The payload's are random, so that it is
/// stored in many pieces.
const HUGE: &str = "select enqueue_job('mail', (select jsonb_object_agg('k' || n, '漢' || md5(n::text))
                                               from generate_series(1, 100000) n));
    select claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 1);
    update jobs set last_error = (select string_agg('line ' || n || ' é', E'\\n') from generate_series(1, 70000) n)";

async fn whole(database: &Database, column: &str) -> String {
    database.client().await.query_one(&format!("select {column} from jobs"), &[]).await.expect("a row").get(0)
}

#[tokio::test]
async fn huge_texts_come_in_parts() {
    let database = database().await;
    run(&database, HUGE).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let job = live(&session, &*jobs).await;
    let found = detail(&session, &*jobs, &job).await.expect("a job");
    for (column, of, begin) in
        [("payload::text", Part::Payload, payload(&found)), ("last_error", Part::Error, error(&found))]
    {
        let text = whole(&database, column).await;
        assert_eq!(begin.bytes, text.len() as u64, "{column}");
        assert!(begin.text.len() < 300_000 && text.starts_with(&begin.text), "{column}");
        let mut read = begin.text.clone();
        let mut next = begin.next;
        while let Some(from) = next {
            assert_eq!(from, read.chars().count() as u64);
            let more = part(&session, &*jobs, (&job, of), from, 1 << 20).await;
            assert_eq!((more.bytes, &more.stamp), (begin.bytes, &begin.stamp));
            read.push_str(&more.text);
            next = more.next;
        }
        assert!(read == text, "{column}: the parts are not the whole");
    }
    let all = part(&session, &*jobs, (&job, Part::Payload), 10, u32::MAX).await;
    assert_eq!(all.next, None);
    run(&database, "update jobs set last_error = null").await;
    let gone = PartRequest { job: job.clone(), part: Part::Error, from: 10, chars: 10 };
    assert_eq!(jobs.part(&session, &gone).await.expect("an answer").piece, None);
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    let database = database().await;
    run(&database, HUGE).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let job = live(&session, &*jobs).await;
    let known = stamps(&detail(&session, &*jobs, &job).await.expect("a job"));
    run(&database, "select heartbeat_jobs(array(select id from jobs), '00000000-0000-0000-0000-000000000001')").await;
    let beaten = again(&session, &*jobs, &job, known.clone()).await;
    assert_eq!(beaten.payload, Reading::Exact(Preview::Same));
    assert_eq!(beaten.error, Reading::Exact(Some(Preview::Same)));
    run(&database, "update jobs set last_error = overlay(last_error placing 'LINE' from 1)").await;
    let other = again(&session, &*jobs, &job, known.clone()).await;
    assert_eq!(other.payload, Reading::Exact(Preview::Same));
    assert!(error(&other).text.starts_with("LINE 1"), "one of the same size is another one");
    run(&database, "update jobs set payload = '{\"n\": 1}', last_error = null").await;
    let small = again(&session, &*jobs, &job, known).await;
    assert_eq!((payload(&small).text.as_str(), &small.error), ("{\"n\": 1}", &Reading::Exact(None)));
    run(&database, "update jobs set payload = '{\"n\": 2}'").await;
    let known = Stamps { payload: Some(payload(&small).stamp.clone()), error: None };
    let small = again(&session, &*jobs, &job, known).await;
    assert_eq!(payload(&small).text, "{\"n\": 2}", "a small one is always sent: its size says nothing");
}

/// How many pages the latest statement that begins with `words` touches with these parameters.
async fn pages(database: &Database, log: &SqlLog, parameters: &str) -> i64 {
    let entries = log.latest(50);
    let sql = &entries.iter().find(|entry| entry.sql.starts_with("-- One job")).expect("the statement").sql;
    let client = database.client().await;
    client.batch_execute(&format!("prepare job (uuid, text, text) as {sql}")).await.expect("prepared");
    let id = whole(database, "id::text").await;
    let explain = format!("explain (analyze, buffers, format json) execute job ('{id}', {parameters})");
    // The first time reads catalogs too.
    client.query_one(&explain, &[]).await.expect("a plan");
    let plan: serde_json::Value = client.query_one(&explain, &[]).await.expect("a plan").get(0);
    let count = |name: &str| plan[0]["Plan"][name].as_i64().expect("a count");
    count("Shared Hit Blocks") + count("Shared Read Blocks")
}

#[tokio::test]
async fn asking_again_reads_nothing_of_what_is_known() {
    let database = database().await;
    run(&database, HUGE).await;
    let (session, log) = logged_session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let job = live(&session, &*jobs).await;
    let known = stamps(&detail(&session, &*jobs, &job).await.expect("a job"));
    let before = log.latest(500).len();
    again(&session, &*jobs, &job, known.clone()).await;
    assert_eq!(log.latest(500).len() - before, 2, "the row and its attempts");
    let stamps = format!("'{}', '{}'", known.payload.unwrap(), known.error.unwrap());
    let (first, later) = (pages(&database, &log, "null, null").await, pages(&database, &log, &stamps).await);
    assert!(first > 500 && later < 60, "{first} pages at first, {later} later");
}

#[tokio::test]
async fn bare_tables_have_a_detail_too() {
    let database = bare_database().await;
    run(&database, &tables()).await;
    run(&database, "insert into jobs (queue, payload, last_error) values ('mail', '{\"a\": [1]}', 'x')").await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let job = live(&session, &*jobs).await;
    let found = detail(&session, &*jobs, &job).await.expect("a job");
    assert_eq!((payload(&found).text.as_str(), error(&found).text.as_str()), ("{\"a\": [1]}", "x"));
    assert_eq!((found.claimed_at, found.replayed_as, found.attempts), (None, None, Reading::Unknown));
    run(
        &database,
        "with gone as (delete from jobs returning *)
         insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
         select id, queue, payload, 8, 8, last_error, created_at from gone",
    )
    .await;
    assert!(detail(&session, &*jobs, &job).await.expect("a dead letter").job.at.dead);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_read_all_the_same() {
    let database = database().await;
    let name = format!("{}_ascii", database.name());
    run(
        &database,
        &format!("create database {name} encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0"),
    )
    .await;
    let dsn = database.dsn().replace(database.name(), &name);
    {
        let client = crate::support::pg::connect(&dsn).await;
        client.batch_execute(&tables()).await.expect("tables");
        let bad = "insert into jobs (queue, payload, last_error)
                   values ('mail', '{}', convert_from('\\x636166e920'::bytea, 'SQL_ASCII') || repeat('é', 20000))";
        client.batch_execute(bad).await.expect("a job");
        let session = session(&dsn).await;
        let jobs = backend(&session).await;
        let job = live(&session, &*jobs).await;
        let found = detail(&session, &*jobs, &job).await.expect("a job");
        assert!(error(&found).text.starts_with("caf\\xE9 é"), "{}", &error(&found).text[..20]);
        assert_eq!(error(&found).bytes, 40_005);
        let more = part(&session, &*jobs, (&job, Part::Error), error(&found).next.expect("more"), 1 << 20).await;
        assert_eq!(more.next, None);
        assert!(more.text.ends_with('é'));
    }
    run(&database, &format!("drop database {name} with (force)")).await;
}
