//! The `jobs` backend reads and acts on a real PostgreSQL: with counters, on bare tables, and with rights missing. What it
//! reads is compared with what was done, never with itself.

mod acting;
mod bare;
mod cost;
mod detail;
mod groups;
mod lists;
mod numbers;
mod rights;
mod workers;

use std::collections::BTreeMap;

use queuetop::backends::{self, Backend, Core};
use queuetop::db::{ConnInfo, Connector, Env, Purpose, Session, SqlLog};
use queuetop::model::{DetailRequest, Job, JobDetail, JobRef, Page, PageRequest, QueueStats, Stamps};

use crate::support::bouncer;
use crate::support::pg::Database;

/// A session that may write, and its log.
async fn logged_session(dsn: &str) -> (Session, SqlLog) {
    let nothing = Env { vars: BTreeMap::new(), home: None, ..Env::of_process() };
    let mut info = ConnInfo::resolve(Some(dsn), &nothing).expect("a good DSN");
    // The pooler knows one role.
    if let Some(detour) = bouncer::detour(&info.dbname).filter(|_| info.user == "postgres") {
        info = ConnInfo::resolve(Some(&detour), &nothing).expect("a good DSN");
    }
    let log = SqlLog::default();
    (Connector::new(info, log.clone()).connect(Purpose::Act).await.expect("a session"), log)
}

async fn session(dsn: &str) -> Session {
    logged_session(dsn).await.0
}

/// The one backend there is.
async fn backend(session: &Session) -> Box<dyn Backend> {
    let mut found = backends::all(session, None).await.expect("detection");
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Runs statements as the superuser.
async fn run(database: &Database, sql: &str) {
    database.client().await.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

fn queue<'a>(core: &'a Core, name: &str) -> &'a QueueStats {
    core.queues.iter().find(|queue| queue.id.name == name).unwrap_or_else(|| panic!("no queue {name}"))
}

async fn page(session: &Session, backend: &dyn Backend, request: &PageRequest) -> Page {
    backend.page(session, request).await.unwrap_or_else(|error| panic!("{request:?}: {error}"))
}

/// A job in full, of which nothing is known yet.
async fn detail(session: &Session, backend: &dyn Backend, job: &JobRef) -> Option<JobDetail> {
    let request = DetailRequest { job: job.clone(), known: Stamps::default() };
    backend.detail(session, &request).await.expect("an answer")
}

fn rows(page: &Page) -> Vec<Job> {
    page.jobs.value().cloned().unwrap_or_else(|| panic!("{page:?}"))
}
