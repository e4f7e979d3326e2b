//! The "bounded guest" benchmark: what queuetop costs the database that it watches, measured on a PostgreSQL that it starts
//! itself, beside goals that it names and says to have missed where it did.
//!
//! ```sh
//! cargo bench --bench guest                                # everything, about 25 minutes
//! cargo bench --bench guest -- --only polls,queues --big   # with 10 million jobs; their data are kept for the next run
//! cargo bench --bench guest -- --only snapshot --minutes 10
//! cargo bench --bench guest -- --help
//! ```
//!
//! A section is a file and a line in `sections`; what they share: `server` and `load` (the database), `traffic` (changes),
//! `reader` (a poll), `dashboard` (the program in a terminal), `report` (the table).

mod asked;
mod change;
mod claim;
mod dashboard;
mod load;
mod memory;
mod plain;
mod polls;
mod proc;
mod reader;
mod report;
mod server;
mod share;
mod snapshot;
mod stats;
mod throughput;
mod traffic;

use std::error::Error;
use std::process::ExitCode;
use std::thread::available_parallelism;

use asked::{Asked, Section};
use futures::future::LocalBoxFuture;
use report::Report;
use server::Server;

/// Whatever goes wrong ends a section.
type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Fallible<ExitCode> {
    let asked = Asked::of_process();
    let server = Server::fresh()?;
    let build = if cfg!(debug_assertions) { "DEBUG build: run it with `cargo bench`" } else { "release build" };
    let cores = available_parallelism()?;
    println!("queuetop {} ({build}), {cores} cores", env!("CARGO_PKG_VERSION"));
    println!("{}", server.describe().await?);
    if asked.quick {
        println!("--quick: this shows that everything works; the figures mean nothing");
    }
    let mut report = Report::default();
    for section in sections() {
        if asked.wants(section)
            && let Err(error) = run(section, &asked, &server, &mut report).await
        {
            report.fail(&*error);
        }
    }
    Ok(if report.end() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// In the order of the table.
fn sections() -> [Section; 8] {
    use Section::{Change, Claim, Memory, Polls, Queues, Share, Snapshot, Throughput};
    [Polls, Queues, Throughput, Share, Change, Snapshot, Memory, Claim]
}

fn run<'a>(
    section: Section,
    asked: &'a Asked,
    server: &'a Server,
    report: &'a mut Report,
) -> LocalBoxFuture<'a, Fallible<()>> {
    match section {
        Section::Polls => Box::pin(polls::by_jobs(asked, server, report)),
        Section::Queues => Box::pin(polls::by_queues(asked, server, report)),
        Section::Throughput => Box::pin(throughput::run(asked, server, report)),
        Section::Share => Box::pin(share::run(asked, server, report)),
        Section::Change => Box::pin(change::run(asked, server, report)),
        Section::Snapshot => Box::pin(snapshot::run(asked, server, report)),
        Section::Memory => Box::pin(memory::run(asked, server, report)),
        Section::Claim => Box::pin(claim::run(asked, server, report)),
    }
}
