//! Rights of those who should have none: everybody (PUBLIC), and the API roles of a hosted platform.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, schema, several, texts};
use super::{Check, How};
use crate::model::checkup::{Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "outsiders",
    title: "outsiders have no rights",
    how: How::Asked { needs: &["queuetop_migrations"], ask, judge },
};

const SQL: &str = "
with who as (
  select 0::oid as oid, 'PUBLIC' as name
  union all select r.oid, quote_ident(r.rolname) from pg_roles r where r.rolname in ('anon', 'authenticated')
), ours as (
  select case c.relkind when 'S' then 'sequence' else 'table' end as kind, format('%I.%I', n.nspname, c.relname) as name, c.relacl as acl
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and (c.relkind in ('r', 'p') and c.relname = any($2) or c.relkind = 'S' and c.relname in ('fold_clock', 'notify_clock'))
  union all
  select 'columns of', format('%I.%I', n.nspname, c.relname), a.attacl
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname = any($2) and a.attnum > 0 and a.attacl is not null
  union all
  select 'function', format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
         coalesce(p.proacl, acldefault('f', p.proowner))
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.proname = any($3)
)
select w.name as who, o.kind, o.name as object, array_agg(distinct a.privilege_type order by a.privilege_type) as rights,
       format('REVOKE ALL ON %s %s FROM %s', case o.kind when 'columns of' then 'table' else o.kind end, o.name, w.name) as revoke_it
from ours o cross join lateral aclexplode(o.acl) as a join who w on w.oid = a.grantee
group by w.name, o.kind, o.name
union all
select w.name, 'group', quote_ident(g.rolname), array['MEMBER'], format('REVOKE %I FROM %s', g.rolname, w.name)
from who w join pg_roles g on g.rolname = any($4) where w.oid <> 0 and pg_has_role(w.oid, g.oid, 'member')
union all
select w.name, 'schema', quote_ident(n.nspname), array['CREATE'], format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, w.name)
from pg_namespace n cross join lateral aclexplode(n.nspacl) as a join who w on w.oid = a.grantee
where n.nspname = $1 and a.privilege_type = 'CREATE'
order by 1, 2, 3";

fn ask(around: &Surroundings) -> Question {
    let groups = &around.groups;
    let args = vec![
        schema(around),
        texts(&around.contents.tables),
        texts(around.contents.functions.iter().map(|function| &function.name)),
        texts([&groups.viewer, &groups.worker, &groups.operator]),
    ];
    question(around, SQL, args)
}

#[derive(Deserialize)]
struct Row {
    who: String,
    kind: String,
    object: String,
    rights: Vec<String>,
    revoke_it: String,
}

impl Row {
    /// Row security stands behind rights on rows; nothing stands behind these.
    fn severity(&self) -> Severity {
        match self.kind.as_str() {
            "function" | "group" | "sequence" => Severity::Act,
            "schema" => Severity::Info,
            _ if self.rights.iter().any(|right| right == "TRUNCATE") => Severity::Act,
            _ => Severity::Look,
        }
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let mut judged = Judged::fine("neither PUBLIC nor the API roles have rights on the queue");
    for severity in [Severity::Act, Severity::Look, Severity::Info] {
        let of: Vec<&Row> = rows.iter().filter(|row| row.severity() == severity).collect();
        judged.findings.extend(finding(severity, &of));
    }
    Ok(judged)
}

fn finding(severity: Severity, rows: &[&Row]) -> Option<Finding> {
    let mut whos: Vec<String> = rows.iter().map(|row| row.who.clone()).collect();
    whos.dedup();
    let objects: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {}", row.kind, row.object.split('(').next().unwrap_or(&row.object)))
        .collect();
    let sentence = match severity {
        Severity::Info => format!("{} may create objects in the schema of the queue", whos.join(" and ")),
        _ => format!("{} may use {}: {}", whos.join(" and "), several(rows.len(), "object", "objects"), few(&objects)),
    };
    let found = rows.iter().fold(Judged::found(severity, sentence), |found, row| {
        found.fact(&row.who, format!("{} on {} {}", row.rights.join(", "), row.kind, row.object))
    });
    let steps: Vec<String> = rows.iter().map(|row| row.revoke_it.clone()).collect();
    (!rows.is_empty()).then(|| found.next(steps.join("\n")).build())
}
