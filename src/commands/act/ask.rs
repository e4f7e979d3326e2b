//! The question before anything is done. It names what, how many and where; a wide or productive one is answered with the number.

use crate::args::CommonArgs;
use crate::model::{Action, Time};
use crate::text::Safe;

use super::super::jobs::table;
use super::super::{CommandError, tell};
use super::set::{Place, Set};

/// So many are shown.
const SAMPLE: usize = 5;

/// What is to be done to how many jobs, in one line.
pub(super) fn words(action: Action, count: usize, filter: Option<&str>, place: &Place) -> String {
    let jobs = if count == 1 { "job" } else { "jobs" };
    let matching = filter.map(|text| format!(" that match `{text}`")).unwrap_or_default();
    Safe::full(&format!("{} {count} {jobs}{matching} in {}", action.verb(), place.name)).to_string()
}

/// Whether it may be done: by `--yes`, or by the answer of whoever sits at the terminal, who is shown `shown` first.
///
/// # Errors
/// As wrong usage: there is nobody to ask, or a production target wants to be named as one.
pub(super) fn agreed(
    common: &CommonArgs,
    place: &Place,
    (what, count): (&str, usize),
    shown: &str,
) -> Result<bool, CommandError> {
    if common.yes {
        return match &place.called_production {
            Some(name) if !common.production => {
                Err(CommandError::Usage(format!("@{name} is a production target: --yes needs --production too")))
            }
            _ => Ok(true),
        };
    }
    if !tell::can_ask() {
        return Err(CommandError::Usage(format!(
            "there is no terminal to ask on ({what}): --yes does it without asking, --dry-run only says it"
        )));
    }
    let typed = count > place.typed_above || place.production;
    let how = if typed { format!("type {count} to do it") } else { "y to do it".to_owned() };
    let answer = tell::ask(format_args!("{shown}{what}: {how}, anything else does nothing: "))?;
    let agreed = if typed { answer == count.to_string() } else { matches!(answer.as_str(), "y" | "yes") };
    if !agreed {
        tell::note("nothing was done");
    }
    Ok(agreed)
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
