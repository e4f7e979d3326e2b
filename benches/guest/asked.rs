//! The command line of the benchmark.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// What can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Database time of a poll, by the number of jobs
    Polls,
    /// The same with 1,000 queues
    Queues,
    /// Claim and complete: what the counters and dashboards cost the workers
    Throughput,
    /// Share of one core that 1, 5 and 20 dashboards take
    Share,
    /// From a change to the terminal
    Change,
    /// Poll time while an old snapshot is held
    Snapshot,
    /// Memory of the dashboard over time
    Memory,
    /// One claim, whatever waits behind the job
    Claim,
}

/// What queuetop costs the database that it watches, and whether that is within its goals. Starts a PostgreSQL of its own.
#[derive(Parser)]
#[command(name = "cargo bench --bench guest --", max_term_width = 100)]
pub(crate) struct Asked {
    /// Only these sections
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SECTION")]
    only: Vec<Section>,
    /// Numbers of jobs, in place of 10000,100000,1000000 (polls; queues, share and claim take the largest)
    #[arg(long, value_delimiter = ',', value_name = "N")]
    rows: Vec<u64>,
    /// Adds 10,000,000 jobs to polls and queues; their data are kept for the next run, about 8 GB
    #[arg(long)]
    pub(crate) big: bool,
    /// Where the data of --big are kept
    #[arg(long, value_name = "FOLDER", default_value = "/var/tmp/queuetop-bench")]
    pub(crate) data: PathBuf,
    /// Rounds of throughput, at least
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// How long snapshot (else 2) and memory (else 3) run
    #[arg(long, value_name = "M")]
    minutes: Option<f64>,
    /// Memory for an hour
    #[arg(long)]
    long: bool,
    /// Everything as small and as short as possible: shows that it works, its figures mean nothing
    #[arg(long)]
    pub(crate) quick: bool,
}

impl Asked {
    /// The words of the command line but one, which comes from cargo.
    pub(crate) fn of_process() -> Self {
        Self::parse_from(std::env::args().filter(|word| word != "--bench"))
    }

    pub(crate) fn wants(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }

    /// Numbers of jobs, growing.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let mut sizes = match (self.rows.is_empty(), self.quick) {
            (false, _) => self.rows.clone(),
            (true, true) => vec![10_000, 50_000],
            (true, false) => vec![10_000, 100_000, 1_000_000],
        };
        sizes.extend(self.big.then_some(10_000_000));
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The largest of them that needs no data kept from before.
    pub(crate) fn rows(&self) -> u64 {
        self.sizes().into_iter().filter(|rows| *rows < 10_000_000).max().unwrap_or(1_000_000)
    }

    /// How often a thing is measured, given how often it should be.
    pub(crate) fn times(&self, wanted: usize) -> usize {
        if self.quick { wanted.div_ceil(10) } else { wanted }
    }

    pub(crate) fn rounds(&self) -> usize {
        if self.quick { 1 } else { self.rounds.max(1) }
    }

    /// How long a thing is measured, given how long it should be.
    pub(crate) fn span(&self, wanted: Duration) -> Duration {
        if self.quick { wanted / 6 } else { wanted }
    }

    pub(crate) fn snapshot_span(&self) -> Duration {
        self.minutes_or(2.0)
    }

    pub(crate) fn memory_span(&self) -> Duration {
        if self.long { Duration::from_hours(1) } else { self.minutes_or(3.0) }
    }

    fn minutes_or(&self, minutes: f64) -> Duration {
        let asked = self.minutes.map(|minutes| minutes.clamp(0.1, 10_000.0));
        let minutes = asked.unwrap_or(if self.quick { minutes / 6.0 } else { minutes });
        Duration::from_secs_f64(minutes * 60.0)
    }
}
