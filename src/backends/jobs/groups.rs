//! Failures and dead letters by error signature and queue.
//!
//! Failed attempts are looked at up to a limit, the latest first. Dead letters are counted by the database (migration V13), so
//! a million of them cost nothing here; where nobody counts them the latest are looked at, and it is said how far back.

mod text;

use std::time::Duration;

use tokio_postgres::Row;

use super::facts::Access;
use super::row::{count, get, text as text_of};
use super::{Jobs, LIST_LIMITS, queue_id};
use crate::db::{DbError, Session, Statement};
use crate::model::{Group, Groups, Reading, Time};

use text::Sources;
pub(super) use text::parts;

/// So many failures, and so many dead letters, are looked at.
const MOST_ROWS: i64 = 20_000;
/// The same where the signature has to be worked out for each.
const MOST_UNSIGNED: i64 = 5_000;
/// So many groups are shown.
const MOST_GROUPS: i64 = 1_000;
/// So many kept counts are read: without bound, errors that never look alike could make as many as there are dead letters.
const MOST_KEPT: i64 = 50_000;
/// Parts of a trend; `groups.sql` makes as many.
const SPANS: usize = 12;
/// The time in which failures are counted, in seconds.
const RECENT_S: f64 = 900.0;

/// Reads failures and dead letters by error signature. What may not be read is denied, what is not recorded unknown.
pub(super) async fn read(jobs: &Jobs, session: &Session) -> Result<Groups, DbError> {
    let sources = Sources::of(&jobs.facts);
    let signed = sources.kept || jobs.facts.can_read("dead_letter_jobs", "signature");
    let most = if signed { MOST_ROWS } else { MOST_UNSIGNED };
    let ask = [Statement::new(jobs.texts.groups.clone()).int8(most).int8(MOST_GROUPS).int8(MOST_KEPT)];
    let batch = session.read_many("groups", &ask, LIST_LIMITS).await?;
    let rows = batch.rows.first().map(Vec::as_slice).unwrap_or_default();
    let Some(first) = rows.first() else {
        return Err(DbError::shape("the groups have no row"));
    };
    let looked = Looked::read(first, sources)?;
    let groups: Vec<Group> = rows.iter().filter_map(|row| group(row, &looked).transpose()).collect::<Result<_, _>>()?;
    let whole = (sources.failures, sources.dead) == (Access::Yes, Access::Yes) && !looked.left_out();
    Ok(Groups {
        groups: match (sources.failures, sources.dead) {
            (Access::Yes, _) | (_, Access::Yes) if whole => Reading::Exact(groups),
            (Access::Yes, _) | (_, Access::Yes) => Reading::AtLeast(groups),
            (Access::Denied, _) | (_, Access::Denied) => Reading::Denied,
            (Access::Missing, Access::Missing) => Reading::Unknown,
        },
        dead: allowed(sources.dead, looked.of_dead(looked.dead_rows)),
        trend_span: looked.trend_span,
        failed_since: looked.failures_from.filter(|_| looked.failures_cut),
        dead_since: looked.deaths_from.filter(|_| looked.dead_cut && sources.by_time),
        taken_at: batch.server_time,
        cost: batch.cost,
        note: note(&jobs.facts.user, &looked),
    })
}

/// What was looked at, and how far to trust it.
struct Looked {
    sources: Sources,
    /// There were more failures within the 15 minutes than were looked at.
    failures_cut: bool,
    failures_from: Option<Time>,
    /// Seconds in which the failures lie that were counted.
    recent_s: f64,
    /// There are more dead letters than were looked at, and nobody counts them.
    dead_cut: bool,
    deaths_from: Option<Time>,
    dead_rows: u64,
    /// The counts of dead letters may be off.
    doubted: bool,
    /// Groups that were found.
    found: u64,
    trend_span: Option<Duration>,
}

