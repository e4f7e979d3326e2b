//! Triggers of ours: without them nobody counts, and no failure is kept.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, schema, several, texts};
use super::{Check, How};
use crate::model::checkup::{Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check =
    Check { id: "triggers", title: "triggers fire", how: How::Asked { needs: &["queuetop_migrations"], ask, judge } };

/// Those that do not fire in a common session: O fires there, A always, R only in a replica's, D never.
const SQL: &str = "
select e.name, e.table_name, g.oid is not null as there, g.tgenabled::text as enabled,
  format('ALTER TABLE %I.%I ENABLE TRIGGER %I', n.nspname, e.table_name, e.name) as mend
from unnest($2, $3) as e (name, table_name)
join pg_namespace n on n.nspname = $1
join pg_class c on c.relnamespace = n.oid and c.relname = e.table_name
left join pg_trigger g on g.tgrelid = c.oid and g.tgname = e.name
where g.oid is null or g.tgenabled not in ('O', 'A')
order by e.table_name, e.name";

fn ask(around: &Surroundings) -> Question {
    let ours = &around.contents.triggers;
    let args = vec![schema(around), texts(ours.iter().map(|one| &one.name)), texts(ours.iter().map(|one| &one.table))];
    question(around, SQL, args)
}

#[derive(Deserialize)]
struct Row {
    name: String,
    table_name: String,
    there: bool,
    enabled: Option<String>,
    mend: String,
}

impl Row {
    /// Nobody counts without it.
    fn counts(&self) -> bool {
        self.name.contains("_count")
    }

    fn how(&self) -> &'static str {
        match (self.there, self.enabled.as_deref()) {
            (false, _) => "missing",
            (true, Some("R")) => "fires in replica sessions only",
            _ => "disabled",
        }
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let mut judged = Judged::fine(format!("{} triggers are on", seen.around.contents.triggers.len()));
    let (counting, others): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(Row::counts);
    let recount = format!("queuetop doctor --schema {} --recount", seen.around.schema_sql);
    judged.findings.extend(off(Severity::Act, &counting, "changes are not counted", Some(&recount), seen));
    judged.findings.extend(off(Severity::Look, &others, "what happens is not all recorded", None, seen));
    Ok(judged)
}

fn off(severity: Severity, rows: &[Row], so: &str, then: Option<&str>, seen: &Seen<'_>) -> Option<Finding> {
    let names: Vec<String> = rows.iter().map(|row| format!("{} on {}", row.name, row.table_name)).collect();
    let sentence = format!("{so}: {} off: {}", several(rows.len(), "trigger is", "triggers are"), few(&names));
    let found = rows.iter().fold(Judged::found(severity, sentence), |found, row| {
        found.fact(&row.name, format!("on {}: {}", row.table_name, row.how()))
    });
    let made = |row: &Row| {
        let ours = seen.around.contents.triggers.iter().find(|one| one.name == row.name);
        ours.map_or_else(String::new, |ours| ours.statement.clone())
    };
    let mut steps: Vec<String> = rows.iter().map(|row| if row.there { row.mend.clone() } else { made(row) }).collect();
    steps.extend(then.map(str::to_owned));
    (!rows.is_empty()).then(|| found.next(steps.join("\n")).build())
}
