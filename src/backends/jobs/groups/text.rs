//! The parts of `groups.sql` that depend on what there is and on what the role may read.

use crate::backends::jobs::facts::{Access, Facts};

/// What is read of a failure.
const FAILURE: &[&str] = &["queue", "signature", "became", "outcome", "ended_at"];
/// What is read of a dead letter.
const DEAD: &[&str] = &["queue", "last_error", "failed_at"];
/// Where the counts of dead letters by signature are kept.
const KEPT: [(&str, &[&str]); 3] = [
    ("signature_counts", &["queue", "signature", "dead", "replayed", "first_seen", "last_seen"]),
    ("signature_deltas", &["queue", "signature", "dead", "replayed", "first_seen", "last_seen"]),
    ("signature_fold", &["suspect"]),
];

const NO_FAILURES: &str =
    "select null::text as queue, null::text as signature, null::text as became, null::timestamptz as at where false";
const NO_DEATHS: &str = "select null::text as queue, null::text as signature, null::timestamptz as at, \
    null::timestamptz as replayed_at where false";

/// What this role may know of failures and dead letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sources {
    /// Failed attempts.
    pub(super) failures: Access,
    /// Dead letters.
    pub(super) dead: Access,
    /// Dead letters are counted by signature.
    pub(super) kept: bool,
    /// An index finds the latest dead letters.
    pub(super) by_time: bool,
    /// It is recorded which dead letters were replayed.
    pub(super) replays: bool,
}

impl Sources {
    pub(super) fn of(facts: &Facts) -> Self {
        let dead = facts.access("dead_letter_jobs", DEAD);
        let signs = facts.functions.get("error_signature").is_some_and(|function| function.callable);
        let tables = KEPT.iter().all(|(table, columns)| facts.access(table, columns) == Access::Yes);
        Self {
            failures: facts.access("job_failures", FAILURE),
            dead,
            kept: dead == Access::Yes && signs && tables && facts.can_read("dead_letter_jobs", "signature"),
            by_time: facts.has_index("dead_letter_jobs", &["(failed_at)"]),
            replays: facts.can_read("dead_letter_jobs", "replayed_at"),
        }
    }
}

/// Tokens and what stands for them.
pub(in crate::backends::jobs) fn parts(facts: &Facts) -> [(&'static str, String); 6] {
    let sources = Sources::of(facts);
    let failures = if sources.failures == Access::Yes {
        "select queue, signature, became, ended_at as at from {schema}.job_failures \
         where ended_at > now() - interval '1 hour' and outcome <> 'operator' order by ended_at desc limit $1"
    } else {
        NO_FAILURES
    };
    let known = if sources.kept {
        "select queue, signature, sum(dead)::bigint as dead, sum(replayed)::bigint as replayed, \
                min(first_seen) as first_seen, max(last_seen) as last_seen \
         from ((select * from {schema}.signature_counts limit $3) union all select * from {schema}.signature_deltas) as parts \
         group by queue, signature having sum(dead) > 0"
    } else {
        "select queue, coalesce(signature, '') as signature, count(*) as dead, count(replayed_at) as replayed, \
                min(at) as first_seen, max(at) as last_seen \
         from deaths where $3::bigint > 0 group by 1, 2"
    };
    // What the counters say beside it: they are kept by other triggers, and both must agree.
    let counted = if sources.kept && facts.counters() == Access::Yes {
        "select (select coalesce(sum(dead_rows + replayed_rows), 0) from {schema}.queue_counters)::bigint \
                + (select coalesce(sum(n), 0) from {schema}.counter_deltas \
                   where txid >= (select {schema}.counter_floor()) and status in ('dead', 'replayed'))::bigint"
    } else {
        "null::bigint"
    };
    let suspect = if sources.kept { "select suspect from {schema}.signature_fold" } else { "false" };
    let kept_cut = if sources.kept {
        "select count(*) >= $3 from (select from {schema}.signature_counts limit $3) as kept"
    } else {
        "false"
    };
    [
        ("{failures}", failures.to_owned()),
        ("{deaths}", deaths(facts, sources)),
        ("{known}", known.to_owned()),
        ("{counted}", counted.to_owned()),
        ("{suspect}", suspect.to_owned()),
        ("{kept_cut}", kept_cut.to_owned()),
    ]
}

/// The dead letters to look at: those of the last hour, for trends, or where nobody counts them the latest, whatever their age.
fn deaths(facts: &Facts, sources: Sources) -> String {
    if sources.dead != Access::Yes {
        return NO_DEATHS.to_owned();
    }
    let signature = if sources.kept {
        "coalesce(signature, {schema}.error_signature(last_error))"
    } else if facts.can_read("dead_letter_jobs", "signature") {
        "signature"
    } else {
        include_str!("../sql/signature.sql")
    };
    let replayed = if sources.replays { "replayed_at" } else { "null::timestamptz" };
    let within = match (sources.kept, sources.by_time) {
        (true, true) => "where failed_at > now() - interval '1 hour' order by failed_at desc",
        (true, false) => "where false",
        (false, true) => "order by failed_at desc",
        (false, false) => "",
    };
    format!(
        "select queue, {signature} as signature, failed_at as at, {replayed} as replayed_at \
         from {{schema}}.dead_letter_jobs {within} limit $1"
    )
}
