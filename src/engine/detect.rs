//! Finding what is installed: the list of backends, asked with the schema that the operator named.

use futures::future::BoxFuture;

use crate::backends::{self, Backend};
use crate::db::{DbError, Session};

use super::live::Detect;

/// Looks for every backend there is.
#[derive(Debug, Clone, Default)]
pub struct Installed {
    /// The schema of the jobs table; `None`: look for it.
    pub schema: Option<String>,
}

impl Detect for Installed {
    fn detect<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Vec<Box<dyn Backend>>, DbError>> {
        Box::pin(backends::all(session, self.schema.as_deref()))
    }
}
