//! Settings of roles, databases and the server that break whoever works or acts: each is a default for new sessions.

use serde::Deserialize;

use super::judged::{Judged, Seen, question, several};
use super::{Check, How};
use crate::model::checkup::{Arg, Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "role-settings",
    title: "settings of those who work",
    how: How::Asked { needs: &["queuetop_migrations"], ask, judge },
};

/// A claim takes a millisecond, but a batch of the reaper or of an enqueue may take a second on a busy disk.
const STATEMENT: f64 = 5_000.0;
/// Operators' functions try a locked row for a second.
const LOCK: f64 = 1_000.0;

/// Roles that log in and may work or act, and for each the default that is in force, by where it was set. The server's own
/// values are those of this session, where nothing nearer covers them.
const SQL: &str = "
with db as (
  select d.oid, d.datname from pg_database d where d.datname = current_database()
), roles as (
  select r.oid, r.rolname from pg_roles r
  where r.rolcanlogin and not r.rolsuper
    and exists (select from pg_roles g where g.rolname = any($1) and pg_has_role(r.oid, g.oid, 'member'))
  order by r.rolname limit 200
), names as (
  select name from unnest($2) as n (name)
), given as (
  select r.oid, n.name, s.value, s.setrole, s.setdatabase
  from (select oid from roles union select oid from pg_roles where rolname = current_user) r
  cross join names n
  cross join lateral (
    select substr(c, strpos(c, '=') + 1) as value, s.setrole, s.setdatabase
    from pg_db_role_setting s cross join unnest(s.setconfig) as c
    where s.setdatabase in (0, (select oid from db)) and s.setrole in (0, r.oid) and split_part(c, '=', 1) = n.name
    order by s.setrole <> 0 desc, s.setdatabase <> 0 desc limit 1) as s
)
select null as role, p.name, p.reset_val as value, 'the server' as place, format(E'ALTER SYSTEM RESET %s\nSELECT pg_reload_conf()', p.name) as mend
from pg_settings p
where p.name in (select name from names) and exists (select from roles)
  and not exists (select from given g join pg_roles r on r.oid = g.oid where r.rolname = current_user and g.name = p.name)
union all
select quote_ident(r.rolname), g.name, g.value,
  case when g.setrole <> 0 and g.setdatabase <> 0 then 'the role in this database' when g.setrole <> 0 then 'the role'
       when g.setdatabase <> 0 then 'the database' else 'all roles' end,
  case when g.setrole <> 0 and g.setdatabase <> 0 then format('ALTER ROLE %I IN DATABASE %I RESET %s', r.rolname, db.datname, g.name)
       when g.setrole <> 0 then format('ALTER ROLE %I RESET %s', r.rolname, g.name)
       when g.setdatabase <> 0 then format('ALTER DATABASE %I RESET %s', db.datname, g.name)
       else format('ALTER ROLE ALL RESET %s', g.name) end
from given g join roles r on r.oid = g.oid cross join db
order by 1 nulls first, 2";

const NAMES: [&str; 7] = [
    "statement_timeout",
    "lock_timeout",
    "transaction_timeout",
    "idle_session_timeout",
    "default_transaction_read_only",
    "default_transaction_isolation",
    "session_replication_role",
];

fn ask(around: &Surroundings) -> Question {
    let groups = &around.groups;
    let args = vec![
        Arg::Texts(vec![groups.worker.clone(), groups.operator.clone()]),
        Arg::Texts(NAMES.map(str::to_owned).to_vec()),
    ];
    question(around, SQL, args)
}

#[derive(Deserialize)]
struct Row {
    /// `None`: whoever has no setting of his own.
    role: Option<String>,
    name: String,
    value: String,
    place: String,
    mend: String,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let mut told: Vec<&str> = Vec::new();
    let mut judged = Judged::fine("none of them breaks a worker or the reaper");
    for row in &rows {
        // One setting of the database is every role's.
        if !told.contains(&row.mend.as_str()) {
            let others = rows.iter().filter(|other| other.mend == row.mend && other.role.is_some()).count();
            let finding = wrong(row, others);
            judged.findings.extend(finding);
            told.push(&row.mend);
        }
    }
    Ok(judged)
}

fn wrong(row: &Row, roles: usize) -> Option<Finding> {
    let short = |limit: f64| millis(&row.value).filter(|ms| *ms > 0.0 && *ms < limit);
    let (severity, so) = match row.name.as_str() {
        "statement_timeout" | "transaction_timeout" => {
            short(STATEMENT)?;
            (Severity::Look, "batches of the reaper and of enqueue_jobs() are cut off")
        }
        "lock_timeout" => {
            short(LOCK)?;
            (Severity::Look, "calls fail that would wait a moment for a row")
        }
        "idle_session_timeout" => {
            short(f64::MAX)?;
            (Severity::Info, "a worker that waits for jobs loses its session")
        }
        "default_transaction_read_only" if is_on(&row.value) => (Severity::Act, "nobody can claim or complete a job"),
        "default_transaction_isolation" if row.value != "read committed" && row.value != "read uncommitted" => {
            (Severity::Look, "claims can fail with 40001, and nobody sums the counters up")
        }
        "session_replication_role" if row.value == "replica" => {
            (Severity::Act, "no trigger fires, so nothing is counted")
        }
        _ => return None,
    };
    let whose = match (&row.role, row.place.as_str()) {
        (Some(role), "the role" | "the role in this database") => format!("role {role}"),
        (Some(_), _) => several(roles, "role that works", "roles that work"),
        (None, _) => "whoever has no setting of his own".to_owned(),
    };
    let sentence = format!("{} is {} for {whose}: {so}", row.name, row.value);
    let finding = Judged::found(severity, sentence).fact(&row.name, &row.value).fact("set for", &row.place);
    Some(finding.next(&row.mend).build())
}

fn is_on(value: &str) -> bool {
    matches!(value, "on" | "true" | "yes" | "1")
}

/// A time as the server writes it in settings, in milliseconds: `5s`, `2min`, `250`.
fn millis(value: &str) -> Option<f64> {
    let value = value.trim();
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let number: f64 = value[..end].parse().ok()?;
    let unit = match value[end..].trim() {
        "us" => 0.001,
        "" | "ms" => 1.0,
        "s" => 1e3,
        "min" => 6e4,
        "h" => 3.6e6,
        "d" => 8.64e7,
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::millis;

    #[test]
    fn times_are_read_as_the_server_writes_them() {
        let close = |value: &str, wanted: f64| (millis(value).unwrap() - wanted).abs() < 1e-9;
        assert!(close("250", 250.0) && close("5s", 5000.0) && close("2 min", 120_000.0) && close("500us", 0.5));
        assert!(close("0", 0.0) && close("1.5h", 5_400_000.0) && close("1d", 86_400_000.0));
        assert_eq!(millis("soon"), None);
        assert_eq!(millis("5x"), None);
    }
}
