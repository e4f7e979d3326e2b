//! Asks the questions of the checks. One that fails leaves the others alone; a lost session is made anew once for each.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::db::{Connector, DbError, Json, Limits, Purpose, Session, Statement};
use crate::model::Time;
use crate::model::checkup::{Answer, Arg, Question, Unanswered};

/// For each question.
const LIMITS: Limits = Limits::within(Duration::from_secs(5));

/// Asks one question.
///
/// # Errors
/// What the database says.
pub async fn ask(session: &Session, question: &Question) -> Result<Answer, DbError> {
    // The line breaks keep a comment at its end from swallowing what follows.
    let sql = format!("select row_to_json(answer) as answer from (\n{}\n) as answer", question.sql);
    let statement = question.args.iter().fold(Statement::new(sql), |statement, arg| match arg {
        Arg::Text(text) => statement.text(text.clone()),
        Arg::Texts(texts) => statement.texts(texts.clone()),
    });
    let started = Instant::now();
    let batch = session.read_many("check", &[statement], LIMITS).await?;
    let (took, now) = (started.elapsed(), now());
    let json = |row: &tokio_postgres::Row| row.try_get::<_, Json>(0).map(|json| json.0);
    let rows: Result<Vec<_>, _> = batch.rows.iter().flatten().map(json).collect();
    let rows = rows.map_err(|error| DbError::of_driver(&error))?;
    Ok(Answer { rows, server_time: batch.server_time, client_time: now.minus(took / 2), took })
}

/// Asks all of them, in order. `None` stays `None`.
pub async fn ask_all(
    connector: &Connector,
    session: Session,
    questions: &[Option<Question>],
) -> Vec<Option<Result<Answer, Unanswered>>> {
    let mut session = session;
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        let Some(question) = question else {
            answers.push(None);
            continue;
        };
        if session.ended().is_some()
            && let Ok(again) = connector.connect(Purpose::Read).await
        {
            session = again;
        }
        answers.push(Some(ask(&session, question).await.map_err(|error| unanswered(&error))));
    }
    answers
}

/// The server's words alone: the next step that an error names is to come here.
fn unanswered(error: &DbError) -> Unanswered {
    let code = error.sqlstate.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
    Unanswered { denied: error.is_denied(), why: format!("{}{code}", error.message) }
}

/// This machine's clock: only ever compared with the server's.
fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::At(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
