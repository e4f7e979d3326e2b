//! The grammar in words, for help screens, `queuetop jobs --help` and the README.

use std::fmt::Write as _;

use super::field::FIELDS;

/// What a filter is, with examples; the fields follow in [`help_text`].
pub const FILTER_HELP: &str = "\
A filter is one line of terms that must all hold:

  queue:emails state:dead attempts>=3 age>10m error:\"timed out\" -queue:test smtp

  field:value       each field's usual comparison, see below
  field=value       the whole value          field~value   a part of it
  field>value       also >=, <, <=; field:a..b is a range with both ends, a.. and ..b with one
  field:a,b         one of them
  -term             leaves out what the term matches
  word \"a phrase\"   a part of id, error, worker or key; a whole id names its job

Text is literal: %, _ and * have no meaning. Quotes are for spaces and commas; in them \\\" is a
quote and \\\\ a backslash. Parts are found in any case of letters, whole values as they are.
Lengths of time: 90s, 10m, 1h30m, 7d. Times: now, -1h, +5m, 2026-12-01, 2026-12-01T14:02Z (without
a zone: UTC). Without state: live jobs are shown; a whole id or key finds its job in any state.
";

/// [`FILTER_HELP`] with a line for each field.
#[must_use]
pub fn help_text() -> String {
    let mut text = format!("{FILTER_HELP}\nFields:\n");
    for entry in &FIELDS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<10} {}\n             {}", entry.name, entry.about, entry.example);
    }
    text
}

/// The fields as a table for the README.
#[must_use]
pub fn markdown_table() -> String {
    let mut text = "| field | what | example |\n|---|---|---|\n".to_owned();
    for entry in &FIELDS {
        let _ = writeln!(text, "| `{}` | {} | `{}` |", entry.name, entry.about, entry.example);
    }
    text
}
