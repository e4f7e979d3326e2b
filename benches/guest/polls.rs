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
    let kept = kept(asked)?;
    let mut medians = Vec::new();
    for rows in asked.sizes() {
        let size = Size { rows, queues: 50 };
        medians.push((rows, measure(asked, (kept.as_ref(), server), size, 10.0, report).await?));
    }
    if let [(least, first), .., (most, last)] = medians[..] {
        let what = format!("growth from {} to {} jobs", grouped(least), grouped(most));
        let times = last / first;
        report.figure(&what, &format!("{times:.2} times"), &Goal::at_most(times, 2.0, " times"));
    }
    Ok(())
}

/// The largest size in 1,000 queues.
pub(crate) async fn by_queues(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    report.begin("queues", "the same with 1,000 queues");
    let kept = kept(asked)?;
    let rows = asked.sizes().last().copied().ok_or("no size")?;
    measure(asked, (kept.as_ref(), server), Size { rows, queues: 1_000 }, 50.0, report).await.map(drop)
}

/// Ten million jobs take minutes to load, so they are kept.
fn kept(asked: &Asked) -> Fallible<Option<Server>> {
    asked.big.then(|| Server::kept(&asked.data)).transpose()
}

/// Measures one size and returns the median of our poll in milliseconds.
async fn measure(
    asked: &Asked,
    (kept, fresh): (Option<&Server>, &Server),
    size: Size,
    goal: f64,
    report: &mut Report,
) -> Fallible<f64> {
    let (client, server) = match kept {
        Some(server) => (load_or_keep(server, size).await?, server),
        None => (load(fresh, size).await?, fresh),
    };
    let reader = Reader::connect(&server.dsn(&size.database())).await?;
    let (core, lists) = reader.samples(WARM_UP, asked.times(READINGS)).await?;
    let plain = plain(&client, asked.times(PLAIN_READINGS)).await?;
    let jobs = format!("{} jobs, {} queues", grouped(size.rows), grouped(size.queues));
    let goal = Goal::at_most(core.median(), goal, " ms");
    report.figure(&format!("{jobs}: our poll"), &core.in_millis(), &goal);
    beside("  its lists (leases each 1 s, failures each 5 s)", &lists.in_millis());
    beside("  beside: five plain metric queries", &plain.in_millis());
    drop((client, reader));
    if kept.is_none() {
        server.remove(&size.database()).await?;
    }
    Ok(core.median())
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
