//! Who may do what, with real roles, on a server of its own: roles belong to the whole server.

use std::collections::BTreeSet;

use tokio_postgres::error::SqlState;

use crate::support::queue::count;
use crate::support::roles::{Place, refused};

/// The tables that viewers and operators read.
const READABLE: [&str; 19] = [
    "jobs",
    "dead_letter_jobs",
    "job_failures",
    "operator_actions",
    "queues",
    "workers",
    "maintenance_runs",
    "queue_settings",
    "queuetop_migrations",
    "counter_deltas",
    "job_counts",
    "job_slots",
    "queue_counters",
    "queue_history",
    "history_minutes",
    "counter_fold",
    "signature_counts",
    "signature_deltas",
    "signature_fold",
];

#[tokio::test]
async fn every_right_in_the_schema_is_one_that_was_meant() {
    for schema in ["public", "Job \"Queue\""] {
        let place = Place::new(schema).await;
        let admin = place.as_role("postgres").await;
        // What each role holds, by kind of object; the owner aside.
        let sql = "select coalesce(r.rolname, 'PUBLIC') || ' ' || a.privilege_type || ' ' || o.name
            from (select 'table ' || relname as name, relacl as acl, relowner as owner, relnamespace as namespace
                  from pg_catalog.pg_class where relkind in ('r', 'S', 'v')
                  union all
                  select 'function ' || proname, coalesce(proacl, pg_catalog.acldefault('f', proowner)), proowner, pronamespace
                  from pg_catalog.pg_proc) o
            cross join lateral pg_catalog.aclexplode(o.acl) a
            left join pg_catalog.pg_roles r on r.oid = a.grantee
            where o.namespace = (select oid from pg_catalog.pg_namespace where nspname = $1) and a.grantee <> o.owner
            order by 1";
        let rows = admin.query(sql, &[&schema]).await.expect("asked");
        let mut held: BTreeSet<String> = rows.iter().map(|row| row.get::<_, String>(0)).collect();
        for role in ["queue_viewer", "queue_operator"] {
            for table in READABLE {
                assert!(held.remove(&format!("{role} SELECT table {table}")), "{role} reads {table}");
            }
        }
        for table in ["jobs", "dead_letter_jobs"] {
            for right in ["SELECT", "INSERT", "UPDATE", "DELETE"] {
                assert!(held.remove(&format!("service_role {right} table {table}")), "service_role: {right} {table}");
            }
        }
        let writes: Vec<&String> = held.iter().filter(|right| !right.contains(" EXECUTE function ")).collect();
        assert!(writes.is_empty(), "{schema}: {writes:?}");
        let mut callers: BTreeSet<&str> = BTreeSet::new();
        for right in &held {
            callers.extend(right.split(' ').next());
            let function = right.rsplit(' ').next().unwrap_or_default();
            let changes =
                function.starts_with("operator_") || function.starts_with("prune_") || function == "pause_queue";
            assert!(!changes || right.starts_with("queue_operator "), "{right}");
            assert!(function != "claim_jobs" || right.starts_with("queue_worker "), "{right}");
        }
        assert_eq!(callers.into_iter().collect::<Vec<_>>(), ["queue_operator", "queue_viewer", "queue_worker"]);
        let open = "select from pg_catalog.pg_class c where c.relkind = 'r' and (not c.relrowsecurity or c.relforcerowsecurity)
            and c.relnamespace = (select oid from pg_catalog.pg_namespace where nspname = $1)";
        assert_eq!(admin.query(open, &[&schema]).await.expect("asked").len(), 0, "row security on, never forced");
    }
}

