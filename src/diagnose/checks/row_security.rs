//! Row level security: on for our tables, never forced (our functions would see nothing), and hiding nothing from who reads.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, schema, texts};
use super::{Check, How};
use crate::model::checkup::{Arg, Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check =
    Check { id: "row-security", title: "row security", how: How::Asked { needs: &["jobs"], ask, judge } };

/// `hidden`: the role may read the table and is not shown all rows: security holds for it, and no policy that applies to it
/// shows everything, or a restrictive one takes away.
const SQL: &str = "
select quote_ident(c.relname) as name, c.relrowsecurity as is_on, c.relforcerowsecurity as forced,
  format('ALTER TABLE %I.%I', n.nspname, c.relname) as alter_it,
  coalesce(c.relrowsecurity and not (r.rolsuper or r.rolbypassrls)
    and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))
    and has_table_privilege(r.oid, c.oid, 'select')
    and (not exists (select from pg_policy p where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('*', 'r')
                     and pg_get_expr(p.polqual, p.polrelid) = 'true'
                     and exists (select from unnest(p.polroles) m (oid) where m.oid = 0 or pg_has_role(r.oid, m.oid, 'usage')))
      or exists (select from pg_policy p where p.polrelid = c.oid and not p.polpermissive and p.polcmd in ('*', 'r')
                 and pg_get_expr(p.polqual, p.polrelid) <> 'true'
                 and exists (select from unnest(p.polroles) m (oid) where m.oid = 0 or pg_has_role(r.oid, m.oid, 'usage')))
    ), false) as hidden
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_roles r on r.rolname = $3
where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname = any($2)
order by c.relname";

fn ask(around: &Surroundings) -> Question {
    let both = ["jobs".to_owned(), "dead_letter_jobs".to_owned()];
    let tables = if around.installed() { texts(&around.contents.tables) } else { texts(&both) };
    question(around, SQL, vec![schema(around), tables, Arg::Text(around.role.clone())])
}

#[derive(Deserialize)]
struct Row {
    name: String,
    is_on: bool,
    forced: bool,
    hidden: bool,
    alter_it: String,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let around = seen.around;
    let mut judged = Judged::fine(format!("it hides nothing from {}", around.role_sql));
    let names = |of: fn(&Row) -> bool| -> Vec<String> {
        rows.iter().filter(|row| of(row)).map(|row| row.name.clone()).collect()
    };
    let hidden = names(|row| row.hidden);
    if !hidden.is_empty() {
        let sentence = format!("limited view: row security hides rows of {} from {}", few(&hidden), around.role_sql);
        let found =
            hidden.iter().fold(Judged::found(Severity::Look, sentence), |found, name| found.fact("hidden", name));
        judged.findings.push(found.next(format!("GRANT {} TO {}", around.groups_sql.viewer, around.role_sql)).build());
    }
    if around.installed() {
        let alter = |what: &str, of: fn(&Row) -> bool| -> String {
            let steps: Vec<String> =
                rows.iter().filter(|row| of(row)).map(|row| format!("{} {what}", row.alter_it)).collect();
            steps.join("\n")
        };
        let forced = |severity, sentence: String, list: &[String], next| -> Finding {
            list.iter()
                .fold(Judged::found(severity, sentence), |found, name| found.fact("table", name))
                .next(next)
                .build()
        };
        let (force, off) = (names(|row| row.forced), names(|row| !row.is_on));
        if !force.is_empty() {
            let sentence = format!(
                "row security is forced on {}: unless their owner is exempt, our functions see no rows there",
                few(&force)
            );
            judged.findings.push(forced(
                Severity::Act,
                sentence,
                &force,
                alter("NO FORCE ROW LEVEL SECURITY", |row| row.forced),
            ));
        }
        if !off.is_empty() {
            let sentence = format!(
                "row security is off for {}: the second lock, should somebody grant a table by mistake",
                few(&off)
            );
            judged.findings.push(forced(
                Severity::Look,
                sentence,
                &off,
                alter("ENABLE ROW LEVEL SECURITY", |row| !row.is_on),
            ));
        }
    }
    Ok(judged)
}
