//! The parts that lists of jobs are made of. Each is served by one index; its order is that index's order.

use uuid::Uuid;

use super::facts::Facts;
use super::page::only;
use super::texts::{LIVE, dead_columns, fill};
use crate::model::{JobFilter, JobState};

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Running, soonest end of the lease first, missing leases last.
    Running,
    /// Queued, as a claim takes them, queue by queue.
    Queued,
    /// Queued without an attempt left, by id.
    Exhausted,
    /// Completed, latest first.
    Completed,
    /// Dead letters, latest first.
    Dead,
    /// Dead letters by id, where no index knows when they died.
    DeadById,
    /// The job with this id, whatever its state.
    Id(Uuid),
}

/// The parts that a filter asks for, in order.
pub(super) fn parts(facts: &Facts, filter: &JobFilter) -> Vec<Part> {
    let dead = if facts.has_index("dead_letter_jobs", &["(failed_at)"]) { Part::Dead } else { Part::DeadById };
    let id = filter.text.as_deref().and_then(|text| Uuid::parse_str(text.trim()).ok());
    match (id, only(filter)) {
        (_, Some(JobState::Dead)) => vec![dead],
        (Some(id), _) => vec![Part::Id(id)],
        (None, None) => vec![Part::Running, Part::Queued],
        (None, Some(JobState::Running | JobState::Expired)) => vec![Part::Running],
        (None, Some(JobState::Exhausted)) if facts.has_index("jobs", &["(id)", "attempts >= max_attempts"]) => {
            vec![Part::Exhausted]
        }
        (None, Some(JobState::Ready | JobState::Scheduled | JobState::Exhausted)) => vec![Part::Queued],
        (None, Some(JobState::Completed)) => vec![Part::Completed],
    }
}

/// Order within a part: over the table's columns, and over the names in the result.
struct Order {
    table: &'static str,
    result: &'static str,
}

