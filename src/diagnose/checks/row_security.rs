//! Row level security: on for our tables, never forced (our functions would see nothing), and hiding nothing from who reads.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, schema, texts};
use super::{Check, How};
use crate::model::checkup::{Arg, Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check =
    Check { id: "row-security", title: "row security", how: How::Asked { needs: &["jobs"], ask, judge } };

/// `hidden_from`: roles that may read the table and are not shown all rows: security holds for them, and no policy that applies
/// to them shows everything, or a restrictive one takes away. `policy`: what would let the groups see.
const SQL: &str = "
select quote_ident(c.relname) as name, c.relrowsecurity as is_on, c.relforcerowsecurity as forced,
  format('ALTER TABLE %I.%I', n.nspname, c.relname) as alter_it,
  format(case when exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'queuetop_read')
              then 'ALTER POLICY queuetop_read ON %I.%I TO %I, %I USING (true)'
              else 'CREATE POLICY queuetop_read ON %I.%I FOR SELECT TO %I, %I USING (true)' end,
         n.nspname, c.relname, $4, $5) as policy,
  array(select r.rolname from pg_roles r
    where r.rolname in ($3, $4, $5) and c.relrowsecurity and not (r.rolsuper or r.rolbypassrls)
      and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))
      and has_table_privilege(r.oid, c.oid, 'select')
      and (not exists (select from pg_policy p where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('*', 'r')
                       and pg_get_expr(p.polqual, p.polrelid) = 'true'
                       and exists (select from unnest(p.polroles) m (oid) where m.oid = 0 or pg_has_role(r.oid, m.oid, 'usage')))
        or exists (select from pg_policy p where p.polrelid = c.oid and not p.polpermissive and p.polcmd in ('*', 'r')
                   and pg_get_expr(p.polqual, p.polrelid) <> 'true'
                   and exists (select from unnest(p.polroles) m (oid) where m.oid = 0 or pg_has_role(r.oid, m.oid, 'usage'))))
  ) as hidden_from
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname = any($2)
order by c.relname";

fn ask(around: &Surroundings) -> Question {
    let both = ["jobs".to_owned(), "dead_letter_jobs".to_owned()];
    let tables = if around.installed() { texts(&around.contents.tables) } else { texts(&both) };
    let roles = [&around.role, &around.groups.viewer, &around.groups.operator];
    let roles = roles.map(|role| Arg::Text(role.clone()));
    question(around, SQL, [schema(around), tables].into_iter().chain(roles).collect())
}

#[derive(Deserialize)]
struct Row {
    name: String,
    is_on: bool,
    forced: bool,
    alter_it: String,
    policy: String,
    hidden_from: Vec<String>,
}

impl Row {
    fn is_hidden_from(&self, role: &str) -> bool {
        self.hidden_from.iter().any(|one| one == role)
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let around = seen.around;
    let mut judged = Judged::fine(format!("it hides nothing from {}", around.role_sql));
    let (viewer, operator) = (&around.groups.viewer, &around.groups.operator);
    let of_groups = |row: &Row| row.is_hidden_from(viewer) || row.is_hidden_from(operator);
    // What is hidden from the groups is hidden from their members, too, and to become one of them is no help.
    let of_role = |row: &Row| row.is_hidden_from(&around.role) && !of_groups(row);
    let role = format!("limited view: row security hides rows from {} in", around.role_sql);
    let join = format!("GRANT {} TO {}", around.groups_sql.viewer, around.role_sql);
    judged.findings.extend(finding(Severity::Look, &rows, of_role, &role, |_| join.clone()));
    if around.installed() {
        let groups = "limited view: row security hides rows from the groups that read, in";
        let no_force = |row: &Row| format!("{} NO FORCE ROW LEVEL SECURITY", row.alter_it);
        let enable = |row: &Row| format!("{} ENABLE ROW LEVEL SECURITY", row.alter_it);
        let forced = "row security is forced, and unless their owner is exempt our functions see no rows in";
        let off = "the second lock is open, should somebody grant a table by mistake: row security is off for";
        judged.findings.extend(finding(Severity::Look, &rows, of_groups, groups, |row| row.policy.clone()));
        judged.findings.extend(finding(Severity::Act, &rows, |row| row.forced, forced, no_force));
        judged.findings.extend(finding(Severity::Look, &rows, |row| !row.is_on, off, enable));
    }
    Ok(judged)
}

fn finding(
    severity: Severity,
    rows: &[Row],
    of: impl Fn(&Row) -> bool,
    so: &str,
    mend: impl Fn(&Row) -> String,
) -> Option<Finding> {
    let rows: Vec<&Row> = rows.iter().filter(|row| of(row)).collect();
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let mut steps: Vec<String> = rows.into_iter().map(mend).collect();
    steps.dedup();
    let found = Judged::found(severity, format!("{so} {}", few(&names)));
    let found = names.iter().fold(found, |found, name| found.fact("table", name));
    (!names.is_empty()).then(|| found.next(steps.join("\n")).build())
}
