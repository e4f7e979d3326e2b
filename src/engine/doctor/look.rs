//! What is known before the checks ask: which schema, which version, which tables and groups, and whether notifications arrive.

use crate::backends;
use crate::db::{Connector, DbError, Json, Limits, Listening, Purpose, Session, Statement, Text, listen};
use crate::engine::migrate::{self, HISTORY_TABLE, quote_ident};
use crate::model::checkup::{Contents, GroupRoles, Surroundings};
use crate::model::{BackendKind, Reading};

use std::collections::BTreeSet;
use std::time::Duration;

const LIMITS: Limits = Limits::within(Duration::from_secs(5));

/// What to look at.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// The schema named by the operator.
    pub schema: Option<String>,
    /// Whose rights; `None`: those of the role that asks.
    pub role: Option<String>,
}

/// Names as SQL writes them, and what the catalogs say, readable by every role. The group of the workers is known by the
/// function that they call, where the settings may not be read.
const CATALOGS: &str = "
select coalesce(quote_ident($1), '') as schema_sql, quote_ident($2) as role_sql,
  (select r.rolsuper from pg_roles r where r.rolname = current_user) as superuser,
  array(select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname = any($3)) as tables,
  array(select quote_ident(n.nspname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relname = $4 and c.relkind = 'r' and n.nspname is distinct from $1 order by 1) as elsewhere,
  (select left(r.rolname, -length('queue_worker'))
   from pg_proc p join pg_namespace n on n.oid = p.pronamespace cross join lateral aclexplode(p.proacl) a
   join pg_roles r on r.oid = a.grantee
   where n.nspname = $1 and p.proname = 'claim_jobs' and r.rolname like '%queue\\_worker' order by r.rolname limit 1) as prefix";

#[derive(serde::Deserialize)]
struct Catalogs {
    schema_sql: String,
    role_sql: String,
    superuser: bool,
    tables: BTreeSet<String>,
    elsewhere: Vec<String>,
    prefix: Option<String>,
}

/// Looks around. Takes a second session for a moment, to try whether a notification arrives.
///
/// # Errors
/// When the database cannot be asked at all; what may not be read is told by the result.
pub async fn look(connector: &Connector, session: &Session, wanted: &Look) -> Result<Surroundings, DbError> {
    let backends = backends::all(session, wanted.schema.as_deref()).await?;
    let queue = backends.iter().find(|backend| backend.kind() == BackendKind::Jobs);
    let schema = queue.map(|queue| queue.schema().to_owned());
    let facts = session.facts();
    let role = wanted.role.clone().unwrap_or_else(|| facts.user.clone());
    let catalogs = catalogs(session, schema.as_deref(), &role).await?;
    let (version, prefix) = settings(session, &catalogs).await?;
    let prefix = prefix.or_else(|| catalogs.prefix.clone()).unwrap_or_default();
    let groups = migrate::group_roles(&prefix).unwrap_or_default();
    let contents = match (&schema, version) {
        (Some(schema), Reading::Exact(Some(version))) => migrate::contents(schema, &prefix, version),
        (Some(schema), Reading::Denied | Reading::Unknown) => migrate::contents(schema, &prefix, i32::MAX),
        _ => Ok(Contents::default()),
    };
    Ok(Surroundings {
        schema,
        schema_named: wanted.schema.is_some(),
        schema_sql: catalogs.schema_sql,
        elsewhere: catalogs.elsewhere,
        version,
        newest: migrate::latest_version(),
        contents: contents.unwrap_or_default(),
        tables: catalogs.tables,
        notes: queue.map(|queue| queue.notes()).unwrap_or_default(),
        groups_sql: quoted(session, &groups).await?,
        groups,
        role,
        role_sql: catalogs.role_sql,
        superuser: catalogs.superuser,
        server: facts.version.clone(),
        server_num: facts.version_num,
        standby: session.is_standby(),
        poll_only: poll_only(connector, session).await,
    })
}

async fn catalogs(session: &Session, schema: Option<&str>, role: &str) -> Result<Catalogs, DbError> {
    let tables = migrate::contents("q", "", i32::MAX).unwrap_or_default().tables;
    let sql = format!("select row_to_json(known) from ({CATALOGS}) as known");
    let tables = tables.into_iter().chain([HISTORY_TABLE.to_owned()]).collect();
    let ask = Statement::new(sql).text(schema.map(str::to_owned)).text(role.to_owned()).texts(tables);
    let rows = session.read_one("look around", ask.text(HISTORY_TABLE.to_owned()), LIMITS).await?;
    let row = rows.first().ok_or_else(|| DbError::shape("the catalogs say nothing"))?;
    let json: Json = row.try_get(0).map_err(|error| DbError::of_driver(&error))?;
    serde_json::from_value(json.0).map_err(|error| DbError::shape(format!("the catalogs: {error}")))
}

/// The version and the prefix of the roles, each as far as it may be read.
async fn settings(session: &Session, known: &Catalogs) -> Result<(Reading<Option<i32>>, Option<String>), DbError> {
    if !known.tables.contains(HISTORY_TABLE) {
        return Ok((Reading::Exact(None), None));
    }
    let schema = &known.schema_sql;
    let asks = [
        Statement::new(format!("select max(version) from {schema}.{HISTORY_TABLE}")),
        Statement::new(format!("select value from {schema}.queue_settings where name = 'role_prefix'")),
    ];
    let answers = session.read_each("version", &asks, LIMITS).await?;
    let [version, prefix] = answers.as_slice() else {
        return Err(DbError::shape("an answer is missing"));
    };
    let version = match version {
        Ok(rows) => Reading::Exact(rows.first().and_then(|row| row.try_get::<_, Option<i32>>(0).ok().flatten())),
        Err(error) if error.is_denied() => Reading::Denied,
        Err(_) => Reading::Unknown,
    };
    let prefix = prefix.as_ref().ok().and_then(|rows| rows.first()?.try_get::<_, Text>(0).ok());
    Ok((version, prefix.map(String::from)))
}

/// The groups as SQL writes them.
async fn quoted(session: &Session, groups: &GroupRoles) -> Result<GroupRoles, DbError> {
    let names = vec![groups.viewer.clone(), groups.worker.clone(), groups.operator.clone()];
    let ask = Statement::new("select quote_ident(name) from unnest($1) with ordinality as n (name, at) order by at");
    let rows = session.read_one("look around", ask.texts(names), LIMITS).await?;
    let name = |at: usize, plain: &str| {
        let quoted = rows.get(at).and_then(|row| row.try_get::<_, Text>(0).ok());
        quoted.map_or_else(|| quote_ident(plain), String::from)
    };
    Ok(GroupRoles {
        viewer: name(0, &groups.viewer),
        worker: name(1, &groups.worker),
        operator: name(2, &groups.operator),
    })
}

/// Why notifications do not arrive; that it could not be tried is a reason, too.
async fn poll_only(connector: &Connector, session: &Session) -> Option<String> {
    let tried = match connector.connect(Purpose::Read).await {
        Ok(other) => listen(&other, session, &[]).await,
        Err(error) => Err(error),
    };
    match tried {
        Ok(Listening::Live(_)) => None,
        Ok(Listening::PollOnly(why)) => Some(why),
        Err(error) => Some(format!("it could not be tried: {}", error.message)),
    }
}
