//! The question before anything is done. It names what, how many and where; a wide or productive one is answered with the number.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::args::CommonArgs;
use crate::model::{Action, Time};
use crate::text::Safe;

use super::super::CommandError;
use super::super::jobs::table;
use super::super::target::Chosen;
use super::set::Set;

/// More jobs than this are wide.
const WIDE: usize = 20;
/// So many are shown.
pub(super) const SAMPLE: usize = 5;

/// What is to be done.
pub(super) struct Question<'a> {
    pub(super) action: Action,
    pub(super) count: usize,
    pub(super) place: &'a str,
    pub(super) filter: Option<&'a str>,
    pub(super) now: Time,
}

impl Question<'_> {
    /// In one line.
    pub(super) fn words(&self) -> String {
        let jobs = if self.count == 1 { "job" } else { "jobs" };
        let matching = self.filter.map(|text| format!(" that match `{text}`")).unwrap_or_default();
        let text = format!("{} {} {jobs}{matching} in {}", self.action.verb(), self.count, self.place);
        Safe::full(&text).to_string()
    }
}

/// Whether it may be done: by `--yes`, or by the answer of whoever sits at the terminal.
///
/// # Errors
/// As wrong usage: there is nobody to ask, or a production target wants to be named as one.
pub(super) fn agreed(
    common: &CommonArgs,
    chosen: &Chosen,
    question: &Question<'_>,
    set: &Set,
) -> Result<bool, CommandError> {
    let shown = sample(set, question.now);
    answered(common, chosen, &Asked { what: &question.words(), count: question.count, shown: &shown })
}

/// The same for whole queues.
///
/// # Errors
/// As [`agreed`].
pub(super) fn agreed_on_queues(
    common: &CommonArgs,
    chosen: &Chosen,
    what: &str,
    count: usize,
) -> Result<bool, CommandError> {
    answered(common, chosen, &Asked { what, count, shown: "" })
}

struct Asked<'a> {
    what: &'a str,
    count: usize,
    shown: &'a str,
}

fn answered(common: &CommonArgs, chosen: &Chosen, asked: &Asked<'_>) -> Result<bool, CommandError> {
    if common.yes {
        if chosen.target.production == Some(true) && !common.production {
            let name = chosen.name.as_deref().unwrap_or_default();
            return Err(CommandError::Usage(format!("@{name} is a production target: --yes needs --production too")));
        }
        return Ok(true);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CommandError::Usage(format!(
            "there is no terminal to ask on ({}): --yes does it without asking, --dry-run only says it",
            asked.what
        )));
    }
    let remote = !chosen.connector.target().local_socket;
    let typed = asked.count > WIDE || chosen.target.production.unwrap_or(remote);
    let how = if typed { format!("type {} to do it", asked.count) } else { "y to do it".to_owned() };
    let answer = line(&format!("{}{}: {how}, anything else does nothing: ", asked.shown, asked.what))?;
    Ok(if typed { answer == asked.count.to_string() } else { matches!(answer.as_str(), "y" | "yes") })
}

/// The first jobs of a set.
pub(super) fn sample(set: &Set, now: Time) -> String {
    let shown = &set.sample[..set.sample.len().min(SAMPLE)];
    let mut parts = vec![table::lines(shown, now)];
    if set.targets.len() > shown.len() {
        parts.push(format!("… and {} more\n", set.targets.len() - shown.len()));
    }
    parts.extend(set.note.as_ref().map(|note| format!("{}\n", Safe::full(note))));
    parts.concat()
}

fn line(prompt: &str) -> Result<String, CommandError> {
    let mut answer = String::new();
    let mut stderr = io::stderr().lock();
    let asked = write!(stderr, "{prompt}").and_then(|()| stderr.flush());
    asked
        .and_then(|()| io::stdin().lock().read_line(&mut answer))
        .map_err(|error| CommandError::Failed(format!("the terminal cannot be asked: {error}")))?;
    Ok(answer.trim().to_owned())
}
