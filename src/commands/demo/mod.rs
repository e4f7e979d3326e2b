//! `queuetop demo`: the dashboard on a private throw-away PostgreSQL with a living workload of real workers.

mod care;
mod link;
mod past;
mod produce;
mod queues;
mod start;
mod texts;
mod workload;

use std::pin::pin;
use std::time::Duration;

use tokio::signal::unix::SignalKind;
use tokio::time::timeout;

use super::dashboard::{self, Plan, crash::Crash, terminal};
use super::signals::Signals;
use super::snapshot::{take, to_json};
use super::{CommandError, load_settings, log, tell};
use crate::args::DemoArgs;
use crate::config;

pub use start::{Demo, DemoError, DemoOptions};

/// What ends it from outside, while there is no screen.
const ENDS: [SignalKind; 4] =
    [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
/// How long a start that was interrupted may take to come to a point where it can be undone.
const UNDOING: Duration = Duration::from_secs(5);

/// Runs `queuetop demo`.
///
/// # Errors
/// Wrong usage or no terminal, no server, or what the dashboard says.
pub async fn run(args: DemoArgs, crash: &Crash) -> Result<u8, CommandError> {
    if !args.headless {
        terminal::usable().map_err(CommandError::Usage)?;
    }
    let settings = load_settings(&args.screen)?;
    log::start(args.screen.log.as_deref())?;
    let mut signals = Signals::of(&ENDS)?;
    let options = DemoOptions { seed: args.seed, rate: args.rate, pg_bin: args.pg_bin.clone(), fetch: !args.no_fetch };
    let demo = match start(options, &mut signals).await? {
        Started::Demo(demo) => demo,
        Started::Interrupted(status) => return Ok(status),
    };
    let ended = if args.headless {
        headless(&demo, args.run_for, &mut signals).await
    } else {
        drop(signals);
        let plan = demo.connector().map_err(failed).map(|connector| Plan {
            connector,
            schema: None,
            settings,
            name: None,
            target: config::Target::default(),
            psql_line: Some(demo.psql_line()),
        });
        match plan {
            Ok(plan) => dashboard::show(plan, crash).await,
            Err(error) => Err(error),
        }
    };
    demo.stop().await;
    ended
}

enum Started {
    Demo(Box<Demo>),
    /// By a signal, with this exit status.
    Interrupted(u8),
}

/// Starts the demo; a signal meanwhile undoes what was begun.
async fn start(options: DemoOptions, signals: &mut Signals) -> Result<Started, CommandError> {
    let mut say = |line: &str| tell::note(line);
    let mut starting = pin!(Demo::start(options, &mut say));
    tokio::select! {
        demo = &mut starting => Ok(Started::Demo(Box::new(demo.map_err(failed)?))),
        status = signals.next() => {
            // A server that comes up without anybody holding it would only go when the program has ended.
            if let Ok(Ok(demo)) = timeout(UNDOING, starting).await {
                demo.stop().await;
            }
            Ok(Started::Interrupted(status))
        }
    }
}

fn failed(error: DemoError) -> CommandError {
    match error {
        DemoError::Rate(_) => CommandError::Usage(error.to_string()),
        other => CommandError::Failed(other.to_string()),
    }
}

/// Lets it run, then prints what there is to see. A signal ends it early; its number shows in the exit status.
async fn headless(demo: &Demo, run_for: Duration, signals: &mut Signals) -> Result<u8, CommandError> {
    let status = timeout(run_for, signals.next()).await.unwrap_or(0);
    let connector = demo.connector().map_err(failed)?;
    tell::out(to_json(&take(&connector, None).await?)?)?;
    Ok(status)
}
