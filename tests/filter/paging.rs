//! Every row once, in one order, whatever ties, whatever the role may read, and from both ends.

use queuetop::model::{Job, PageRequest, Sort, SortKey};

use super::{Lists, filter, request, rows, run};
use crate::support::pg::database;

/// Ties everywhere: jobs that were put in, claimed, completed and buried at once.
const TIES: &str = "
    insert into jobs (queue, payload, priority, run_at, created_at)
    select 'q' || i % 3, '{}', i % 2, timestamptz '2026-01-01' + i % 2 * interval '1 s', '2026-01-01' from generate_series(1, 60) as i;
    insert into jobs (queue, payload, run_at, attempts) select 'q0', '{}', '2026-01-01', 8 from generate_series(1, 7) as i;
    insert into jobs (queue, payload, status, attempts, lease_until)
    select 'q1', '{}', 'running', 1 + i % 2, case i % 3 when 0 then null else timestamptz '2026-01-01' + i % 3 * interval '1 d' end
    from generate_series(1, 21) as i;
    insert into jobs (queue, payload, status, attempts, completed_at)
    select 'q2', '{}', 'completed', 1, case i % 3 when 0 then null else timestamptz '2026-01-01' end from generate_series(1, 12) as i;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, failed_at, original_created_at, priority)
    select gen_random_uuid(), 'q' || i % 2, '{}', i % 3, 8, timestamptz '2026-01-01' + i % 2 * interval '1 s', now(),
           case when i % 2 = 0 then i % 5 end from generate_series(1, 20) as i;";

const LISTS: [(&str, usize); 12] = [
    ("", 88),
    ("state:any", 120),
    ("state:ready", 60),
    ("state:exhausted", 7),
    ("queue:q1 state:queued", 20),
    ("queue:q0,q2 state:queued", 47),
    ("state:expired", 21),
    ("lease:..-1d", 21),
    ("state:completed", 12),
    ("state:dead", 20),
    ("state:dead queue:q1", 10),
    ("id:0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f state:any", 120),
];

fn ids(jobs: &[Job]) -> Vec<String> {
    jobs.iter().map(|job| job.at.id.clone()).collect()
}

fn in_order(jobs: &[Job], key: SortKey, descending: bool) -> bool {
    let last = if descending { i128::MIN } else { i128::MAX };
    let micros = |time: Option<queuetop::model::Time>| time.map_or(last, |time| i128::from(time.to_pg_micros()));
    let value = |job: &Job| match key {
        SortKey::Attempts => i128::from(job.attempts),
        SortKey::Priority => job.priority.map_or(last, i128::from),
        SortKey::Created => micros(job.created_at),
        SortKey::Lease => micros(job.lease_until),
        SortKey::RunAt => micros((!job.at.dead).then_some(job.run_at)),
        SortKey::Failed => micros(job.at.dead.then_some(job.run_at)),
        // Lists do not show when a job was done.
        SortKey::Completed => 0,
    };
    jobs.iter().map(value).collect::<Vec<_>>().is_sorted_by(|a, b| if descending { a >= b } else { a <= b })
}

#[tokio::test]
async fn ties_come_once_and_always_in_the_same_order() {
    let database = database().await;
    run(&database, TIES).await;
    let lists = Lists::new(&database.dsn()).await;
    for (text, expected) in LISTS {
        for (sort, _) in Sort::offered(&filter(text)) {
            let turned = match sort {
                Sort::By { key, descending } => Sort::By { key, descending: !descending },
                Sort::Natural => Sort::Natural,
            };
            for sort in [sort, turned] {
                let by_three = lists.all(text, sort, 3).await;
                let mut once = ids(&by_three);
                once.sort_unstable();
                once.dedup();
                assert_eq!((by_three.len(), once.len()), (expected, expected), "{text} by {sort}");
                assert_eq!(ids(&by_three), ids(&lists.all(text, sort, 1000).await), "{text} by {sort}");
                if let Sort::By { key, descending } = sort {
                    assert!(in_order(&by_three, key, descending), "{text} by {sort}: {by_three:#?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_page_is_found_again_by_where_it_began() {
    let database = database().await;
    run(&database, TIES).await;
    let lists = Lists::new(&database.dsn()).await;
    let first = lists.page(&request("", Sort::Natural, 10)).await;
    let second = PageRequest { after: first.next.clone(), ..first.request.clone() };
    let shown = ids(&rows(&lists.page(&second).await));
    // The row that the page began behind, and others in front of it, go away.
    let gone = ids(&rows(&first));
    run(&database, &format!("delete from jobs where id in ('{}')", gone.join("','"))).await;
    assert_eq!(ids(&rows(&lists.page(&second).await)), shown);
}

#[tokio::test]
async fn a_role_with_rights_on_columns_reads_the_same_lists() {
    let database = database().await;
    run(&database, TIES).await;
    run(
        &database,
        "drop role if exists filter_columns; create role filter_columns login bypassrls;
         grant usage on schema public to filter_columns;
         grant select (id, queue, status, priority, attempts, max_attempts, run_at, created_at, locked_by, lease_until,
                       updated_at, completed_at, last_error) on jobs to filter_columns;
         grant select (id, queue, attempts, max_attempts, last_error, failed_at, original_created_at)
           on dead_letter_jobs to filter_columns",
    )
    .await;
    let lists = Lists::new(&database.dsn_as("filter_columns")).await;
    for (text, expected) in LISTS {
        let mut all = ids(&lists.all(text, Sort::Natural, 3).await);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), expected, "{text}");
    }
    let denied = lists.page(&request("payload.a:b", Sort::Natural, 3)).await;
    assert!(denied.jobs.value().is_none(), "{denied:?}");
    assert_eq!(denied.note.as_deref(), Some("filter_columns may not read payloads of jobs"));
}

#[tokio::test]
async fn a_window_that_is_used_up_says_so_and_goes_on() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (queue, payload, attempts, last_error)
         select 'a', '{}', case when i = 25000 then 5 else 0 end, case when i = 25000 then 'found' end from generate_series(1, 25000) as i",
    )
    .await;
    let lists = Lists::new(&database.dsn()).await;
    for text in ["found", "attempts:5", "payload.x:1", "attempts>9"] {
        let mut asked = request(text, Sort::Natural, 5);
        let mut pages = 0;
        let mut found = 0;
        loop {
            let page = lists.page(&asked).await;
            (pages, found) = (pages + 1, found + rows(&page).len());
            let Some(next) = page.next else { break };
            assert_eq!(
                page.note.as_deref(),
                Some("looked at 10,000 rows; the next page goes on behind them"),
                "{text}"
            );
            asked.after = Some(next);
        }
        assert_eq!((pages, found), (3, usize::from(["found", "attempts:5"].contains(&text))), "{text}");
    }
    let sorted = lists.page(&request("", Sort::by(SortKey::Attempts), 5)).await;
    assert_eq!(sorted.note.as_deref(), Some("sorted the first 10,000 rows only"));
}
