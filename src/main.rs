//! Arguments in, exit status out: hands over to a command and prints what went wrong, after the terminal is restored.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use clap::Parser;
use queuetop::args::Cli;
use queuetop::commands::dashboard::crash::Crash;
use queuetop::commands::{self, CommandError};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match start(cli) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            commands::tell::note(error.report());
            ExitCode::from(error.status())
        }
    }
}

fn start(cli: Cli) -> Result<u8, CommandError> {
    let crash = Crash::install()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CommandError::Failed(format!("the runtime cannot be started: {error}")))?;
    let ended = runtime.block_on(commands::run(cli, &crash));
    // Whatever still waits for a server must not keep the operator waiting.
    runtime.shutdown_background();
    ended
}
