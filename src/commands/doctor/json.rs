//! The form for programs. Its names are stable; the README documents them.

use serde::Serialize;

use crate::diagnose::checks::Checked;
use crate::model::Finding;
use crate::text::harmless_json;

use super::{CommandError, Report};

#[derive(Serialize)]
struct Fact<'a> {
    what: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct Found<'a> {
    id: &'a str,
    severity: &'static str,
    queue: Option<&'a str>,
    sentence: &'a str,
    evidence: Vec<Fact<'a>>,
    next_step: Vec<&'a str>,
}

#[derive(Serialize)]
struct One<'a> {
    check: &'a str,
    title: &'a str,
    status: &'static str,
    fine: Option<&'a str>,
    not_checked: Option<&'a str>,
    findings: Vec<Found<'a>>,
}

#[derive(Serialize)]
struct Whole<'a> {
    taken_at: &'a str,
    target: &'a str,
    server: &'a str,
    schema: Option<&'a str>,
    version: Option<i32>,
    newest_version: i32,
    role: &'a str,
    worst: &'static str,
    checks: Vec<One<'a>>,
}

/// One object on several lines, with a line end.
///
/// # Errors
/// Never for a report; the writer of JSON says so in its type.
pub(super) fn to_json(report: &Report) -> Result<String, CommandError> {
    let around = &report.around;
    let whole = Whole {
        taken_at: &report.at,
        target: &report.target,
        server: &around.server,
        schema: around.schema.as_deref(),
        version: around.version.get().flatten(),
        newest_version: around.newest,
        role: &around.role,
        worst: report.worst().map_or("ok", |worst| worst.as_str()),
        checks: report.checked.iter().map(one).collect(),
    };
    let text = serde_json::to_string_pretty(&whole)
        .map_err(|error| CommandError::Failed(format!("the report cannot be written as JSON: {error}")))?;
    Ok(harmless_json(&text) + "\n")
}

fn one(checked: &Checked) -> One<'_> {
    One {
        check: checked.id,
        title: checked.title,
        status: checked.status.as_str(),
        fine: (checked.findings.is_empty() && checked.unseen.is_none()).then_some(checked.fine.as_str()),
        not_checked: checked.unseen.as_deref(),
        findings: checked.findings.iter().map(found).collect(),
    }
}

fn found(finding: &Finding) -> Found<'_> {
    Found {
        id: finding.id,
        severity: finding.severity.as_str(),
        queue: finding.queue.as_ref().map(|queue| queue.name.as_str()),
        sentence: &finding.sentence,
        evidence: finding.evidence.iter().map(|(what, value)| Fact { what, value }).collect(),
        next_step: finding.next_step.lines().collect(),
    }
}
