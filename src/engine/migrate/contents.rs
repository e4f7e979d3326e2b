//! What the migration files bring into a schema, read from their text: the one place that knows, so that no second list of
//! names can grow old. It must not talk to a database.

use super::MigrateError;
use super::files::{self, Names};
use crate::model::checkup::{Contents, GroupRoles, OurFunction, OurPart};

/// How the files quote bodies.
const TAG: &str = "$queuetop$";

/// What a schema at `version` consists of; a version beyond ours counts as ours.
///
/// # Errors
/// When the schema or the roles cannot have such a name.
pub fn contents(schema: &str, role_prefix: &str, version: i32) -> Result<Contents, MigrateError> {
    let names = Names::new(schema, role_prefix)?;
    let mut contents = Contents::default();
    for text in files::texts(version) {
        for statement in statements(text) {
            apply(&mut contents, &statement, &names);
        }
    }
    let lists = contents.functions.iter().find(|function| function.name == "queuetop_functions");
    let lists = lists.map(|function| function.body.clone()).unwrap_or_default();
    for function in &mut contents.functions {
        function.callers = callers(&lists, &function.name);
    }
    Ok(contents)
}

/// The names of the three groups.
///
/// # Errors
/// When roles cannot have such names.
pub fn group_roles(role_prefix: &str) -> Result<GroupRoles, MigrateError> {
    let [viewer, worker, operator] = Names::new("public", role_prefix)?.roles;
    Ok(GroupRoles { viewer, worker, operator })
}

/// The statements of a file without comments; bodies stay as they are.
fn statements(text: &str) -> Vec<String> {
    let (mut found, mut now, mut rest) = (Vec::new(), String::new(), text);
    while let Some(first) = rest.chars().next() {
        let taken = if rest.starts_with("--") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            continue;
        } else if let Some(body) = rest.strip_prefix(TAG) {
            body.find(TAG).map_or(rest.len(), |end| end + 2 * TAG.len())
        } else if first == '\'' {
            rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        if first == ';' {
            found.push(std::mem::take(&mut now).trim().to_owned());
        } else {
            now.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    found
}

fn apply(contents: &mut Contents, statement: &str, names: &Names) {
    let (head, body) = statement.split_once(TAG).unwrap_or((statement, ""));
    let words: Vec<&str> =
        head.split_whitespace().filter(|word| !matches!(*word, "or" | "replace" | "unique")).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !matches!(*word, "if" | "not" | "exists")).collect();
    let (Some(what), Some(kind), Some(name)) = (words.first(), words.get(1), words.get(2)) else {
        return;
    };
    let name = plain(name);
    let on = || words.iter().position(|word| *word == "on").and_then(|at| words.get(at + 1)).map(|table| plain(table));
    match (*what, *kind) {
        ("create", "table") => contents.tables.push(name),
        ("create", "function") => {
            contents.functions.retain(|function| function.name != name);
            contents.functions.push(OurFunction {
                name,
                body: names.fill(body.split(TAG).next().unwrap_or_default()),
                definer: head.contains("security definer"),
                pinned: head.contains("set search_path"),
                callers: Vec::new(),
            });
        }
        ("create", "index" | "trigger") => {
            let one_line = names.fill(&statement.split_whitespace().collect::<Vec<_>>().join(" "));
            let part = OurPart { name, table: on().unwrap_or_default(), statement: one_line };
            if *kind == "index" { contents.indexes.push(part) } else { contents.triggers.push(part) }
        }
        ("drop", "table") => contents.tables.retain(|table| *table != name),
        ("drop", "function") => contents.functions.retain(|function| function.name != name),
        ("drop", "index") => contents.indexes.retain(|index| index.name != name),
        ("drop", "trigger") => contents.triggers.retain(|trigger| trigger.name != name),
        _ => {}
    }
}

/// `{schema}.jobs(id` → `jobs`
fn plain(name: &str) -> String {
    let name = name.strip_prefix("{schema}.").unwrap_or(name);
    name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

/// Who calls a function, from the text of `queuetop_functions()`: `('claim_jobs', array['worker'])`.
fn callers(list: &str, name: &str) -> Vec<String> {
    let Some((_, after)) = list.split_once(&format!("('{name}', array[")) else {
        return Vec::new();
    };
    let groups = after.split(']').next().unwrap_or_default().split(',');
    groups.map(|group| group.trim().trim_matches('\'').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Contents {
        contents("my queue", "x_", i32::MAX).expect("good names")
    }

    #[test]
    fn everything_that_the_files_create_is_found() {
        let contents = all();
        let names: Vec<&str> = contents.functions.iter().map(|f| f.name.as_str()).collect();
        for name in files::kept("function") {
            assert_eq!(names.iter().filter(|found| **found == name).count(), 1, "{name}");
        }
        let mut tables = files::kept("table");
        tables.sort_unstable();
        let mut found: Vec<&str> = contents.tables.iter().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, tables);
        assert!(contents.functions.iter().all(|f| !f.body.is_empty() && !f.body.contains("{schema")));
        let claim = contents.functions.iter().find(|f| f.name == "claim_jobs").expect("claim_jobs");
        assert!(claim.definer && claim.pinned && claim.callers == ["worker"], "{claim:?}");
        assert!(contents.functions.iter().any(|f| f.name == "reap_rows" && f.callers.is_empty()));
    }

    #[test]
    fn parts_know_their_table_and_how_they_are_made() {
        let contents = all();
        let part = |list: &[OurPart], name: &str| list.iter().find(|part| part.name == name).cloned().expect("a part");
        let index = part(&contents.indexes, "jobs_claimable_idx");
        assert_eq!(index.table, "jobs");
        assert_eq!(
            index.statement,
            "create index if not exists jobs_claimable_idx on \"my queue\".jobs (queue, priority desc, run_at, created_at) \
             where status = 'queued' and attempts < max_attempts"
        );
        assert_eq!(part(&contents.triggers, "job_failures_count").table, "job_failures");
        let counted = contents.triggers.iter().filter(|part| part.name.contains("_count")).count();
        assert!(counted >= 10, "{counted}");
    }

    #[test]
    fn the_last_definition_counts_and_what_is_dropped_is_gone() {
        let names = Names::new("q", "").expect("good names");
        let mut contents = Contents::default();
        for statement in statements(
            "create function {schema}.f() returns int language sql as $queuetop$ select 1; -- one\n $queuetop$;
             create index i on {schema}.t (a); -- it's; not a statement
             comment on table {schema}.t is 'a; b';
             create or replace function {schema}.f() returns int security definer as $queuetop$ select 2 $queuetop$;
             create trigger g after insert on {schema}.t for each row execute function {schema}.f();
             drop index if exists {schema}.i;",
        ) {
            apply(&mut contents, &statement, &names);
        }
        assert_eq!((contents.functions.len(), contents.indexes.len(), contents.triggers.len()), (1, 0, 1));
        assert_eq!((contents.functions[0].body.as_str(), contents.functions[0].definer), (" select 2 ", true));
        assert_eq!(contents.triggers[0].table, "t");
    }

    #[test]
    fn an_older_version_has_what_it_had() {
        let old = contents("q", "", 2).expect("good names");
        assert!(old.triggers.iter().any(|t| t.name == "jobs_note_claim"));
        assert!(!old.triggers.iter().any(|t| t.name == "jobs_count_inserted"));
        assert!(old.functions.iter().all(|f| f.callers.is_empty()));
    }
}
