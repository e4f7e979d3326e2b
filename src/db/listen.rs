//! Listening for notifications, and finding out whether they arrive at all: poolers accept LISTEN and deliver nothing,
//! without an error. So a session of ours sends one to another session of ours.

use std::time::Duration;

use tokio::{sync::mpsc, time::timeout};

use super::{
    errors::{Class, DbError},
    link::Notice,
    session::Session,
    statement::{Limits, Statement},
};

/// How long our own notification may take.
const PROBE: Duration = Duration::from_secs(2);
const LIMITS: Limits = Limits::within(Duration::from_secs(3));

/// How the changes of a database become known.
#[derive(Debug)]
pub enum Listening {
    /// Notifications arrive.
    Live(Listener),
    /// They do not, for this reason: only polling tells.
    PollOnly(String),
}

/// Notifications of a session that listens.
#[derive(Debug)]
pub struct Listener {
    notices: mpsc::Receiver<Notice>,
}

impl Listener {
    /// The next notification; `None` when the session has ended. Can be dropped and called again.
    pub async fn next(&mut self) -> Option<Notice> {
        self.notices.recv().await
    }
}

/// Makes `session` listen on `channels` and proves with `other`, a session to the same database, that notifications
/// arrive. When this returns `Live`, every later change is told. Uses up the session's notices.
///
/// # Errors
/// When the session has died.
pub async fn listen(session: &Session, other: &Session, channels: &[String]) -> Result<Listening, DbError> {
    if session.facts().standby {
        return Ok(Listening::PollOnly("a standby sends no notifications".to_owned()));
    }
    // Trying would leave LISTEN behind in a server session that is not ours.
    if session.is_pooled() {
        return Ok(Listening::PollOnly("a pooler in transaction mode delivers no notifications".to_owned()));
    }
    let Some(mut notices) = session.take_notices() else {
        return Ok(Listening::PollOnly("this session listens already".to_owned()));
    };
    let probe = format!("queuetop_probe_{}", uuid::Uuid::new_v4().simple());
    let wanted = channels.iter().map(String::as_str).chain([probe.as_str()]);
    let sql: Vec<String> = wanted.map(|channel| format!("listen {}", quoted(channel))).collect();
    if let Err(error) = session.control("listen", &sql.join("; "), LIMITS).await {
        return poll_only(error);
    }
    let notify = Statement::new("select pg_notify($1, '')").text(probe.clone());
    if let Err(error) = other.read_one("listen", notify, LIMITS).await {
        return poll_only(error);
    }
    let arrived = async {
        while let Some(notice) = notices.recv().await {
            if notice.channel == probe {
                return true;
            }
        }
        false
    };
    if !timeout(PROBE, arrived).await.unwrap_or(false) {
        // What we cannot use must not stay behind in somebody's server session.
        session.control("listen", "unlisten *", LIMITS).await?;
        return Ok(Listening::PollOnly("notifications do not arrive, probably a pooler is in between".to_owned()));
    }
    session.control("listen", &format!("unlisten {}", quoted(&probe)), LIMITS).await?;
    Ok(Listening::Live(Listener { notices }))
}

/// Takes every LISTEN of a session back. A session that cannot do it any more is cut, which does the same.
pub async fn stop_listening(session: &Session) {
    if session.control("listen", "unlisten *", LIMITS).await.is_err() {
        session.link.cutter().abort();
    }
}

/// A dead session is an error; a refusal only means that we poll.
fn poll_only(error: DbError) -> Result<Listening, DbError> {
    match error.class {
        Class::ReadOnly => Ok(Listening::PollOnly("the server is read-only and sends no notifications".to_owned())),
        _ if error.is_link_lost() => Err(error),
        _ => Ok(Listening::PollOnly(error.message)),
    }
}

/// A name as an SQL identifier.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
