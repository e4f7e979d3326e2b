//! CSV, for spreadsheets: a head, then a line a job. Texts are in quotes, and in their harmless form, so that each job is one line.
//!
//! A text that a spreadsheet would run as a formula (it begins with `=`, `+`, `-` or `@`) gets an apostrophe in front: errors and
//! names of queues are written by strangers, and a file that is opened with a double click must not act. Exact data is in JSON.

use crate::model::{Job, Time};
use crate::text::Safe;

const HEAD: &str = "id,queue,backend,state,priority,attempts,max_attempts,run_at,failed_at,created_at,updated_at,worker,lease_until,error";

/// A head and a line for each job.
pub(super) fn lines(jobs: &[Job]) -> String {
    let mut text = format!("{HEAD}\r\n");
    for job in jobs {
        let number = |number: Option<i32>| number.map(|number| number.to_string()).unwrap_or_default();
        let time = |time: Option<Time>| time.map(Time::to_rfc3339).unwrap_or_default();
        let cells = [
            quoted(&job.at.id),
            quoted(&job.at.queue.name),
            job.at.queue.backend.to_string(),
            job.state.as_str().to_owned(),
            number(job.priority),
            job.attempts.to_string(),
            number(job.max_attempts),
            time((!job.at.dead).then_some(job.run_at)),
            time(job.at.dead.then_some(job.run_at)),
            time(job.created_at),
            time(job.updated_at),
            job.worker.as_deref().map(quoted).unwrap_or_default(),
            time(job.lease_until),
            job.error.as_deref().map(quoted).unwrap_or_default(),
        ];
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

fn quoted(text: &str) -> String {
    let safe = Safe::full(text).to_string();
    let formula = safe.trim_start().starts_with(['=', '+', '-', '@']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, safe.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn texts_stay_in_their_cell_and_do_not_act() {
        for (text, expected) in [
            ("plain", "\"plain\""),
            ("a,b \"c\"", "\"a,b \"\"c\"\"\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            (" @SUM(1)", "\"' @SUM(1)\""),
            ("-1", "\"'-1\""),
            ("\t=1", "\"\\t=1\""),
            ("two\r\nlines\u{1b}[m", "\"two\\r\\nlines\\x1b[m\""),
            ("", "\"\""),
        ] {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
    }
}
