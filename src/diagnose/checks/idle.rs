//! Sessions that sit idle in a transaction: they keep locks, and vacuum from its work.

use serde::Deserialize;

use super::judged::{Judged, Seen, question, schema, several, whole};
use super::{Check, How};
use crate::fmt;
use crate::model::checkup::Surroundings;
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "idle-in-transaction",
    title: "sessions idle in a transaction",
    how: How::Asked { needs: &[], ask: |around| question(around, SQL, vec![schema(around)]), judge },
};

/// A program may think for a moment between two statements.
const LONG: i64 = 60;
/// Nobody thinks so long.
const VERY_LONG: i64 = 15 * 60;

/// Those of others show nothing to a role without rights, and are counted.
const SQL: &str = "
select a.pid, quote_ident(a.usename) as who, a.application_name as app, host(a.client_addr) as host,
  extract(epoch from clock_timestamp() - a.state_change)::float8 as idle,
  extract(epoch from clock_timestamp() - a.xact_start)::float8 as open,
  array(select distinct c.relname from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
        where l.pid = a.pid and l.granted and l.locktype = 'relation' and l.mode <> 'AccessShareLock'
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and n.nspname = $1 and c.relkind = 'r' order by 1) as locks,
  a.query = '<insufficient privilege>' as hidden
from pg_stat_activity a
where a.datname = current_database() and a.pid <> pg_backend_pid()
  and (a.state like 'idle in transaction%' or a.query = '<insufficient privilege>')
order by a.state_change nulls last limit 100";

#[derive(Deserialize)]
struct Row {
    pid: i32,
    who: Option<String>,
    app: Option<String>,
    host: Option<String>,
    idle: Option<f64>,
    open: Option<f64>,
    locks: Vec<String>,
    hidden: Option<bool>,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let mut judged = Judged::fine("none for longer than a minute");
    let hidden = rows.iter().filter(|row| row.hidden == Some(true)).count();
    judged.unseen.extend(limited(hidden, seen.around));
    let idle: Vec<&Row> = rows.iter().filter(|row| row.idle.is_some_and(|idle| whole(idle) >= LONG)).collect();
    judged.findings.extend(finding(&idle));
    Ok(judged)
}

/// What a role without the right to see other roles' sessions is told.
pub(super) fn limited(hidden: usize, around: &Surroundings) -> Option<String> {
    let sessions = several(hidden, "session", "sessions");
    (hidden > 0).then(|| {
        format!(
            "limited view: {sessions} of other roles cannot be seen; GRANT pg_read_all_stats TO {}",
            around.role_sql
        )
    })
}

fn finding(rows: &[&Row]) -> Option<Finding> {
    let oldest = whole(rows.first()?.idle?);
    let severity = if oldest >= VERY_LONG { Severity::Act } else { Severity::Look };
    let locks = rows.iter().any(|row| !row.locks.is_empty());
    let held = if locks { ", holding locks on the queue's tables" } else { "" };
    let what = several(rows.len(), "session is", "sessions are");
    let mut found =
        Judged::found(severity, format!("{what} idle in a transaction for up to {}{held}", fmt::span(oldest)));
    for row in rows {
        found = found.fact(&format!("pid {}", row.pid), told(row));
    }
    let steps: Vec<String> = rows.iter().map(|row| format!("SELECT pg_terminate_backend({})", row.pid)).collect();
    Some(found.next(steps.join("\n")).build())
}

/// `12m idle, transaction open for 15m, role app, program psql, locks on jobs`
fn told(row: &Row) -> String {
    let span = |seconds: Option<f64>| fmt::span(whole(seconds.unwrap_or(0.0)));
    let mut parts = vec![format!("{} idle", span(row.idle)), format!("transaction open for {}", span(row.open))];
    let known = [("role", &row.who), ("program", &row.app), ("from", &row.host)];
    let known = known.iter().filter_map(|(what, value)| Some((what, value.as_ref()?))).filter(|(_, v)| !v.is_empty());
    parts.extend(known.map(|(what, value)| format!("{what} {value}")));
    if !row.locks.is_empty() {
        parts.push(format!("locks on {}", row.locks.join(", ")));
    }
    parts.join(", ")
}
