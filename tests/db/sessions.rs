//! Sessions: batches, limits, what they leave behind, how they end.

use std::time::{Duration, Instant};

use queuetop::db::{Class, Limits, Purpose, Statement, Text};
use queuetop::model::{Time, TlsState};
use queuetop::private_pg::Shutdown;

use super::{LIMITS, connector, session, value};
use crate::support::pg;

#[tokio::test]
async fn a_batch_is_one_snapshot_with_limits_in_force() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    let facts = session.facts();
    assert!(facts.is_local() && facts.direct && !facts.standby, "{facts:?}");
    assert_eq!((facts.tls, facts.user.as_str()), (TlsState::Socket, "postgres"));
    let statements = [
        Statement::new("select current_setting('statement_timeout'), current_setting('lock_timeout')"),
        Statement::new("select current_setting('idle_in_transaction_session_timeout')"),
        Statement::new("select current_setting('transaction_isolation'), current_setting('transaction_read_only')"),
        Statement::new("select $1::int8 + 1, $2::timestamptz").int8(41).time(Time::Infinity),
    ];
    let batch = session.read_many("limits", &statements, LIMITS).await.unwrap();
    let text = |row: usize, column: usize| batch.rows[row][0].get::<_, String>(column);
    assert_eq!((text(0, 0), text(0, 1), text(1, 0)), ("5s".into(), "1s".into(), "7s".into()));
    assert_eq!((text(2, 0), text(2, 1)), ("repeatable read".into(), "on".into()));
    assert_eq!((batch.rows[3][0].get::<_, i64>(0), batch.rows[3][0].get::<_, Time>(1)), (42, Time::Infinity));
    assert!(batch.cost < Duration::from_secs(1) && batch.server_time > Time::At(0));
    assert!(session.busy() >= batch.cost);
    let name = "select application_name from pg_stat_activity where pid = pg_backend_pid()";
    assert_eq!(value::<String>(&session, name).await.unwrap(), "queuetop");
}

#[tokio::test]
async fn one_failure_in_a_batch_leaves_the_others_where_asked_for() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    let statements = ["select 1", "select 1/0", "select * from nowhere", "select 2"].map(Statement::new);
    let answers = session.read_each("each", &statements, LIMITS).await.unwrap();
    let classes: Vec<_> =
        answers.iter().map(|answer| answer.as_ref().map_err(|error| &error.class).map(Vec::len)).collect();
    assert_eq!(classes, [Ok(1), Err(&Class::Other), Err(&Class::Undefined), Ok(1)]);
    let error = session.read_many("all", &statements, LIMITS).await.unwrap_err();
    assert_eq!(error.sqlstate.as_deref(), Some("22012"));
}

#[tokio::test]
async fn reading_is_read_only_and_leaves_no_transaction_open() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    assert_eq!(value::<String>(&session, "show default_transaction_read_only").await.unwrap(), "on");
    database.client().await.batch_execute("create table s (n int); create sequence q").await.unwrap();
    for write in ["create table t ()", "select nextval('q')", "insert into s values (1)", "select n from s for update"]
    {
        assert_eq!(value::<i64>(&session, write).await.unwrap_err().class, Class::ReadOnly, "{write}");
    }
    let write = Statement::new("create table t ()");
    let error = session.call("write", &write, LIMITS).await.unwrap_err();
    assert_eq!((error.class, error.maybe_done), (Class::ReadOnly, false), "the session itself refuses, too");
    let state = "select state from pg_stat_activity where application_name = 'queuetop' and datname = $1";
    let admin = database.client().await;
    let rows = admin.query(state, &[&database.name()]).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>(), ["idle"]);
    // A caller that goes away in the middle leaves nothing open either.
    let slow = [Statement::new("select pg_sleep(0.2)::text")];
    let _ = tokio::time::timeout(Duration::from_millis(50), session.read_many("slow", &slow, LIMITS)).await;
    assert_eq!(value::<i32>(&session, "select 1").await.unwrap(), 1);
    assert_eq!(admin.query(state, &[&database.name()]).await.unwrap()[0].get::<_, String>(0), "idle");
}

