//! The checks of an installation: what is there, who may do what, what is misconfigured. `doctor` runs all of them.
//!
//! A check is one file, and one line of the list `CHECKS`: its name, one bounded read-only statement, and a judge that turns
//! the answer into findings. Judges are rules like any other: no IO and no clock, and each has a floor below which it is
//! silent. Asking is the engine's work; "nothing found" is said only where a check could run.

mod clock;
mod dead_tuples;
mod drift;
mod folding;
mod functions;
mod groups;
mod history;
mod horizon;
mod housekeeping;
mod idle;
mod indexes;
mod installed;
mod judged;
mod notify;
mod outsiders;
mod pooler;
mod reaper;
mod rights;
mod role;
mod row_security;
mod server;
mod settings;
mod superuser;
mod timeouts;
mod triggers;

#[cfg(test)]
mod fixture;

use crate::model::checkup::{Answer, Question, Surroundings, Unanswered};
use crate::model::{Finding, Severity};
use crate::text::Safe;

use judged::{Judged, Seen};

/// One check.
pub struct Check {
    /// Stable name.
    pub id: &'static str,
    /// What it looks at, in a few words.
    pub title: &'static str,
    how: How,
}

/// How a check comes to know.
enum How {
    /// What is known beforehand is enough.
    Known(fn(&Surroundings) -> Judged),
    /// It asks.
    Asked {
        /// Tables of ours that it reads; without one of them it cannot run.
        needs: &'static [&'static str],
        /// The question.
        ask: fn(&Surroundings) -> Question,
        /// What follows from the answer; `Err`: why nothing does.
        judge: fn(&Seen<'_>) -> Result<Judged, String>,
    },
}

/// Every check. Among those of one status this order decides: what everything else rests on comes first.
pub const CHECKS: &[Check] = &[
    server::CHECK,
    installed::CHECK,
    functions::CHECK,
    triggers::CHECK,
    indexes::CHECK,
    drift::CHECK,
    folding::CHECK,
    outsiders::CHECK,
    groups::CHECK,
    role::CHECK,
    row_security::CHECK,
    superuser::CHECK,
    reaper::CHECK,
    housekeeping::CHECK,
    history::CHECK,
    settings::CHECK,
    notify::CHECK,
    pooler::CHECK,
    timeouts::CHECK,
    idle::CHECK,
    horizon::CHECK,
    dead_tuples::CHECK,
    clock::CHECK,
];

/// How a check ended, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Nothing found.
    Ok,
    /// Something good to know.
    Info,
    /// It could not run, or not in full, and found nothing in what it saw.
    Unknown,
    /// Look at this when there is time.
    Warning,
    /// Act on this now.
    Critical,
}

impl Status {
    /// The stable word, as written to JSON and shown in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => Severity::Info.as_str(),
            Self::Unknown => "unknown",
            Self::Warning => Severity::Look.as_str(),
            Self::Critical => Severity::Act.as_str(),
        }
    }
}

impl From<Severity> for Status {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Info,
            Severity::Look => Self::Warning,
            Severity::Act => Self::Critical,
        }
    }
}

/// What came of a check. All texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The check's name.
    pub id: &'static str,
    /// What it looked at.
    pub title: &'static str,
    /// How it ended.
    pub status: Status,
    /// What is so, where nothing was found.
    pub fine: String,
    /// What was found, worst first.
    pub findings: Vec<Finding>,
    /// What could not be seen, and why.
    pub unseen: Option<String>,
}

impl Checked {
    /// Puts together what a check says. The texts must be safe to print already.
    #[must_use]
    pub fn new(
        id: &'static str,
        title: &'static str,
        fine: String,
        mut findings: Vec<Finding>,
        unseen: Option<String>,
    ) -> Self {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let worst = findings.first().map(|finding| finding.severity.into());
        let seen = if unseen.is_some() { Status::Unknown } else { Status::Ok };
        let status = worst.map_or(seen, |worst: Status| worst.max(seen));
        Self { id, title, status, fine, findings, unseen }
    }

    /// What a judge says: every text is made harmless here, so that no check can forget to.
    fn of(check: &Check, judged: Judged) -> Self {
        let Judged { fine, findings, unseen } = judged;
        let unseen = (!unseen.is_empty()).then(|| Safe::full(&unseen.join("; ")).into());
        let named = |finding| Finding { id: check.id, ..harmless(finding) };
        Self::new(check.id, check.title, Safe::full(&fine).into(), findings.into_iter().map(named).collect(), unseen)
    }
}

fn harmless(finding: Finding) -> Finding {
    let safe = |text: &str| String::from(Safe::full(text));
    let lines: Vec<String> = Safe::lines(&finding.next_step).map(String::from).collect();
    Finding {
        sentence: safe(&finding.sentence),
        brief: safe(&finding.brief),
        evidence: finding.evidence.iter().map(|(what, value)| (safe(what), safe(value))).collect(),
        next_step: lines.join("\n"),
        ..finding
    }
}

