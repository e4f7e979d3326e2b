//! Memory of the dashboard's process over time, at the fastest polls that it allows and a steady trickle of events.

use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};

use crate::Fallible;
use crate::asked::Asked;
use crate::dashboard::Dashboard;
use crate::load::{Size, load};
use crate::proc::memory;
use crate::report::{Goal, Report, note, say};
use crate::server::Server;
use crate::stats::{Sample, slope};
use crate::traffic::Traffic;

const EVENTS: f64 = 10.0;
const EVERY: Duration = Duration::from_secs(1);
/// The fastest that the settings allow; the load limit is lifted, or it would stretch the interval.
const FASTEST: [&str; 4] = ["--interval", "50ms", "--load", "100"];
/// In kB. What the process may grow by after its first third and still be flat: the allocator's own coming and going.
const FLAT: f64 = 512.0;
const MOST: f64 = 40.0;

pub(crate) async fn run(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    let span = asked.memory_span();
    let how = format!("{:.1} minutes at {}, {EVENTS} events a second", span.as_secs_f64() / 60.0, FASTEST.join(" "));
    report.begin("memory", &how);
    let size = Size { rows: 10_000, queues: 10 };
    drop(load(server, size).await?);
    let dsn = server.dsn(&size.database());
    let traffic = Traffic::start(&dsn, EVENTS, size.queues).await?;
    let mut dashboard = Dashboard::start(&dsn, &FASTEST, "queue_").await?;
    dashboard.look_away();
    let pid = dashboard.pid()?;
    let points = sample(&mut dashboard, pid, span).await?;
    let most = memory(pid, "VmHWM")? / 1024.0;
    traffic.stop().await?;

    let third = span.as_secs_f64() / 3.0;
    let settled: Vec<(f64, f64)> = points.into_iter().filter(|(at, _)| *at >= third).collect();
    let resident = Sample::of(settled.iter().map(|point| point.1 / 1024.0))?;
    let a_second = slope(&settled);
    let grown = a_second * third * 2.0;
    let measured = format!("{:.1} MB resident (median), {most:.1} MB at its most", resident.median());
    report.figure("resident memory", &measured, &Goal::at_most(most, MOST, " MB"));
    let measured =
        format!("{grown:+.0} kB over {:.1} minutes, {:+.2} MB/h", third * 2.0 / 60.0, a_second * 3600.0 / 1024.0);
    report.figure("growth after the first third (least squares)", &measured, &Goal::at_most(grown, FLAT, " kB"));
    note("a short run cannot tell a slow leak from noise: --long runs an hour");
    drop(dashboard);
    server.remove(&size.database()).await
}

/// Seconds since the start, and kB in use.
async fn sample(dashboard: &mut Dashboard, pid: u32, span: Duration) -> Fallible<Vec<(f64, f64)>> {
    let began = Instant::now();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut points = Vec::new();
    let mut told = 0;
    while began.elapsed() < span {
        ticks.tick().await;
        if dashboard.has_ended()? {
            return Err("the dashboard ended while it was measured".into());
        }
        points.push((began.elapsed().as_secs_f64(), memory(pid, "VmRSS")?));
        if began.elapsed().as_secs() / 300 > told {
            told += 1;
            say(&format!("minute {}: {:.0} kB", told * 5, points.last().map_or(0.0, |point| point.1)));
        }
    }
    Ok(points)
}