#[tokio::test]
async fn acting_changes_all_or_nothing() {
    let database = pg::bare_database().await;
    let act = connector(&database.dsn()).connect(Purpose::Act).await.unwrap();
    let call = |sql: &'static str| Statement::new(sql);
    act.call("make", &call("create table t (n int primary key)"), LIMITS).await.unwrap();
    let rows = act.call("fill", &call("insert into t select generate_series(1, 3) returning n"), LIMITS).await.unwrap();
    assert_eq!(rows.len(), 3);
    let error = act.call("clash", &call("insert into t values (4), (1)"), LIMITS).await.unwrap_err();
    assert_eq!((error.sqlstate.as_deref(), error.maybe_done), (Some("23505"), false));
    assert!(error.more.iter().any(|line| line.contains("Key (n)=(1) already exists")), "{:?}", error.more);
    assert_eq!(value::<i64>(&act, "select count(*) from t").await.unwrap(), 3);
    // Our limits hold there, too.
    let limits = Limits { statement: Duration::from_millis(100), ..LIMITS };
    let error = act.call("slow", &call("select pg_sleep(9)::text"), limits).await.unwrap_err();
    assert_eq!((error.class, error.maybe_done), (Class::StatementTimeout, false));
    let admin = database.client().await;
    admin.batch_execute("begin; lock table t").await.unwrap();
    let limits = Limits { lock: Duration::from_millis(100), ..LIMITS };
    let error = act.call("wait", &call("delete from t"), limits).await.unwrap_err();
    assert_eq!(error.class, Class::LockTimeout);
    assert!(error.to_string().contains("queuetop's own limit of 100 ms"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_lost_is_told_as_unknown() {
    let mut server = pg::own_server();
    let act = connector(&server.dsn("postgres")).connect(Purpose::Act).await.unwrap();
    let slow = Statement::new("select pg_sleep(9)::text");
    let (lost, ()) = tokio::join!(act.call("act", &slow, Limits::within(Duration::from_secs(9))), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.shut_down(Shutdown::Kill).unwrap();
    });
    let error = lost.unwrap_err();
    assert!(error.maybe_done && error.is_link_lost(), "{error:?}");
    assert!(error.to_string().contains("may or may not"), "{error}");
    // What was never sent has surely not happened.
    let error = act.call("act", &slow, LIMITS).await.unwrap_err();
    assert!(!error.maybe_done && error.is_link_lost(), "{error:?}");
}

#[tokio::test]
async fn limits_are_named_as_ours_and_three_ends_have_three_texts() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    let limits = Limits { statement: Duration::from_millis(200), ..LIMITS };
    let slow = || Statement::new("select pg_sleep(9)::text");
    let error = session.read_one("slow", slow(), limits).await.unwrap_err();
    assert_eq!(error.class, Class::StatementTimeout);
    assert!(error.to_string().contains("queuetop's own limit of 200 ms"), "{error}");
    let (cancelled, ()) = tokio::join!(session.read_one("slow", slow(), LIMITS), async {
        let admin = database.client().await;
        let cancel = "select count(pg_cancel_backend(pid)) from pg_stat_activity where query like '%pg_sleep(9)%' \
            and application_name = 'queuetop' and state = 'active' and datname = current_database()";
        while admin.query(cancel, &[]).await.unwrap()[0].get::<_, i64>(0) == 0 {}
    });
    let error = cancelled.unwrap_err();
    assert!(error.class == Class::Cancelled && error.to_string().contains("somebody cancelled"), "{error}");
    assert_eq!(value::<i32>(&session, "select 1").await.unwrap(), 1, "the session goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_deadline_cancels_what_runs_and_gives_the_session_up() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    let limits = Limits { deadline: Duration::from_millis(200), ..LIMITS };
    let started = Instant::now();
    let slow = Statement::new("select pg_sleep(4.5)::text");
    let error = session.read_one("numbers", slow, limits).await.unwrap_err();
    assert_eq!(error.class, Class::Deadline);
    assert!(error.to_string().contains("numbers took longer than queuetop's own limit of 200 ms"), "{error}");
    let error = value::<i32>(&session, "select 1").await.unwrap_err();
    assert!(error.is_link_lost());
    session.end().await;
    let admin = database.client().await;
    let count =
        "select count(*) from pg_stat_activity where application_name = 'queuetop' and datname = current_database()";
    while admin.query(count, &[]).await.unwrap()[0].get::<_, i64>(0) > 0 {}
    assert!(started.elapsed() < Duration::from_secs(3), "the server was told to stop");
}

#[tokio::test]
async fn running_statements_can_be_cancelled() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    let started = Instant::now();
    let slow = Statement::new("select pg_sleep(4.5)::text");
    let (result, ()) = tokio::join!(session.read_one("slow", slow, LIMITS), async {
        let admin = database.client().await;
        let active = "select count(*) from pg_stat_activity where query like '%pg_sleep(4.5)%' \
            and application_name = 'queuetop' and state = 'active' and datname = current_database()";
        while admin.query(active, &[]).await.unwrap()[0].get::<_, i64>(0) == 0 {}
        session.cancel_running().await;
    });
    assert_eq!(result.unwrap_err().class, Class::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn the_log_has_texts_and_no_values() {
    let database = pg::bare_database().await;
    let connector = connector(&database.dsn());
    let session = connector.connect(Purpose::Read).await.unwrap();
    let ask = Statement::new("select $1::text").text("s3cr3t".to_owned());
    session.read_one("echo", ask, LIMITS).await.unwrap();
    let _ = value::<i32>(&session, "select 1/0").await;
    let log = connector.log().latest(2);
    assert_eq!((log[1].label, &*log[1].sql, log[1].rows), ("echo", "select $1::text", 1));
    assert_eq!(log[0].error.as_deref(), Some("division by zero"));
    assert!(!format!("{:?}", connector.log().latest(100)).contains("s3cr3t"));
    for _ in 0..600 {
        value::<i32>(&session, "select 1").await.unwrap();
    }
    assert_eq!(connector.log().latest(1000).len(), 500);
}

#[tokio::test]
async fn times_have_no_limits() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    let sql = "select 'infinity'::timestamptz, '-infinity'::timestamptz, '280000-01-01 UTC'::timestamptz, \
        min(t), max(t), null::timestamptz from (values ('-infinity'::timestamptz), ('infinity')) v(t)";
    let row = &session.read_one("times", Statement::new(sql), LIMITS).await.unwrap()[0];
    let time = |column: usize| row.get::<_, Option<Time>>(column);
    assert_eq!((time(0), time(1)), (Some(Time::Infinity), Some(Time::NegInfinity)));
    assert!(matches!(time(2), Some(Time::At(micros)) if micros > 8_000_000_000_000_000_000));
    assert_eq!((time(3), time(4), time(5)), (Some(Time::NegInfinity), Some(Time::Infinity), None));
}

#[tokio::test]
async fn text_that_is_no_text_is_read_all_the_same() {
    let admin = pg::connect(&pg::server().dsn("postgres")).await;
    admin.batch_execute("drop database if exists raw_bytes").await.unwrap();
    let create = "create database raw_bytes encoding 'SQL_ASCII' template template0 lc_collate 'C' lc_ctype 'C'";
    admin.batch_execute(create).await.unwrap();
    let session = session(&pg::server().dsn("raw_bytes")).await;
    let sql =
        r"select convert_from('\x636166e920ff', 'SQL_ASCII'), 'naïve', convert_from('\xff', 'SQL_ASCII')::varchar";
    let row = &session.read_one("bytes", Statement::new(sql), LIMITS).await.unwrap()[0];
    let text = |column: usize| row.get::<_, Text>(column).0;
    assert_eq!((text(0), text(1), text(2)), (r"caf\xE9 \xFF".into(), "naïve".into(), r"\xFF".into()));
}

#[tokio::test]
async fn missing_rights_name_the_object() {
    let database = pg::bare_database().await;
    let admin = database.client().await;
    let role = format!("viewer_of_{}", database.name());
    admin.batch_execute(&format!("create table hidden (); create role {role} login")).await.unwrap();
    let session = session(&database.dsn_as(&role)).await;
    assert_eq!(session.facts().user, role);
    let error = value::<i32>(&session, "select 1 from hidden").await.unwrap_err();
    assert_eq!(error.class, Class::Denied(Some("table hidden".into())));
    assert!(error.is_denied() && !error.is_retryable());
    drop(session);
    admin.batch_execute(&format!("drop role {role}")).await.unwrap();
}

#[tokio::test]
async fn all_slots_taken_is_retryable() {
    let database = pg::bare_database().await;
    let admin = database.client().await;
    let role = format!("one_of_{}", database.name());
    admin.batch_execute(&format!("create role {role} login connection limit 1")).await.unwrap();
    let dsn = database.dsn_as(&role);
    let first = session(&dsn).await;
    let error = super::refusal(&dsn).await;
    assert_eq!(error.class, Class::TooManyConnections);
    assert!(error.is_retryable() && !error.is_final());
    drop(first);
    while connector(&dsn).connect(Purpose::Read).await.is_err() {}
    admin.batch_execute(&format!("drop role {role}")).await.unwrap();
}
