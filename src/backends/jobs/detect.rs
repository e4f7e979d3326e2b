//! Finds a `jobs` table and what this role may do with it, from the catalogs alone.

use super::facts::{FUNCTIONS, Facts, Function, RELATIONS, Relation};
use super::row::get;
use super::{Jobs, LIST_LIMITS};
use crate::db::{DbError, Session, Statement, Text};

const FIND: &str = include_str!("sql/find.sql");
const RELATION_FACTS: &str = include_str!("sql/relations.sql");
const FUNCTION_FACTS: &str = include_str!("sql/functions.sql");

/// The `jobs` backend of this schema, or of the one that fits best; `None`: there is none.
///
/// # Errors
/// When the catalogs cannot be asked.
pub async fn detect(session: &Session, schema: Option<&str>) -> Result<Option<Jobs>, DbError> {
    let find = Statement::new(FIND).text(schema.map(str::to_owned));
    let found = session.read_one("find jobs", find, LIST_LIMITS).await?;
    let Some(row) = found.first() else {
        return Ok(None);
    };
    let schema: String = get::<Text>(row, "schema")?.into();
    Ok(Some(Jobs::new(read_facts(session, schema).await?)))
}

async fn read_facts(session: &Session, schema: String) -> Result<Facts, DbError> {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    let asks = [
        Statement::new(RELATION_FACTS).text(schema.clone()).texts(names(RELATIONS)),
        Statement::new(FUNCTION_FACTS).text(schema.clone()).texts(names(FUNCTIONS)),
    ];
    let answers = session.read_many("what may be read", &asks, LIST_LIMITS).await?.rows;
    let of = session.facts();
    let mut facts = Facts { schema, user: of.user.clone(), read_only: of.read_only, ..Facts::default() };
    let [relations, functions] = answers.as_slice() else {
        return Err(DbError::shape("an answer is missing"));
    };
    for row in relations {
        let usable: bool = get(row, "usable")?;
        let relation = Relation {
            columns: texts(get(row, "columns")?),
            readable: if usable { texts(get(row, "readable")?) } else { Vec::new() },
            hidden: get(row, "hidden")?,
            indexes: texts(get(row, "indexes")?),
        };
        facts.relations.insert(get::<Text>(row, "name")?.into(), relation);
    }
    for row in functions {
        let granted_to = get::<Option<Text>>(row, "granted_to")?.map(String::from);
        let function = Function { callable: get(row, "callable")?, granted_to };
        facts.functions.insert(get::<Text>(row, "name")?.into(), function);
    }
    Ok(facts)
}

fn texts(list: Vec<Text>) -> Vec<String> {
    list.into_iter().map(String::from).collect()
}
