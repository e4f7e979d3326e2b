//! `migrate`: installing, upgrading and refusing, on a real PostgreSQL.

use queuetop::engine::migrate::{self, HISTORY_TABLE, MigrateError, Options, latest_version};
use tokio_postgres::Client;

use crate::support::bouncer::Bouncer;
use crate::support::pg;
use crate::support::queue::{count, one};

/// Options for a schema.
fn into(schema: &str) -> Options {
    Options { schema: schema.to_owned(), ..Options::default() }
}

/// Everything in the database that migrations could leave behind.
async fn objects(client: &Client) -> i64 {
    let sql =
        "select (select count(*) from pg_class where relnamespace >= 16384 or relnamespace = 'public'::regnamespace)
        + (select count(*) from pg_proc where pronamespace >= 16384 or pronamespace = 'public'::regnamespace)
        + (select count(*) from pg_namespace where oid >= 16384)";
    one(client, sql, &[]).await
}

#[tokio::test]
async fn installs_once_and_is_safe_to_run_again() {
    let database = pg::bare_database().await;
    let mut client = database.client().await;
    assert_eq!(migrate::installed_version(&client, "public").await.expect("asked"), None);
    let plan = migrate::plan(&client, &Options::default()).await.expect("a plan");
    assert_eq!(objects(&client).await, 0, "a plan changes nothing");
    let first = migrate::run(&mut client, &Options::default()).await.expect("installed");
    assert_eq!(first.version, latest_version());
    assert_eq!(first.applied, plan.pending, "what was said is what was done");
    let second = migrate::run(&mut client, &Options::default()).await.expect("nothing to do");
    assert!(second.applied.is_empty());
    assert_eq!(migrate::installed_version(&client, "public").await.expect("asked"), Some(latest_version()));
    let said = migrate::plan(&client, &Options::default()).await.expect("a plan").to_string();
    assert_eq!(said, format!("schema \"public\": version {}\nnothing to do\n", latest_version()));
    let left = "select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";
    assert_eq!(count(&client, left).await, 0, "the lock is given up");
    assert_eq!(
        one::<String>(&client, "show search_path", &[]).await,
        "\"$user\", public",
        "and the settings are as before"
    );
}

#[tokio::test]
async fn two_at_once_install_it_once() {
    let database = pg::bare_database().await;
    let mut runs = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let mut client = database.client().await;
        runs.spawn(async move { migrate::run(&mut client, &into("Job \"Queue\"")).await.expect("migrated") });
    }
    let busy = runs.join_all().await.iter().filter(|report| !report.applied.is_empty()).count();
    assert_eq!(busy, 1);
}

#[tokio::test]
async fn several_schemas_of_one_database_do_not_meet() {
    let database = pg::bare_database().await;
    let mut client = database.client().await;
    let names = ["it's \\ \"odd\" {schema}", "public", "Job Queue"];
    for schema in names {
        migrate::run(&mut client, &into(schema)).await.expect("installed");
    }
    let mut found = migrate::installed_schemas(&client).await.expect("asked");
    found.sort();
    assert_eq!(found, ["Job Queue", "it's \\ \"odd\" {schema}", "public"]);
    client.batch_execute("set search_path = ''").await.expect("set");
    for schema in names {
        let name = migrate::quote_ident(schema);
        client
            .batch_execute(&format!(
                "select {name}.enqueue_job('q', '{{}}'); select {name}.claim_jobs('q', gen_random_uuid());
                 select {name}.operator_requeue((select jsonb_agg(jsonb_build_object('id', id)) from {name}.jobs), 'x', true);
                 select {name}.pause_queue('q'); select {name}.reap_expired_jobs(); select {name}.prune_history('1 day')"
            ))
            .await
            .unwrap_or_else(|error| panic!("{schema}: {error:?}"));
        assert_eq!(count(&client, &format!("select from {name}.jobs where attempts = 1")).await, 1);
    }
}

#[tokio::test]
async fn a_failure_leaves_nothing_half_done() {
    let database = pg::bare_database().await;
    let mut client = database.client().await;
    // A type under the name of a table is found by nobody beforehand: a statement in the middle fails.
    client.batch_execute("create schema q; create type q.history_minutes as enum ('x')").await.expect("in the way");
    let before = objects(&client).await;
    let error = migrate::run(&mut client, &into("q")).await.expect_err("refused");
    assert!(error.to_string().ends_with("nothing was changed"), "{error}");
    assert_eq!(objects(&client).await, before);
    client.batch_execute("drop type q.history_minutes").await.expect("out of the way");
    migrate::run(&mut client, &into("q")).await.expect("and then it works");
    let mut other = database.client().await;
    other.batch_execute("create type history_minutes as enum ('x')").await.expect("in the way");
    migrate::run(&mut other, &into("fresh")).await.expect("another schema is not concerned");
}

