//! The connection layer on a real PostgreSQL: sessions, limits, cuts, refusals.

use std::time::Duration;

use queuetop::db::{Class, ConnInfo, Connector, DbError, Env, Limits, Purpose, Session, SqlLog, Statement};
use queuetop::model::{Time, TlsState};

use crate::support::pg;

/// Enough for anything here.
const LIMITS: Limits = Limits::within(Duration::from_secs(5));

/// Settings as the program resolves them, with nothing from the surroundings of the test.
fn connector(dsn: &str) -> Connector {
    let mut env = Env::of_process();
    env.vars.clear();
    Connector::new(ConnInfo::resolve(Some(dsn), &env).expect("a good DSN"), SqlLog::default())
}

async fn session(dsn: &str) -> Session {
    connector(dsn).connect(Purpose::Read).await.expect("a session")
}

async fn value<T>(session: &Session, sql: &str) -> Result<T, DbError>
where
    T: for<'a> tokio_postgres::types::FromSql<'a>,
{
    let rows = session.read_one("test", Statement::new(sql), LIMITS).await?;
    Ok(rows[0].get(0))
}

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
    // Nothing of it stays.
    assert_eq!(
        value::<String>(&session, "select current_setting('default_transaction_read_only')").await.unwrap(),
        "on"
    );
}

#[tokio::test]
async fn one_failure_in_a_batch_leaves_the_others_where_asked_for() {
    let database = pg::bare_database().await;
    let session = session(&database.dsn()).await;
    let statements = ["select 1", "select 1/0", "select * from nowhere", "select 2"].map(Statement::new);
    let answers = session.read_each("each", &statements, LIMITS).await.unwrap();
    let classes: Vec<_> =
        answers.iter().map(|answer| answer.as_ref().map(Vec::len).map_err(|e| e.class.clone())).collect();
    assert_eq!(classes, [Ok(1), Err(Class::Other), Err(Class::Undefined), Ok(1)]);
    let error = session.read_many("all", &statements, LIMITS).await.unwrap_err();
    assert_eq!(error.sqlstate.as_deref(), Some("22012"));
}
