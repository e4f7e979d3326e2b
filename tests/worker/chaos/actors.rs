//! Who makes the chaos.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use futures::future::BoxFuture;
use queuetop::worker::{AttemptEnd, ClaimedJob, Handler, JobError, Settings, Worker};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::super::setup::{connector, settings};
use super::{QUEUE, World};

/// A handler that takes its time, and fails.
struct Fickle {
    world: Arc<World>,
    actor: u64,
}

impl Handler for Fickle {
    fn handle(&self, job: ClaimedJob, stop: CancellationToken) -> BoxFuture<'_, Result<(), JobError>> {
        let low = u64::try_from(job.id.as_u128() & u128::from(u64::MAX)).expect("it fits");
        let mut rng = Rng::with_seed(self.world.seed ^ low ^ self.actor);
        Box::pin(async move {
            let takes = if rng.u32(..10) == 0 { rng.u64(500..1500) } else { rng.u64(..60) };
            // One in five does not listen when it is asked to stop.
            if rng.u32(..5) == 0 {
                sleep(Duration::from_millis(takes)).await;
            } else if stop.run_until_cancelled(sleep(Duration::from_millis(takes))).await.is_none() {
                return Err(JobError::Retry("stopped".to_owned()));
            }
            match rng.u32(..10) {
                0..2 => Err(JobError::Retry("bad luck".to_owned())),
                2 if job.attempt > 1 => Err(JobError::Permanent("hopeless".to_owned())),
                _ => Ok(()),
            }
        })
    }

    fn ended(&self, job: Uuid, attempt: i32, end: AttemptEnd) {
        match end {
            AttemptEnd::Completed => {
                self.world.books.lock().unwrap().completed.push((job, attempt));
                self.world.happened("worker completed");
            }
            AttemptEnd::Retried => self.world.happened("worker retried"),
            AttemptEnd::Dead => self.world.happened("worker dead-lettered"),
            AttemptEnd::Lost => self.world.happened("worker lost"),
            AttemptEnd::Untold => self.world.happened("worker untold"),
        }
    }
}

fn worker(world: &Arc<World>, actor: u64) -> Worker {
    let short = Settings { lease: Duration::from_millis(600), concurrency: 4, ..settings(QUEUE) };
    Worker::new(short, connector(&world.dsn), Fickle { world: Arc::clone(world), actor })
}

/// Workers that follow each other; most of them die in the middle.
pub(super) async fn mortal_workers(world: Arc<World>, actor: u64) {
    let mut rng = world.rng(actor);
    while !world.stop.is_cancelled() {
        let stop = world.stop.child_token();
        let life = Duration::from_millis(rng.u64(200..1500));
        let mut work = tokio::spawn(worker(&world, rng.u64(..)).run(stop.clone()));
        if tokio::time::timeout(life, &mut work).await.is_ok() {
            continue;
        }
        if rng.bool() {
            work.abort();
            world.happened("worker killed");
        } else {
            stop.cancel();
            world.happened("worker stopped");
        }
        // Aborted or ended: both are well.
        let _ended = work.await;
    }
}

/// One that works until it is told to stop.
pub(super) async fn quiet_worker(world: Arc<World>) {
    worker(&world, 99).run(world.stop.clone()).await.expect("a clean end");
}

/// Claims by hand with a short lease, sends no heartbeat, and comes back when it likes.
pub(super) async fn sloppy_worker(world: Arc<World>, actor: u64) {
    let mut rng = world.rng(actor);
    let mut line = world.line();
    let id = Uuid::new_v4();
    while world.pause(Duration::from_millis(rng.u64(..50))).await {
        let claim = "select id, attempts from claim_jobs($1, $2, 3, interval '200 milliseconds')";
        let Some(jobs) = line.ask(claim, &[&QUEUE, &id]).await else { continue };
        for job in jobs {
            let (job, attempt): (Uuid, i32) = (job.get(0), job.get(1));
            sleep(Duration::from_millis(rng.u64(..400))).await;
            if rng.u32(..4) == 0 {
                line.ask("select retry_job($1, $2, 'sloppy', interval '1 second', $3)", &[&job, &id, &attempt]).await;
                continue;
            }
            let Some(rows) = line.ask("select complete_job($1, $2, $3)", &[&job, &id, &attempt]).await else {
                continue;
            };
            if rows[0].get(0) {
                world.books.lock().unwrap().completed.push((job, attempt));
                world.happened("sloppy completed");
            } else {
                world.happened("sloppy refused");
            }
        }
    }
}

/// Puts jobs in; a lost answer is asked for again with the same key.
pub(super) async fn producer(world: Arc<World>, actor: u64) {
    let mut rng = world.rng(actor);
    let mut line = world.line();
    for number in 0.. {
        let key = format!("{actor}-{number}");
        let (attempts, priority) = (rng.i32(1..6), rng.i32(..3));
        let sql = "select id from enqueue_job($1, '{}', $2, p_max_attempts => $3, p_idempotency_key => $4)";
        while !world.stop.is_cancelled() {
            if let Some(rows) = line.ask(sql, &[&QUEUE, &priority, &attempts, &key]).await {
                world.books.lock().unwrap().enqueued.insert(key.clone(), rows[0].get(0));
                break;
            }
        }
        if !world.pause(Duration::from_millis(rng.u64(5..40))).await {
            return;
        }
    }
}

pub(super) async fn reaper(world: Arc<World>) {
    let mut line = world.line();
    while world.pause(Duration::from_millis(200)).await {
        if let Some(rows) = line.ask("select requeued, dead from reap_expired_jobs()", &[]).await
            && rows[0].get::<_, i64>(0) + rows[0].get::<_, i64>(1) > 0
        {
            world.happened("reaped");
        }
    }
}

/// Requeues, dead-letters, replays, reaps, pauses and resumes, with and without force.
pub(super) async fn operator(world: Arc<World>, actor: u64) {
    let mut rng = world.rng(actor);
    let mut line = world.line();
    while world.pause(Duration::from_millis(rng.u64(20..120))).await {
        let jobs =
            "select coalesce(jsonb_agg(jsonb_build_object('id', id, 'status', status, 'attempts', attempts)), '[]')
                    from (select * from jobs where status <> 'completed' order by random() limit 5) picked";
        let dead = "select coalesce(jsonb_agg(jsonb_build_object('id', id)), '[]')
                    from (select * from dead_letter_jobs order by random() limit 3) picked";
        let (what, picked, act) = match rng.u32(..12) {
            0..4 => ("requeue", jobs, "select outcome from operator_requeue($1, 'chaos', $2)"),
            4..6 => ("dead-letter", jobs, "select outcome from operator_dead_letter($1, 'chaos', $2)"),
            6..9 => ("replay", dead, "select outcome from operator_replay($1, 'chaos', $2)"),
            9..11 => ("reap", jobs, "select outcome from operator_reap($1, case when $2 then 'chaos' end)"),
            _ => {
                line.ask("select pause_queue($1)", &[&QUEUE]).await;
                sleep(Duration::from_millis(rng.u64(10..150))).await;
                line.ask("select resume_queue($1)", &[&QUEUE]).await;
                world.happened("paused");
                continue;
            }
        };
        let Some(rows) = line.ask(picked, &[]).await else { continue };
        let targets: serde_json::Value = rows[0].get(0);
        let force = rng.bool();
        // Between the look and the act others may have been there: that is what fences are for.
        sleep(Duration::from_millis(rng.u64(..30))).await;
        for row in line.ask(act, &[&targets, &force]).await.unwrap_or_default() {
            if row.get::<_, &str>(0) == "done" {
                world.happened(what);
            }
        }
    }
}
