//! What every list of jobs has in common: which rows the follow and the filter let through, marks, and their signs.

use super::parts::Cell;
use super::{Ask, Ctx};
use crate::model::{Job, JobRef};
use crate::theme;

impl Ctx<'_> {
    /// Whether a list shows this job: in the queue that is followed, and containing the filter's text.
    pub(super) fn shows(&self, job: &Job) -> bool {
        let wanted = self.filter.to_lowercase();
        let contains = |text: &str| text.to_lowercase().contains(&wanted);
        self.queue.is_none_or(|queue| *queue == job.at.queue)
            && (wanted.is_empty()
                || contains(&job.at.id)
                || contains(&job.at.queue.name)
                || job.worker.as_deref().is_some_and(contains)
                || job.error.as_deref().is_some_and(contains))
    }

    /// The first sign of a job's row: marked, or under the cursor.
    pub(super) fn row_sign(&self, job: &Job, here: bool) -> Cell {
        if self.marks.contains_key(&job.at) {
            Cell::new(theme::MARK, self.theme.mark)
        } else if here {
            Cell::new(theme::CURSOR, self.theme.accent)
        } else {
            Cell::default()
        }
    }

    /// Asks to mark the jobs from the nearest marked row to the row of the cursor, both included; without a marked row
    /// the cursor's alone.
    pub(super) fn mark_range(&self, rows: &[&Job], at: Option<&JobRef>) -> Option<Ask> {
        let here = rows.iter().position(|job| Some(&job.at) == at)?;
        let marked = (0..rows.len()).filter(|i| rows.get(*i).is_some_and(|job| self.marks.contains_key(&job.at)));
        let from = marked.min_by_key(|i| i.abs_diff(here)).unwrap_or(here);
        let range = rows.get(from.min(here)..=from.max(here))?;
        Some(Ask::MarkAll(range.iter().map(|job| (*job).clone()).collect()))
    }
}
