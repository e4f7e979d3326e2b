//! The journal of a run: a private file that says what is to be done, which calls were begun and what came of them, so that a run
//! goes on after the program was killed and nothing is done twice. One JSON value a line; a last line that was cut is left out.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::record::{ActionRecord, ResultRecord, TargetRecord};
use crate::model::TargetResult;
use crate::model::bulk::{Bulk, Pace, Plan, Step};

/// The version of the format.
const FORMAT: u32 = 1;
/// Targets in one line.
const CHUNK: usize = 1_000;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("the journal {path} cannot be used: {cause}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        cause: io::Error,
    },
    /// It is not a journal of ours, or not whole.
    #[error("{path}, line {line}: {why}")]
    Malformed {
        /// Which file.
        path: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Run {
        format: u32,
        id: Uuid,
        database: String,
        action: ActionRecord,
        reason: Option<String>,
        per_s: Option<u32>,
        step: usize,
        targets: usize,
    },
    Targets(Vec<TargetRecord>),
    Sent {
        token: Uuid,
        from: usize,
        to: usize,
    },
    Answered {
        from: usize,
        results: Vec<ResultRecord>,
    },
    NeverHappened {
        from: usize,
        to: usize,
    },
    Ended {},
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// A run as a journal has it.
#[derive(Debug)]
pub struct Found {
    /// The run, ready to go on.
    pub bulk: Bulk,
    /// The database it acted on, for comparing.
    pub database: String,
    /// It had come to its end.
    pub ended: bool,
}

impl Journal {
    /// Begins a journal in a private folder, which is made when it is missing.
    ///
    /// # Errors
    /// When it cannot be written whole; then nothing must be done.
    pub fn create(folder: &Path, plan: &Plan, database: &str) -> Result<Self, JournalError> {
        let path = folder.join(format!("{}.jsonl", plan.id));
        let failed = |cause| JournalError::Io { path: path.display().to_string(), cause };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        let mut journal = Self { file, path: path.clone() };
        journal.write(&Line::Run {
            format: FORMAT,
            id: plan.id,
            database: database.to_owned(),
            action: plan.action.into(),
            reason: plan.reason.clone(),
            per_s: plan.pace.per_s,
            step: plan.pace.step,
            targets: plan.targets.len(),
        })?;
        for chunk in plan.targets.chunks(CHUNK) {
            journal.write(&Line::Targets(chunk.iter().map(TargetRecord::of).collect()))?;
        }
        journal.keep()?;
        Ok(journal)
    }

    /// Opens a journal to go on with its run.
    ///
    /// # Errors
    /// When it cannot be read, is no journal, or names fewer targets than it promises.
    pub fn open(path: &Path) -> Result<(Self, Found), JournalError> {
        let failed = |cause| JournalError::Io { path: path.display().to_string(), cause };
        let found = read(path)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        // A line that was cut must not become the beginning of the next one.
        let text = std::fs::read(path).map_err(failed)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(u64::try_from(whole).unwrap_or(u64::MAX)).map_err(failed)?;
        Ok((Self { file, path: path.to_owned() }, found))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A call is about to be made. On disk when this returns.
    ///
    /// # Errors
    /// When it cannot be written; then the call must not be made.
    pub fn sent(&mut self, step: &Step) -> Result<(), JournalError> {
        self.write(&Line::Sent { token: step.token, from: step.range.start, to: step.range.end })?;
        self.keep()
    }

    /// A call was answered.
    ///
    /// # Errors
    /// When it cannot be written; the audit still has the answer.
    pub fn answered(&mut self, step: &Step, results: &[TargetResult]) -> Result<(), JournalError> {
        let results = results.iter().map(ResultRecord::of).collect();
        self.write(&Line::Answered { from: step.range.start, results })
    }

    /// A call is known not to have happened.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn never_happened(&mut self, step: &Step) -> Result<(), JournalError> {
        self.write(&Line::NeverHappened { from: step.range.start, to: step.range.end })
    }

    /// The run has come to its end.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn ended(&mut self) -> Result<(), JournalError> {
        self.write(&Line::Ended {})?;
        self.keep()
    }

    fn write(&mut self, line: &Line) -> Result<(), JournalError> {
        let text = serde_json::to_string(line).map_err(io::Error::from).map_err(|cause| self.failed(cause))?;
        // In one write: a line is whole or it is the last one.
        self.file.write_all(format!("{text}\n").as_bytes()).map_err(|cause| self.failed(cause))
    }

    fn keep(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: io::Error) -> JournalError {
        JournalError::Io { path: self.path.display().to_string(), cause }
    }
}

