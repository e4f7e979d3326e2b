//! The command line. Words only: what they mean is settled in `config` and `commands`.

mod act;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::fmt::parse_duration;
use crate::model::{Sort, filter};

pub use act::{ActArgs, ActFormat, CommonArgs, ForceArgs, PriorityArgs, QueuesArgs, Rate, RescheduleArgs};

/// top for the job queues that live in PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "queuetop", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub struct Cli {
    /// What to do; without it, the dashboard
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the dashboard
    #[command(flatten)]
    pub dashboard: DashboardArgs,
}

/// Where the database is.
#[derive(Debug, Clone, Args)]
pub struct TargetArgs {
    /// URI (`postgresql://user@host/db`), key=value string, database name, or @NAME of the settings file; else PG* variables as
    /// psql reads them
    #[arg(value_name = "DSN")]
    pub dsn: Option<String>,
    /// Schema of the jobs table; else it is looked for
    #[arg(long, value_name = "NAME")]
    pub schema: Option<String>,
}

/// Where the database is, for commands whose plain arguments are something else.
#[derive(Debug, Clone, Args)]
pub struct DbArgs {
    /// URI, key=value string, database name, or @NAME of the settings file; else PG* variables as psql reads them
    #[arg(long, value_name = "DSN")]
    pub db: Option<String>,
    /// Schema of the jobs table; else it is looked for
    #[arg(long, value_name = "NAME")]
    pub schema: Option<String>,
}

/// Options of the dashboard's screen.
#[derive(Debug, Clone, Args, Default)]
pub struct ScreenArgs {
    /// Time between polls (500ms, 1s, 10s); the load budget may stretch it [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub interval: Option<Duration>,
    /// Most database time a poll may take, in percent of wall time [default: 2]
    #[arg(long, value_name = "PERCENT")]
    pub load: Option<f64>,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// Refuse every action
    #[arg(long)]
    pub read_only: bool,
    /// Settings file, instead of the one in the XDG folder
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Write a log to this file (level by `QUEUETOP_LOG`, default info)
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// Options of the dashboard.
#[derive(Debug, Clone, Args)]
pub struct DashboardArgs {
    /// Where
    #[command(flatten)]
    pub target: TargetArgs,
    /// How it looks
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The dashboard on a private throw-away PostgreSQL with a live simulated workload
    Demo(DemoArgs),
    /// Install or upgrade the SQL of the jobs queue
    Migrate(MigrateArgs),
    /// Take back expired leases and remove what is too old, periodically or once
    Reaper(ReaperArgs),
    /// One reading of all numbers to standard output
    Snapshot(SnapshotArgs),
    /// A list of jobs by filter, page by page
    #[command(after_long_help = filter::help_text())]
    Jobs(JobsArgs),
    /// Make jobs claimable now, by ids or filter
    Requeue(ForceArgs),
    /// Move jobs to the dead letters, by ids or filter
    DeadLetter(ForceArgs),
    /// Take back expired leases, by ids or filter
    Reap(ActArgs),
    /// Make new jobs of dead letters, by ids or filter, paced
    Replay(ForceArgs),
    /// Let waiting jobs run at another time, by ids or filter
    Reschedule(RescheduleArgs),
    /// Let jobs go before or behind others, by ids or filter
    SetPriority(PriorityArgs),
    /// Let nothing more be claimed from queues
    Pause(QueuesArgs),
    /// Let paused queues go on
    Resume(QueuesArgs),
    /// What is installed, which rights are missing, what is misconfigured
    Doctor(DoctorArgs),
    /// Where the settings come from
    Config(ConfigArgs),
}

/// Options of `demo`.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Seed of everything random
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Multiplies the rate of the workload
    #[arg(long, default_value_t = 1.0, value_name = "X")]
    pub rate: f64,
    /// No screen: run the workload, then print a JSON snapshot
    #[arg(long)]
    pub headless: bool,
    /// With --headless: how long to run
    #[arg(long = "for", value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub run_for: Duration,
    /// Folder with PostgreSQL's server programs (initdb, postgres)
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
    /// Never fetch a server where none is installed
    #[arg(long)]
    pub no_fetch: bool,
    /// How it looks
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Options of `migrate`.
#[derive(Debug, Clone, Args)]
pub struct MigrateArgs {
    /// URI, key=value string, database name, or @NAME of the settings file; else PG* variables as psql reads them
    #[arg(value_name = "DSN")]
    pub dsn: Option<String>,
    /// Schema to install into [default: public]
    #[arg(long, value_name = "NAME")]
    pub schema: Option<String>,
    /// Put before the names of the roles `queue_viewer`, `queue_worker` and `queue_operator`
    #[arg(long, value_name = "PREFIX")]
    pub role_prefix: Option<String>,
    /// Print plain SQL instead of running it
    #[arg(long)]
    pub print: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Replace functions of our names that somebody else made
    #[arg(long)]
    pub replace_functions: bool,
}

/// Options of `reaper`.
#[derive(Debug, Clone, Args)]
pub struct ReaperArgs {
    /// Where
    #[command(flatten)]
    pub target: TargetArgs,
    /// Time between rounds
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub every: Duration,
    /// Rows a batch; each batch is a transaction of its own
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub batch: i32,
    /// One round, then end: for cron
    #[arg(long)]
    pub once: bool,
    /// Remove completed jobs older than this; else they are kept
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub keep_completed: Option<Duration>,
    /// Remove dead letters older than this; else they are kept
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub keep_dead: Option<Duration>,
    /// Remove attempts and operator actions older than this; else they are kept
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub keep_history: Option<Duration>,
}

/// How `snapshot` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SnapshotFormat {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Options of `snapshot`.
#[derive(Debug, Clone, Args)]
pub struct SnapshotArgs {
    /// Where
    #[command(flatten)]
    pub target: TargetArgs,
    /// How it is written
    #[arg(long, value_enum, default_value_t = SnapshotFormat::Table)]
    pub format: SnapshotFormat,
}

/// How `jobs` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum JobsFormat {
    /// For people
    Table,
    /// For programs: exact data, an object a line; the last line has the cursor of the next page
    Json,
    /// For spreadsheets: one line a job; a text that would run as a formula gets an apostrophe in front
    Csv,
}

