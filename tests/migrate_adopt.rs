//! Taking over existing tables: nothing is lost, nobody waits for long, and what cannot be taken over is refused with the
//! reason.

use std::time::Duration;

use queuetop::engine::migrate::{self, MigrateError, Options};
use tokio_postgres::Client;

use crate::support::pg::{self, Database};
use crate::support::queue::{claim, count, one};
use crate::support::table_queue::statement;

/// A database with the plain tables and rows in every state; `more` runs before the rows go in.
async fn plain(names: &[&str], more: &str) -> Database {
    let database = pg::bare_database().await;
    let client = database.client().await;
    for name in names {
        client.batch_execute(&statement(name, &[])).await.expect("the plain objects");
    }
    client.batch_execute(more).await.expect("more");
    client
        .batch_execute(
            "insert into jobs (queue, payload, status, attempts, run_at, locked_by, lease_until, idempotency_key, completed_at)
                select 'emails', jsonb_build_object('n', n), (array['queued', 'running', 'completed'])[n % 3 + 1], n % 9,
                    now() + (n % 5 - 4) * interval '1 hour', case n % 3 when 1 then gen_random_uuid() end,
                    case n % 3 when 1 then now() + interval '1 minute' end, 'key ' || n, case n % 3 when 2 then now() end
                from generate_series(1, 900) n",
        )
        .await
        .expect("rows");
    database
}

async fn fingerprint(client: &Client) -> String {
    let columns =
        "id, queue, payload, status, priority, run_at, attempts, max_attempts, locked_by, lease_until, last_error,
        idempotency_key, created_at, updated_at, completed_at";
    one(client, &format!("select md5(string_agg(j::text, '|' order by id)) from (select {columns} from jobs) j"), &[])
        .await
}

const ALL: &[&str] = &["jobs", "indexes", "claim function", "dead letters"];

#[tokio::test]
async fn plain_tables_are_taken_over_and_lose_nothing() {
    let database = plain(ALL, "").await;
    let mut client = database.client().await;
    client
        .batch_execute(
            "insert into dead_letter_jobs values (gen_random_uuid(), 'emails', '{}', 8, 8, 'boom', now(), now())",
        )
        .await
        .expect("a dead letter");
    let before = fingerprint(&client).await;

    let plan = migrate::plan(&client, &Options::default()).await.expect("a plan");
    let adopted: Vec<&str> = plan.adopts.iter().map(|one| one.table.as_str()).collect();
    assert_eq!(adopted, ["dead_letter_jobs", "jobs"]);
    assert!(plan.indexes.contains(&"jobs_claimable_idx".to_owned()));
    assert!(!plan.indexes.contains(&"jobs_claim_ready_idx".to_owned()), "what is there stays");
    assert_eq!(
        plan.foreign_functions,
        ["public.claim_jobs(p_queue text, p_worker uuid, p_batch integer, p_lease interval)"]
    );
    let said = plan.to_string();
    for line in [
        "in the way: function public.claim_jobs",
        "take over table jobs",
        "build index jobs_claimable_idx concurrently",
    ] {
        assert!(said.contains(line), "{said}");
    }

    let error = migrate::run(&mut client, &Options::default()).await.expect_err("a foreign function");
    assert!(matches!(&error, MigrateError::ForeignFunctions(found) if *found == plan.foreign_functions), "{error}");
    assert!(error.to_string().contains("--replace-functions"));
    let options = Options { replace_functions: true, ..Options::default() };
    let report = migrate::run(&mut client, &options).await.expect("taken over");
    assert_eq!(report.indexes, plan.indexes);

    assert_eq!(fingerprint(&client).await, before);
    assert_eq!(count(&client, "select from pg_index where not indisvalid").await, 0);
    let counted = "select coalesce(sum(n), 0)::bigint from job_counts where status = ";
    for status in ["queued", "running"] {
        let rows: i64 = one(&client, "select count(*) from jobs where status = $1", &[&status]).await;
        let folded = format!("{counted}'{status}'");
        assert_eq!(one::<i64>(&client, &folded, &[]).await, rows, "the counters start right: {status}");
    }
    assert!(!one::<bool>(&client, "select suspect from counter_fold", &[]).await);
    let due: i64 = one(
        &client,
        "select count(*) from jobs where status = 'queued' and run_at <= now() and attempts < max_attempts",
        &[],
    )
    .await;
    let claimed = claim(&client, "emails", 1000).await;
    assert_eq!(i64::try_from(claimed.len()).expect("few"), due);
    let report = migrate::run(&mut client, &Options::default()).await.expect("again");
    assert!(report.applied.is_empty() && report.indexes.is_empty());
}

