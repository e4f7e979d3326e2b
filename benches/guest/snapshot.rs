//! Poll time under load while somebody else holds an old snapshot, so that nothing that was deleted or replaced since can be
//! cleaned away: the end against the beginning.

use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};
use tokio_postgres::Client;

use crate::Fallible;
use crate::asked::Asked;
use crate::load::{Size, load};
use crate::reader::Reader;
use crate::report::{Goal, Report, beside, note, say};
use crate::server::{Server, connect};
use crate::stats::{Sample, grouped, millis};
use crate::traffic::Traffic;

const CHANGES: f64 = 500.0;
const EVERY: Duration = Duration::from_millis(200);
/// Beginning and end are so long at most, and a fifth of the whole at most.
const EDGE: Duration = Duration::from_secs(15);

/// Versions of rows in the tables that a poll reads: live ones and dead ones.
const ROWS: &str =
    "select coalesce(sum(n_live_tup), 0)::bigint, coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_user_tables
    where relname in ('counter_deltas', 'job_counts', 'job_slots', 'queue_counters', 'counter_fold')";

pub(crate) async fn run(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    let span = asked.snapshot_span();
    let how =
        format!("{:.1} minutes, {CHANGES} changes a second, a snapshot held open in another session", minutes(span));
    report.begin("snapshot", &how);
    let size = Size { rows: 100_000, queues: 50 };
    let client = load(server, size).await?;
    let dsn = server.dsn(&size.database());
    let reader = Reader::connect(&dsn).await?;
    for _warm_up in 0..20 {
        reader.core().await?;
    }
    let traffic = Traffic::start(&dsn, CHANGES, size.queues).await?;
    let holder = connect(&dsn).await?;
    holder.batch_execute("begin isolation level repeatable read; select count(*) from queues").await?;
    let polls = poll(&reader, span).await?;
    let (live, dead) = rows(&client).await?;
    holder.batch_execute("commit").await?;
    let changes = traffic.stop().await?;

    let edge = EDGE.min(span / 5);
    let first = Sample::of(polls.iter().filter(|(at, _)| *at <= edge).map(|(_, took)| *took))?;
    let last = Sample::of(polls.iter().filter(|(at, _)| *at >= span.saturating_sub(edge)).map(|(_, took)| *took))?;
    beside(&format!("poll in the first {:.0} s", edge.as_secs_f64()), &first.in_millis());
    beside(&format!("poll in the last {:.0} s", edge.as_secs_f64()), &last.in_millis());
    let times = last.median() / first.median();
    report.figure("end against beginning", &format!("{times:.2} times"), &Goal::at_most(times, 3.0, " times"));
    let beside = format!("{} live and {} dead versions of rows at the end", grouped(live), grouped(dead));
    note(&format!("the counters' tables had {beside}; {changes:.0} changes a second came through"));
    drop((client, reader, holder));
    server.remove(&size.database()).await
}

fn minutes(span: Duration) -> f64 {
    span.as_secs_f64() / 60.0
}

/// When each poll was, and the database's time for it in milliseconds.
async fn poll(reader: &Reader, span: Duration) -> Fallible<Vec<(Duration, f64)>> {
    let began = Instant::now();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut polls = Vec::new();
    let mut told = 0;
    while began.elapsed() < span {
        ticks.tick().await;
        polls.push((began.elapsed(), millis(reader.core().await?)));
        if began.elapsed().as_secs() / 60 > told {
            told += 1;
            say(&format!("minute {told}: {:.1} ms", polls.last().map_or(0.0, |poll| poll.1)));
        }
    }
    Ok(polls)
}

async fn rows(client: &Client) -> Fallible<(u64, u64)> {
    let row = client.query_one(ROWS, &[]).await?;
    Ok((u64::try_from(row.get::<_, i64>(0))?, u64::try_from(row.get::<_, i64>(1))?))
}
