//! `queuetop requeue`, `dead-letter`, `reap`, `replay`, `reschedule`, `set-priority`: the dashboard's actions for scripts. The set is
//! frozen with its fences first, then asked about, then worked off in small steps with a journal; every job is answered for.

mod ask;
mod journals;
pub mod queues;
mod report;
mod set;
mod work;

use std::mem::discriminant;
use std::path::Path;
use std::time::Duration;

use uuid::Uuid;

use crate::args::{ActArgs, Rate};
use crate::engine::bulk::Found;
use crate::fmt::parse_when;
use crate::model::bulk::{Bulk, Pace, Plan, STEP};
use crate::model::{Action, Time};

use super::CommandError;
use set::Place;

/// Replays go no faster than this unless a rate is given: what follows a dead letter is unknown.
const REPLAYS_PER_S: u32 = 100;

/// Runs an acting command; `action` makes the action, given the server's time.
///
/// # Errors
/// Wrong usage, nobody to ask without `--yes`, a database that cannot be reached, or a run that could not go on.
pub async fn run(
    args: ActArgs,
    action: &(dyn Fn(Time) -> Result<Action, CommandError> + Sync),
) -> Result<u8, CommandError> {
    let filter = args.filter.as_deref().map(set::filter).transpose()?;
    let ids = set::ids(&args.ids)?;
    if let Some(path) = &args.results {
        report::refuse_existing(path)?;
    }
    let place = Place::find(&args.common).await?;
    let action = action(place.now)?;
    if let Some(path) = &args.go_on {
        return go_on(&args, &place, path, action).await;
    }
    journals::tell_of_unfinished(&place.name);
    let set = match filter {
        Some(filter) => place.matching(set::of_action(filter, action)).await?,
        None => place.by_id(&ids).await?,
    };
    let count = set.targets.len();
    let what = ask::words(action, count, args.filter.as_deref(), &place);
    if args.common.dry_run {
        report::would_be(&what, action, &set, &place, args.common.format)?;
        return Ok(0);
    }
    if count > 0 && !ask::agreed(&args.common, &place, (&what, count), &ask::sample(&set, place.now))? {
        return Ok(report::NONE_DONE);
    }
    let plan = Plan {
        id: Uuid::new_v4(),
        action,
        reason: args.common.reason.clone(),
        targets: set.targets,
        pace: Pace { step: STEP, per_s: per_s(args.rate, action) },
    };
    let journal = journals::create(&plan, &place.name)?;
    work::through(&args, &place, Bulk::new(plan), journal, set.gone).await
}

/// The action of `reschedule`. Without a time (a run is continued) the journal has it.
///
/// # Errors
/// When the time cannot be understood.
pub fn at(text: Option<&str>, now: Time) -> Result<Action, CommandError> {
    let run_at = text.map_or(Ok(now), |text| parse_when(text, now));
    run_at.map(|run_at| Action::Reschedule { run_at }).map_err(|why| CommandError::Usage(format!("--at: {why}")))
}

fn per_s(rate: Option<Rate>, action: Action) -> Option<u32> {
    match (rate, action) {
        (Some(Rate::PerSecond(per_s)), _) => Some(per_s),
        (None, Action::Replay { .. }) => Some(REPLAYS_PER_S),
        (Some(Rate::Max) | None, _) => None,
    }
}

async fn go_on(args: &ActArgs, place: &Place, path: &Path, action: Action) -> Result<u8, CommandError> {
    let (journal, Found { mut bulk, database, ended }) = journals::open(path)?;
    let (own, left) = (bulk.plan().action, bulk.tally().left);
    let usage = |text: String| Err(CommandError::Usage(text));
    if discriminant(&own) != discriminant(&action) {
        return usage(format!("{} is the journal of another action: {}", path.display(), own.verb()));
    }
    if database != place.name {
        return usage(format!("{} is of another database: {database}, not {}", path.display(), place.name));
    }
    if ended {
        return usage(format!("{} has come to its end: nothing is left to do", path.display()));
    }
    if !ask::agreed(&args.common, place, (&ask::words(own, left, None, place), left), "")? {
        return Ok(report::NONE_DONE);
    }
    if args.rate.is_some() {
        bulk.set_per_s(per_s(args.rate, own), Duration::ZERO);
    }
    work::through(args, place, bulk, journal, Vec::new()).await
}