#[tokio::test]
async fn a_table_alone_without_any_index_is_taken_over_too() {
    let database = plain(&["jobs"], "").await;
    let mut client = database.client().await;
    let report = migrate::run(&mut client, &Options::default()).await.expect("taken over");
    assert!(report.indexes.contains(&"jobs_queue_idempotency_key_uq".to_owned()));
    assert!(report.indexes.contains(&"jobs_expired_lease_idx".to_owned()));
    assert!(!report.indexes.iter().any(|index| index.starts_with("dead")), "a new table's come with it");
    let key = "select created from enqueue_job('emails', '{}', p_idempotency_key => 'key 7')";
    assert!(!one::<bool>(&client, key, &[]).await);
}

#[tokio::test]
async fn what_cannot_be_taken_over_is_refused_with_the_reason() {
    for (tables, why) in [
        ("create table jobs (id uuid, queue text) partition by list (queue)", "partitioned"),
        ("create view jobs as select 1 as id", "not a table"),
        ("create table parent (id uuid); create table jobs () inherits (parent)", "inherits"),
        ("create table jobs (id bigint primary key, queue text, data json)", "column id is bigint, not uuid"),
        ("create table jobs (id bigint primary key, queue text, data json)", "column payload is missing"),
        ("create table workers (id int); create table queues (name text)", "queues, workers"),
        ("create table job_failures (id int)", "job_failures"),
    ] {
        let database = pg::bare_database().await;
        let mut client = database.client().await;
        client.batch_execute(tables).await.expect("tables");
        let objects = "select from pg_class where relnamespace = 'public'::regnamespace";
        let before = count(&client, objects).await;
        let error = migrate::run(&mut client, &Options::default()).await.expect_err("refused").to_string();
        assert!(error.contains(why) && error.contains("--schema"), "{tables}: {error}");
        assert_eq!(count(&client, objects).await, before);
        let elsewhere = Options { schema: "queue".to_owned(), ..Options::default() };
        migrate::run(&mut client, &elsewhere).await.expect("beside it there is room");
    }
}

#[tokio::test]
async fn a_table_of_another_owner_is_refused() {
    let database = plain(&["jobs"], "").await;
    let name = format!("owner_{}", database.name());
    let client = database.client().await;
    client
        .batch_execute(&format!("create role {name} login createrole; grant all on schema public to {name}"))
        .await
        .expect("a role");
    let mut other = database.client_as(&name).await;
    let error = migrate::run(&mut other, &Options::default()).await.expect_err("refused").to_string();
    assert!(error.contains("belongs to postgres"), "{error}");
    client.batch_execute(&format!("drop owned by {name}; drop role {name}")).await.expect("clean");
}

#[tokio::test]
async fn rows_that_a_unique_index_cannot_take_are_named_and_nothing_is_left() {
    let database =
        plain(&["jobs"], "insert into jobs (queue, payload, idempotency_key) values ('emails', '{}', 'key 1')").await;
    let mut client = database.client().await;
    let error = migrate::run(&mut client, &Options::default()).await.expect_err("duplicates").to_string();
    assert!(error.contains("jobs_queue_idempotency_key_uq") && error.contains("(emails, key 1)"), "{error}");
    assert_eq!(count(&client, "select from pg_index where not indisvalid").await, 0, "no ruin is left");
    client.batch_execute("delete from jobs where idempotency_key = 'key 1'").await.expect("mended");
    migrate::run(&mut client, &Options::default()).await.expect("and then it works");
}

