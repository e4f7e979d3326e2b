//! A session together with the backends found on it, shared with whoever wants to ask something in between.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::backends::Backend;
use crate::db::{DbError, Session};

/// The backends of a database; they hold no connection.
pub type Backends = Arc<Vec<Box<dyn Backend>>>;

/// A live session and what is on it.
pub struct Live {
    /// The session.
    pub session: Arc<Session>,
    /// The backends of its database.
    pub backends: Backends,
}

/// Where the present session of a task can be seen; `None` while there is none.
pub type LiveView = watch::Receiver<Option<Arc<Live>>>;

/// Finds the backends on a session.
pub trait Detect: Send + Sync {
    /// What is there; nothing is an empty list.
    fn detect<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Vec<Box<dyn Backend>>, DbError>>;
}
