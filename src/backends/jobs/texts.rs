//! The SQL texts, with names filled in for one schema and for what the role may read there.

use std::sync::Arc;

use super::facts::{Access, DEAD_COLUMNS, Facts};
use super::groups;
use super::workers::REGISTRATION;

/// The statements that do not change from call to call.
#[derive(Debug)]
pub(super) struct Texts {
    /// The schema, quoted.
    pub(super) schema: String,
    /// The numbers of a frame, from counters or from the tables.
    pub(super) core: Arc<str>,
    pub(super) leases: Arc<str>,
    pub(super) failures: Arc<str>,
    pub(super) history: Arc<str>,
    pub(super) attempts: Arc<str>,
    pub(super) drift: Arc<str>,
    pub(super) workers: Arc<str>,
    pub(super) handling: Arc<str>,
    pub(super) groups: Arc<str>,
}

/// The columns of a list, of `jobs`; [`ERROR`] goes with them.
pub(super) const LIVE: &str = "j.id, j.queue, j.status, j.priority, j.attempts, j.max_attempts, j.run_at, j.created_at, \
    j.locked_by as worker, j.lease_until, j.updated_at";

/// So many letters of an error's first line are shown.
pub(super) const ERROR_SHOWN: usize = 100;

/// The error's first line, a letter longer than shown where it is cut. The server unpacks no more of a large one than `left` asks
/// for: measured on 15, 9 us for an error of 1 MB, and 1.5 ms where all of it is asked for.
pub(super) const ERROR: &str = "left(split_part(left(j.last_error, 1000), E'\\n', 1), 101) as error";

/// The same columns of `dead_letter_jobs`.
pub(super) fn dead(facts: &Facts) -> String {
    let priority =
        if facts.can_read("dead_letter_jobs", "priority") { "j.priority" } else { "null::integer as priority" };
    format!(
        "j.id, j.queue, 'dead' as status, {priority}, j.attempts, j.max_attempts, j.failed_at as run_at, \
         j.original_created_at as created_at, null::uuid as worker, null::timestamptz as lease_until, \
         null::timestamptz as updated_at"
    )
}

impl Texts {
    pub(super) fn new(facts: &Facts) -> Self {
        let schema = ident(&facts.schema);
        let counted = facts.counters() == Access::Yes;
        let fill = |text: &str, more: &[(&str, &str)]| -> Arc<str> { fill(text, &schema, more).into() };
        let paused = match facts.access("queues", &["queue", "paused"]) {
            Access::Yes => format!("select queue, paused from {schema}.queues"),
            Access::Denied => "select null::text as queue, null::boolean as paused where false".into(),
            Access::Missing => "select null::text as queue, false as paused where false".into(),
        };
        let reaper = match facts.access("maintenance_runs", &["task", "last_run_at"]) {
            Access::Yes => {
                format!("select max(last_run_at) from {schema}.maintenance_runs where task = 'reap_expired_jobs'")
            }
            _ => "null::timestamptz".into(),
        };
        let core = if counted { include_str!("sql/core.sql") } else { include_str!("sql/core_bare.sql") };
        let from = if counted { include_str!("sql/first_lease.sql") } else { "'-infinity'" };
        let waiting = match facts.access("counter_fold", &["top", "open"]) {
            Access::Yes => include_str!("sql/waiting.sql"),
            _ => include_str!("sql/waiting_floor.sql"),
        };
        Self {
            core: fill(
                core,
                &[("{paused}", &paused), ("{reaper}", &reaper), ("{dead}", bare_dead(facts)), ("{waiting}", waiting)],
            ),
            leases: fill(
                include_str!("sql/leases.sql"),
                &[("{from}", from), ("{waiting}", waiting), ("{columns}", &format!("{LIVE}, {ERROR}"))],
            ),
            failures: fill(
                include_str!("sql/failures.sql"),
                &[("{recent}", recent(facts)), ("{dead}", &dead_signatures(facts))],
            ),
            history: fill(include_str!("sql/history.sql"), &[("{waiting}", waiting)]),
            attempts: fill(include_str!("sql/attempts.sql"), &[]),
            drift: fill("select count(*) as wrong from {schema}.counter_drift($1)", &[]),
            handling: fill(include_str!("sql/handling.sql"), &[]),
            workers: fill(
                include_str!("sql/workers.sql"),
                &[
                    ("{registered}", registered(facts)),
                    ("{claimed}", claimed(facts)),
                    ("{from}", from),
                    ("{waiting}", waiting),
                ],
            ),
            groups: fill(
                include_str!("sql/groups.sql"),
                &groups::parts(facts).each_ref().map(|(token, part)| (*token, part.as_str())),
            ),
            schema,
        }
    }
}

/// Dead letters of a bare table, as they lie there: its only index, by a random id, would cost a page each.
fn bare_dead(facts: &Facts) -> &'static str {
    match facts.access("dead_letter_jobs", &["id", "queue"]) {
        Access::Yes => "select d.queue from {schema}.dead_letter_jobs d limit $2 + 1",
        _ => "select null::text as queue where false",
    }
}

/// Workers that said who they are within the last day.
fn registered(facts: &Facts) -> &'static str {
    match facts.access("workers", REGISTRATION) {
        Access::Yes => {
            "select id, name, host, pid, version, last_seen from {schema}.workers \
             where last_seen > now() - interval '1 day' order by last_seen desc limit $2"
        }
        _ => {
            "select null::uuid as id, null::text as name, null::text as host, null::integer as pid, null::text as version, \
             null::timestamptz as last_seen where false"
        }
    }
}

/// When the current attempt began.
fn claimed(facts: &Facts) -> &'static str {
    if facts.can_read("jobs", "claimed_at") { "j.claimed_at" } else { "null::timestamptz" }
}

fn recent(facts: &Facts) -> &'static str {
    match facts.access("job_failures", &["queue", "signature", "became", "outcome", "ended_at"]) {
        Access::Yes => {
            "select queue, signature, became, ended_at from {schema}.job_failures \
             where ended_at > now() - interval '15 minutes' and outcome <> 'operator' order by ended_at desc limit $1"
        }
        _ => {
            "select null::text as queue, null::text as signature, null::text as became, null::timestamptz as ended_at where false"
        }
    }
}

fn dead_signatures(facts: &Facts) -> String {
    if facts.access("dead_letter_jobs", DEAD_COLUMNS) != Access::Yes {
        return "select null::text as queue, null::text as signature, null::timestamptz as failed_at where false"
            .into();
    }
    let signature =
        if facts.can_read("dead_letter_jobs", "signature") { "signature" } else { include_str!("sql/signature.sql") };
    let order = if facts.has_index("dead_letter_jobs", &["(failed_at)"]) { "order by failed_at desc" } else { "" };
    format!("select queue, {signature} as signature, failed_at from {{schema}}.dead_letter_jobs {order} limit $1")
}

/// Replaces the tokens of a text; what is put in may hold `{schema}` again.
pub(super) fn fill(text: &str, schema: &str, more: &[(&str, &str)]) -> String {
    let with_parts = more.iter().fold(text.to_owned(), |text, (token, part)| text.replace(token, part));
    with_parts.replace("{schema}", schema)
}

/// `name` as an SQL identifier.
fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