impl Looked {
    fn read(row: &Row, sources: Sources) -> Result<Self, DbError> {
        let (failures_cut, deaths_cut): (bool, bool) = (get(row, "failures_cut")?, get(row, "deaths_cut")?);
        let recent_s: f64 = get(row, "recent_s")?;
        let found = count(row, "found")?;
        let dead_rows = count(row, "dead_rows")?;
        let kept_cut: bool = get(row, "kept_cut")?;
        let counted: Option<i64> = get(row, "counted")?;
        let disagree = counted.is_some_and(|n| u64::try_from(n) != Ok(dead_rows));
        // Without an index by time the part that was looked at lies anywhere in time, or none was.
        let trendless = !sources.by_time && (deaths_cut || sources.kept);
        let trend_s: f64 = get(row, "trend_s")?;
        Ok(Self {
            sources,
            failures_cut: failures_cut && recent_s < RECENT_S,
            failures_from: get(row, "failures_from")?,
            recent_s,
            dead_cut: if sources.kept { kept_cut } else { deaths_cut },
            deaths_from: get::<Option<Time>>(row, "deaths_from")?.filter(|_| !sources.kept),
            dead_rows,
            doubted: sources.kept && !kept_cut && (disagree || get(row, "suspect")?),
            found,
            trend_span: Duration::try_from_secs_f64(trend_s).ok().filter(|_| !trendless),
        })
    }

    /// Not everything there is, is in the groups.
    fn left_out(&self) -> bool {
        self.failures_cut || self.dead_cut || self.found > u64::try_from(MOST_GROUPS).unwrap_or(u64::MAX)
    }

    fn of_dead(&self, n: u64) -> Reading<u64> {
        match (self.doubted, self.dead_cut) {
            (true, _) => Reading::About(n),
            (false, true) => Reading::AtLeast(n),
            (false, false) => Reading::Exact(n),
        }
    }
}

fn group(row: &Row, looked: &Looked) -> Result<Option<Group>, DbError> {
    let Some(queue) = text_of(row, "queue")? else {
        return Ok(None);
    };
    let sources = looked.sources;
    let failed = count(row, "failed")?;
    let per_s = count(row, "retried")? as f64 / looked.recent_s;
    let replays = if sources.dead == Access::Yes && !sources.replays { Access::Missing } else { sources.dead };
    Ok(Some(Group {
        signature: text_of(row, "signature")?.unwrap_or_default(),
        queue: queue_id(queue),
        failed_15m: allowed(
            sources.failures,
            if looked.failures_cut { Reading::AtLeast(failed) } else { Reading::Exact(failed) },
        ),
        // Of a part of the time it is about the rate of the whole.
        retried_per_s: allowed(
            sources.failures,
            if looked.failures_cut { Reading::About(per_s) } else { Reading::Exact(per_s) },
        ),
        dead: allowed(sources.dead, looked.of_dead(count(row, "dead")?)),
        replayed: allowed(replays, looked.of_dead(count(row, "replayed")?)),
        first_seen: get(row, "first_seen")?,
        last_seen: get(row, "last_seen")?,
        trend: trend(row)?,
    }))
}

/// The counts of the spans in which there is something, spread out.
fn trend(row: &Row) -> Result<Vec<u64>, DbError> {
    let spans = get::<Option<Vec<i32>>>(row, "spans")?.unwrap_or_default();
    let counts = get::<Option<Vec<i64>>>(row, "counts")?.unwrap_or_default();
    let mut trend = vec![0; if spans.is_empty() { 0 } else { SPANS }];
    for (span, n) in spans.into_iter().zip(counts) {
        // They are counted from one.
        let place = usize::try_from(span).ok().and_then(|at| trend.get_mut(at.checked_sub(1)?));
        if let (Some(place), Ok(n)) = (place, u64::try_from(n)) {
            *place += n;
        }
    }
    Ok(trend)
}

fn note(user: &str, looked: &Looked) -> Option<String> {
    let mut notes = Vec::new();
    for (table, access) in [("job_failures", looked.sources.failures), ("dead_letter_jobs", looked.sources.dead)] {
        match access {
            Access::Yes => {}
            Access::Denied => notes.push(format!("{user} may not read {table}")),
            Access::Missing => notes.push(format!("no {table} here: run queuetop migrate")),
        }
    }
    if looked.dead_cut && !looked.sources.by_time && !looked.sources.kept {
        notes.push("some of the dead letters: no index on failed_at".to_owned());
    }
    if looked.doubted {
        notes.push("dead letters may be miscounted: select recount_signatures()".to_owned());
    }
    if looked.found > u64::try_from(MOST_GROUPS).unwrap_or(u64::MAX) {
        notes.push(format!("the {MOST_GROUPS} largest of {} groups", looked.found));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn allowed<T>(access: Access, reading: Reading<T>) -> Reading<T> {
    match access {
        Access::Yes => reading,
        Access::Denied => Reading::Denied,
        Access::Missing => Reading::Unknown,
    }
}
