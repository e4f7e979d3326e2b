//! What holds back the horizon: dead rows younger than the oldest snapshot anywhere cannot be removed, and a queue makes many.

use serde::Deserialize;

use super::idle::limited;
use super::judged::{Judged, Seen, question, whole};
use super::{Check, How};
use crate::fmt;
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "horizon",
    title: "nothing holds vacuum back",
    how: How::Asked { needs: &[], ask: |around| question(around, SQL, vec![]), judge },
};

/// `xids`: how many transactions began since. Sessions of other databases hold nothing back here; slots and replicas do.
const SQL: &str = "
select 'session' as kind, a.pid::text as name, greatest(age(a.backend_xmin), age(a.backend_xid))::bigint as xids,
  extract(epoch from clock_timestamp() - a.xact_start)::float8 as seconds, a.state like 'active%' as active,
  format('SELECT pg_terminate_backend(%s)', a.pid) as mend, coalesce(a.query = '<insufficient privilege>', false) as hidden
from pg_stat_activity a
where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type is distinct from 'autovacuum worker'
  and (a.backend_xmin is not null or a.backend_xid is not null or a.query = '<insufficient privilege>')
union all
select 'prepared transaction', p.gid, age(p.transaction)::bigint, extract(epoch from clock_timestamp() - p.prepared)::float8, false,
  format('ROLLBACK PREPARED %L', p.gid), false
from pg_prepared_xacts p where p.database = current_database()
union all
select 'replication slot', s.slot_name, age(s.xmin)::bigint, null, s.active, format('SELECT pg_drop_replication_slot(%L)', s.slot_name), false
from pg_replication_slots s where s.xmin is not null
union all
select 'replica', coalesce(nullif(r.application_name, ''), r.pid::text), age(r.backend_xmin)::bigint, null, true,
  'ALTER SYSTEM SET hot_standby_feedback = off  -- on the replica, or end its long query', false
from pg_stat_replication r where r.backend_xmin is not null
limit 500";

/// A snapshot so old, in seconds, keeps minutes of a busy queue's dead rows.
const OLD: i64 = 10 * 60;
/// A prepared transaction that nobody finishes was forgotten.
const PREPARED: i64 = 5 * 60;
/// By now claims step over all that died meanwhile.
const VERY_OLD: i64 = 2 * 3600;
/// Where only transactions tell the age.
const MANY: i64 = 1_000_000;
/// The same for a slot that nobody reads.
const MANY_UNREAD: i64 = 50_000;

#[derive(Deserialize)]
struct Row {
    kind: String,
    name: String,
    xids: Option<i64>,
    seconds: Option<f64>,
    active: Option<bool>,
    mend: String,
    hidden: bool,
}

impl Row {
    fn severity(&self) -> Option<Severity> {
        let xids = self.xids.unwrap_or(0);
        let limit = if self.kind == "prepared transaction" { PREPARED } else { OLD };
        let held = match self.seconds.map(whole) {
            Some(seconds) if seconds >= VERY_OLD => return Some(Severity::Act),
            Some(seconds) => seconds >= limit,
            None => xids >= MANY || (self.active == Some(false) && xids >= MANY_UNREAD),
        };
        held.then_some(Severity::Look)
    }

    fn age(&self) -> String {
        let xids = format!("{} transactions", fmt::count(u64::try_from(self.xids.unwrap_or(0)).unwrap_or(0)));
        self.seconds.map_or_else(|| xids.clone(), |seconds| format!("{}, {xids}", fmt::span(whole(seconds))))
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let mut rows: Vec<Row> = seen.rows()?;
    let mut judged = Judged::fine("no old snapshot in a session, a slot, a replica or a prepared transaction");
    judged.unseen.extend(limited(rows.iter().filter(|row| row.hidden).count(), seen.around));
    rows.retain(|row| !row.hidden && row.severity().is_some());
    rows.sort_by_key(|row| std::cmp::Reverse((row.severity(), row.xids)));
    judged.findings.extend(finding(&rows));
    Ok(judged)
}

fn finding(rows: &[Row]) -> Option<Finding> {
    let first = rows.first()?;
    let sentence = format!("{} {} has held vacuum back for {}", first.kind, first.name, first.age());
    let found = rows.iter().fold(Judged::found(first.severity()?, sentence), |found, row| {
        let idle = if row.kind == "replication slot" && row.active == Some(false) { ", nobody reads it" } else { "" };
        found.fact(&format!("{} {}", row.kind, row.name), format!("{}{idle}", row.age()))
    });
    let steps: Vec<String> = rows.iter().map(|row| row.mend.clone()).collect();
    Some(found.next(steps.join("\n")).build())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::fixture::{judged, surroundings};
    use super::super::{Checked, Status};

    fn row(kind: &str, seconds: Option<f64>, xids: i64, active: bool) -> Value {
        json!({"kind": kind, "name": "x", "xids": xids, "seconds": seconds, "active": active, "mend": "do", "hidden": false})
    }

    fn say(row: Value) -> Checked {
        judged("horizon", &surroundings(), &[row])
    }

    #[test]
    fn only_what_is_old_holds_back() {
        for (kind, seconds, xids, active, status) in [
            ("session", Some(599.0), 9_000_000, true, Status::Ok),
            ("session", Some(600.0), 10, true, Status::Warning),
            ("session", Some(7200.0), 10, true, Status::Critical),
            ("prepared transaction", Some(299.0), 10, false, Status::Ok),
            ("prepared transaction", Some(300.0), 10, false, Status::Warning),
            ("replication slot", None, 49_999, false, Status::Ok),
            ("replication slot", None, 50_000, false, Status::Warning),
            ("replication slot", None, 50_000, true, Status::Ok),
            ("replica", None, 1_000_000, true, Status::Warning),
        ] {
            assert_eq!(say(row(kind, seconds, xids, active)).status, status, "{kind} {seconds:?} {xids} {active}");
        }
        let slot = say(row("replication slot", None, 50_000, false));
        assert_eq!(slot.findings[0].sentence, "replication slot x has held vacuum back for 50,000 transactions");
        assert_eq!(slot.findings[0].evidence[0].1, "50,000 transactions, nobody reads it");
    }

    #[test]
    fn what_cannot_be_seen_is_not_fine() {
        let hidden = json!({"kind": "session", "name": "1", "xids": null, "seconds": null, "active": null, "mend": "", "hidden": true});
        let checked = say(hidden);
        assert_eq!(checked.status, Status::Unknown);
        assert!(checked.unseen.unwrap().starts_with("limited view: 1 session"));
    }
}
