//! Minutes from the database's own history, with gaps kept as gaps.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_postgres::Row;

use super::facts::Access;
use super::row::{count, get, text};
use super::{Jobs, LIST_LIMITS, queue_id};
use crate::backends::Minutes;
use crate::db::{DbError, Session, Statement};
use crate::model::{Point, Time, Totals};

const MINUTE: Duration = Duration::from_mins(1);

/// What the database kept of one span of one queue.
struct Kept {
    happened: Totals,
    /// At its start; `None`: not sampled.
    depth: Option<u64>,
}

/// How far a span was sampled.
#[derive(Debug, Clone, Copy)]
struct Sampled {
    /// So many of its minutes.
    minutes: u32,
    /// Its first minute among them.
    start: bool,
}

/// The complete spans of length `span` (whole minutes) of the last `back`, per queue, oldest first; empty where no history is
/// kept or may be read.
pub(super) async fn read(jobs: &Jobs, session: &Session, back: Duration, span: Duration) -> Result<Minutes, DbError> {
    if jobs.facts.history() != Access::Yes {
        return Ok(Vec::new());
    }
    let clock = session.read_many("clock", &[], LIST_LIMITS).await?.server_time;
    let seconds = i64::try_from(span.as_secs()).unwrap_or(i64::MAX).max(60);
    let ask = Statement::new(jobs.texts.history.clone()).time(clock.minus(back)).int8(seconds);
    let rows = session.read_one("history", ask, LIST_LIMITS).await?;
    let mut sampled = BTreeMap::new();
    let mut queues: BTreeMap<String, BTreeMap<Time, Kept>> = BTreeMap::new();
    for row in &rows {
        let at: Time = get(row, "span")?;
        match text(row, "queue")? {
            None => drop(sampled.insert(at, how_far(row)?)),
            Some(queue) => drop(queues.entry(queue).or_default().insert(at, kept(row)?)),
        }
    }
    let points = |spans: &BTreeMap<Time, Kept>| points(spans, &sampled, span, clock);
    Ok(queues.iter().map(|(name, spans)| (queue_id(name.clone()), points(spans))).collect())
}

fn how_far(row: &Row) -> Result<Sampled, DbError> {
    let minutes = u32::try_from(count(row, "sampled")?).unwrap_or(u32::MAX);
    Ok(Sampled { minutes, start: count(row, "depth")? > 0 })
}

fn kept(row: &Row) -> Result<Kept, DbError> {
    let happened = Totals {
        enqueued: count(row, "enqueued")?,
        claimed: count(row, "claimed")?,
        completed: count(row, "completed")?,
        retried: count(row, "retried")?,
        dead: count(row, "dead")?,
    };
    let depth = get::<Option<i64>>(row, "depth")?.and_then(|n| u64::try_from(n).ok());
    Ok(Kept { happened, depth })
}

/// A point for each complete span from the queue's first one on. A span without a row was quiet as far as it was sampled, and a
/// gap where it was not: then nobody folded, and nobody knows. Of a span that was sampled in part the point is that much shorter,
/// so that its rates are true.
fn points(spans: &BTreeMap<Time, Kept>, sampled: &BTreeMap<Time, Sampled>, span: Duration, now: Time) -> Vec<Point> {
    let mut points = Vec::new();
    let Some(mut start) = spans.keys().next().copied() else {
        return points;
    };
    while start.plus(span) <= now && start.micros().is_some() {
        let end = start.plus(span);
        let known = sampled.get(&start).map(|s| MINUTE.saturating_mul(s.minutes).min(span));
        let delta = spans.get(&start).map(|kept| kept.happened).or(known.map(|_| Totals::default()));
        // The depth at its end is the next one's at its start; a queue without a row there was empty.
        let depth = sampled.get(&end).filter(|s| s.start).map(|_| spans.get(&end).map_or(Some(0), |next| next.depth));
        points.push(Point { at: end, span: known.unwrap_or(span), delta, depth: depth.flatten() });
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

    fn busy(completed: u64, depth: Option<u64>) -> Kept {
        Kept { happened: Totals { completed, ..Totals::default() }, depth }
    }

    fn whole(minutes: &[i64]) -> BTreeMap<Time, Sampled> {
        minutes.iter().map(|minute| (at(*minute), Sampled { minutes: 1, start: true })).collect()
    }

    #[test]
    fn a_minute_that_nobody_sampled_is_a_gap_and_a_sampled_one_without_a_row_is_quiet() {
        let minutes = BTreeMap::from([(at(1), busy(5, Some(7))), (at(4), busy(2, Some(3)))]);
        let found = points(&minutes, &whole(&[1, 2, 4]), MINUTE, at(5));
        let done: Vec<_> = found.iter().map(|p| p.delta.map(|d| d.completed)).collect();
        assert_eq!(done, [Some(5), Some(0), None, Some(2)]);
        let depth: Vec<_> = found.iter().map(|p| p.depth).collect();
        assert_eq!(depth, [Some(0), None, Some(3), None]);
        assert_eq!(found.last().map(|p| p.at), Some(at(5)));
    }

    #[test]
    fn the_minute_that_is_not_over_is_left_out() {
        let minutes = BTreeMap::from([(at(1), busy(5, None))]);
        assert!(points(&minutes, &BTreeMap::new(), MINUTE, Time::At(119_000_000)).is_empty());
    }

    #[test]
    fn a_span_that_was_sampled_in_part_is_that_much_shorter() {
        let spans = BTreeMap::from([(at(60), busy(600, Some(9)))]);
        let sampled = BTreeMap::from([
            (at(60), Sampled { minutes: 20, start: false }),
            (at(120), Sampled { minutes: 60, start: true }),
        ]);
        let found = points(&spans, &sampled, MINUTE * 60, at(240));
        let spans: Vec<_> = found.iter().map(|p| (p.span, p.delta.map(|d| d.completed), p.depth)).collect();
        assert_eq!(spans, [(MINUTE * 20, Some(600), Some(0)), (MINUTE * 60, Some(0), None), (MINUTE * 60, None, None)]);
    }
}
