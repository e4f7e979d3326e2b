//! Minutes from the database's own history, with gaps kept as gaps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio_postgres::Row;

use super::facts::Access;
use super::row::{count, get, text};
use super::{Jobs, LIST_LIMITS, queue_id};
use crate::backends::Minutes;
use crate::db::{DbError, Session, Statement};
use crate::model::{Point, Time, Totals};

const MINUTE: Duration = Duration::from_mins(1);

/// What the database kept of one minute of one queue.
struct Minute {
    happened: Totals,
    /// At its start; `None`: not sampled.
    depth: Option<u64>,
}

/// The complete minutes of the last `back`, per queue, oldest first; empty where no history is kept or may be read.
pub(super) async fn read(jobs: &Jobs, session: &Session, back: Duration) -> Result<Minutes, DbError> {
    if jobs.facts.history() != Access::Yes {
        return Ok(Vec::new());
    }
    let clock = session.read_many("clock", &[], LIST_LIMITS).await?.server_time;
    let ask = Statement::new(jobs.texts.history.clone()).time(clock.minus(back));
    let rows = session.read_one("history", ask, LIST_LIMITS).await?;
    let mut sampled = BTreeSet::new();
    let mut queues: BTreeMap<String, BTreeMap<Time, Minute>> = BTreeMap::new();
    for row in &rows {
        let at: Time = get(row, "minute")?;
        match text(row, "queue")? {
            None => drop(sampled.insert(at)),
            Some(queue) => drop(queues.entry(queue).or_default().insert(at, minute(row)?)),
        }
    }
    let points = |minutes: &BTreeMap<Time, Minute>| points(minutes, &sampled, clock);
    Ok(queues.iter().map(|(name, minutes)| (queue_id(name.clone()), points(minutes))).collect())
}

fn minute(row: &Row) -> Result<Minute, DbError> {
    let happened = Totals {
        enqueued: count(row, "enqueued")?,
        claimed: count(row, "claimed")?,
        completed: count(row, "completed")?,
        retried: count(row, "retried")?,
        dead: count(row, "dead")?,
    };
    let depth = get::<Option<i64>>(row, "depth")?.and_then(|n| u64::try_from(n).ok());
    Ok(Minute { happened, depth })
}

/// A point for each complete minute from the queue's first one on. A minute without a row was quiet when the depths were
/// sampled in it, and a gap when they were not: then nobody folded, and nobody knows.
fn points(minutes: &BTreeMap<Time, Minute>, sampled: &BTreeSet<Time>, now: Time) -> Vec<Point> {
    let mut points = Vec::new();
    let Some(mut start) = minutes.keys().next().copied() else {
        return points;
    };
    while start.plus(MINUTE) <= now && start.micros().is_some() {
        let end = start.plus(MINUTE);
        let quiet = sampled.contains(&start).then(Totals::default);
        let delta = minutes.get(&start).map(|minute| minute.happened).or(quiet);
        // The depth at its end is the next one's at its start; a queue without a row there was empty.
        let depth = sampled.contains(&end).then(|| minutes.get(&end).map_or(Some(0), |next| next.depth)).flatten();
        points.push(Point { at: end, span: MINUTE, delta, depth });
        start = end;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Time {
        Time::At(minute * 60_000_000)
    }

    fn busy(completed: u64, depth: Option<u64>) -> Minute {
        Minute { happened: Totals { completed, ..Totals::default() }, depth }
    }

    #[test]
    fn a_minute_that_nobody_sampled_is_a_gap_and_a_sampled_one_without_a_row_is_quiet() {
        let minutes = BTreeMap::from([(at(1), busy(5, Some(7))), (at(4), busy(2, Some(3)))]);
        let sampled = BTreeSet::from([at(1), at(2), at(4)]);
        let found = points(&minutes, &sampled, at(5));
        let done: Vec<_> = found.iter().map(|p| p.delta.map(|d| d.completed)).collect();
        assert_eq!(done, [Some(5), Some(0), None, Some(2)]);
        let depth: Vec<_> = found.iter().map(|p| p.depth).collect();
        assert_eq!(depth, [Some(0), None, Some(3), None]);
        assert_eq!(found.last().map(|p| p.at), Some(at(5)));
    }

    #[test]
    fn the_minute_that_is_not_over_is_left_out() {
        let minutes = BTreeMap::from([(at(1), busy(5, None))]);
        assert!(points(&minutes, &BTreeSet::new(), Time::At(119_000_000)).is_empty());
    }
}