#[tokio::test]
async fn a_newer_schema_is_left_alone() {
    let database = pg::database().await;
    let mut client = database.client().await;
    let newer = format!(
        "insert into {HISTORY_TABLE} select version + 1, 'later', applied_on, checksum from {HISTORY_TABLE}
         order by version desc limit 1"
    );
    client.batch_execute(&newer).await.expect("a later version");
    let error = migrate::run(&mut client, &Options::default()).await.expect_err("refused");
    assert!(matches!(error, MigrateError::Newer { .. }));
    let next = latest_version() + 1;
    assert!(error.to_string().contains(&format!("version {next}")), "{error}");
    assert!(error.to_string().ends_with("use a newer queuetop"), "{error}");
    assert!(migrate::print_for(&client, &Options::default()).await.is_err());
}

#[tokio::test]
async fn changed_files_are_noticed() {
    let database = pg::database().await;
    let mut client = database.client().await;
    let changed = format!("update {HISTORY_TABLE} set checksum = '1' where version = 3");
    client.batch_execute(&changed).await.expect("another history");
    let error = migrate::run(&mut client, &Options::default()).await.expect_err("refused");
    assert!(matches!(error, MigrateError::History(_)), "{error}");
    assert!(error.to_string().contains("V3__counters"), "{error}");
}

#[tokio::test]
async fn the_prefix_of_the_roles_is_remembered() {
    let server = tokio::task::spawn_blocking(pg::own_server).await.expect("a server");
    let mut client = pg::connect(&server.dsn("postgres")).await;
    let options = Options { role_prefix: Some("shop \"a\" ".to_owned()), ..Options::default() };
    migrate::run(&mut client, &options).await.expect("installed");
    let roles = "select string_agg(rolname, ',' order by rolname) from pg_roles where rolname like '%queue_%'";
    assert_eq!(
        one::<String>(&client, roles, &[]).await,
        "shop \"a\" queue_operator,shop \"a\" queue_viewer,shop \"a\" queue_worker"
    );
    let report = migrate::run(&mut client, &Options::default()).await.expect("without naming it again");
    assert!(report.applied.is_empty());
    let other = Options { role_prefix: Some("b".to_owned()), ..Options::default() };
    let error = migrate::run(&mut client, &other).await.expect_err("refused");
    assert!(error.to_string().contains("shop"), "{error}");
}

#[tokio::test]
async fn without_the_right_to_create_the_error_says_what_to_run() {
    let server = tokio::task::spawn_blocking(pg::own_server).await.expect("a server");
    let admin = pg::connect(&server.dsn("postgres")).await;
    admin.batch_execute("create role plain login; create schema q authorization plain").await.expect("a role");
    let mut plain = pg::connect(&server.dsn("postgres").replace("user=postgres", "user=plain")).await;
    for (schema, grant) in
        [("public", "grant create on schema \"public\" to \"plain\""), ("new", "grant create on database")]
    {
        let error = migrate::run(&mut plain, &into(schema)).await.expect_err("refused");
        assert!(error.to_string().contains(grant), "{error}");
    }
    let error = migrate::run(&mut plain, &into("q")).await.expect_err("refused").to_string();
    let statements =
        error.split("run: ").nth(1).and_then(|rest| rest.strip_suffix(" then migrate again")).expect("a script");
    admin.batch_execute(statements).await.expect("it can be run as it stands");
    migrate::run(&mut plain, &into("q")).await.expect("and then it works, without any right to create roles");
    assert_eq!(count(&plain, "select from q.jobs").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_pooler_is_recognised() {
    let database = pg::bare_database().await;
    let (first, second) = (database.client().await, database.client().await);
    assert!(!migrate::is_pooled(&first, &second).await.expect("asked"));
    for (mode, pool, pooled) in [("transaction", 1, true), ("transaction", 3, true), ("session", 3, false)] {
        let Some(bouncer) = Bouncer::start(mode, pool) else { return };
        let dsn = bouncer.dsn(database.name());
        let (first, second) = (pg::connect(&dsn).await, pg::connect(&dsn).await);
        assert_eq!(migrate::is_pooled(&first, &second).await.expect("asked"), pooled, "{mode} {pool}");
    }
}
