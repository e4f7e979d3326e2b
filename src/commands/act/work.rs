//! Working a set off, with signs of life on the way; a signal ends it after the present step.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::SignalKind;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::args::ActArgs;
use crate::engine::bulk::{Control, Ended, Journal, Progress, Run, at_start};
use crate::model::bulk::Bulk;
use crate::text::Safe;

use super::super::signals::Signals;
use super::super::{CommandError, tell};
use super::set::Place;
use super::{journals, report};

/// From sign of life to sign of life.
const SAY_EVERY: Duration = Duration::from_secs(2);

/// Runs it to its end and reports; `gone` are ids that were not found.
///
/// # Errors
/// When it could not go on, or the answers cannot be written.
pub(super) async fn through(
    args: &ActArgs,
    place: &Place,
    bulk: Bulk,
    journal: Journal,
    gone: Vec<String>,
) -> Result<u8, CommandError> {
    let (control, told) = mpsc::channel(8);
    let (progress, seen) = watch::channel(at_start(bulk.plan()));
    let connector = Arc::clone(&place.connector);
    let backends = Arc::clone(&place.live.backends);
    let run = Run { connector, backends, bulk, journal: Some(journal), control: told, progress };
    // Not a hang-up: under `nohup` a run is to go on, and without it the journal has what a killed run did.
    let mut signals = Signals::of(&[SignalKind::interrupt(), SignalKind::terminate()])?;
    let running = tokio::spawn(run.run());
    let interrupted = watched(&mut signals, &control, seen).await;
    let ended = running.await.map_err(|error| CommandError::Failed(format!("the run broke off: {error}")))?;
    finish(args, place, &ended, gone, interrupted)
}

fn finish(
    args: &ActArgs,
    place: &Place,
    ended: &Ended,
    gone: Vec<String>,
    interrupted: Option<u8>,
) -> Result<u8, CommandError> {
    let answers = report::answers(&ended.bulk, gone);
    report::print(&ended.bulk, &answers, &place.name, args.common.format)?;
    if let Some(path) = &args.results {
        report::save(path, &answers)?;
    }
    let over = ended.failure.is_none() && ended.bulk.tally().left == 0;
    match &ended.journal {
        Some(path) if over => journals::remove(path),
        Some(path) => {
            let path = path.display().to_string();
            tell::note(format_args!("the rest is left as it is; to go on: --continue {}", Safe::full(&path)));
        }
        None => {}
    }
    match (&ended.failure, interrupted) {
        (_, Some(status)) => Ok(status),
        (Some(failure), None) => Err(CommandError::Failed(failure.clone())),
        (None, None) => Ok(report::status(&answers)),
    }
}

/// Follows the run to its end; the exit status of the signal that ended it.
async fn watched(
    signals: &mut Signals,
    control: &mpsc::Sender<Control>,
    mut seen: watch::Receiver<Progress>,
) -> Option<u8> {
    let mut interrupted = None;
    let mut every = interval(SAY_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    every.reset();
    let loud = io::stderr().is_terminal();
    loop {
        tokio::select! {
            status = signals.next() => {
                tell::note("stopping after the present step");
                interrupted = Some(status);
                // A run that has just ended needs not be told.
                let _ended = control.send(Control::Stop).await;
            }
            _ = every.tick() => if loud { say(&seen.borrow()) },
            changed = seen.changed() => {
                if changed.is_err() || seen.borrow().ended {
                    return interrupted;
                }
            }
        }
    }
}

fn say(progress: &Progress) {
    let tally = progress.tally;
    let pace = progress.per_s.map(|per_s| format!(", at most {per_s}/s")).unwrap_or_default();
    let note = progress.note.as_ref().map(|note| format!(": {}", Safe::full(note))).unwrap_or_default();
    let answered = tally.total() - tally.left;
    tell::note(format_args!("{answered} of {} answered, {} not done{pace}{note}", tally.total(), tally.not_done()));
}