/// Options of `jobs`.
#[derive(Debug, Clone, Args)]
pub struct JobsArgs {
    /// Where
    #[command(flatten)]
    pub place: DbArgs,
    /// Which jobs, such as `queue:emails state:dead age>1h`; --help explains it. Without it, every live job
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub filter: String,
    /// natural (as claims take them), created, `run_at`, attempts, priority, lease, failed, completed; `:asc` or `:desc` turns it.
    /// Where no index serves an order, the first 10,000 rows are sorted, and it says so
    #[arg(long, value_name = "ORDER", default_value = "natural", value_parser = str::parse::<Sort>)]
    pub sort: Sort,
    /// At most so many jobs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// Go on behind an earlier page, by the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    pub after: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = JobsFormat::Table)]
    pub format: JobsFormat,
}

/// How `doctor` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// For people: the worst first
    Table,
    /// For programs
    Json,
}

/// From which severity on `doctor` ends with status 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Warnings, and what is critical
    Warning,
    /// Only what is critical
    Critical,
}

/// Options of `doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Where
    #[command(flatten)]
    pub target: TargetArgs,
    /// Whose rights to look at; a role that does not exist yet is told what it needs [default: the one connected as]
    #[arg(long, value_name = "NAME")]
    pub role: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = DoctorFormat::Table)]
    pub format: DoctorFormat,
    /// End with status 3 from this severity on; what could not be checked does not count
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Warning)]
    pub fail_on: FailOn,
    /// Compare the counters with all rows and mend them, while workers run
    #[arg(long, conflicts_with_all = ["role", "format", "fail_on"])]
    pub recount: bool,
    /// With --recount: only compare; status 3 when they differ
    #[arg(long, requires = "recount")]
    pub dry_run: bool,
    /// With --recount: do not ask
    #[arg(long, short, requires = "recount", conflicts_with = "dry_run")]
    pub yes: bool,
}

/// Options of `config`.
#[derive(Debug, Clone, Args)]
pub struct ConfigArgs {
    /// Print the default settings file, with comments
    #[arg(long)]
    pub print_default: bool,
    /// Print every command with its place and its keys, as `[keys]` names them
    #[arg(long)]
    pub keys: bool,
    /// Settings file, instead of the one in the XDG folder
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
