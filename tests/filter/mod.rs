//! The filter language on a real PostgreSQL: what lists show, in which order, how far they look, and what they move.

mod command;
mod judged;
mod paging;
mod reads;
mod sizes;
mod typed;

use std::collections::BTreeMap;

use queuetop::backends::{self, Backend};
use queuetop::db::{ConnInfo, Connector, Env, Purpose, Session, SqlLog};
use queuetop::model::{Filter, Job, Page, PageRequest, Sort};

use crate::support::pg::Database;

/// A session as the dashboard has them, and the backend that it finds.
pub(crate) struct Lists {
    session: Session,
    backend: Box<dyn Backend>,
}

impl Lists {
    async fn new(dsn: &str) -> Self {
        let nothing = Env { vars: BTreeMap::new(), home: None, ..Env::of_process() };
        let info = ConnInfo::resolve(Some(dsn), &nothing).expect("a good DSN");
        let session = Connector::new(info, SqlLog::default()).connect(Purpose::Read).await.expect("a session");
        let backend = backends::all(&session, None).await.expect("detection").remove(0);
        Self { session, backend }
    }

    async fn page(&self, request: &PageRequest) -> Page {
        let page = self.backend.page(&self.session, request).await;
        page.unwrap_or_else(|error| panic!("{} by {}: {error}", request.filter, request.sort))
    }

    /// All rows, by pages of `limit`.
    async fn all(&self, text: &str, sort: Sort, limit: u32) -> Vec<Job> {
        let mut request = request(text, sort, limit);
        let mut all = Vec::new();
        loop {
            let page = self.page(&request).await;
            all.extend(rows(&page));
            assert!(all.len() < 100_000, "a list without an end: {text}");
            match page.next {
                Some(next) => request.after = Some(next),
                None => return all,
            }
        }
    }

    /// The ids of all rows, sorted.
    async fn ids(&self, text: &str) -> Vec<String> {
        let mut ids: Vec<String> = self.all(text, Sort::Natural, 100).await.into_iter().map(|job| job.at.id).collect();
        ids.sort_unstable();
        ids
    }
}

fn filter(text: &str) -> Filter {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn request(text: &str, sort: Sort, limit: u32) -> PageRequest {
    PageRequest { filter: filter(text), sort, after: None, limit }
}

fn rows(page: &Page) -> Vec<Job> {
    page.jobs.value().cloned().unwrap_or_else(|| panic!("{page:?}"))
}

async fn run(database: &Database, sql: &str) {
    database.client().await.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}
