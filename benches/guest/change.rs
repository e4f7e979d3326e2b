//! From a change in the database to the terminal: a job comes into a queue of its own while others change all the time, and
//! the clock runs from the call until the dashboard's screen shows the new number.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::Fallible;
use crate::asked::Asked;
use crate::dashboard::{Dashboard, ready};
use crate::load::{Size, load};
use crate::report::{Goal, Report, note};
use crate::server::{Server, connect};
use crate::stats::{Sample, millis};
use crate::traffic::Traffic;

const PROBE: &str = "probe";
const CHANGES: f64 = 500.0;
const SAMPLES: usize = 200;
const WARM_UP: usize = 5;
/// A change that is not seen by then counts as this.
const LOST: Duration = Duration::from_secs(10);

pub(crate) async fn run(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    let how =
        format!("from the call of enqueue_job to the terminal, {CHANGES} changes a second beside it, default settings");
    report.begin("change", &how);
    let size = Size { rows: 1_000, queues: 5 };
    load(server, size).await?;
    let dsn = server.dsn(&size.database());
    let client = connect(&dsn).await?;
    let enqueue = client.prepare("select id from enqueue_job($1, '{}')").await?;
    client.query_one(&enqueue, &[&PROBE]).await?;
    let traffic = Traffic::start(&dsn, CHANGES, size.queues).await?;
    let mut dashboard = Dashboard::start(&dsn, &[], PROBE).await?;
    let (mut times, mut lost) = (Vec::new(), 0);
    for sample in 0..WARM_UP + asked.times(SAMPLES) {
        // At any moment of the dashboard's rhythm.
        sleep(Duration::from_millis(fastrand::u64(50..550))).await;
        let wanted = u64::try_from(sample)? + 2;
        let began = Instant::now();
        client.query_one(&enqueue, &[&PROBE]).await?;
        let shown = dashboard.shows(LOST, |text| ready(text, |name| name == PROBE) == Some(wanted)).await;
        if shown.is_none() && dashboard.has_ended()? {
            return Err("the dashboard ended while it was measured".into());
        }
        if sample >= WARM_UP {
            lost += usize::from(shown.is_none());
            times.push(millis(shown.map_or(LOST, |at| at.duration_since(began))));
        }
    }
    let times = Sample::of(times)?;
    let goal = Goal::at_most(times.median(), 300.0, " ms");
    report.figure("median", &format!("{:.0} ms (of {})", times.median(), times.len()), &goal);
    let goal = Goal::at_most(times.percent(99), 1_000.0, " ms");
    report.figure("99 %", &format!("{:.0} ms, most {:.0}", times.percent(99), times.most()), &goal);
    if lost > 0 {
        note(&format!("{lost} changes were not on screen within {LOST:?} and count as that"));
    }
    note(&format!("{:.0} changes a second came through", traffic.stop().await?));
    drop((dashboard, client));
    server.remove(&size.database()).await
}