#[tokio::test]
async fn a_ruined_index_of_an_interrupted_run_is_built_again() {
    let database = plain(&["jobs", "dead letters"], "").await;
    let mut client = database.client().await;
    client
        .batch_execute(
            "create index jobs_expired_lease_idx on jobs (lease_until) where status = 'running';
             update pg_index set indisvalid = false where indexrelid = 'jobs_expired_lease_idx'::regclass",
        )
        .await
        .expect("a ruin");
    let report = migrate::run(&mut client, &Options::default()).await.expect("taken over");
    assert!(report.indexes.contains(&"jobs_expired_lease_idx".to_owned()));
    assert_eq!(count(&client, "select from pg_index where not indisvalid").await, 0);
}

/// Somebody's transaction holds the table: ours tries briefly, so that nobody queues up behind it, and gets through after.
#[tokio::test]
async fn it_waits_for_a_busy_table_in_short_tries() {
    let database = plain(ALL, "drop function claim_jobs").await;
    let mut holder = database.client().await;
    let transaction = holder.transaction().await.expect("a transaction");
    transaction.execute("update jobs set priority = 1 where queue = 'x'", &[]).await.expect("the table is held");
    let mut client = database.client().await;
    let run = tokio::spawn(async move { migrate::run(&mut client, &Options::default()).await });
    let watcher = database.client().await;
    let waiting = "select from pg_locks where not granted and locktype in ('relation', 'virtualxid')";
    while count(&watcher, waiting).await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    watcher.batch_execute("set lock_timeout = '8s'").await.expect("set");
    watcher
        .execute("insert into jobs (queue, payload) values ('emails', '{}')", &[])
        .await
        .expect("writers get through");
    transaction.commit().await.expect("let go");
    run.await.expect("no panic").expect("taken over in the end");
    assert_eq!(count(&watcher, "select from jobs").await, 901);
}

/// Workers go on while their table is taken over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_go_on_meanwhile_and_the_counters_are_right_in_the_end() {
    let database = plain(ALL, "drop function claim_jobs").await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let (client, stopped) = (database.client().await, stopped.clone());
        writers.spawn(async move {
            while !*stopped.borrow() {
                client
                    .batch_execute(
                        "insert into jobs (queue, payload) values ('emails', '{}');
                         update jobs set status = 'running', attempts = attempts + 1, locked_by = gen_random_uuid()
                            where id = (select id from jobs where status = 'queued' limit 1 for update skip locked);
                         delete from jobs where id = (select id from jobs where status = 'completed' limit 1 for update skip locked)",
                    )
                    .await
                    .expect("a plain worker goes on");
            }
        });
    }
    let mut client = database.client().await;
    migrate::run(&mut client, &Options::default()).await.expect("taken over");
    stop.send(true).expect("writers");
    while let Some(writer) = writers.join_next().await {
        writer.expect("no error");
    }
    assert_eq!(count(&client, "select from recount_counters()").await, 0, "no figure was wrong");
}

#[tokio::test]
async fn what_will_be_different_for_others_is_said() {
    let database = plain(ALL, "drop function claim_jobs; alter table jobs add tenant text not null default 'a'").await;
    let name = format!("reader_{}", database.name());
    let client = database.client().await;
    client
        .batch_execute(&format!(
            "alter table jobs alter tenant drop default; create role {name}; grant select on jobs to {name}"
        ))
        .await
        .expect("a reader");
    let plan = migrate::plan(&client, &Options::default()).await.expect("a plan");
    assert!(plan.warnings.iter().any(|warning| warning.contains("jobs.tenant")), "{:?}", plan.warnings);
    assert!(plan.warnings.iter().any(|warning| warning.contains(&name)), "{:?}", plan.warnings);
    client.batch_execute(&format!("drop owned by {name}; drop role {name}")).await.expect("clean");
}
