//! What became of each job: counts and what was not done for people, everything for programs, and the exit status.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;

use crate::args::ActFormat;
use crate::model::bulk::Bulk;
use crate::model::{Action, Outcome};
use crate::text::{Safe, harmless_json};

use super::super::{CommandError, tell};
use super::ask::sample;
use super::set::{Place, Set};

/// Exit status: some targets were not done.
const SOME_NOT_DONE: u8 = 4;
/// Exit status: no target was done.
pub(super) const NONE_DONE: u8 = 5;
/// So many that were not done are listed; `--results` has all of them.
const LISTED: usize = 20;

/// The answer for one job.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    id: String,
    /// `None`: not found, so that nobody knows.
    queue: Option<String>,
    /// `None`: not asked; the run ended before.
    outcome: Option<Outcome>,
    state_now: Option<String>,
    detail: Option<String>,
}

#[derive(Serialize)]
struct Whole<'a> {
    action: &'a str,
    database: &'a str,
    reason: Option<&'a str>,
    asked: usize,
    done: usize,
    results: &'a [Answer],
}

#[derive(Serialize)]
struct WouldBe<'a> {
    action: &'a str,
    database: &'a str,
    dry_run: bool,
    jobs: Vec<&'a str>,
    not_found: &'a [String],
}

/// An answer for every job, in the order of the set, then for ids that were not found.
pub(super) fn answers(bulk: &Bulk, gone: Vec<String>) -> Vec<Answer> {
    let asked = bulk.plan().targets.iter().zip(bulk.results()).map(|((job, _), result)| Answer {
        id: job.id.clone(),
        queue: Some(job.queue.name.clone()),
        outcome: result.as_ref().map(|result| result.outcome),
        state_now: result.as_ref().and_then(|result| result.state_now.clone()),
        detail: result.as_ref().and_then(|result| result.detail.clone()),
    });
    let gone = gone.into_iter().map(|id| Answer {
        id,
        queue: None,
        outcome: Some(Outcome::Gone),
        state_now: None,
        detail: Some("no such job".to_owned()),
    });
    asked.chain(gone).collect()
}

fn done(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.outcome == Some(Outcome::Done)).count()
}

/// 0 all done (an empty set too), 4 some not, 5 none.
pub(super) fn status(answers: &[Answer]) -> u8 {
    match done(answers) {
        all if all == answers.len() => 0,
        0 => NONE_DONE,
        _ => SOME_NOT_DONE,
    }
}

/// Prints the answers.
pub(super) fn print(bulk: &Bulk, answers: &[Answer], place: &str, format: ActFormat) -> Result<(), CommandError> {
    let plan = bulk.plan();
    if format == ActFormat::Json {
        let (action, reason) = (plan.action.verb(), plan.reason.as_deref());
        let whole =
            Whole { action, database: place, reason, asked: answers.len(), done: done(answers), results: answers };
        return json(&whole);
    }
    let (all, place) = (answers.len(), Safe::full(place));
    let mut lines = vec![format!("{} {} of {all} in {place}\n", plan.action.done(), done(answers))];
    let not_done: Vec<&Answer> = answers.iter().filter(|answer| answer.outcome != Some(Outcome::Done)).collect();
    lines.extend(not_done.iter().take(LISTED).map(|answer| line(answer)));
    if not_done.len() > LISTED {
        lines.push(format!("  … and {} more that were not done\n", not_done.len() - LISTED));
    }
    tell::out(lines.concat())
}

/// `  8c1f… refused, ready, it is ready already`
fn line(answer: &Answer) -> String {
    let outcome = answer.outcome.map_or("not asked", Outcome::as_str);
    let more = [&answer.state_now, &answer.detail].into_iter().flatten().map(|text| Safe::full(text).to_string());
    let words: Vec<String> = std::iter::once(outcome.to_owned()).chain(more).collect();
    format!("  {} {}\n", Safe::full(&answer.id), words.join(", "))
}

/// Says what would be asked; `what` in words.
pub(super) fn would_be(
    what: &str,
    action: Action,
    set: &Set,
    place: &Place,
    format: ActFormat,
) -> Result<(), CommandError> {
    if format == ActFormat::Json {
        let jobs = set.targets.iter().map(|(job, _)| job.id.as_str()).collect();
        let (action, database) = (action.verb(), place.name.as_str());
        return json(&WouldBe { action, database, dry_run: true, jobs, not_found: &set.gone });
    }
    let mut lines = vec![format!("would {what}\n")];
    lines.extend((!set.targets.is_empty()).then(|| sample(set, place.now)));
    lines.extend(set.gone.iter().map(|id| format!("  {id} is nowhere\n")));
    tell::out(lines.concat())
}

/// Prints a line for programs.
pub(super) fn json(value: &impl Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string(value).map_err(|error| CommandError::Failed(error.to_string()))?;
    tell::out(format_args!("{}\n", harmless_json(&text)))
}

/// Refuses to write over a file, before anything is done.
pub(super) fn refuse_existing(path: &Path) -> Result<(), CommandError> {
    if path.symlink_metadata().is_ok() {
        return Err(CommandError::Usage(format!("--results: {} is there already", path.display())));
    }
    Ok(())
}

/// Writes every answer into a new private file, a JSON object a line.
pub(super) fn save(path: &Path, answers: &[Answer]) -> Result<(), CommandError> {
    let failed = |error: io::Error| CommandError::Failed(format!("--results: {}: {error}", path.display()));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let mut file = io::BufWriter::new(file);
    for answer in answers {
        let text = serde_json::to_string(answer).map_err(io::Error::from).map_err(failed)?;
        writeln!(file, "{}", harmless_json(&text)).map_err(failed)?;
    }
    file.flush().map_err(failed)
}
