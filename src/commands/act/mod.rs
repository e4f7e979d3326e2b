//! `queuetop requeue`, `dead-letter`, `reap`, `replay`, `reschedule`, `set-priority`: the dashboard's actions for scripts. The set is
//! frozen with its fences first, then asked about, then worked off in small steps with a journal; every job is answered for.

mod ask;
mod journals;
pub mod queues;
mod report;
mod set;
mod work;

use std::path::Path;

use uuid::Uuid;

use crate::args::{ActArgs, Rate};
use crate::engine::bulk::Found;
use crate::fmt::parse_when;
use crate::model::bulk::{Bulk, Pace, Plan, STEP};
use crate::model::{Action, Time};

use super::{CommandError, target, tell};
use ask::Question;
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
    let chosen = target::choose(args.common.db.as_deref(), None)?;
    chosen.may_change()?;
    let filter = args.filter.as_deref().map(set::filter).transpose()?;
    let ids = set::ids(&args.ids)?;
    if let Some(path) = &args.results {
        report::refuse_existing(path)?;
    }
    let place = Place::find(&chosen, args.common.schema.as_deref()).await?;
    let action = action(place.now)?;
    if let Some(path) = &args.go_on {
        return go_on(&args, &place, &chosen, path, action).await;
    }
    journals::tell_of_unfinished(&place.name);
    let set = match filter {
        Some(filter) => place.matching(set::of_action(filter, action)).await?,
        None => place.by_id(ids).await?,
    };
    let question = Question {
        action,
        count: set.targets.len(),
        place: &place.name,
        filter: args.filter.as_deref(),
        now: place.now,
    };
    if args.common.dry_run {
        report::would_be(&question, &set, args.common.format)?;
        return Ok(0);
    }
    if !set.targets.is_empty() && !ask::agreed(&args.common, &chosen, &question, &set)? {
        tell::note("nothing was done");
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
    work::through(&args, &place, Bulk::new(plan), Some(journal), set.gone).await
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

async fn go_on(
    args: &ActArgs,
    place: &Place,
    chosen: &target::Chosen,
    path: &Path,
    action: Action,
) -> Result<u8, CommandError> {
    let (journal, found) = journals::open(path)?;
    let Found { mut bulk, database, ended } = found;
    let plan = bulk.plan();
    let usage = |text: String| Err(CommandError::Usage(text));
    if std::mem::discriminant(&plan.action) != std::mem::discriminant(&action) {
        return usage(format!("{} is the journal of another action: {}", path.display(), plan.action.verb()));
    }
    if database != place.name {
        return usage(format!("{} is of another database: {database}, not {}", path.display(), place.name));
    }
    if ended {
        return usage(format!("{} has come to its end: nothing is left to do", path.display()));
    }
    let (action, left) = (plan.action, bulk.tally().left);
    let question = Question { action, count: left, place: &place.name, filter: None, now: place.now };
    if !ask::agreed(&args.common, chosen, &question, &set::Set::default())? {
        tell::note("nothing was done");
        return Ok(report::NONE_DONE);
    }
    if args.rate.is_some() {
        bulk.set_per_s(per_s(args.rate, action), std::time::Duration::ZERO);
    }
    work::through(args, place, bulk, Some(journal), Vec::new()).await
}
