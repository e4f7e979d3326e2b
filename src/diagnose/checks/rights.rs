//! The question of what a role may do with our tables and functions, which two checks ask.

use serde::Deserialize;

use super::judged::{question, schema, texts};
use crate::model::checkup::{Arg, Question, Surroundings};

/// For each of the three kinds of rights: what the role in `$2` (for the kind) lacks, as the statements that would give it.
const SQL: &str = "
select k.kind, k.role is not null and r.oid is not null as role_there,
  array(select format('GRANT USAGE ON SCHEMA %I TO %I', n.nspname, k.role)
        where not has_schema_privilege(r.oid, n.oid, 'usage'))
  || array(select format('GRANT SELECT ON %I.%I TO %I', n.nspname, c.relname, k.role) from pg_class c
        where c.relnamespace = n.oid and c.relkind in ('r', 'p') and c.relname = any($4) and k.kind <> 'worker'
          and not has_table_privilege(r.oid, c.oid, 'select') order by c.relname)
  || array(select format('GRANT EXECUTE ON FUNCTION %I.%I(%s) TO %I', n.nspname, p.proname,
                         pg_get_function_identity_arguments(p.oid), k.role)
        from unnest($5, $6) as f (name, callers)
        join pg_proc p on p.pronamespace = n.oid and p.proname = f.name
        where k.kind = any(string_to_array(f.callers, ' ')) and not has_function_privilege(r.oid, p.oid, 'execute')
        order by p.proname) as missing
from unnest($2, $3) as k (kind, role)
join pg_namespace n on n.nspname = $1
left join pg_roles r on r.rolname = k.role";

/// What one role lacks of one kind of rights.
#[derive(Debug, Deserialize)]
pub(super) struct Lacks {
    /// `viewer`, `worker`, `operator`.
    pub(super) kind: String,
    /// The role exists.
    pub(super) role_there: bool,
    /// Statements that would give what is missing.
    pub(super) missing: Vec<String>,
}

/// Asks for pairs of a kind of rights and a role.
pub(super) fn ask(around: &Surroundings, pairs: &[(&str, &String)]) -> Question {
    let ours = &around.contents.functions;
    let args = vec![
        schema(around),
        Arg::Texts(pairs.iter().map(|(kind, _)| (*kind).to_owned()).collect()),
        texts(pairs.iter().map(|(_, role)| *role)),
        texts(&around.contents.tables),
        texts(ours.iter().map(|function| &function.name)),
        Arg::Texts(ours.iter().map(|function| function.callers.join(" ")).collect()),
    ];
    question(around, SQL, args)
}