#[tokio::test]
async fn outsiders_can_neither_read_nor_call_anything() {
    let place = Place::new("public").await;
    let admin = place.as_role("postgres").await;
    let functions = "select pg_catalog.format('%s(%s)', p.oid::pg_catalog.regproc, (
            select coalesce(pg_catalog.string_agg('null::' || pg_catalog.format_type(t, null), ', '), '')
            from pg_catalog.unnest(p.proargtypes) t))
        from pg_catalog.pg_proc p where p.pronamespace = 'public'::pg_catalog.regnamespace";
    let functions: Vec<String> =
        admin.query(functions, &[]).await.expect("asked").iter().map(|row| row.get(0)).collect();
    assert!(functions.len() > 60);
    let tables = "select c.oid::pg_catalog.regclass::pg_catalog.text from pg_catalog.pg_class c
        where c.relnamespace = 'public'::pg_catalog.regnamespace and c.relkind in ('r', 'S')";
    let tables: Vec<String> = admin.query(tables, &[]).await.expect("asked").iter().map(|row| row.get(0)).collect();
    for role in ["nobody", "anon", "authenticated"] {
        let client = place.as_role("postgres").await;
        client.batch_execute(&format!("set role {role}")).await.expect("a role");
        for function in &functions {
            let sql = format!("select {function}");
            assert_eq!(refused(&client, &sql).await, Some(SqlState::INSUFFICIENT_PRIVILEGE), "{role}: {sql}");
        }
        for table in &tables {
            let sql = format!("select from {table}");
            assert_eq!(refused(&client, &sql).await, Some(SqlState::INSUFFICIENT_PRIVILEGE), "{role}: {sql}");
        }
    }
}

#[tokio::test]
async fn a_viewer_sees_everything_and_changes_nothing() {
    let place = Place::new("Job \"Queue\"").await;
    let worker = place.as_role("worker").await;
    let viewer = place.as_role("viewer").await;
    let jobs = place.name("jobs");
    let enqueue = format!("select {}('q', '{{}}')", place.name("enqueue_job"));
    assert_eq!(refused(&worker, &enqueue).await, None);
    assert_eq!(count(&viewer, &format!("select from {jobs}")).await, 1, "row security lets a viewer see");
    for sql in [
        format!("insert into {jobs} (queue, payload) values ('q', '{{}}')"),
        format!("update {jobs} set priority = 1"),
        format!("delete from {jobs}"),
        format!("truncate {jobs}"),
        format!("select from {jobs} for update"),
        format!("update {} set n = 0", place.name("job_counts")),
        format!("insert into {} (name, value) values ('notify', 'off')", place.name("queue_settings")),
        format!("select pg_catalog.setval('{}', 1)", place.name("notify_clock").replace('\'', "''")),
        format!("create table {} (id int)", place.name("more")),
        format!("alter table {jobs} disable row level security"),
        format!("select {}('q')", place.name("pause_queue")),
        format!("select {}('[]')", place.name("operator_requeue")),
        format!("select {}('q', pg_catalog.gen_random_uuid())", place.name("claim_jobs")),
        format!("select {}()", place.name("fold_counters_step")),
        format!("select {}()", place.name("recount_counters")),
        enqueue,
    ] {
        assert_eq!(refused(&viewer, &sql).await, Some(SqlState::INSUFFICIENT_PRIVILEGE), "{sql}");
    }
}

