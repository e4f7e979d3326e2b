//! Functions of our names: missing, changed by somebody, doubled, or without the rights they need.

use serde::Deserialize;

use super::judged::{Judged, Seen, few, question, schema, several};
use super::{Check, How};
use crate::model::checkup::{Arg, Question, Surroundings};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "functions",
    title: "functions as installed",
    how: How::Asked { needs: &["queuetop_migrations"], ask, judge },
};

/// Those that are not as the migrations left them, with what is wrong: `missing`, `changed`, `other` (beside the right one),
/// `rights` (runs as the wrong one of owner and caller), `path` (the caller's), `owner` (does not own the table).
const SQL: &str = "
select f.name, f.signature, f.owner, f.faults
from (
  select e.name, quote_ident(pg_get_userbyid(p.proowner)) as owner,
    case when p.oid is not null
         then format('%I.%I(%s)', n.nspname, e.name, pg_get_function_identity_arguments(p.oid)) end as signature,
    case when p.oid is null then array['missing']
         when p.prosrc <> e.body and bool_or(p.prosrc = e.body) over (partition by e.name) then array['other']
         else array_remove(array[
           case when p.prosrc <> e.body then 'changed' end,
           case when p.prosecdef <> e.definer::boolean then 'rights' end,
           case when e.pinned::boolean and not exists (select from unnest(p.proconfig) c where c like 'search_path=%') then 'path' end,
           case when e.definer::boolean and not pg_has_role(p.proowner, t.relowner, 'usage') then 'owner' end], null)
    end as faults
  from unnest($2, $3, $4, $5) as e (name, body, definer, pinned)
  join pg_namespace n on n.nspname = $1
  left join pg_proc p on p.pronamespace = n.oid and p.proname = e.name
  left join pg_class t on t.relnamespace = n.oid and t.relname = 'jobs'
) as f
where f.faults <> '{}'
order by f.name, f.signature";

fn ask(around: &Surroundings) -> Question {
    let ours = &around.contents.functions;
    let flags = |of: fn(&crate::model::checkup::OurFunction) -> bool| {
        Arg::Texts(ours.iter().map(|f| of(f).to_string()).collect())
    };
    let args = vec![
        schema(around),
        Arg::Texts(ours.iter().map(|function| function.name.clone()).collect()),
        Arg::Texts(ours.iter().map(|function| function.body.clone()).collect()),
        flags(|function| function.definer),
        flags(|function| function.pinned),
    ];
    question(around, SQL, args)
}

#[derive(Deserialize)]
struct Row {
    name: String,
    signature: Option<String>,
    owner: Option<String>,
    faults: Vec<String>,
}

impl Row {
    fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|one| one == fault)
    }

    fn signature(&self) -> &str {
        self.signature.as_deref().unwrap_or(&self.name)
    }
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let around = seen.around;
    let version = around.version.get().flatten().ok_or("the installed version is not known")?;
    let rows: Vec<Row> = seen.rows()?;
    let count = around.contents.functions.len();
    let mut judged = Judged::fine(format!("{count} functions are as version {version} brings them"));
    let schema = &around.schema_sql;
    let print = format!("queuetop migrate --print --schema {schema}");
    let with = |fault: &str| rows.iter().filter(|row| row.has(fault)).collect::<Vec<&Row>>();
    let (missing, changed, other) = (with("missing"), with("changed"), with("other"));
    let run = format!("{print}\n-- prints their definitions: run those, then: SELECT {schema}.queuetop_apply_rights()");
    judged.findings.extend(list(Severity::Act, &missing, ("function is missing", "functions are missing"), run));
    let put_back = format!("{print}\n-- prints the definitions as they were: compare, and run those to be put back");
    judged.findings.extend(list(
        Severity::Look,
        &changed,
        ("function was changed", "functions were changed"),
        put_back,
    ));
    let drops: Vec<String> = other.iter().map(|row| format!("DROP FUNCTION {}", row.signature())).collect();
    let words = ("function bears the name of one of ours", "functions bear names of ours");
    judged.findings.extend(list(Severity::Look, &other, words, drops.join("\n")));
    judged.findings.extend(rows.iter().flat_map(|row| rights(row, around)));
    Ok(judged)
}

fn list(severity: Severity, rows: &[&Row], (one, many): (&str, &str), next: String) -> Option<Finding> {
    let names: Vec<String> = rows.iter().map(|row| row.signature().to_owned()).collect();
    let sentence = format!("{}: {}", several(rows.len(), one, many), few(&names));
    let found = names.iter().fold(Judged::found(severity, sentence), |found, name| found.fact("function", name));
    (!rows.is_empty()).then(|| found.next(next).build())
}

/// What a function lost that makes it safe or able.
fn rights(row: &Row, around: &Surroundings) -> Vec<Finding> {
    let (name, signature) = (&row.name, row.signature());
    let definer = around.contents.functions.iter().any(|ours| ours.name == *name && ours.definer);
    let (runs_as, meant) = if definer { ("its caller", "DEFINER") } else { ("its owner", "INVOKER") };
    let owner = row.owner.as_deref().unwrap_or("?");
    let faults = [
        ("rights", format!("{name} runs with the rights of {runs_as}"), format!("SECURITY {meant}")),
        ("path", format!("{name} takes its caller's search path"), "SET search_path = pg_catalog, pg_temp".to_owned()),
        (
            "owner",
            format!("{name} runs as {owner}, who does not own the table jobs"),
            format!("OWNER TO ...  -- the owner of {}.jobs", around.schema_sql),
        ),
    ];
    let of = faults.into_iter().filter(|(fault, ..)| row.has(fault));
    let finding = |(_, sentence, change): (_, String, String)| {
        let found = Judged::found(Severity::Act, sentence).fact("function", signature).fact("owner", owner);
        found.next(format!("ALTER FUNCTION {signature} {change}")).build()
    };
    of.map(finding).collect()
}
