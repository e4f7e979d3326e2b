//! Plain output: notes to standard error, results to standard output. Nobody may be there to read: that is no failure and
//! never a panic. Everything else that prints goes through here; a lint keeps it so.

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};

use super::CommandError;

/// A line to standard error, after the program's name.
pub fn note(text: impl Display) {
    plain(format_args!("queuetop: {text}"));
}

/// A line to standard error as it is.
pub fn plain(text: impl Display) {
    // A terminal that is gone cannot be told.
    let _gone = writeln!(io::stderr().lock(), "{text}");
}

/// Text to standard output; a reader that went away (`| head`) is no failure.
///
/// # Errors
/// When it cannot be written for another reason, such as a full disk.
pub fn out(text: impl Display) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError::Failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Whether somebody sits at a terminal who can be asked.
#[must_use]
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on the terminal; the answer is a line, without the blanks around it.
///
/// # Errors
/// When the terminal is gone.
pub fn ask(question: impl Display) -> Result<String, CommandError> {
    let mut answer = String::new();
    let mut stderr = io::stderr().lock();
    let asked = write!(stderr, "{question}").and_then(|()| stderr.flush());
    asked
        .and_then(|()| io::stdin().lock().read_line(&mut answer))
        .map_err(|error| CommandError::Failed(format!("the terminal cannot be asked: {error}")))?;
    Ok(answer.trim().to_owned())
}
