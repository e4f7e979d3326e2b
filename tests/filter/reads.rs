//! How much a page reads of large tables, counted by the server itself: no list reads a table from its beginning, and none reads
//! further than its index leads or its window allows.

use queuetop::model::filter::Reach;
use queuetop::model::page::WINDOW_ROWS;
use queuetop::model::{PageRequest, Served, Sort};
use tokio_postgres::Client;

use super::{Lists, filter, request, rows, run};
use crate::support::pg::{Database, database};
use crate::support::wait_until_async;

/// 300,000 jobs and 60,000 dead letters, without triggers, as in a restored dump: a queue whose jobs came in all at once, one
/// with few ready jobs behind many scheduled ones of higher priority, fifty usual ones.
const LOAD: &str = "set session_replication_role = replica;
    insert into jobs (queue, payload, run_at, created_at)
    select 'bulk', '{}', '2026-01-01', '2026-01-01' from generate_series(1, 100000);
    insert into jobs (queue, payload, priority, run_at)
    select 'later', '{}', 9, now() + i * interval '1 m' from generate_series(1, 60000) as i;
    insert into jobs (queue, payload, run_at) select 'later', '{}', now() - i * interval '1 s' from generate_series(1, 30) as i;
    insert into jobs (queue, payload, status, attempts, priority, run_at, lease_until, completed_at, last_error, locked_by, idempotency_key)
    select 'q' || i % 50, jsonb_build_object('n', i), status, i % 8, i % 3, now() + (i % 2000 - 1000) * interval '1 m',
           case when status = 'running' then now() + (i % 6000 - 600) * interval '1 s' end,
           case when status = 'completed' then now() - i * interval '1 s' end, case when i % 3 = 0 then 'timeout ' || i end,
           case when status = 'running' then gen_random_uuid() end, case when i % 5 = 0 then 'evt_' || i end
    from (select i, case when i % 2 = 0 then 'queued' when i % 5 = 1 then 'running' else 'completed' end as status
          from generate_series(1, 140000) as i) as made;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at, failed_at, idempotency_key)
    select gen_random_uuid(), 'q' || i % 50, '{}', 8, 8, 'no host ' || i, now(), now() - i * interval '1 m', 'evt_' || i
    from generate_series(1, 60000) as i;";

/// What the server counted so far.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reads {
    /// Times that one of the tables was read from its beginning.
    scans: i64,
    /// Rows taken out of them.
    rows: i64,
    /// Entries of their indexes.
    entries: i64,
}

async fn reads(client: &Client) -> Reads {
    let sql = "select sum(seq_scan)::bigint, sum(idx_tup_fetch)::bigint,
                      (select sum(idx_tup_read)::bigint from pg_stat_user_indexes where relname in ('jobs', 'dead_letter_jobs'))
               from pg_stat_user_tables where relname in ('jobs', 'dead_letter_jobs')";
    let row = client.query_one(sql, &[]).await.expect("statistics");
    Reads { scans: row.get(0), rows: row.get(1), entries: row.get(2) }
}

/// What two pages read; a session reports when it ends, at the latest.
async fn pages(database: &Database, client: &Client, asked: &PageRequest) -> (Reads, usize) {
    let before = reads(client).await;
    let lists = Lists::new(&database.dsn()).await;
    let first = lists.page(asked).await;
    let shown = rows(&first).len();
    if let Some(next) = first.next {
        lists.page(&PageRequest { after: Some(next), ..asked.clone() }).await;
    }
    drop(lists);
    let sessions =
        "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'queuetop'";
    wait_until_async("the session has ended", async || {
        client.query_one(sessions, &[]).await.expect("sessions").get::<_, i64>(0) == 0
    })
    .await;
    let after = reads(client).await;
    let read = Reads {
        scans: after.scans - before.scans,
        rows: after.rows - before.rows,
        entries: after.entries - before.entries,
    };
    (read, shown)
}

const FILTERS: [&str; 34] = [
    "",
    "state:any",
    "queue:bulk",
    "state:ready",
    "state:ready queue:later",
    "state:scheduled queue:later",
    "overdue>5m",
    "due:0s..1h queue:q3,q4",
    "queue:q3 state:queued priority:1",
    "queue~q1 state:queued",
    "-queue:bulk state:ready",
    "run_at<-1h state:queued",
    "state:exhausted",
    "state:running",
    "state:expired",
    "lease<30s",
    "lease>1h queue:q1",
    "worker:7f",
    "beat>1m",
    "state:completed",
    "completed>-1h",
    "state:dead",
    "state:dead queue:q3",
    "failed>-1h",
    "state:dead queue~q3 reason:x",
    "attempts>=7",
    "age>1h",
    "queue:none",
    "error:\"timeout 42\" queue:q0",
    "nowhere",
    "payload.n:77",
    "key:evt_10",
    "key:evt_10 queue:q10",
    "id:00 attempts>3",
];

#[tokio::test]
async fn no_list_reads_further_than_it_says() {
    let database = database().await;
    run(&database, LOAD).await;
    // Some tables have no statistics yet, some have.
    run(&database, "analyze dead_letter_jobs").await;
    let client = database.client().await;
    for text in FILTERS {
        for (sort, served) in Sort::offered(&filter(text)) {
            let asked = request(text, sort, 200);
            let (read, _) = pages(&database, &client, &asked).await;
            let parts = i64::try_from(filter(text).states().each().count()).expect("few");
            let most = match (filter(text).reach(), served) {
                (Reach::Index, Served::Index) => 1_500,
                _ => 2 * parts.min(4) * (WINDOW_ROWS + 500),
            };
            assert_eq!(read.scans, 0, "`{text}` by {sort} reads a table from its beginning");
            assert!(read.rows <= most && read.entries <= most, "`{text}` by {sort}: {read:?}, at most {most}");
        }
    }
}

#[tokio::test]
async fn what_is_ready_is_found_behind_what_is_not() {
    let database = database().await;
    run(&database, LOAD).await;
    let client = database.client().await;
    let (read, shown) = pages(&database, &client, &request("state:ready queue:later", Sort::Natural, 200)).await;
    assert_eq!(shown, 30);
    assert!(read.entries < 200, "{read:?}");
}
