//! `queuetop pause` and `queuetop resume`: whole queues. What runs goes on; nothing more is claimed while a queue is paused.

use serde::Serialize;

use crate::args::{ActFormat, QueuesArgs};
use crate::engine::act::set_paused;
use crate::model::{BackendKind, QueueId};
use crate::text::Safe;

use super::super::{CommandError, tell};
use super::ask;
use super::report::{NONE_DONE, json};
use super::set::Place;

#[derive(Serialize)]
struct Line<'a> {
    queue: &'a str,
    paused: bool,
    /// False: it was so already.
    changed: bool,
}

/// Pauses queues, or lets them go on. That a queue was so already is no failure.
///
/// # Errors
/// Wrong usage, nobody to ask without `--yes`, or what the database says; the queues before have been changed then.
pub async fn run(args: QueuesArgs, paused: bool) -> Result<u8, CommandError> {
    let place = Place::find(&args.common).await?;
    let verb = if paused { "pause" } else { "resume" };
    let names: Vec<String> = args.queues.iter().map(|name| Safe::full(name).to_string()).collect();
    let what = format!("{verb} {} in {}", names.join(", "), Safe::full(&place.name));
    if args.common.dry_run {
        tell::out(format_args!("would {what}\n"))?;
        return Ok(0);
    }
    if !ask::agreed(&args.common, &place, (&what, args.queues.len()), "")? {
        return Ok(NONE_DONE);
    }
    for name in &args.queues {
        let queue = QueueId { backend: BackendKind::Jobs, name: name.clone() };
        let reason = args.common.reason.as_deref();
        let changed = set_paused(&place.connector, &place.sessions(), &queue, paused, reason).await;
        let changed = changed.map_err(|failure| {
            let unknown = if failure.unknown { "the answer was lost, it may have happened: " } else { "" };
            CommandError::Failed(format!("{}: {unknown}{}", Safe::full(name), failure.reason))
        })?;
        say(args.common.format, &Line { queue: name, paused, changed })?;
    }
    Ok(0)
}

fn say(format: ActFormat, line: &Line<'_>) -> Result<(), CommandError> {
    if format == ActFormat::Json {
        return json(line);
    }
    let state = if line.paused { "paused" } else { "running" };
    let already = if line.changed { "" } else { " already" };
    tell::out(format_args!("{} is {state}{already}\n", Safe::full(line.queue)))
}
