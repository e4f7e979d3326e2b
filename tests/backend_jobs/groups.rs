//! Failures and dead letters by error signature, read from a real server: what is counted, what is said where something is
//! missing, and what it costs at size.

use std::time::Duration;

use queuetop::backends::Backend;
use queuetop::db::Session;
use queuetop::model::{Group, Groups, Panel, PanelKind, Reading};

use super::{backend, logged_session, run, session};
use crate::support::pg::{Database, bare_database, database};
use crate::support::table_queue::tables;
use crate::support::wait_until_async;

async fn read(session: &Session, jobs: &dyn Backend) -> Groups {
    match jobs.panel(session, PanelKind::Groups).await.expect("an answer") {
        Panel::Groups(groups) => groups,
        other @ Panel::Workers(_) => panic!("{other:?}"),
    }
}

async fn read_as(dsn: &str) -> Groups {
    let session = session(dsn).await;
    read(&session, &*backend(&session).await).await
}

fn list(groups: &Groups) -> &[Group] {
    groups.groups.value().unwrap_or_else(|| panic!("{groups:?}"))
}

fn of<'a>(groups: &'a Groups, queue: &str, signature: &str) -> &'a Group {
    let found = list(groups).iter().find(|group| group.queue.name == queue && group.signature == signature);
    found.unwrap_or_else(|| panic!("no {signature} in {queue}: {groups:#?}"))
}

/// Four retried, two dead of which one is replayed, one that died by its lease, one taken away by an operator.
const TROUBLE: &str = "
    select enqueue_job(q, '{}', p_max_attempts => m)
    from unnest(array['mail', 'mail', 'mail', 'mail', 'hook', 'hook', 'late'], array[8, 8, 8, 8, 8, 8, 1]) as j (q, m);
    select retry_job(id, locked_by, 'timeout after ' || (random() * 1000)::int || ' ms', '1 h')
    from claim_jobs('mail', '00000000-0000-0000-0000-000000000001', 4);
    select move_to_dead_letter(id, locked_by, 'bad address \"x' || row_number() over () || '\"')
    from claim_jobs('hook', '00000000-0000-0000-0000-000000000001', 2);
    select operator_replay((select jsonb_build_array(jsonb_build_object('id', id)) from dead_letter_jobs limit 1));
    select claim_jobs('late', '00000000-0000-0000-0000-000000000001', 1);
    update jobs set lease_until = now() - interval '1 m' where queue = 'late';
    select reap_expired_jobs();";

#[tokio::test]
async fn they_are_grouped_by_what_they_say() {
    let database = database().await;
    run(&database, TROUBLE).await;
    let session = session(&database.dsn()).await;
    let jobs = backend(&session).await;
    for step in ["as they come", "folded"] {
        let groups = read(&session, &*jobs).await;
        assert!(matches!(groups.groups, Reading::Exact(ref all) if all.len() == 3), "{step}: {groups:#?}");
        assert_eq!((groups.dead, groups.note.as_deref()), (Reading::Exact(3), None), "{step}");
        assert_eq!((groups.failed_since, groups.dead_since), (None, None));
        let timeouts = of(&groups, "mail", "timeout after <n> ms");
        assert_eq!((timeouts.failed_15m, timeouts.dead), (Reading::Exact(4), Reading::Exact(0)), "{step}");
        assert_eq!(timeouts.retried_per_s, Reading::Exact(4.0 / 900.0));
        let bad = of(&groups, "hook", "bad address <v>");
        assert_eq!((bad.failed_15m, bad.dead, bad.replayed), (Reading::Exact(2), Reading::Exact(2), Reading::Exact(1)));
        assert_eq!(bad.retried_per_s, Reading::Exact(0.0));
        assert!(bad.first_seen <= bad.last_seen && bad.last_seen.is_some_and(|seen| seen <= groups.taken_at));
        let late = of(&groups, "late", "lease expired");
        assert_eq!(
            (late.failed_15m, late.dead, late.replayed),
            (Reading::Exact(1), Reading::Exact(1), Reading::Exact(0))
        );
        assert_eq!(groups.trend_span.map(|span| span.as_secs()), Some(3600));
        for (group, happened) in [(timeouts, 4), (bad, 2), (late, 1)] {
            assert_eq!(
                (group.trend.len(), group.trend.last()),
                (12, Some(&happened)),
                "an attempt counts once: {group:?}"
            );
        }
        run(&database, "update signature_fold set folded_at = '-infinity'; select fold_signatures()").await;
    }
    run(&database, "delete from dead_letter_jobs where queue = 'hook'").await;
    let groups = read(&session, &*jobs).await;
    assert_eq!(groups.dead, Reading::Exact(1));
    assert_eq!(of(&groups, "hook", "bad address <v>").dead, Reading::Exact(0), "the failures are still there");
}