#[tokio::test]
async fn a_worker_works_and_an_operator_operates_and_neither_more() {
    let place = Place::new("Job \"Queue\"").await;
    let (worker, operator) = (place.as_role("worker").await, place.as_role("operator").await);
    let call = |function: &str, arguments: &str| format!("select {}({arguments})", place.name(function));
    let id = "00000000-0000-4000-8000-000000000001";
    for (function, arguments) in [
        ("enqueue_job", "'q', '{}'".to_owned()),
        ("enqueue_jobs", "'[{\"queue\": \"q\", \"payload\": 1}]'".to_owned()),
        ("claim_jobs", format!("'q', '{id}', 1")),
        ("heartbeat_jobs", format!("array['{id}'::pg_catalog.uuid], '{id}'")),
        ("complete_job", format!("'{id}', '{id}'")),
        ("retry_job", format!("'{id}', '{id}', 'x', '1 s'")),
        ("move_to_dead_letter", format!("'{id}', '{id}', 'x'")),
        ("worker_seen", format!("'{id}'")),
        ("reap_expired_jobs", String::new()),
    ] {
        assert_eq!(refused(&worker, &call(function, &arguments)).await, None, "{function}");
    }
    for table in ["jobs", "dead_letter_jobs", "job_failures"] {
        let sql = format!("select from {}", place.name(table));
        assert_eq!(refused(&worker, &sql).await, Some(SqlState::INSUFFICIENT_PRIVILEGE), "{sql}");
        assert_eq!(refused(&operator, &sql).await, None, "{sql}");
    }
    for (function, arguments) in [
        ("operator_requeue", "'[]'"),
        ("operator_dead_letter", "'[]'"),
        ("operator_reap", "'[]'"),
        ("operator_replay", "'[]'"),
        ("operator_reschedule", "'[]', pg_catalog.now()"),
        ("operator_set_priority", "'[]', 1"),
        ("pause_queue", "'q'"),
        ("resume_queue", "'q'"),
        ("prune_completed_jobs", "'1 day'"),
        ("prune_dead_letters", "'1 day'"),
        ("prune_history", "'1 day'"),
        ("reap_expired_jobs", ""),
    ] {
        assert_eq!(refused(&operator, &call(function, arguments)).await, None, "{function}");
        if function != "reap_expired_jobs" {
            let denied = refused(&worker, &call(function, arguments)).await;
            assert_eq!(denied, Some(SqlState::INSUFFICIENT_PRIVILEGE), "{function}");
        }
    }
    let claim = call("claim_jobs", &format!("'q', '{id}', 1"));
    assert_eq!(refused(&operator, &claim).await, Some(SqlState::INSUFFICIENT_PRIVILEGE));
    let update = format!("update {} set priority = 1", place.name("jobs"));
    assert_eq!(refused(&operator, &update).await, Some(SqlState::INSUFFICIENT_PRIVILEGE));
}

#[tokio::test]
async fn the_platforms_backend_role_works_with_functions_and_plain_statements() {
    let place = Place::new("public").await;
    let client = place.as_role("postgres").await;
    client.batch_execute("set role service_role").await.expect("a role");
    for sql in [
        "select public.enqueue_job('q', '{}')",
        "insert into public.jobs (queue, payload) values ('q', '{}')",
        "select public.claim_jobs('q', pg_catalog.gen_random_uuid())",
        "update public.jobs set status = 'queued', locked_by = null, lease_until = null, last_error = 'x'",
        "delete from public.jobs",
    ] {
        assert_eq!(refused(&client, sql).await, None, "{sql}");
    }
    client.batch_execute("reset role").await.expect("back");
    assert_eq!(count(&client, "select from public.job_failures").await, 2, "the triggers wrote what it may not write");
}

#[tokio::test]
async fn later_objects_stay_closed_too() {
    let place = Place::new("queue").await;
    let hosted = place.as_role("hosted").await;
    hosted
        .batch_execute(
            "create table queue.later (id int); create function queue.later() returns int language sql as 'select 1'",
        )
        .await
        .expect("later objects");
    for role in ["nobody", "anon", "authenticated"] {
        let client = place.as_role("postgres").await;
        client.batch_execute(&format!("set role {role}")).await.expect("a role");
        for sql in ["select from queue.later", "select queue.later()"] {
            assert_eq!(refused(&client, sql).await, Some(SqlState::INSUFFICIENT_PRIVILEGE), "{role}: {sql}");
        }
    }
    // In a shared schema the platform's defaults are not ours to change: each migration closes its objects again.
    let place = Place::new("public").await;
    let hosted = place.as_role("hosted").await;
    hosted
        .batch_execute("grant all on public.jobs to anon; grant execute on function public.claim_jobs to public")
        .await
        .expect("opened by mistake");
    hosted.batch_execute("select public.queuetop_apply_rights()").await.expect("closed again");
    let client = place.as_role("nobody").await;
    let sql = "select public.claim_jobs('q', pg_catalog.gen_random_uuid())";
    assert_eq!(refused(&client, sql).await, Some(SqlState::INSUFFICIENT_PRIVILEGE));
}
