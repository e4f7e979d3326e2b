//! The connection layer on a real PostgreSQL: sessions, limits, cuts, refusals.

mod auth;
mod conformance;
mod pooler;
mod secure;
mod sessions;
mod through_a_pooler;
mod tls;

use std::{collections::BTreeMap, ffi::OsString, path::Path, time::Duration};

use queuetop::db::{ConnInfo, ConnInfoError, Connector, DbError, Env, Limits, Purpose, Session, SqlLog, Statement};
use tokio_postgres::types::FromSqlOwned;

/// Enough for anything here.
const LIMITS: Limits = Limits::within(Duration::from_secs(5));

/// The real file system with these variables only, and `home` as home.
fn env(vars: &[(&str, &str)], home: &Path) -> Env {
    let vars: BTreeMap<String, OsString> = vars.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Env { vars, home: Some(home.to_owned()), ..Env::of_process() }
}

/// Settings as the program resolves them, with nothing from the surroundings of the test.
fn resolve(dsn: &str) -> Result<ConnInfo, ConnInfoError> {
    ConnInfo::resolve(Some(dsn), &env(&[], Path::new("/nonexistent")))
}

fn connector(dsn: &str) -> Connector {
    Connector::new(resolve(dsn).expect("a good DSN"), SqlLog::default())
}

async fn session(dsn: &str) -> Session {
    connector(dsn).connect(Purpose::Read).await.expect("a session")
}

/// Why there is no session.
async fn refusal(dsn: &str) -> DbError {
    connector(dsn).connect(Purpose::Read).await.expect_err("no session")
}

async fn value<T: FromSqlOwned>(session: &Session, sql: &str) -> Result<T, DbError> {
    let rows = session.read_one("test", Statement::new(sql), LIMITS).await?;
    Ok(rows[0].get(0))
}
