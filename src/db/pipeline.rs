//! Several statements sent at once and answered one after the other: about one round trip for a whole transaction, and
//! nothing left open on the server when the caller goes away in the middle.

use std::{
    pin::Pin,
    time::{Instant, SystemTime},
};

use futures::{
    Future, TryStreamExt,
    future::{MaybeDone, maybe_done},
    poll,
};
use tokio_postgres::{
    Client, Error, Row,
    types::{ToSql, Type},
};

use super::{
    errors::DbError,
    sqllog::{SqlLog, SqlLogEntry},
    statement::Statement,
};

/// One thing to send.
pub(super) enum Step<'a> {
    /// Ours, without result: `begin`, `set local`, `commit`. Several statements may stand in one text.
    Control(&'a str),
    /// A statement with a result.
    Ask(&'a Statement),
    /// Near the end of a transaction: when it began and what time it is by the server's clock, and whether the
    /// server is a standby now. Not logged.
    Clock,
}

const CLOCK: &str = "select transaction_timestamp(), clock_timestamp(), pg_is_in_recovery()";

type Answer<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + Send + 'a>>;

/// Sends all steps, then collects all answers, in order. Statements are logged under `label`.
pub(super) async fn run(
    client: &Client,
    steps: &[Step<'_>],
    label: &'static str,
    log: &SqlLog,
) -> Vec<Result<Vec<Row>, Error>> {
    let mut answers: Vec<MaybeDone<Answer<'_>>> = steps.iter().map(|step| maybe_done(start(client, step))).collect();
    // A request is written when its future is first polled: one round in order sends them all.
    for answer in &mut answers {
        let _ = poll!(&mut *answer);
    }
    let mut results = Vec::with_capacity(answers.len());
    let mut since = Instant::now();
    for (mut answer, step) in answers.into_iter().zip(steps) {
        (&mut answer).await;
        let Some(result) = Pin::new(&mut answer).take_output() else {
            continue;
        };
        if let Step::Ask(statement) = step {
            log.push(entry(label, statement, &result, since));
        }
        since = Instant::now();
        results.push(result);
    }
    results
}

fn start<'a>(client: &'a Client, step: &'a Step<'_>) -> Answer<'a> {
    match step {
        Step::Control(sql) => Box::pin(async move { client.batch_execute(sql).await.map(|()| Vec::new()) }),
        Step::Ask(statement) => Box::pin(async move {
            let params = statement.params.iter().map(borrow);
            client.query_typed_raw(&statement.sql, params).await?.try_collect().await
        }),
        Step::Clock => Box::pin(client.query_typed(CLOCK, &[])),
    }
}

fn borrow((value, r#type): &(super::statement::Param, Type)) -> (&(dyn ToSql + Sync), Type) {
    (value.as_ref(), r#type.clone())
}

fn entry(label: &'static str, statement: &Statement, result: &Result<Vec<Row>, Error>, since: Instant) -> SqlLogEntry {
    SqlLogEntry {
        at: SystemTime::now(),
        label,
        sql: statement.sql.clone(),
        micros: u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX),
        rows: result.as_ref().map_or(0, |rows| rows.len() as u64),
        error: result.as_ref().err().map(|error| DbError::of_driver(error).message),
    }
}
