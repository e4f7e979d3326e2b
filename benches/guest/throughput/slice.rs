//! One measurement: a fresh copy of a queue, four workers on it, dashboards where they belong, and jobs done in a span.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_postgres::Client;
use uuid::Uuid;

use super::kinds::{Ends, Kind};
use crate::Fallible;
use crate::dashboard::Dashboard;
use crate::server::{Server, connect};

pub(super) const WORKERS: usize = 4;
/// Plans are made and caches filled.
const WARM_UP: Duration = Duration::from_millis(400);
const DATABASE: &str = "slice";

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slice {
    pub(super) kind: Kind,
    pub(super) batch: i32,
    pub(super) ends: Ends,
    /// `synchronous_commit` of the workers.
    pub(super) durable: bool,
}

/// What the workers share.
#[derive(Default)]
struct Shared {
    done: AtomicU64,
    stop: AtomicBool,
}

impl Slice {
    /// Jobs claimed and completed a second.
    pub(super) async fn measure(&self, server: &Server, span: Duration) -> Fallible<f64> {
        server.remove(DATABASE).await?;
        let copy = format!("create database {DATABASE} template {}", self.kind.template());
        server.admin().await?.batch_execute(&copy).await?;
        let dsn = server.dsn(DATABASE);
        let dashboards = Dashboard::several(self.kind.dashboards(), &dsn, "emails").await?;
        dashboards.iter().for_each(Dashboard::look_away);
        let rate = self.work(&dsn, span).await?;
        for mut dashboard in dashboards {
            if dashboard.has_ended()? {
                return Err("a dashboard ended while it was measured".into());
            }
        }
        server.remove(DATABASE).await?;
        Ok(rate)
    }

    async fn work(&self, dsn: &str, span: Duration) -> Fallible<f64> {
        let shared = Arc::new(Shared::default());
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            let client = connect(dsn).await?;
            client.batch_execute(&format!("set synchronous_commit = {}", self.durable)).await?;
            let (slice, shared) = (*self, Arc::clone(&shared));
            workers.spawn(async move { slice.worker(&client, &shared).await });
        }
        sleep(WARM_UP).await;
        let (before, began) = (shared.done.load(Ordering::Relaxed), Instant::now());
        sleep(span).await;
        let (after, took) = (shared.done.load(Ordering::Relaxed), began.elapsed());
        shared.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = workers.join_next().await {
            ended??;
        }
        let sql = "select count(*) from jobs where status = 'completed'";
        let completed: i64 = connect(dsn).await?.query_one(sql, &[]).await?.get(0);
        let done = shared.done.load(Ordering::Relaxed);
        if u64::try_from(completed)? != done {
            return Err(format!("the workers completed {done} jobs, the table has {completed}").into());
        }
        Ok((after - before) as f64 / took.as_secs_f64())
    }

    /// Claims a batch, ends it, and again.
    async fn worker(&self, client: &Client, shared: &Shared) -> Fallible<()> {
        let claim = client.prepare("select id from claim_jobs($1, $2, $3)").await?;
        let complete = client.prepare(&self.kind.complete(self.ends)?).await?;
        let worker = Uuid::new_v4();
        while !shared.stop.load(Ordering::Relaxed) {
            let jobs = client.query(&claim, &[&"emails", &worker, &self.batch]).await?;
            let jobs: Vec<Uuid> = jobs.iter().map(|job| job.get(0)).collect();
            if jobs.is_empty() {
                return Err("there were too few ready jobs to the end".into());
            }
            if self.ends == Ends::Together {
                ended(client.execute(&complete, &[&jobs, &worker]).await?, jobs.len(), shared)?;
                continue;
            }
            for job in jobs {
                ended(client.execute(&complete, &[&job, &worker]).await?, 1, shared)?;
            }
        }
        Ok(())
    }
}

fn ended(answered: u64, jobs: usize, shared: &Shared) -> Fallible<()> {
    if answered != u64::try_from(jobs)? {
        return Err(format!("{answered} of {jobs} jobs were completed").into());
    }
    shared.done.fetch_add(answered, Ordering::Relaxed);
    Ok(())
}
