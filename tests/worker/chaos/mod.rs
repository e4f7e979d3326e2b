//! Chaos on a real server: real workers die in the middle, sloppy ones let their leases run out, a reaper comes all the time,
//! operators do what they like, the server goes down and comes back. Then the books must balance.
//!
//! Short by default. Long, and with another story:
//! `QUEUETOP_CHAOS_SECONDS=600 QUEUETOP_CHAOS_SEED=7 cargo test worker::chaos -- --nocapture`

mod actors;
mod check;
mod line;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use queuetop::engine::migrate;
use queuetop::private_pg::{Options, PrivatePg, Shutdown};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::line::Line;
use super::setup::until;
use crate::support::pg;

/// The queue that everybody fights over.
const QUEUE: &str = "chaos";
/// From one restart of the server to the next.
const RESTART_EVERY: Duration = Duration::from_secs(10);

/// What all actors share.
struct World {
    dsn: String,
    seed: u64,
    stop: CancellationToken,
    books: Mutex<Books>,
}

/// What the actors were told.
#[derive(Default)]
struct Books {
    /// Jobs by their key.
    enqueued: HashMap<String, Uuid>,
    /// Attempts whose worker was told that the job is completed.
    completed: Vec<(Uuid, i32)>,
    /// Errors that nobody should see.
    errors: Vec<String>,
    /// How often each thing happened, to see that it did.
    happened: HashMap<&'static str, u32>,
}

impl World {
    fn rng(&self, actor: u64) -> Rng {
        Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(actor))
    }

    fn line(&self) -> Line<'_> {
        Line::new(self)
    }

    fn happened(&self, what: &'static str) {
        *self.books.lock().unwrap().happened.entry(what).or_default() += 1;
    }

    /// Waits; false when it is over.
    async fn pause(&self, span: Duration) -> bool {
        self.stop.run_until_cancelled(sleep(span)).await.is_some()
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_books_balance_after_chaos() {
    let lasts = Duration::from_secs(number("QUEUETOP_CHAOS_SECONDS", 6));
    let seed = number("QUEUETOP_CHAOS_SEED", 1);
    eprintln!("chaos with seed {seed} for {lasts:?}");
    let server = start().await;
    let stop = CancellationToken::new();
    let world = Arc::new(World { dsn: server.dsn("chaos"), seed, stop: stop.clone(), books: Mutex::default() });

    let mut tasks = JoinSet::new();
    for actor in 0..4 {
        tasks.spawn(actors::mortal_workers(Arc::clone(&world), actor));
    }
    for actor in 10..12 {
        tasks.spawn(actors::sloppy_worker(Arc::clone(&world), actor));
    }
    for actor in 20..22 {
        tasks.spawn(actors::producer(Arc::clone(&world), actor));
        tasks.spawn(actors::operator(Arc::clone(&world), actor + 10));
    }
    tasks.spawn(actors::reaper(Arc::clone(&world)));
    let server = restarts(server, lasts, seed).await;
    stop.cancel();
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no actor panics");
    }

    let client = pg::connect(&world.dsn).await;
    check::balance(&client, &world, &server).await;
    drain(&world).await;
    check::balance(&client, &world, &server).await;
    check::ended(&client).await;
}

async fn start() -> PrivatePg {
    let mut settings = pg::options().settings;
    // A commit that was told must survive: the server is killed here.
    settings.push(("synchronous_commit".to_owned(), "on".to_owned()));
    let options = Options { settings, ..pg::options() };
    let started = spawn_blocking(move || PrivatePg::start(&options, &mut |line| eprintln!("{line}")));
    let server = started.await.expect("started").expect("a server");
    let admin = pg::connect(&server.dsn("postgres")).await;
    admin.batch_execute("create database chaos").await.expect("a database");
    let mut client = pg::connect(&server.dsn("chaos")).await;
    migrate::run(&mut client, &migrate::Options::default()).await.expect("migrated");
    server
}

/// Takes the server down now and then, in every way, until the time is over.
async fn restarts(mut server: PrivatePg, lasts: Duration, seed: u64) -> PrivatePg {
    let mut rng = Rng::with_seed(seed);
    let began = Instant::now();
    let mut next = RESTART_EVERY.min(lasts / 2);
    while next < lasts {
        sleep(next.saturating_sub(began.elapsed())).await;
        let how = [Shutdown::Fast, Shutdown::Immediate, Shutdown::Kill][rng.usize(..3)];
        server = spawn_blocking(move || {
            server.restart(how).expect("restarted");
            server
        })
        .await
        .expect("restarted");
        next += RESTART_EVERY;
    }
    sleep(lasts.saturating_sub(began.elapsed())).await;
    server
}

/// Lets a quiet worker and a reaper finish what is left.
async fn drain(world: &Arc<World>) {
    let quiet = Arc::new(World {
        dsn: world.dsn.clone(),
        seed: world.seed,
        stop: CancellationToken::new(),
        books: Mutex::default(),
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(actors::quiet_worker(Arc::clone(&quiet)));
    tasks.spawn(actors::reaper(Arc::clone(&quiet)));
    let client = pg::connect(&world.dsn).await;
    client.execute("select resume_queue($1)", &[&QUEUE]).await.expect("resumed");
    until("everything has ended", async || {
        let sql = "select not exists (select from jobs where status <> 'completed')";
        crate::support::queue::one::<bool>(&client, sql, &[]).await
    })
    .await;
    quiet.stop.cancel();
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no actor panics");
    }
    let mut quiet = std::mem::take(&mut *quiet.books.lock().unwrap());
    let mut books = world.books.lock().unwrap();
    books.completed.append(&mut quiet.completed);
    books.errors.append(&mut quiet.errors);
}
