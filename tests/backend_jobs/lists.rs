//! Lists by key: every row once, in the order of an index; and the job in full.

use queuetop::backends::Backend;
use queuetop::db::Session;
use queuetop::model::{Filter, Job, JobState, PageRequest};

use queuetop::keymap::Command;
use queuetop::panes::{Marks, Pane};
use queuetop::theme::Theme;

use super::{backend, page, rows, run, session};
use crate::support::fixtures;
use crate::support::pg::database;

/// All rows of a list, by pages of three.
async fn whole(session: &Session, jobs: &dyn Backend, filter: Filter) -> Vec<Job> {
    let mut request = PageRequest { filter, limit: 3, ..PageRequest::default() };
    let mut all = Vec::new();
    loop {
        let one = page(session, jobs, &request).await;
        all.extend(rows(&one));
        assert!(all.len() < 1000, "a list without an end");
        match one.next {
            Some(next) => request.after = Some(next),
            None => return all,
        }
    }
}

fn only(state: JobState) -> Filter {
    Filter::default().with_state(state)
}

fn filter(text: &str) -> Filter {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

const MANY: &str = "
    insert into jobs (queue, payload, priority, run_at, created_at)
    select 'q' || i % 2, '{}', i % 3, now() + (i % 4 - 2) * interval '1 h', now() from generate_series(1, 20) as i;
    insert into jobs (queue, payload, run_at) values ('q1', '{}', 'infinity'), ('q1', '{}', '-infinity');
    update jobs set attempts = 8 where id = any(array(select id from jobs where queue = 'q0' limit 1));
    insert into jobs (queue, payload, status, attempts, lease_until)
    select 'q' || i % 2, '{}', 'running', 1, case when i > 2 then now() + (i - 5) * interval '1 m' end from generate_series(1, 8) as i;
    insert into jobs (queue, payload, status, attempts, completed_at)
    select 'q0', '{}', 'completed', 1, case when i > 2 then now() - i * interval '1 m' end from generate_series(1, 7) as i;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, failed_at, original_created_at)
    select gen_random_uuid(), 'q' || i % 2, '{}', 8, 8, 'Boom ' || i, now() - (i % 3) * interval '1 m', now() from generate_series(1, 8) as i;";

#[tokio::test]
async fn every_row_comes_once() {
    let database = database().await;
    run(&database, MANY).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let cases = [
        (Filter::default(), 30),
        (only(JobState::Ready), 15),
        (only(JobState::Scheduled), 6),
        (only(JobState::Exhausted), 1),
        (only(JobState::Running), 3),
        (only(JobState::Expired), 5),
        (only(JobState::Completed), 7),
        (only(JobState::Dead), 8),
        (filter("queue:q1"), 16),
        (filter("queue:q1 state:dead"), 4),
        (filter("queue:none"), 0),
        (only(JobState::Dead).with_text("boom 7"), 1),
        (filter("100%"), 0),
    ];
    for (filter, expected) in cases {
        let all = whole(&session, &*jobs, filter.clone()).await;
        let mut ids: Vec<&str> = all.iter().map(|job| job.at.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(all.len(), expected, "{filter:?}");
        assert_eq!(ids.len(), all.len(), "{filter:?}: a row came twice");
        assert!(all.iter().all(|job| filter.states().has(job.state)), "{filter:?}");
    }
}

#[tokio::test]
async fn queued_jobs_come_as_a_claim_takes_them() {
    let database = database().await;
    run(&database, MANY).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let all = whole(&session, &*jobs, filter("queue:q1 state:ready")).await;
    let keys: Vec<_> = all.iter().map(|job| (std::cmp::Reverse(job.priority), job.run_at)).collect();
    assert!(keys.is_sorted(), "{keys:?}");
}

#[tokio::test]
async fn an_id_finds_its_job_in_any_state() {
    let database = database().await;
    run(&database, MANY).await;
    let client = database.client().await;
    let row =
        client.query_one("select id::text from jobs where status = 'completed' limit 1", &[]).await.expect("an id");
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let filter = Filter::default().with_text(row.get(0));
    let found = whole(&session, &*jobs, filter).await;
    assert_eq!(found.iter().map(|job| job.state).collect::<Vec<_>>(), [JobState::Completed]);
}

#[tokio::test]
async fn a_filter_that_finds_nothing_stops_and_says_where() {
    let database = database().await;
    run(&database, "insert into jobs (queue, payload) select 'a', '{}' from generate_series(1, 10500)").await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let filter = only(JobState::Ready).with_text("nowhere");
    let first = page(&session, &*jobs, &PageRequest { filter, limit: 5, ..PageRequest::default() }).await;
    assert!(rows(&first).is_empty() && first.note.is_some());
    let request = PageRequest { after: first.next.clone(), ..first.request.clone() };
    let second = page(&session, &*jobs, &request).await;
    assert!(rows(&second).is_empty() && second.next.is_none());
}

/// What 500 changes a second do to a list, a round at a time: jobs come, are claimed, done, rescheduled and deleted around the
/// ones that somebody looks at.
const CHANGES: &str = "
    select enqueue_job('busy', '{}', p_priority => (random() * 9)::int) from generate_series(1, 20);
    select complete_job(j.id, j.locked_by) from claim_jobs('busy', gen_random_uuid(), 10) as j;
    update jobs set priority = (random() * 9)::int where id = any(array(select id from jobs where queue = 'busy' limit 10));
    delete from jobs where id = any(array(select id from jobs where queue = 'busy' and status = 'queued' limit 5))";

#[tokio::test]
async fn under_changes_the_cursor_and_the_marks_stay_on_their_jobs() {
    let database = database().await;
    run(&database, "select enqueue_job('busy', '{}') from generate_series(1, 150)").await;
    run(
        &database,
        "select enqueue_job('kept', '{}', p_run_at => now() + i * interval '1 m') from generate_series(1, 3) i",
    )
    .await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let (theme, fixture) = (Theme::mono(), fixtures::busy());
    let mut pane = queuetop::panes::jobs::Jobs::default();
    let mut request = pane.open("state:any -state:completed".parse().expect("a filter"));
    request.limit = 200;
    let first = page(&session, &*jobs, &request).await;
    let kept: Vec<Job> = rows(&first).into_iter().filter(|job| job.at.queue.name == "kept").collect();
    assert_eq!(kept.len(), 3);
    let marks: Marks = kept.iter().map(|job| (job.at.clone(), job.clone())).collect();
    let ctx = fixtures::context(&fixture, &marks, &theme);
    pane.on_page(&first);
    pane.on_command(Command::Bottom, &ctx);
    let under = pane.current_job(&ctx).expect("a job").at.clone();
    for _ in 0..60 {
        run(&database, CHANGES).await;
        pane.on_page(&page(&session, &*jobs, &request).await);
        // The job under the cursor, or none: never another one.
        assert!(pane.current_job(&ctx).is_none_or(|job| job.at == under));
    }
    for job in &kept {
        assert_eq!(ctx.marks.get(&job.at).map(|marked| &marked.at), Some(&job.at));
    }
}
