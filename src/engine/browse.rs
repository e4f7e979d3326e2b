//! Reading lists and details in between, on whatever session lives at present.

use std::sync::Arc;
use std::time::Duration;

use crate::backends::{Backend, Minutes};
use crate::db::DbError;
use crate::model::{BackendKind, DetailRequest, JobDetail, Page, PageRequest, Panel, PanelKind, PartRead, PartRequest};

use super::live::{Live, LiveView};

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum BrowseError {
    /// There is no session at present.
    #[error("not connected at present")]
    NotConnected,
    /// The database has no queue of that kind.
    #[error("no {0} queue in this database")]
    NoBackend(BackendKind),
    /// The database said no.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Sessions to read on: the one that listens, else the one that polls.
#[derive(Clone)]
pub struct Sessions {
    /// Listens, and is free otherwise.
    pub listening: LiveView,
    /// Polls.
    pub polling: LiveView,
}

impl Sessions {
    pub(super) fn current(&self) -> Result<Arc<Live>, BrowseError> {
        let listening = self.listening.borrow().clone();
        listening.or_else(|| self.polling.borrow().clone()).ok_or(BrowseError::NotConnected)
    }
}

/// Reads one page of jobs.
///
/// # Errors
/// When there is no session, no such backend, or the database cannot answer.
pub async fn page(sessions: &Sessions, request: &PageRequest) -> Result<Page, BrowseError> {
    let live = sessions.current()?;
    Ok(backend(&live, request.filter.backend())?.page(&live.session, request).await?)
}

/// Reads what a full view shows.
///
/// # Errors
/// When there is no session, no backend, or the database cannot answer.
pub async fn panel(sessions: &Sessions, kind: PanelKind) -> Result<Panel, BrowseError> {
    let live = sessions.current()?;
    Ok(backend(&live, BackendKind::Jobs)?.panel(&live.session, kind).await?)
}

/// Reads what the database kept of the last `back`, in spans of `span`.
///
/// # Errors
/// When there is no session, or the database cannot answer.
pub async fn history(sessions: &Sessions, back: Duration, span: Duration) -> Result<Minutes, BrowseError> {
    let live = sessions.current()?;
    let mut all = Vec::new();
    for backend in live.backends.iter() {
        all.extend(backend.history(&live.session, back, span).await?);
    }
    Ok(all)
}

/// Reads one job; `None`: it is gone.
///
/// # Errors
/// When there is no session, no such backend, or the database cannot answer.
pub async fn detail(sessions: &Sessions, request: &DetailRequest) -> Result<Option<JobDetail>, BrowseError> {
    let live = sessions.current()?;
    Ok(backend(&live, request.job.queue.backend)?.detail(&live.session, request).await?)
}

/// Reads more of a payload or an error.
///
/// # Errors
/// When there is no session, no such backend, or the database cannot answer.
pub async fn part(sessions: &Sessions, request: &PartRequest) -> Result<PartRead, BrowseError> {
    let live = sessions.current()?;
    Ok(backend(&live, request.job.queue.backend)?.part(&live.session, request).await?)
}

/// The backend of this kind.
pub(super) fn backend(live: &Live, kind: BackendKind) -> Result<&dyn Backend, BrowseError> {
    let found = live.backends.iter().find(|backend| backend.kind() == kind);
    found.map(AsRef::as_ref).ok_or(BrowseError::NoBackend(kind))
}
