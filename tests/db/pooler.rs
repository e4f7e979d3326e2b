//! Through a real PgBouncer: nothing relies on session state, and nothing of ours stays behind in it.

use std::time::{Duration, Instant};

use futures::future::join_all;
use queuetop::db::{Class, Limits, Listening, Purpose, Statement, listen};

use super::{LIMITS, connector, refusal, session, value};
use crate::support::{bouncer::Bouncer, pg};

#[tokio::test(flavor = "multi_thread")]
async fn limits_and_read_only_hold_in_transaction_mode_and_nothing_stays_behind() {
    let Some(bouncer) = Bouncer::start("transaction", 1) else { return };
    let database = pg::bare_database().await;
    for dsn in [bouncer.dsn(database.name()), bouncer.socket_dsn(database.name())] {
        let session = session(&dsn).await;
        assert!(!session.facts().direct, "the pooler is noticed");
        for (setting, expected) in
            [("statement_timeout", "5s"), ("lock_timeout", "1s"), ("transaction_read_only", "on")]
        {
            assert_eq!(value::<String>(&session, &format!("show {setting}")).await.unwrap(), expected);
        }
        let limits = Limits { statement: Duration::from_millis(200), ..LIMITS };
        let slow = Statement::new("select pg_sleep(9)::text");
        assert_eq!(session.read_one("slow", slow, limits).await.unwrap_err().class, Class::StatementTimeout);
        assert_eq!(value::<i32>(&session, "create table t ()").await.unwrap_err().class, Class::ReadOnly);
        // Another program gets the same server session, untouched: there is only one.
        let other = pg::connect(&dsn).await;
        let settings = "select concat_ws(' ', pg_backend_pid() = $1, current_setting('statement_timeout'), \
            current_setting('default_transaction_read_only'), current_setting('jit'), current_setting('lock_timeout'))";
        let pid = value::<i32>(&session, "select pg_backend_pid()").await.unwrap();
        let params: &[(&(dyn tokio_postgres::types::ToSql + Sync), _)] = &[(&pid, tokio_postgres::types::Type::INT4)];
        let rows = other.query_typed(settings, params).await.unwrap();
        assert_eq!(rows[0].get::<_, String>(0), "t 0 off on 0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_on_few_server_sessions_never_meet() {
    let Some(bouncer) = Bouncer::start("transaction", 3) else { return };
    let database = pg::bare_database().await;
    database.client().await.batch_execute("create table t (n int8)").await.unwrap();
    let dsn = bouncer.dsn(database.name());
    let client = async |number: i64| {
        let reader = session(&dsn).await;
        let writer = connector(&dsn).connect(Purpose::Act).await.unwrap();
        for round in 0..60 {
            let asks = [
                Statement::new("select $1::int8").int8(number),
                Statement::new("select $1::text").text("x".to_owned()),
            ];
            let batch = reader.read_many("poll", &asks, LIMITS).await.unwrap();
            assert_eq!(batch.rows[0][0].get::<_, i64>(0), number);
            if round % 10 == 0 {
                let insert = Statement::new("insert into t values ($1)").int8(number);
                writer.call("act", &insert, LIMITS).await.unwrap();
            }
        }
    };
    join_all((0..6).map(client)).await;
    assert_eq!(value::<i64>(&session(&dsn).await, "select count(*) from t").await.unwrap(), 36);
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_are_probed() {
    let database = pg::bare_database().await;
    for (mode, arrive) in [("transaction", false), ("session", true)] {
        let Some(bouncer) = Bouncer::start(mode, 5) else { return };
        let dsn = bouncer.dsn(database.name());
        let (one, other) = (session(&dsn).await, session(&dsn).await);
        match (listen(&one, &other, &["news".to_owned()]).await.unwrap(), arrive) {
            (Listening::Live(mut listener), true) => {
                database.client().await.batch_execute("notify news, 'x'").await.unwrap();
                assert_eq!(listener.next().await.unwrap().payload, "x");
            }
            (Listening::PollOnly(reason), false) => assert!(reason.contains("pooler"), "{reason}"),
            (listening, _) => panic!("{mode}: {listening:?}"),
        }
        // Where the settings say what is in between, nothing is left behind by trying.
        if mode == "transaction" {
            let uri = format!("postgres://postgres@127.0.0.1:{}/{}?pgbouncer=true", bouncer.port, database.name());
            let (one, other) = (session(&uri).await, session(&uri).await);
            let listening = listen(&one, &other, &["news".to_owned()]).await.unwrap();
            assert!(matches!(listening, Listening::PollOnly(reason) if reason.contains("transaction mode")));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_can_be_cancelled_and_the_pooler_survives_it() {
    let Some(bouncer) = Bouncer::start("transaction", 2) else { return };
    let database = pg::bare_database().await;
    let dsn = bouncer.dsn(database.name());
    for _ in 0..5 {
        let session = session(&dsn).await;
        let started = Instant::now();
        let limits = Limits { deadline: Duration::from_millis(200), ..LIMITS };
        let error = session.read_one("slow", Statement::new("select pg_sleep(4.5)::text"), limits).await.unwrap_err();
        assert_eq!(error.class, Class::Deadline);
        session.end().await;
        let admin = database.client().await;
        let running = "select count(*) from pg_stat_activity where query like '%pg_sleep(4.5)%' and state = 'active' \
            and datname = current_database() and pid <> pg_backend_pid()";
        while admin.query_typed(running, &[]).await.unwrap()[0].get::<_, i64>(0) > 0 {}
        assert!(started.elapsed() < Duration::from_secs(4), "the statement was cancelled");
    }
    assert_eq!(value::<i32>(&session(&dsn).await, "select 1").await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_pooler_does_not_pass_on_is_named() {
    let Some(bouncer) = Bouncer::start("transaction", 2) else { return };
    let error = refusal(&format!("{} options='-c work_mem=1MB'", bouncer.dsn("postgres"))).await;
    assert!(error.class == Class::Settings && error.is_final(), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("unsupported startup parameter: options") && text.contains("ignore_startup_parameters"),
        "{text}"
    );
}
