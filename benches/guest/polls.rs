//! Database time of a poll by the number of jobs and of queues, beside the plain metric queries on the same data.

use std::time::Instant;

use tokio_postgres::Client;

use crate::Fallible;
use crate::asked::Asked;
use crate::load::{Size, load, load_or_keep};
use crate::plain::METRICS;
use crate::reader::Reader;
use crate::report::{Goal, Report, beside};
use crate::server::Server;
use crate::stats::{Sample, grouped, millis};

const WARM_UP: usize = 20;
const READINGS: usize = 200;
/// The plain queries take long.
const PLAIN_READINGS: usize = 5;

/// By the number of jobs, in 50 queues.
pub(crate) async fn by_jobs(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    report
        .begin("polls", "database time of one poll by the server's clock, 50 queues, a tenth of the jobs queued, warm");
    let sizes: Vec<Size> = asked.sizes().into_iter().map(|rows| Size { rows, queues: 50 }).collect();
    let medians = measure(asked, server, &sizes, 10.0, report).await?;
    if let ([least, .., most], [first, .., last]) = (&sizes[..], &medians[..]) {
        let what = format!("growth from {} to {} jobs", grouped(least.rows), grouped(most.rows));
        let times = last / first;
        report.figure(&what, &format!("{times:.2} times"), &Goal::at_most(times, 2.0, " times"));
    }
    Ok(())
}

/// The largest size in 1,000 queues.
pub(crate) async fn by_queues(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    report.begin("queues", "the same with 1,000 queues");
    let rows = asked.sizes().last().copied().ok_or("no size")?;
    measure(asked, server, &[Size { rows, queues: 1_000 }], 50.0, report).await.map(drop)
}

/// A loaded database under measurement.
struct Loaded {
    size: Size,
    client: Client,
    reader: Reader,
    core: Vec<f64>,
    lists: Vec<f64>,
}

impl Loaded {
    async fn open(server: &Server, size: Size) -> Fallible<Self> {
        let client = if server.is_kept() { load_or_keep(server, size).await? } else { load(server, size).await? };
        let reader = Reader::connect(&server.dsn(&size.database())).await?;
        Ok(Self { size, client, reader, core: Vec::new(), lists: Vec::new() })
    }
}

/// Measures all sizes in turn, so that the machine's moods hit all alike, and returns the medians of our poll in milliseconds.
async fn measure(asked: &Asked, fresh: &Server, sizes: &[Size], goal: f64, report: &mut Report) -> Fallible<Vec<f64>> {
    // Ten million jobs take minutes to load, so they are kept.
    let kept = asked.big.then(|| Server::kept(&asked.data)).transpose()?;
    let server = kept.as_ref().unwrap_or(fresh);
    let mut all = Vec::new();
    for size in sizes {
        all.push(Loaded::open(server, *size).await?);
    }
    for round in 0..WARM_UP + asked.times(READINGS) {
        for one in &mut all {
            let (core, lists) = (one.reader.core().await?, one.reader.lists().await?);
            if round >= WARM_UP {
                one.core.push(millis(core));
                one.lists.push(millis(lists));
            }
        }
    }
    let mut medians = Vec::new();
    for Loaded { size, client, reader, core, lists } in all {
        let (core, lists) = (Sample::of(core)?, Sample::of(lists)?);
        let plain = plain(&client, asked.times(PLAIN_READINGS)).await?;
        let jobs = format!("{} jobs, {} queues", grouped(size.rows), grouped(size.queues));
        let goal = Goal::at_most(core.median(), goal, " ms");
        report.figure(&format!("{jobs}: our poll"), &core.in_millis(), &goal);
        beside("  its lists (leases each 1 s, failures each 5 s)", &lists.in_millis());
        beside("  beside: five plain metric queries", &plain.in_millis());
        medians.push(core.median());
        drop((client, reader));
        if !server.is_kept() {
            server.remove(&size.database()).await?;
        }
    }
    Ok(medians)
}

/// The same figures by plain queries, one after the other.
async fn plain(client: &Client, readings: usize) -> Fallible<Sample> {
    let mut times = Vec::new();
    for round in 0..=readings {
        let began = Instant::now();
        for sql in METRICS {
            client.query(sql, &[]).await?;
        }
        // The first warms up.
        if round > 0 {
            times.push(millis(began.elapsed()));
        }
    }
    Sample::of(times)
}