/// What each check asks, in their order; `None`: nothing, or it cannot run here.
#[must_use]
pub fn questions(around: &Surroundings) -> Vec<Option<Question>> {
    let question = |check: &Check| match check.how {
        How::Asked { needs, ask, .. } if lacks(needs, around).is_none() => Some(ask(around)),
        _ => None,
    };
    CHECKS.iter().map(question).collect()
}

/// What came of each check, worst first. `answers` are those to [`questions`], in their order.
#[must_use]
pub fn judge(around: &Surroundings, answers: &[Option<Result<Answer, Unanswered>>]) -> Vec<Checked> {
    let each = CHECKS.iter().enumerate();
    let mut all: Vec<Checked> =
        each.map(|(at, check)| one(check, around, answers.get(at).and_then(Option::as_ref))).collect();
    all.sort_by_key(|checked| std::cmp::Reverse(checked.status));
    all
}

fn one(check: &Check, around: &Surroundings, answer: Option<&Result<Answer, Unanswered>>) -> Checked {
    let judged = match check.how {
        How::Known(judge) => Ok(judge(around)),
        How::Asked { needs, judge, .. } => match (lacks(needs, around), answer) {
            (Some(why), _) => Err(why),
            (None, Some(Err(none))) => Err(unanswered(none, around)),
            (None, Some(Ok(answer))) => judge(&Seen { around, answer }),
            (None, None) => Err("nothing was asked".to_owned()),
        },
    };
    let unknown = |why| Judged { unseen: vec![why], ..Judged::fine("") };
    Checked::of(check, judged.unwrap_or_else(unknown))
}

/// Why a check that reads these tables cannot run here, whatever the rights.
fn lacks(needs: &[&str], around: &Surroundings) -> Option<String> {
    let missing = needs.iter().find(|table| !around.tables.contains(**table))?;
    Some(match &around.schema {
        None => "there is no queue".to_owned(),
        Some(_) if !around.installed() => format!("queuetop's SQL is not installed in schema {}", around.schema_sql),
        Some(_) => format!("there is no table {missing} in schema {}", around.schema_sql),
    })
}

fn unanswered(none: &Unanswered, around: &Surroundings) -> String {
    if none.denied && around.installed() {
        format!("{}; run: GRANT {} TO {}", none.why, around.groups_sql.viewer, around.role_sql)
    } else {
        none.why.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::surroundings;
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let mut names: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHECKS.len());
        assert!(CHECKS.iter().all(|check| !check.title.is_empty()));
    }

    #[test]
    fn a_check_that_could_not_run_is_never_fine() {
        let around = surroundings();
        let none = Unanswered { denied: true, why: "permission denied for table jobs".into() };
        let answers: Vec<_> = questions(&around).iter().map(|ask| ask.as_ref().map(|_| Err(none.clone()))).collect();
        let checked = judge(&around, &answers);
        let asked = answers.iter().flatten().count();
        let unknown: Vec<&Checked> = checked.iter().filter(|c| c.status == Status::Unknown).collect();
        assert_eq!(unknown.len(), asked);
        assert!(unknown[0].unseen.as_ref().unwrap().ends_with("run: GRANT queue_viewer TO alice"), "{unknown:?}");
    }

    #[test]
    fn without_a_queue_only_the_server_is_looked_at() {
        let mut around = surroundings();
        around.schema = None;
        around.tables.clear();
        around.contents = crate::model::checkup::Contents::default();
        let asked = questions(&around).into_iter().flatten().count();
        assert!(asked > 0 && asked < 8, "{asked}");
        let checked = judge(&around, &vec![None; CHECKS.len()]);
        let installed = checked.iter().find(|c| c.id == "installed").unwrap();
        assert_eq!(installed.status, Status::Critical);
        let reaper = checked.iter().find(|c| c.id == "reaper").unwrap();
        assert_eq!(reaper.unseen.as_deref(), Some("there is no queue"));
    }

    #[test]
    fn worst_first_and_foreign_text_is_harmless() {
        let found = |severity| Judged::found(severity, "a\u{1b}]0;x\u{7}").next("drop\u{1b}[2J\nnow").build();
        let checked = |findings, unseen| {
            let judged = Judged { findings, unseen, ..Judged::fine("\u{7}") };
            Checked::of(&CHECKS[0], judged)
        };
        let worst = checked(vec![found(Severity::Info), found(Severity::Act)], vec![]);
        assert_eq!((worst.status, worst.fine.as_str()), (Status::Critical, r"\x07"));
        assert_eq!(worst.findings[0].severity, Severity::Act);
        assert_eq!(worst.findings[0].sentence, r"a\x1b]0;x\x07");
        assert_eq!(worst.findings[0].next_step, "drop\\x1b[2J\nnow");
        let partly = checked(vec![found(Severity::Info)], vec!["half".into()]);
        assert_eq!(partly.status, Status::Unknown);
    }
}
