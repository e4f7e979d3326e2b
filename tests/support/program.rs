//! The program as it is typed, without a screen.

use std::process::{Command, Output, Stdio};

/// The program with these arguments, an empty environment and nobody at standard input.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_queuetop"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

/// Runs it to its end beside the test's own tasks: exit status, standard output, standard error.
pub(crate) async fn said(mut command: Command) -> (Option<i32>, String, String) {
    let output: Output =
        tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}