#[tokio::test]
async fn trends_are_spread_over_the_hour() {
    let database = database().await;
    run(
        &database,
        "insert into job_failures (job_id, queue, attempt, max_attempts, ended_at, outcome, became, error, signature)
         select gen_random_uuid(), 'a', 1, 8, now() - m * interval '1 minute', 'failed', 'queued', 'x', 'x'
         from unnest(array[1, 2, 12, 58, 70]) as m;
         insert into job_failures (job_id, queue, attempt, max_attempts, ended_at, outcome, became, error, signature)
         values (gen_random_uuid(), 'a', 1, 8, now(), 'operator', 'queued', 'x', 'x'),
                (gen_random_uuid(), 'odd', 1, 8, 'infinity', 'failed', 'queued', null, null)",
    )
    .await;
    let groups = read_as(&database.dsn()).await;
    let a = of(&groups, "a", "x");
    assert_eq!(a.trend, [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2]);
    assert_eq!(a.failed_15m, Reading::Exact(3));
    assert_eq!(of(&groups, "odd", "").trend.last(), Some(&1));
}

#[tokio::test]
async fn more_failures_than_are_looked_at_are_at_least_so_many() {
    let database = database().await;
    run(
        &database,
        "insert into job_failures (job_id, queue, attempt, max_attempts, ended_at, outcome, became, error, signature)
         select gen_random_uuid(), 'a', 1, 8, now() - i * interval '10 ms', 'failed', 'queued', 'x', 'x' from generate_series(0, 29999) as i",
    )
    .await;
    let groups = read_as(&database.dsn()).await;
    let a = of(&groups, "a", "x");
    assert!(matches!(a.failed_15m, Reading::AtLeast(n) if n >= 19_999), "{a:?}");
    assert!(matches!(a.retried_per_s, Reading::About(n) if (90.0..110.0).contains(&n)), "{a:?}");
    let span = groups.trend_span.expect("a trend");
    assert!((Duration::from_secs(199)..Duration::from_mins(5)).contains(&span), "{span:?}");
    assert_eq!(a.trend.iter().sum::<u64>(), 20_000);
    assert!(groups.failed_since.is_some() && groups.dead_since.is_none());
    assert!(matches!(groups.groups, Reading::AtLeast(_)));
}

#[tokio::test]
async fn a_miscount_is_called_about_and_mended() {
    let database = database().await;
    run(&database, TROUBLE).await;
    run(
        &database,
        "alter table dead_letter_jobs disable trigger dead_letter_jobs_signatures_inserted;
         insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
         select gen_random_uuid(), 'x', '{}', 8, 8, 'no host 10.0.0.' || i, now() from generate_series(1, 5) as i;
         alter table dead_letter_jobs enable trigger dead_letter_jobs_signatures_inserted",
    )
    .await;
    let groups = read_as(&database.dsn()).await;
    assert_eq!(groups.dead, Reading::About(3));
    assert!(groups.note.is_some_and(|note| note.contains("select recount_signatures()")));
    run(&database, "select recount_signatures()").await;
    let groups = read_as(&database.dsn()).await;
    assert_eq!((groups.dead, groups.note.as_deref()), (Reading::Exact(8), None));
    assert_eq!(of(&groups, "x", "no host <ip>").dead, Reading::Exact(5));
}

#[tokio::test]
async fn an_empty_queue_has_no_groups() {
    let groups = read_as(&database().await.dsn()).await;
    assert_eq!((groups.groups, groups.dead, groups.note), (Reading::Exact(vec![]), Reading::Exact(0), None));
}

const BARE: &str = "insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, failed_at, original_created_at)
    select gen_random_uuid(), 'gone', '{}', 8, 8, 'no host 10.0.0.' || i, now() - i * interval '1 minute', now()
    from generate_series(1, {n}) as i";

#[tokio::test]
async fn a_bare_table_is_looked_at_and_what_is_not_recorded_is_unknown() {
    let database = bare_database().await;
    run(&database, &tables()).await;
    run(&database, &BARE.replace("{n}", "3")).await;
    let groups = read_as(&database.dsn()).await;
    let gone = of(&groups, "gone", "no host <n>.<n>.<n>.<n>");
    assert_eq!((gone.dead, gone.replayed), (Reading::Exact(3), Reading::Unknown));
    assert_eq!((gone.failed_15m, gone.retried_per_s), (Reading::Unknown, Reading::Unknown));
    assert_eq!((groups.dead, gone.trend.last()), (Reading::Exact(3), Some(&3)));
    assert!(groups.note.is_some_and(|note| note.contains("no job_failures here: run queuetop migrate")));
}

