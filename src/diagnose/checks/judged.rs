//! What the judges of the checks share: reading an answer, and putting a finding together.

use serde::de::DeserializeOwned;

use crate::model::checkup::{Answer, Arg, Question, Surroundings};
use crate::model::{Finding, Severity};

/// What a judge looks at.
pub(super) struct Seen<'a> {
    pub(super) around: &'a Surroundings,
    pub(super) answer: &'a Answer,
}

impl Seen<'_> {
    /// The rows of the answer.
    pub(super) fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, String> {
        let rows = self.answer.rows.iter().cloned();
        rows.map(|row| serde_json::from_value(row).map_err(|error| format!("the answer makes no sense: {error}")))
            .collect()
    }

    /// The only row of the answer.
    pub(super) fn row<T: DeserializeOwned>(&self) -> Result<T, String> {
        self.rows()?.into_iter().next().ok_or_else(|| "the answer is empty".to_owned())
    }
}

/// What a judge says.
pub(super) struct Judged {
    /// What is so, where nothing was found.
    pub(super) fine: String,
    pub(super) findings: Vec<Finding>,
    /// What could not be seen, and why.
    pub(super) unseen: Vec<String>,
}

impl Judged {
    /// Nothing found yet; `fine` is what is so then.
    pub(super) fn fine(fine: impl Into<String>) -> Self {
        Self { fine: fine.into(), findings: Vec::new(), unseen: Vec::new() }
    }

    /// Begins a finding.
    pub(super) fn found(severity: Severity, sentence: impl Into<String>) -> Found {
        Found { severity, sentence: sentence.into(), evidence: Vec::new(), next: String::new() }
    }
}

/// A finding in the making.
pub(super) struct Found {
    severity: Severity,
    sentence: String,
    evidence: Vec<(String, String)>,
    next: String,
}

impl Found {
    /// A row of evidence.
    pub(super) fn fact(mut self, what: &str, value: impl Into<String>) -> Self {
        self.evidence.push((what.to_owned(), value.into()));
        self
    }

    /// What to do: statements or commands, one a line.
    pub(super) fn next(mut self, step: impl Into<String>) -> Self {
        self.next = step.into();
        self
    }

    /// The finding; its name is that of its check.
    pub(super) fn build(self) -> Finding {
        let Self { severity, sentence, evidence, next } = self;
        let brief = sentence.clone();
        Finding { id: "", severity, queue: None, sentence, brief, evidence, next_step: next, weight: 1 }
    }
}

/// A statement about one schema: `{schema}` in it is the schema as SQL writes it.
pub(super) fn question(around: &Surroundings, sql: &str, args: Vec<Arg>) -> Question {
    Question { sql: sql.replace("{schema}", &around.schema_sql), args }
}

/// The schema as a value; without one, a name that no schema has.
pub(super) fn schema(around: &Surroundings) -> Arg {
    Arg::Text(around.schema.clone().unwrap_or_default())
}

/// A list as a value.
pub(super) fn texts<'a>(list: impl IntoIterator<Item = &'a String>) -> Arg {
    Arg::Texts(list.into_iter().cloned().collect())
}

/// `3 tables`, `1 table`.
pub(super) fn several(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A few of a list in running text: `a, b, c and 4 more`.
pub(super) fn few(list: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = list.iter().take(SHOWN).map(String::as_str).collect();
    match list.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Whole seconds, for ages.
pub(super) fn whole(seconds: f64) -> i64 {
    crate::fmt::whole_seconds(seconds)
}
