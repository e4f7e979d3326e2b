//! What reading costs the database: no sequential scan of the tables, no payload, always the same number of statements.

use std::time::Duration;

use queuetop::model::{BackendKind, Filter, JobState, PageRequest, PanelKind, QueueId};

use super::{backend, logged_session, page, run};
use crate::support::pg::{Database, bare_database, database};
use crate::support::table_queue::tables;
use crate::support::wait_until_async;

/// 100,000 jobs, a tenth of them queued, in 20 queues; 30,000 dead letters. Triggers are off, as in a restored dump.
const LOAD: &str = "set session_replication_role = replica;
    insert into jobs (queue, payload, status, attempts, priority, run_at, lease_until, completed_at)
    select 'q' || i / 10 % 20, '{}', status, 1, i % 3, now() + (i % 100 - 90) * interval '1 m',
           case when status = 'running' then now() + (i % 600 - 60) * interval '1 s' end, case when status = 'completed' then now() end
    from (select i, case when i % 10 = 0 then 'queued' when i % 997 = 1 then 'running' else 'completed' end as status
          from generate_series(1, 100000) as i) as made;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at, failed_at)
    select gen_random_uuid(), 'q' || i % 20, '{}', 8, 8, 'no host ' || i, now(), now() - i * interval '1 m'
    from generate_series(1, 30000) as i;
    set session_replication_role = origin;";

/// What was read of the tables so far.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reads {
    /// Times that one of them was read from its beginning.
    scans: i64,
    /// Rows of jobs read that way.
    jobs: i64,
    /// Rows of dead letters read that way.
    dead: i64,
    /// Times that an index was used.
    by_index: i64,
}

async fn reads(database: &Database) -> Reads {
    let sql = "select sum(seq_scan)::bigint, sum(seq_tup_read) filter (where relname = 'jobs')::bigint,
                      sum(seq_tup_read) filter (where relname = 'dead_letter_jobs')::bigint, sum(coalesce(idx_scan, 0))::bigint
               from pg_stat_user_tables where relname in ('jobs', 'dead_letter_jobs')";
    let row = database.client().await.query_one(sql, &[]).await.expect("statistics");
    Reads { scans: row.get(0), jobs: row.get(1), dead: row.get(2), by_index: row.get(3) }
}

/// Everything that the screen asks.
async fn ask_everything(database: &Database) -> Vec<String> {
    let (session, log) = logged_session(&database.dsn()).await;
    let jobs = backend(&session).await;
    jobs.core(&session).await.expect("numbers");
    jobs.leases(&session, 200).await.expect("leases");
    jobs.failures(&session).await.expect("failures");
    jobs.history(&session, Duration::from_hours(6), Duration::from_mins(1)).await.expect("history");
    jobs.handling(&session).await.expect("handling");
    for kind in [PanelKind::Workers, PanelKind::Groups] {
        jobs.panel(&session, kind).await.expect("a full view");
    }
    let queue = QueueId { backend: BackendKind::Jobs, name: "q3".into() };
    for queue in [None, Some(queue)] {
        for state in [JobState::Ready, JobState::Scheduled, JobState::Running, JobState::Expired, JobState::Dead] {
            let filter = queue.as_ref().map_or_else(Filter::default, Filter::of_queue).with_state(state);
            let request = PageRequest { filter, limit: 50, ..PageRequest::default() };
            let next = page(&session, &*jobs, &request).await.next;
            page(&session, &*jobs, &PageRequest { after: next, ..request }).await;
        }
    }
    log.latest(1000).iter().map(|entry| entry.sql.to_string()).collect()
}

/// Asks everything and gives what was read before and after.
async fn watch(database: &Database) -> (Reads, Reads) {
    let before = reads(database).await;
    for sql in ask_everything(database).await {
        assert!(!sql.contains("payload") && !sql.contains("pg_locks"), "{sql}");
    }
    // Statistics come when the session has ended.
    wait_until_async("the scans are counted", async || reads(database).await.by_index > before.by_index + 10).await;
    (before, reads(database).await)
}

#[tokio::test]
async fn no_table_is_read_from_end_to_end() {
    let database = database().await;
    run(&database, LOAD).await;
    run(&database, "select recount_counters(); analyze").await;
    let (before, after) = watch(&database).await;
    assert_eq!(after.scans, before.scans, "a table was read from its beginning");
}

#[tokio::test]
async fn without_counters_only_the_first_dead_letters_are() {
    let database = bare_database().await;
    run(&database, &tables()).await;
    run(&database, LOAD).await;
    run(&database, "analyze").await;
    let (before, after) = watch(&database).await;
    assert_eq!(after.jobs, before.jobs, "jobs were read from their beginning");
    assert!(after.dead - before.dead <= 14_001, "{before:?} {after:?}");
}

#[tokio::test]
async fn a_frame_is_one_statement_and_each_part_a_constant_number_however_many_queues() {
    let database = database().await;
    for queues in [1, 300] {
        run(
            &database,
            &format!(
                "insert into jobs (queue, payload) select 'n' || i, '{{}}' from generate_series(1, {queues}) as i"
            ),
        )
        .await;
        let (session, log) = logged_session(&database.dsn()).await;
        let jobs = backend(&session).await;
        jobs.core(&session).await.expect("numbers");
        let before = log.latest(1000).len();
        jobs.core(&session).await.expect("numbers");
        assert_eq!(log.latest(1000).len(), before + 1, "{queues} queues");
        jobs.handling(&session).await.expect("handling");
        jobs.failures(&session).await.expect("failures");
        assert_eq!(log.latest(1000).len(), before + 3, "{queues} queues: one statement each");
    }
}