#[tokio::test]
async fn a_big_bare_table_is_looked_at_in_part_and_says_how_far_back() {
    let database = bare_database().await;
    run(&database, &tables()).await;
    run(&database, &BARE.replace("{n}", "6000")).await;
    let groups = read_as(&database.dsn()).await;
    assert_eq!((groups.dead, groups.dead_since), (Reading::AtLeast(5_000), None));
    assert_eq!(groups.trend_span, None, "the part lies anywhere in time");
    assert!(groups.note.is_some_and(|note| note.contains("no index on failed_at")));
    run(&database, "create index on dead_letter_jobs (failed_at)").await;
    let groups = read_as(&database.dsn()).await;
    let since = groups.dead_since.and_then(|since| groups.taken_at.seconds_since(since)).expect("how far back");
    assert!((300_000.0..300_600.0).contains(&since), "the latest 5,000, one a minute: {since}");
    assert_eq!(of(&groups, "gone", "no host <n>.<n>.<n>.<n>").dead, Reading::AtLeast(5_000));
    assert_eq!(groups.trend_span.map(|span| span.as_secs()), Some(3600));
}

#[tokio::test]
async fn who_may_not_read_is_told_so() {
    let database = database().await;
    run(&database, TROUBLE).await;
    let role = |name: &str, rights: &str| format!("drop role if exists {name}; create role {name} login; {rights}");
    run(&database, &role("groups_nobody", "")).await;
    let groups = read_as(&database.dsn_as("groups_nobody")).await;
    assert_eq!((&groups.groups, groups.dead), (&Reading::Denied, Reading::Denied));
    let note = groups.note.expect("a note");
    assert!(note.contains("groups_nobody may not read job_failures") && note.contains("dead_letter_jobs"), "{note}");
    let half = "create policy half on job_failures for select to groups_half using (true);
        grant usage on schema public to groups_half; grant select on job_failures to groups_half";
    run(&database, &role("groups_half", half)).await;
    let groups = read_as(&database.dsn_as("groups_half")).await;
    let timeouts = of(&groups, "mail", "timeout after <n> ms");
    assert_eq!((timeouts.failed_15m, timeouts.dead), (Reading::Exact(4), Reading::Denied));
    assert!(matches!(groups.groups, Reading::AtLeast(_)));
    run(&database, &role("groups_viewer", "grant queue_viewer to groups_viewer")).await;
    let groups = read_as(&database.dsn_as("groups_viewer")).await;
    assert_eq!((groups.dead, groups.note), (Reading::Exact(3), None));
}

/// 200,000 dead letters and 60,000 failures, all of the last hour, with 40 kinds of errors.
const LOAD: &str = "set session_replication_role = replica;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, signature, original_created_at, failed_at)
    select gen_random_uuid(), 'q' || i % 20, '{}', 8, 8, 'no host', 'no host ' || chr(65 + i % 40), now(), now() - i * interval '10 ms'
    from generate_series(1, 200000) as i;
    insert into job_failures (job_id, queue, attempt, max_attempts, ended_at, outcome, became, error, signature)
    select gen_random_uuid(), 'q' || i % 20, 1, 8, now() - i * interval '10 ms', 'failed', 'queued', 'x', 'no host ' || chr(65 + i % 40)
    from generate_series(1, 60000) as i;
    set session_replication_role = origin; select recount_counters(), recount_signatures(); analyze";

/// Times that one of the two tables was read from its beginning, rows found by an index, and times that one was used.
async fn reads(database: &Database) -> [i64; 3] {
    let sql =
        "select sum(seq_scan)::bigint, sum(coalesce(idx_tup_fetch, 0))::bigint, sum(coalesce(idx_scan, 0))::bigint
               from pg_stat_user_tables where relname in ('job_failures', 'dead_letter_jobs')";
    let row = database.client().await.query_one(sql, &[]).await.expect("statistics");
    [row.get(0), row.get(1), row.get(2)]
}

#[tokio::test]
async fn however_many_there_are_a_bounded_part_is_read_and_all_are_counted() {
    let database = database().await;
    run(&database, LOAD).await;
    let before = reads(&database).await;
    let (session, log) = logged_session(&database.dsn()).await;
    let jobs = backend(&session).await;
    let groups = read(&session, &*jobs).await;
    assert_eq!(groups.dead, Reading::Exact(200_000));
    assert_eq!(list(&groups).iter().filter_map(|group| group.dead.get()).sum::<u64>(), 200_000);
    let asked: Vec<_> = log.latest(1000).into_iter().filter(|entry| entry.sql.contains("job_failures")).collect();
    assert!(asked.len() == 1 && !asked[0].sql.contains("payload"));
    drop(session);
    // Statistics come when the session has ended.
    wait_until_async("the scans are counted", async || reads(&database).await[2] >= before[2] + 2).await;
    let after = reads(&database).await;
    assert_eq!(after[0], before[0], "a table was read from its beginning");
    assert!(after[1] - before[1] <= 41_000, "{before:?} {after:?}");
}
