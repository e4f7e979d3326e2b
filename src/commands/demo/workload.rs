//! The living part: producers, workers that succeed, fail and die, a slow reaper.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::care;
use super::produce;
use super::queues::{INVOICES, QUEUES, Temper, is_down};
use super::texts;
use crate::db::Connector;
use crate::worker::{ClaimedJob, Handler, JobError, Settings, Worker};

/// What all parts share.
pub(super) struct Shared {
    pub(super) connector: Arc<Connector>,
    pub(super) seed: u64,
    pub(super) rate: f64,
    pub(super) began: Instant,
    /// Jobs waiting or running, by queue, as of a few seconds ago.
    pub(super) backlog: BTreeMap<&'static str, AtomicI64>,
    pub(super) stop: CancellationToken,
}

impl Shared {
    pub(super) fn new(connector: Arc<Connector>, seed: u64, rate: f64) -> Arc<Self> {
        let backlog = QUEUES.map(|temper| (temper.queue, AtomicI64::new(0))).into();
        Arc::new(Self { connector, seed, rate, began: Instant::now(), backlog, stop: CancellationToken::new() })
    }

    pub(super) fn backlog(&self, queue: &str) -> i64 {
        self.backlog.get(queue).map_or(0, |waiting| waiting.load(Ordering::Relaxed))
    }

    /// Chance of its own for each part: what one draws does not depend on when another one does.
    pub(super) fn rng(&self, part: &str) -> Rng {
        let name = part.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Rng::with_seed(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(name))
    }
}

/// Starts everything.
pub(super) fn start(shared: &Arc<Shared>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(care::run(Arc::clone(shared)));
    for temper in &QUEUES {
        tasks.spawn(produce::run(Arc::clone(shared), temper));
        for number in 1..=temper.workers {
            tasks.spawn(employ(Arc::clone(shared), temper, number));
        }
    }
    tasks
}

/// Keeps one worker at work; a mortal one dies again and again, and another one follows after a while.
async fn employ(shared: Arc<Shared>, temper: &'static Temper, number: usize) {
    let name = format!("{}-{number}", temper.queue);
    let mut rng = shared.rng(&name);
    while !shared.stop.is_cancelled() {
        let simulated = Simulated { shared: Arc::clone(&shared), temper, hurry: AtomicBool::new(false) };
        let worker = Worker::new(settings(&shared, temper, &name), Arc::clone(&shared.connector), simulated);
        let work = worker.run(shared.stop.clone());
        let death = sleep(if temper.mortal { Duration::from_millis(rng.u64(5_000..12_000)) } else { Duration::MAX });
        tokio::select! {
            result = work => if let Err(error) = result {
                tracing::warn!(name, %error, "a worker of the demo ended");
            },
            // Dropped in the middle of everything, as by SIGKILL: nobody is told, its leases run out.
            () = death => {}
        }
        let pause = Duration::from_millis(rng.u64(500..2_500));
        shared.stop.run_until_cancelled(sleep(pause)).await;
    }
}

fn settings(shared: &Shared, temper: &Temper, name: &str) -> Settings {
    // More comes in, more hands work: a rate changes the scale, not the story.
    let wanted = temper.slots as f64 * shared.rate;
    Settings {
        name: Some(name.to_owned()),
        lease: temper.lease,
        concurrency: (temper.slots..1000).find(|slots| *slots as f64 >= wanted).unwrap_or(1000),
        poll: Duration::from_millis(400),
        grace: Duration::ZERO,
        retry: temper.retry,
        ..Settings::new(temper.queue)
    }
}

/// A handler that only takes time, and fails at times.
struct Simulated {
    shared: Arc<Shared>,
    temper: &'static Temper,
    /// Works the backlog off, until it is small again.
    hurry: AtomicBool,
}

#[derive(serde::Deserialize)]
struct Numbered {
    n: u64,
}

impl Simulated {
    /// Chance that depends on the job and its attempt alone.
    fn rng(&self, job: &ClaimedJob) -> Rng {
        let number = job.json::<Numbered>().map_or(0, |payload| payload.n);
        self.shared.rng(&format!("{} {number} {}", job.queue, job.attempt))
    }

    fn hurries(&self) -> bool {
        if self.temper.queue != "invoices" {
            return false;
        }
        let (many, few) = INVOICES;
        let backlog = self.shared.backlog(self.temper.queue);
        if backlog > many {
            self.hurry.store(true, Ordering::Relaxed);
        } else if backlog < few {
            self.hurry.store(false, Ordering::Relaxed);
        }
        self.hurry.load(Ordering::Relaxed)
    }
}

impl Handler for Simulated {
    fn handle(&self, job: ClaimedJob, stop: CancellationToken) -> BoxFuture<'_, Result<(), JobError>> {
        Box::pin(async move {
            let mut rng = self.rng(&job);
            let (from, to) = self.temper.takes;
            let takes = Duration::from_millis(rng.u64(from..=to));
            let takes = if self.hurries() { takes / 4 } else { takes };
            if stop.run_until_cancelled(sleep(takes)).await.is_none() {
                return Err(JobError::Retry("the worker was stopped".to_owned()));
            }
            texts::failure(self.temper.queue, is_down(self.shared.began.elapsed()), &mut rng).map_or(Ok(()), Err)
        })
    }
}