/// Reads a journal without touching it.
///
/// # Errors
/// As [`Journal::open`].
pub fn read(path: &Path) -> Result<Found, JournalError> {
    let name = path.display().to_string();
    let failed = |cause| JournalError::Io { path: path.display().to_string(), cause };
    let mut reading = Reading::default();
    let lines: Vec<String> =
        BufReader::new(File::open(path).map_err(failed)?).lines().collect::<Result<_, _>>().map_err(failed)?;
    for (at, text) in lines.iter().enumerate() {
        let wrong = |why: String| JournalError::Malformed { path: name.clone(), line: at + 1, why };
        match serde_json::from_str(text) {
            Ok(line) => reading.take(line).map_err(wrong)?,
            // The program was killed while it wrote.
            Err(_) if at > 0 && at + 1 == lines.len() => {}
            Err(error) => return Err(wrong(format!("this is no line of a journal: {error}"))),
        }
    }
    let line = lines.len();
    reading.finish().ok_or_else(|| JournalError::Malformed {
        path: name,
        line,
        why: "the list of jobs is not whole".into(),
    })
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    plan: Option<(Plan, String, usize)>,
    calls: Vec<(Step, Option<Vec<TargetResult>>)>,
    ended: bool,
}

impl Reading {
    fn take(&mut self, line: Line) -> Result<(), String> {
        match (line, &mut self.plan) {
            (Line::Run { format, id, database, action, reason, per_s, step, targets }, None) => {
                if format != FORMAT {
                    return Err(format!("format {format} is of another version of queuetop"));
                }
                let plan =
                    Plan { id, action: action.try_into()?, reason, targets: Vec::new(), pace: Pace { step, per_s } };
                self.plan = Some((plan, database, targets));
            }
            (Line::Targets(targets), Some((plan, ..))) => {
                for target in targets {
                    plan.targets.push(target.into_target()?);
                }
            }
            (Line::Sent { token, from, to }, Some(_)) => self.calls.push((Step { token, range: from..to }, None)),
            (Line::Answered { from, results }, Some(_)) => {
                let call = self.calls.iter_mut().rev().find(|(step, _)| step.range.start == from);
                let (_, answer) = call.ok_or("an answer without a call")?;
                *answer = Some(results.into_iter().map(ResultRecord::into_result).collect());
            }
            (Line::NeverHappened { from, to }, Some(_)) => {
                self.calls.retain(|(step, answer)| step.range != (from..to) || answer.is_some());
            }
            (Line::Ended {}, Some(_)) => self.ended = true,
            (Line::Run { .. }, Some(_)) => return Err("a second run in one journal".into()),
            (_, None) => return Err("a journal begins with its run".into()),
        }
        Ok(())
    }

    fn finish(self) -> Option<Found> {
        let (plan, database, targets) = self.plan?;
        let whole = plan.targets.len() == targets && self.calls.iter().all(|(step, _)| step.range.end <= targets);
        if !whole {
            return None;
        }
        let mut bulk = Bulk::new(plan);
        for (step, answer) in self.calls {
            bulk.resume(step, answer);
        }
        Some(Found { bulk, database, ended: self.ended })
    }
}
