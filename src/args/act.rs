//! Options of the commands that act: `requeue`, `dead-letter`, `reap`, `replay`, `reschedule`, `set-priority`, `pause`, `resume`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DbArgs;

/// How the answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ActFormat {
    /// For people: counts, and every job that was not done
    Table,
    /// For programs: one object with an answer for every job
    Json,
}

/// What every acting command takes.
#[derive(Debug, Clone, Args)]
pub struct ActArgs {
    /// Ids of jobs; `-` reads them from standard input, one a line
    #[arg(value_name = "ID", required_unless_present_any = ["filter", "go_on"], conflicts_with_all = ["filter", "go_on"])]
    pub ids: Vec<String>,
    /// Every job that matches, as `queuetop jobs --filter` lists them
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true, conflicts_with = "go_on")]
    pub filter: Option<String>,
    /// Go on with a run that was interrupted, by the journal that it named
    #[arg(long = "continue", value_name = "FILE", conflicts_with_all = ["reason", "dry_run"])]
    pub go_on: Option<PathBuf>,
    /// What all of them take
    #[command(flatten)]
    pub common: CommonArgs,
    /// Most jobs a second (`20`, `20/s`), or `max` [default: as fast as the database answers; replay: 100/s, and slower while
    /// the queue falls behind]
    #[arg(long, value_name = "N/s", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// Write the answer for every job to this new file, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
}

/// What also pausing and resuming takes.
#[derive(Debug, Clone, Args)]
pub struct CommonArgs {
    /// Where
    #[command(flatten)]
    pub place: DbArgs,
    /// Say what would be asked of which jobs, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with = "dry_run")]
    pub yes: bool,
    /// Besides --yes, for a target that the settings call production
    #[arg(long, requires = "yes")]
    pub production: bool,
    /// Why, for the audit
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// How the answers are written
    #[arg(long, value_enum, default_value_t = ActFormat::Table)]
    pub format: ActFormat,
}

/// Options of actions that can be forced.
#[derive(Debug, Clone, Args)]
pub struct ForceArgs {
    /// Which jobs, and how
    #[command(flatten)]
    pub act: ActArgs,
    /// Also jobs under a live lease (their worker is fenced out); replay: also dead letters that were replayed before
    #[arg(long)]
    pub force: bool,
}

/// Options of `reschedule`.
#[derive(Debug, Clone, Args)]
pub struct RescheduleArgs {
    /// Which jobs, and how
    #[command(flatten)]
    pub act: ActArgs,
    /// When: `now`, `in 10m`, `never`, or a date with its zone like 2026-12-01T14:30:00Z
    #[arg(long, value_name = "TIME", required_unless_present = "go_on")]
    pub at: Option<String>,
}

/// Options of `set-priority`.
#[derive(Debug, Clone, Args)]
pub struct PriorityArgs {
    /// Which jobs, and how
    #[command(flatten)]
    pub act: ActArgs,
    /// The new priority; higher runs first
    #[arg(long, value_name = "N", required_unless_present = "go_on", allow_negative_numbers = true)]
    pub to: Option<i32>,
}

/// Options of `pause` and `resume`.
#[derive(Debug, Clone, Args)]
pub struct QueuesArgs {
    /// Names of queues
    #[arg(value_name = "QUEUE", required = true)]
    pub queues: Vec<String>,
    /// How
    #[command(flatten)]
    pub common: CommonArgs,
}

/// How fast at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// As fast as the database answers.
    Max,
    /// Jobs a second.
    PerSecond(u32),
}

fn parse_rate(text: &str) -> Result<Rate, String> {
    if text == "max" {
        return Ok(Rate::Max);
    }
    let number = text.strip_suffix("/s").unwrap_or(text).trim();
    match number.parse() {
        Ok(per_s) if per_s > 0 => Ok(Rate::PerSecond(per_s)),
        _ => Err("write a whole number of jobs a second, such as 20/s, or max".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        assert_eq!(parse_rate("max"), Ok(Rate::Max));
        assert_eq!((parse_rate("20/s"), parse_rate("20")), (Ok(Rate::PerSecond(20)), Ok(Rate::PerSecond(20))));
        for bad in ["", "0", "-1", "20/m", "2.5", "fast", "99999999999"] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
    }
}
