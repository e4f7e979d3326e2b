//! `queuetop reaper`: takes back expired leases and removes what is too old, every while or once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::signal::unix::SignalKind;

use crate::args::ReaperArgs;
use crate::backends;
use crate::db::{Backoff, Connector, DbError, Purpose, Session};
use crate::engine::sweep::{Sweep, Swept};
use crate::model::BackendKind;
use crate::text::Safe;

use super::signals::Signals;
use super::target;
use super::{CommandError, nothing_there, tell};

/// Runs `queuetop reaper`. Without `--once` it goes on until a signal ends it, over any cut of the connection.
///
/// # Errors
/// Wrong usage; a database that cannot be reached at the start or lets this role do nothing; with `--once` any failure.
pub async fn run(args: ReaperArgs) -> Result<u8, CommandError> {
    if !(1..=10_000).contains(&args.batch) {
        return Err(CommandError::Usage(format!("--batch {}: it takes 1 to 10000", args.batch)));
    }
    let chosen = target::choose(args.target.dsn.as_deref(), None)?;
    chosen.may_change()?;
    let wanted = chosen.schema(args.target.schema);
    let connector = chosen.connector;
    let failed = |error: DbError| CommandError::Failed(error.to_string());
    let session = target::session(&connector, Purpose::Act).await?;
    let sweep = Sweep {
        schema: schema(&session, wanted.as_deref(), &connector).await?,
        batch: args.batch,
        keep_completed: args.keep_completed,
        keep_dead: args.keep_dead,
        keep_history: args.keep_history,
    };
    // The first round shows whether this role may do it at all.
    say(sweep.run(&session).await.map_err(failed)?)?;
    if args.once {
        return Ok(0);
    }
    until_a_signal(Box::pin(rounds(connector, session, sweep, args.every))).await
}

async fn schema(session: &Session, wanted: Option<&str>, connector: &Connector) -> Result<String, CommandError> {
    let found = backends::all(session, wanted).await.map_err(|error| CommandError::Failed(error.to_string()))?;
    let jobs = found.iter().find(|backend| backend.kind() == BackendKind::Jobs);
    jobs.map(|backend| backend.schema().to_owned())
        .ok_or_else(|| CommandError::Failed(nothing_there(connector, wanted)))
}

/// Round after round; a lost connection is made anew after growing pauses.
async fn rounds(connector: Arc<Connector>, session: Session, sweep: Sweep, every: Duration) {
    let mut session = Some(session);
    let mut backoff = Backoff::default();
    loop {
        tokio::time::sleep(every).await;
        let began = Instant::now();
        match round(&connector, &mut session, &sweep).await {
            Ok(swept) => {
                backoff.reset();
                if say(swept).is_err() {
                    return;
                }
            }
            Err(error) => {
                tell::note(Safe::full(&error.to_string()));
                tokio::time::sleep(backoff.after_failure(began.elapsed(), fastrand::f64())).await;
            }
        }
    }
}

async fn round(connector: &Connector, kept: &mut Option<Session>, sweep: &Sweep) -> Result<Swept, DbError> {
    let session = match kept.take().filter(|session| session.ended().is_none()) {
        Some(session) => session,
        None => connector.connect(Purpose::Act).await?,
    };
    let swept = sweep.run(&session).await?;
    *kept = Some(session);
    Ok(swept)
}

async fn until_a_signal(rounds: impl Future<Output = ()>) -> Result<u8, CommandError> {
    let mut signals = Signals::of(&[SignalKind::terminate(), SignalKind::interrupt()])?;
    tokio::select! {
        () = rounds => Ok(0),
        status = signals.next() => Ok(status),
    }
}

/// One line for a round that did something; a quiet round says nothing.
fn say(swept: Swept) -> Result<(), CommandError> {
    if swept == Swept::default() {
        return Ok(());
    }
    let Swept { requeued, dead, completed_removed, dead_removed, history_removed } = swept;
    tell::out(format_args!(
        "requeued {requeued}, dead-lettered {dead}; removed {completed_removed} completed, {dead_removed} dead letters, \
         {history_removed} history rows\n"
    ))
}
