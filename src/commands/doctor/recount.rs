//! `queuetop doctor --recount`: says what the counters are wrong about, asks, mends them, and compares once more.

use std::fmt::Write as _;

use crate::args::DoctorArgs;
use crate::backends::jobs::{self, Comparison, Difference, Jobs};
use crate::db::{Connector, DbError, Purpose, Session};
use crate::fmt;
use crate::text::Safe;

use super::super::{CommandError, nothing_there, target, tell};

pub(super) async fn run(connector: &Connector, args: &DoctorArgs) -> Result<u8, CommandError> {
    let purpose = if args.dry_run { Purpose::Read } else { Purpose::Act };
    let session = target::session(connector, purpose).await?;
    let wanted = args.target.schema.as_deref();
    let found = jobs::detect(&session, wanted).await.map_err(|error| failed(&error))?;
    let jobs = found.ok_or_else(|| CommandError::Failed(nothing_there(connector, wanted)))?;
    if !args.dry_run {
        // Before all rows are read in vain.
        jobs.may_recount().map_err(CommandError::Failed)?;
    }
    let before = compare(&jobs, &session).await?;
    tell::out(words(&before))?;
    let wrong = !before.differences.is_empty() || before.suspect;
    if args.dry_run {
        return Ok(if wrong { 3 } else { 0 });
    }
    if !wrong {
        return Ok(0);
    }
    if !args.yes && !confirm(connector, &before)? {
        tell::note("nothing was changed");
        return Ok(1);
    }
    jobs.recount(&session).await.map_err(|error| failed(&error))?;
    let after = compare(&jobs, &session).await?;
    if after.differences.is_empty() {
        tell::out("mended: the counters are exact\n")?;
        return Ok(0);
    }
    tell::out(words(&after))?;
    let why = "after mending they differ again: are the triggers on? `queuetop doctor` says";
    Err(CommandError::Failed(why.to_owned()))
}

async fn compare(jobs: &Jobs, session: &Session) -> Result<Comparison, CommandError> {
    jobs.compare(session).await.map_err(|error| failed(&error))?.map_err(CommandError::Failed)
}

fn failed(error: &DbError) -> CommandError {
    CommandError::Failed(error.to_string())
}

/// A line for each queue: `emails: ready 5 counted, 7 true; dead 1 counted, 0 true`.
fn words(comparison: &Comparison) -> String {
    let mut text = String::new();
    let mut rest = comparison.differences.as_slice();
    while let Some(first) = rest.first() {
        let (of_queue, others) = rest.split_at(rest.iter().take_while(|one| one.queue == first.queue).count());
        let figures: Vec<String> = of_queue.iter().map(figure).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}: {}", Safe::new(&first.queue), figures.join("; "));
        rest = others;
    }
    match (text.is_empty(), comparison.suspect) {
        (true, true) => text += "the figures are exact now, and were marked as doubtful: mending takes the mark off\n",
        (true, false) => text += "the counters are exact\n",
        _ => {}
    }
    text
}

fn figure(one: &Difference) -> String {
    match one.figure.as_str() {
        "attempts" => "attempts are counted wrongly".to_owned(),
        "times" => "the times at which jobs come due are counted wrongly".to_owned(),
        name => format!("{name} {} counted, {} true", one.counted, fmt::count(one.truth)),
    }
}

/// Asks on the terminal, naming what and where. Only a typed `y` or `yes` is one.
fn confirm(connector: &Connector, before: &Comparison) -> Result<bool, CommandError> {
    if !tell::can_ask() {
        return Err(CommandError::Usage(
            "there is no terminal to ask on: --yes mends the counters without asking".into(),
        ));
    }
    let mut queues: Vec<&str> = before.differences.iter().map(|one| one.queue.as_str()).collect();
    queues.dedup();
    let target = Safe::full(&connector.target().to_string());
    let what = if queues.len() == 1 { "1 queue".to_owned() } else { format!("{} queues", queues.len()) };
    let answer = tell::ask(format_args!("mend the counters of {what} in {target}? [y/N] "))?;
    Ok(matches!(answer.as_str(), "y" | "yes"))
}
