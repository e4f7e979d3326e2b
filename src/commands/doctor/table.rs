//! The form for people: worst first with proof and next step, what is fine in one line each, and a count at the end.

use std::fmt::Write as _;

use crate::diagnose::checks::{Checked, Status};
use crate::model::Finding;
use crate::text::{Safe, Side, fit, wrap};

use super::Report;

/// Columns of the severities and of the checks' names.
const WORD: usize = 8;
const NAME: usize = 19;
/// A sentence gets so much room on the narrowest terminal.
const LEAST: usize = 40;
/// Findings of one check beyond this many are counted: the same may be wrong with many queues.
const MOST_FINDINGS: usize = 10;
/// Evidence beyond this many rows is counted.
const MOST_FACTS: usize = 8;

/// `columns`: how wide a sentence may get before it is wrapped. Statements never are: they are there to be copied.
pub(super) fn to_table(report: &Report, columns: usize) -> String {
    let around = &report.around;
    let schema = around.schema.as_ref().map_or_else(String::new, |_| format!(", schema {}", around.schema_sql));
    let place = format!("{}, PostgreSQL {}{schema}, {}", report.target, around.server, report.at);
    let mut text = format!("{}\n\n", Safe::full(&place));
    let mut rest = report.checked.as_slice();
    while let Some(first) = rest.first() {
        // What could not run for one and the same reason is one line.
        let alike =
            |other: &&Checked| first.findings.is_empty() && first.unseen.is_some() && bare(other) == bare(first);
        let alike = rest.iter().take_while(alike).count().max(1);
        tell(&mut text, &rest[..alike], columns);
        rest = &rest[alike..];
    }
    let count = |status, word: &str| match report.count(status) {
        0 => None,
        n => Some(format!("{n} {word}")),
    };
    let parts = [
        count(Status::Critical, "critical"),
        count(Status::Warning, "with warnings"),
        count(Status::Unknown, "could not run or not in full"),
        count(Status::Info, "with a hint"),
        count(Status::Ok, "fine"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{} checks: {}", report.checked.len(), parts.join(", "));
    text
}

/// Why a check could not run at all.
fn bare(checked: &Checked) -> Option<&String> {
    checked.unseen.as_ref().filter(|_| checked.findings.is_empty())
}

fn tell(text: &mut String, alike: &[Checked], columns: usize) {
    let Some(checked) = alike.first() else { return };
    for finding in checked.findings.iter().take(MOST_FINDINGS) {
        tell_finding(text, checked, finding, columns);
    }
    if let Some(rest) = checked.findings.get(MOST_FINDINGS..).and_then(|rest| Some((rest.first()?, rest.len()))) {
        let more = format!("and {} more, no worse; --format json lists them", rest.1);
        line(text, rest.0.severity.into(), checked.id, &more, columns);
    }
    let others: Vec<&str> = alike.iter().skip(1).map(|other| other.id).collect();
    if let Some(why) = &checked.unseen {
        let also = if others.is_empty() { String::new() } else { format!(" (also {})", others.join(", ")) };
        line(text, Status::Unknown, checked.id, &format!("{why}{also}"), columns);
    } else if checked.findings.is_empty() {
        line(text, Status::Ok, checked.id, &checked.fine, columns);
    }
}

fn line(text: &mut String, status: Status, id: &str, sentence: &str, columns: usize) {
    let (word, name) = (fit(status.as_str(), WORD, Side::Left), fit(id, NAME, Side::Left));
    let head = format!("{word}  {name}  ");
    let room = columns.saturating_sub(WORD + NAME + 4).max(LEAST);
    for (at, part) in wrap(sentence, room).enumerate() {
        let before = if at == 0 { head.as_str() } else { &fit("", WORD + NAME + 4, Side::Left) };
        let _ = writeln!(text, "{before}{part}");
    }
}

fn tell_finding(text: &mut String, checked: &Checked, finding: &Finding, columns: usize) {
    let queue = finding.queue.as_ref().map_or_else(String::new, |queue| format!("{}: ", Safe::new(&queue.name)));
    line(text, finding.severity.into(), checked.id, &format!("{queue}{}", finding.sentence), columns);
    let indent = " ".repeat(WORD + 2);
    for (what, value) in finding.evidence.iter().take(MOST_FACTS) {
        let _ = writeln!(text, "{indent}{what}: {value}");
    }
    if finding.evidence.len() > MOST_FACTS {
        let _ = writeln!(text, "{indent}and {} more", finding.evidence.len() - MOST_FACTS);
    }
    for step in finding.next_step.lines() {
        let _ = writeln!(text, "{indent}> {step}");
    }
}
