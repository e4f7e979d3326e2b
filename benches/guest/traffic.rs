//! Changes at a given rate in the background: jobs are enqueued, claimed and completed by the functions, one change a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::interval;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::Fallible;
use crate::server::connect;

/// Sessions that share the rate.
const SESSIONS: u32 = 4;

pub(crate) struct Traffic {
    tasks: JoinSet<Fallible<()>>,
    done: Arc<AtomicU64>,
    began: Instant,
}

impl Traffic {
    /// Begins: so many changes a second, spread over `queues` queues named as those that were loaded.
    pub(crate) async fn start(dsn: &str, a_second: f64, queues: u64) -> Fallible<Self> {
        let done = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let pause = Duration::from_secs_f64(f64::from(SESSIONS) / a_second);
        for session in 0..SESSIONS {
            let (client, done) = (connect(dsn).await?, Arc::clone(&done));
            tasks.spawn(async move { change(&client, session.into(), pause, queues, &done).await });
        }
        Ok(Self { tasks, done, began: Instant::now() })
    }

    /// Stops; says how many changes a second it came to. A session that died on the way is an error.
    pub(crate) async fn stop(mut self) -> Fallible<f64> {
        let rate = self.done.load(Ordering::Relaxed) as f64 / self.began.elapsed().as_secs_f64();
        while let Some(ended) = self.tasks.try_join_next() {
            ended??;
        }
        self.tasks.shutdown().await;
        Ok(rate)
    }
}

async fn change(client: &Client, session: u64, pause: Duration, queues: u64, done: &AtomicU64) -> Fallible<()> {
    let enqueue = client.prepare("select id from enqueue_job($1, '{\"to\": \"someone@example.com\"}')").await?;
    let claim = client.prepare("select id from claim_jobs($1, $2, 1)").await?;
    let complete = client.prepare("select complete_job($1, $2)").await?;
    let worker = Uuid::new_v4();
    // What could not be done in time is made up for.
    let mut ticks = interval(pause);
    for round in session.. {
        let queue = format!("queue_{}", round % queues.max(1));
        ticks.tick().await;
        client.query_one(&enqueue, &[&queue]).await?;
        done.fetch_add(1, Ordering::Relaxed);
        ticks.tick().await;
        // Another session may have taken the last one.
        let Some(job) = client.query_opt(&claim, &[&queue, &worker]).await? else { continue };
        done.fetch_add(1, Ordering::Relaxed);
        ticks.tick().await;
        client.query_one(&complete, &[&job.get::<_, Uuid>(0), &worker]).await?;
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
