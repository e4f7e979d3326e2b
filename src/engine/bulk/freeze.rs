//! Freezing a set: the jobs that match a filter at one moment after the other, page by page, each as it was seen. What comes in
//! afterwards is not in the set.

use std::collections::HashSet;

use tokio::sync::watch;

use crate::engine::browse::{self, BrowseError, Sessions};
use crate::model::{Fence, Filter, Job, JobRef, PageRequest, Sort};

/// Rows of one page.
const PAGE: u32 = 1_000;
/// Jobs that are kept whole, for showing a sample.
const SAMPLE: usize = 12;

/// What to freeze.
#[derive(Debug, Clone, PartialEq)]
pub struct Freeze {
    /// Which jobs.
    pub filter: Filter,
    /// More than this are refused.
    pub most: usize,
}

/// A frozen set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frozen {
    /// Each job with its fence, as it was seen.
    pub targets: Vec<(JobRef, Fence)>,
    /// The first of them whole.
    pub sample: Vec<Job>,
    /// Limits that were met on the way, in words.
    pub note: Option<String>,
}

/// Why a set could not be frozen.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] BrowseError),
    /// The list may not be read, or is not known.
    #[error("the list of jobs is not known: {0}")]
    NotKnown(String),
    /// There are more than allowed.
    #[error("more than {0} jobs match: narrow the filter")]
    TooMany(usize),
}

/// Reads the whole set; `progress` says how many there are so far.
///
/// # Errors
/// When a page cannot be read or there are too many: then nothing is frozen.
pub async fn freeze(
    sessions: &Sessions,
    wanted: &Freeze,
    progress: &watch::Sender<usize>,
) -> Result<Frozen, FreezeError> {
    let mut request = PageRequest { filter: wanted.filter.clone(), sort: Sort::Natural, after: None, limit: PAGE };
    let mut frozen = Frozen::default();
    // A row that moved while pages were read may come twice.
    let mut known: HashSet<JobRef> = HashSet::new();
    loop {
        let page = browse::page(sessions, &request).await?;
        let Some(jobs) = page.jobs.value() else {
            return Err(FreezeError::NotKnown(page.note.unwrap_or_default()));
        };
        for job in jobs {
            if !known.insert(job.at.clone()) {
                continue;
            }
            if frozen.sample.len() < SAMPLE {
                frozen.sample.push(job.clone());
            }
            frozen.targets.push((job.at.clone(), job.fence.clone()));
        }
        if frozen.targets.len() > wanted.most {
            return Err(FreezeError::TooMany(wanted.most));
        }
        progress.send_replace(frozen.targets.len());
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(frozen),
        }
    }
}
