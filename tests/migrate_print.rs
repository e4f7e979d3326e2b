//! The migrations as plain SQL: a script that psql runs does what `migrate` does, and `migrate` goes on from there.

use std::io::Write as _;
use std::process::{Command, Stdio};

use queuetop::engine::migrate::{self, Options, latest_version};

use crate::support::needs;
use crate::support::pg::{self, Database};
use crate::support::queue::{count, one};
use crate::support::table_queue::statement;

/// Runs a script by psql; standard error when it fails.
fn psql(database: &Database, script: &str) -> Option<Result<(), String>> {
    let program = needs::server_program("psql", pg::server().bin_dir())?;
    let mut child = Command::new(program)
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &database.dsn()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql starts");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(script.as_bytes());
    let output = child.wait_with_output().expect("psql ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(if output.status.success() { Ok(()) } else { Err(said) })
}

#[tokio::test]
async fn a_script_installs_what_migrate_installs() {
    for schema in ["public", "Job \"Queue\" it's"] {
        let options = Options { schema: schema.to_owned(), ..Options::default() };
        let script = migrate::print(&options, None).expect("a script");
        let (by_script, by_migrate) = (pg::bare_database().await, pg::bare_database().await);
        let Some(done) = psql(&by_script, &script) else { return };
        done.unwrap_or_else(|said| panic!("{said}"));
        let mut client = by_migrate.client().await;
        migrate::run(&mut client, &options).await.expect("installed");
        let mut scripted = by_script.client().await;
        let objects = "select md5(string_agg(o, '|' order by o)) from (
            select format('%s %s %s', relname, relkind, relacl) o from pg_class where relnamespace = $1::text::regnamespace
            union all
            select format('%s %s', pg_get_functiondef(p.oid), proacl) from pg_proc p where pronamespace = $1::text::regnamespace
            union all
            select format('%s %s', version, checksum) from SCHEMA.queuetop_migrations) s";
        let name = migrate::quote_ident(schema);
        let objects = objects.replace("SCHEMA", &name);
        assert_eq!(
            one::<String>(&scripted, &objects, &[&name]).await,
            one::<String>(&client, &objects, &[&name]).await
        );
        let report = migrate::run(&mut scripted, &options).await.expect("migrate accepts the history");
        assert!(report.applied.is_empty());
        let again = psql(&by_script, &script).expect("psql").expect_err("the guard");
        assert!(again.contains(&format!("found is {}", latest_version())), "{again}");
    }
}

#[tokio::test]
async fn a_script_takes_plain_tables_over_and_refuses_what_migrate_refuses() {
    let script = migrate::print(&Options::default(), None).expect("a script");
    let database = pg::bare_database().await;
    let client = database.client().await;
    for name in ["jobs", "indexes", "claim function", "dead letters"] {
        client.batch_execute(&statement(name, &[])).await.expect("the plain objects");
    }
    client.batch_execute("insert into jobs (queue, payload) values ('emails', '{}')").await.expect("a row");
    let Some(refused) = psql(&database, &script) else { return };
    let said = refused.expect_err("a foreign function");
    assert!(said.contains("function public.claim_jobs(") && said.contains("not queuetop's"), "{said}");
    let options = Options { replace_functions: true, ..Options::default() };
    let script = migrate::print(&options, None).expect("a script");
    psql(&database, &script).expect("psql").unwrap_or_else(|said| panic!("{said}"));
    assert_eq!(one::<i64>(&client, "select sum(n)::bigint from job_counts", &[]).await, 1, "counted");
    assert_eq!(count(&client, "select from claim_jobs('emails', gen_random_uuid())").await, 1);

    for (tables, why) in [
        ("create table jobs (queue text) partition by list (queue)", "public.jobs is not queuetop's"),
        ("create table workers (id int)", "public.workers is not queuetop's"),
    ] {
        let database = pg::bare_database().await;
        let client = database.client().await;
        client.batch_execute(tables).await.expect("tables");
        let said = psql(&database, &script).expect("psql").expect_err("refused");
        assert!(said.contains(why), "{said}");
        assert_eq!(count(&client, "select from pg_proc where pronamespace = 'public'::regnamespace").await, 0);
    }
}

#[tokio::test]
async fn a_script_for_an_upgrade_begins_where_the_database_is() {
    let database = pg::database().await;
    let client = database.client().await;
    let script = migrate::print_for(&client, &Options::default()).await.expect("a script");
    assert!(!script.contains("create table"), "nothing is missing");
    let Some(done) = psql(&database, &script) else { return };
    done.unwrap_or_else(|said| panic!("{said}"));
    let bare = pg::bare_database().await;
    let said = psql(&bare, &script).expect("psql").expect_err("another version");
    assert!(said.contains("found is none"), "{said}");
}