impl Part {
    /// Its name in a cursor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Queued => "queued",
            Self::Exhausted => "exhausted",
            Self::Completed => "completed",
            Self::Dead => "dead",
            Self::DeadById => "dead by id",
            Self::Id(_) => "id",
        }
    }

    /// The part with this name; one id has no second page.
    pub(super) fn named(name: &str) -> Option<Self> {
        let all = [Self::Running, Self::Queued, Self::Exhausted, Self::Completed, Self::Dead, Self::DeadById];
        all.into_iter().find(|part| part.name() == name)
    }

    /// Whether the filter leaves out rows of the part that its index cannot leave out.
    pub(super) fn filters(self, filter: &JobFilter) -> bool {
        let by_queue = filter.queue.is_some() && !matches!(self, Self::Queued | Self::Dead);
        let by_state = match self {
            Self::Running | Self::Queued => only(filter).is_some(),
            _ => false,
        };
        by_queue || by_state || filter.text.is_some()
    }

    /// The statement. `$1` queue, `$2` text, `$3` rows to look at, `$4` rows to give, `$5` to `$9` the key to go on behind:
    /// time, `created_at`, id, priority, queue. `after`: there is a key, and whether it has a time.
    pub(super) fn sql(self, facts: &Facts, schema: &str, filter: &JobFilter, after: Option<bool>) -> String {
        let (table, columns) = match self {
            Self::Dead | Self::DeadById => ("dead_letter_jobs", dead_columns(facts)),
            _ => ("jobs", LIVE.to_owned()),
        };
        let order = self.order();
        let branches: Vec<String> = self
            .branches(filter.queue.is_some(), after)
            .iter()
            .map(|condition| {
                format!(
                    "(select {{row}} from {{schema}}.{table} j where {condition} order by {} limit $3)",
                    order.table
                )
            })
            .collect();
        let row =
            format!("{columns}, j.id as key_id, {} as key_at, {} as matches", self.key_time(), self.matches(filter));
        let sql = include_str!("sql/page.sql");
        let more =
            [("{branches}", branches.join("\n    union all\n    ")), ("{row}", row), ("{order}", order.result.into())];
        let more: Vec<(&str, &str)> = more.iter().map(|(token, text)| (*token, text.as_str())).collect();
        fill(sql, schema, &more)
    }

    fn order(self) -> Order {
        let (table, result) = match self {
            Self::Running => ("j.lease_until, j.id", "key_at, key_id"),
            Self::Queued => (
                "j.queue, j.priority desc, j.run_at, j.created_at, j.id",
                "queue, priority desc, run_at, created_at, key_id",
            ),
            Self::Completed => ("j.completed_at desc nulls first, j.id desc", "key_at desc nulls first, key_id desc"),
            Self::Dead => ("j.failed_at desc, j.id desc", "key_at desc, key_id desc"),
            Self::Exhausted | Self::DeadById | Self::Id(_) => ("j.id", "key_id"),
        };
        Order { table, result }
    }

    fn key_time(self) -> &'static str {
        match self {
            Self::Running => "j.lease_until",
            Self::Completed => "j.completed_at",
            Self::Dead | Self::DeadById => "j.failed_at",
            Self::Queued | Self::Exhausted | Self::Id(_) => "j.run_at",
        }
    }

    /// Conditions whose rows together are the part from the key on; each is one range of the index.
    fn branches(self, one_queue: bool, after: Option<bool>) -> Vec<String> {
        let list = |conditions: &[&str]| conditions.iter().map(|one| (*one).to_owned()).collect();
        match (self, after) {
            (Self::Id(id), _) => vec![format!("j.id = '{id}'")],
            (Self::Queued, None) if one_queue => list(&["j.status = 'queued' and j.queue = $1"]),
            (Self::Queued, None) => list(&["j.status = 'queued'"]),
            (Self::Queued, Some(_)) => {
                let mut branches: Vec<String> = list(&[
                    "j.status = 'queued' and j.queue = $9 and j.priority = $8 and (j.run_at, j.created_at, j.id) > ($5, $6, $7)",
                    "j.status = 'queued' and j.queue = $9 and j.priority < $8",
                ]);
                branches.extend((!one_queue).then(|| "j.status = 'queued' and j.queue > $9".to_owned()));
                branches
            }
            (Self::Running, None) => list(&["j.status = 'running'"]),
            (Self::Running, Some(true)) => list(&[
                "j.status = 'running' and (j.lease_until, j.id) > ($5, $7)",
                "j.status = 'running' and j.lease_until is null",
            ]),
            (Self::Running, Some(false)) => list(&["j.status = 'running' and j.lease_until is null and j.id > $7"]),
            (Self::Exhausted, None) => list(&["j.status = 'queued' and j.attempts >= j.max_attempts"]),
            (Self::Exhausted, Some(_)) => list(&["j.status = 'queued' and j.attempts >= j.max_attempts and j.id > $7"]),
            (Self::Completed, None) => list(&["j.status = 'completed'"]),
            (Self::Completed, Some(true)) => list(&["j.status = 'completed' and (j.completed_at, j.id) < ($5, $7)"]),
            (Self::Completed, Some(false)) => list(&[
                "j.status = 'completed' and j.completed_at is null and j.id < $7",
                "j.status = 'completed' and j.completed_at is not null",
            ]),
            (Self::Dead, None) if one_queue => list(&["j.queue = $1"]),
            (Self::Dead, Some(_)) if one_queue => list(&["j.queue = $1 and (j.failed_at, j.id) < ($5, $7)"]),
            (Self::Dead, Some(_)) => list(&["(j.failed_at, j.id) < ($5, $7)"]),
            (Self::Dead | Self::DeadById, None) => list(&["true"]),
            (Self::DeadById, Some(_)) => list(&["j.id > $7"]),
        }
    }

    /// What a row must be like to be shown.
    fn matches(self, filter: &JobFilter) -> String {
        let state = match (self, only(filter)) {
            (Self::Dead | Self::DeadById, _) | (_, None) => "true",
            (_, Some(JobState::Ready)) => {
                "(j.status = 'queued' and j.attempts < j.max_attempts and j.run_at <= statement_timestamp())"
            }
            (_, Some(JobState::Scheduled)) => {
                "(j.status = 'queued' and j.attempts < j.max_attempts and j.run_at > statement_timestamp())"
            }
            (_, Some(JobState::Exhausted)) => "(j.status = 'queued' and j.attempts >= j.max_attempts)",
            (_, Some(JobState::Running)) => {
                "(j.status = 'running' and coalesce(j.lease_until >= statement_timestamp(), false))"
            }
            (_, Some(JobState::Expired)) => {
                "(j.status = 'running' and coalesce(j.lease_until < statement_timestamp(), true))"
            }
            (_, Some(JobState::Completed)) => "(j.status = 'completed')",
            (_, Some(JobState::Dead)) => "false",
        };
        let text = if matches!(self, Self::Id(_)) || filter.text.is_none() {
            "true"
        } else {
            "(position(lower($2) in j.id::text) > 0 or position(lower($2) in lower(coalesce(j.last_error, ''))) > 0)"
        };
        format!("({state} and ($1 is null or j.queue = $1) and {text})")
    }
}
