//! Callers that put traps where names are looked up: nothing of theirs ever runs as the functions' owner.

use crate::support::queue::one;
use crate::support::roles::Place;

/// Counts what ran as the owner. A sequence, because it keeps its value when the statement fails after all.
const CAUGHT: &str = "create sequence public.caught; grant usage on sequence public.caught to public";
const ESCAPED: &str = "select is_called from public.caught";

/// A body that gives itself away when it runs as anybody but its author.
fn body(end: &str) -> String {
    format!(
        "language plpgsql as $$ begin if current_user not in ('worker', 'operator') then
            perform pg_catalog.nextval('public.caught'); end if; {end} end $$"
    )
}

/// Objects that stand in for what the functions use, if they are ever looked up in this schema.
fn traps(schema: &str) -> String {
    let (nothing, catch) = (body(""), body("return null;"));
    format!(
        "create function {schema}.now() returns timestamptz {catch};
         create function {schema}.gen_random_uuid() returns uuid {catch};
         create function {schema}.left(text, integer) returns text {catch};
         create function {schema}.cardinality(anyarray) returns integer {catch};
         create function {schema}.fold_counters_step() returns void {nothing};
         create function {schema}.check_given(text, boolean) returns void {nothing};
         create function {schema}.same(uuid, uuid) returns boolean {catch};
         create operator {schema}.= (leftarg = uuid, rightarg = uuid, function = {schema}.same);
         create function {schema}.bad(text) returns boolean {catch};
         create domain {schema}.uuid as text check ({schema}.bad(value));
         create domain {schema}.jsonb as text check ({schema}.bad(value));
         create domain {schema}.timestamptz as text check ({schema}.bad(value));
         create table {schema}.jobs (id text); create table {schema}.queues (queue text, paused boolean)"
    )
}

/// Whatever a caller puts where names are looked up, the functions run on what they mean, and nothing of the caller's runs
/// as their owner.
#[tokio::test]
async fn a_hostile_caller_gets_nothing_to_run_as_the_owner() {
    let place = Place::new("queue").await;
    let admin = place.as_role("postgres").await;
    admin.batch_execute(CAUGHT).await.expect("a trap");
    admin
        .batch_execute(
            "create schema evil_worker authorization worker; create schema evil_operator authorization operator;
             grant usage on schema evil_worker, evil_operator to public;
             grant temporary on database postgres to worker, operator",
        )
        .await
        .expect("a hostile place");
    let mut reached = 0;
    for role in ["worker", "operator"] {
        let client = place.as_role(role).await;
        let evil = format!("evil_{role}");
        for schema in [evil.as_str(), "pg_temp"] {
            client.batch_execute(&traps(schema)).await.expect("traps");
        }
        for path in ["evil, pg_catalog, queue", "pg_temp, pg_catalog, queue", "queue, evil"] {
            let path = path.replace("evil", &evil);
            client.batch_execute(&format!("set search_path = {path}")).await.expect("a path");
            let calls: &[&str] = if role == "worker" {
                &[
                    "select queue.enqueue_job('q', '{}')",
                    "select queue.claim_jobs('q', '00000000-0000-4000-8000-000000000001')",
                    "select queue.retry_job((c).id, (c).locked_by, 'x', '1 s') from queue.claim_jobs('q', '00000000-0000-4000-8000-000000000001') c",
                    "select queue.reap_expired_jobs()",
                ]
            } else {
                &[
                    "select queue.operator_requeue('[{\"id\": \"00000000-0000-4000-8000-000000000001\"}]')",
                    "select queue.operator_dead_letter((select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('id', id)) from queue.jobs), 'x', true)",
                    "select queue.operator_replay((select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('id', id)) from queue.dead_letter_jobs))",
                    "select queue.operator_undo(3)",
                    "select queue.prune_dead_letters('0')",
                ]
            };
            for sql in calls {
                // A trap of theirs may stop their own statement; it must only never run as the owner.
                reached += usize::from(client.batch_execute(sql).await.is_ok());
            }
        }
    }
    assert!(!one::<bool>(&admin, ESCAPED, &[]).await, "something of theirs ran as the owner");
    assert!(reached >= 9, "{reached} calls reached the queue");
}

/// Somebody who may create in our schema cannot slip a better match under our calls.
#[tokio::test]
async fn an_overload_in_our_own_schema_is_not_called() {
    let place = Place::new("queue").await;
    let admin = place.as_role("postgres").await;
    admin.batch_execute(CAUGHT).await.expect("a trap");
    admin.batch_execute("grant create on schema queue to worker").await.expect("a careless grant");
    let worker = place.as_role("worker").await;
    let catch = format!("returns void {}", body(""));
    for signature in [
        "check_between(varchar, integer, integer, integer)",
        "check_between(text, bigint, integer, integer)",
        "check_given(varchar, boolean)",
        "check_given(name, boolean)",
        "check_lease(anyelement)",
        "fold_counters_step(integer default 0)",
        "note_maintenance(varchar, jsonb)",
    ] {
        worker.batch_execute(&format!("create function queue.{signature} {catch}")).await.expect("an overload");
    }
    for sql in [
        "select queue.enqueue_job('q', '{}')",
        "select queue.claim_jobs('q', pg_catalog.gen_random_uuid())",
        "select queue.reap_expired_jobs()",
    ] {
        let _ = worker.batch_execute(sql).await;
    }
    assert!(!one::<bool>(&admin, ESCAPED, &[]).await, "something of theirs ran as the owner");
}
