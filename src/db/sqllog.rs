//! What this program asked the server, for the Activity view: texts and timings, bounded. No parameters and no results
//! ever get in.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

/// How many statements are remembered.
const KEPT: usize = 500;

/// One executed statement.
#[derive(Debug, Clone)]
pub struct SqlLogEntry {
    /// When its answer was complete, by this machine's clock.
    pub at: SystemTime,
    /// What it was for, in a word or two.
    pub label: &'static str,
    /// The text as sent; parameters are `$1`, `$2`.
    pub sql: Arc<str>,
    /// From the answer before it (or the start of its batch) to its own answer, in microseconds.
    pub micros: u64,
    /// How many rows came back.
    pub rows: u64,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

/// The log; clones share it.
#[derive(Debug, Clone, Default)]
pub struct SqlLog {
    entries: Arc<Mutex<VecDeque<SqlLogEntry>>>,
}

impl SqlLog {
    pub(super) fn push(&self, entry: SqlLogEntry) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() == KEPT {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    /// The latest statements, newest first, at most `limit`.
    #[must_use]
    pub fn latest(&self, limit: usize) -> Vec<SqlLogEntry> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().rev().take(limit).cloned().collect()
    }
}
