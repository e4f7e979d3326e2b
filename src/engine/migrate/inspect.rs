//! Questions about a server and a schema before anything is changed.
//!
//! It must not change anything, and must not decide what an answer means for a migration: `plan` does.

use std::time::Duration;

use tokio_postgres::{Client, SimpleQueryMessage};

use super::files::{HISTORY_TABLE, created, quote_ident};
use super::{MigrateError, Options};

/// The oldest server that has everything the files use.
const OLDEST_SERVER: i32 = 13_00_00;

/// How long a session that is not pooled may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The version installed in a schema; none where we are not installed.
///
/// # Errors
/// When the question cannot be asked, for instance because the history may not be read.
pub async fn installed_version(client: &Client, schema: &str) -> Result<Option<i32>, tokio_postgres::Error> {
    let table = format!("{}.{HISTORY_TABLE}", quote_ident(schema));
    let found = client.query_one("select pg_catalog.to_regclass($1) is not null", &[&table]).await?;
    if !found.get::<_, bool>(0) {
        return Ok(None);
    }
    Ok(client.query_one(&format!("select pg_catalog.max(version) from {table}"), &[]).await?.get(0))
}

/// The schemas that we are installed in, in this database.
///
/// # Errors
/// When the question cannot be asked.
pub async fn installed_schemas(client: &Client) -> Result<Vec<String>, tokio_postgres::Error> {
    let question =
        "select n.nspname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where c.relname = $1 and c.relkind = 'r' order by 1";
    Ok(client.query(question, &[&HISTORY_TABLE]).await?.iter().map(|row| row.get(0)).collect())
}

/// Whether two sessions share a server process between their statements: a pooler in transaction mode. It keeps no
/// advisory lock, so two migrations at once would not be safe through it. `second` is to be opened as `first` was.
///
/// # Errors
/// When a session ends meanwhile.
pub async fn is_pooled(first: &Client, second: &Client) -> Result<bool, tokio_postgres::Error> {
    let before = process(first).await?;
    second.batch_execute("begin").await?;
    let held = process(second).await?;
    // While the second one holds a server process, the first one cannot get the same; if there is none left for it, it waits.
    let moved = held == before
        || match tokio::time::timeout(PATIENCE, process(first)).await {
            Ok(after) => after? != before,
            Err(_) => true,
        };
    second.batch_execute("rollback").await?;
    Ok(moved)
}

/// The server process that answers. Asked without a prepared statement, which a pooler could mix up.
async fn process(client: &Client) -> Result<Option<String>, tokio_postgres::Error> {
    let answer = client.simple_query("select pg_catalog.pg_backend_pid()").await?;
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

pub(super) async fn check_server(client: &Client) -> Result<(), MigrateError> {
    let question = "select pg_catalog.current_setting('server_version_num')::pg_catalog.int4,
        pg_catalog.current_setting('server_version'), pg_catalog.pg_is_in_recovery()";
    let row = client.query_one(question, &[]).await?;
    if row.get::<_, i32>(0) < OLDEST_SERVER {
        return Err(MigrateError::OldServer(row.get(1)));
    }
    if row.get(2) { Err(MigrateError::Standby) } else { Ok(()) }
}

/// The prefix asked for; else the one that the schema was installed with; else none.
pub(super) async fn role_prefix(client: &Client, options: &Options) -> Result<String, MigrateError> {
    let installed = if installed_version(client, &options.schema).await?.is_some() {
        let schema = quote_ident(&options.schema);
        let question = format!("select value from {schema}.queue_settings where name = 'role_prefix'");
        client.query_opt(&question, &[]).await?.map(|row| row.get::<_, String>(0))
    } else {
        None
    };
    match (&options.role_prefix, installed) {
        (Some(asked), Some(installed)) if *asked != installed => {
            Err(MigrateError::RolePrefix { asked: asked.clone(), installed })
        }
        (Some(asked), _) => Ok(asked.clone()),
        (None, installed) => Ok(installed.unwrap_or_default()),
    }
}

/// A table (or something else) under one of our names.
pub(super) struct Found {
    pub(super) name: String,
    /// `pg_class.relkind`: r is a plain table.
    pub(super) kind: String,
    /// Part of an inheritance tree, on either side.
    pub(super) inherits: bool,
    pub(super) owner: String,
    /// The session may do what an owner may.
    pub(super) owned: bool,
    /// As the statistics say; none when never analysed.
    pub(super) rows: Option<i64>,
    /// Row level security is on.
    pub(super) row_security: bool,
}

pub(super) async fn relations(client: &Client, schema: &str) -> Result<Vec<Found>, MigrateError> {
    let question = "select c.relname::pg_catalog.text, c.relkind::pg_catalog.text,
            exists (select from pg_catalog.pg_inherits i where c.oid in (i.inhrelid, i.inhparent)),
            pg_catalog.pg_get_userbyid(c.relowner)::pg_catalog.text,
            pg_catalog.pg_has_role(c.relowner, 'usage'),
            case when c.reltuples >= 0 then c.reltuples::pg_catalog.int8 end, c.relrowsecurity
        from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relname::pg_catalog.text = any($2) order by c.relname";
    let rows = client.query(question, &[&schema, &created("table", 0)]).await?;
    let found = |row: &tokio_postgres::Row| Found {
        name: row.get(0),
        kind: row.get(1),
        inherits: row.get(2),
        owner: row.get(3),
        owned: row.get(4),
        rows: row.get(5),
        row_security: row.get(6),
    };
    Ok(rows.iter().map(found).collect())
}

/// Functions in the schema that bear a name of ours which is not installed yet, ready for `drop function`.
pub(super) async fn functions(client: &Client, schema: &str, version: i32) -> Result<Vec<String>, MigrateError> {
    let question = "select pg_catalog.format('%I.%I(%s)', n.nspname, p.proname,
            pg_catalog.pg_get_function_identity_arguments(p.oid))
        from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
        where n.nspname = $1 and p.proname::pg_catalog.text = any($2) order by 1";
    let rows = client.query(question, &[&schema, &created("function", version)]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// A column of a table.
pub(super) struct Column {
    pub(super) name: String,
    /// The type in words.
    pub(super) kind: String,
    /// Whoever inserts must give it a value.
    pub(super) required: bool,
}

pub(super) async fn columns(client: &Client, schema: &str, table: &str) -> Result<Vec<Column>, MigrateError> {
    let question = "select a.attname::pg_catalog.text, pg_catalog.format_type(a.atttypid, a.atttypmod),
            a.attnotnull and not a.atthasdef and a.attidentity = '' and a.attgenerated = ''
        from pg_catalog.pg_attribute a
        join pg_catalog.pg_class c on c.oid = a.attrelid
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped order by a.attnum";
    let rows = client.query(question, &[&schema, &table]).await?;
    let column = |row: &tokio_postgres::Row| Column { name: row.get(0), kind: row.get(1), required: row.get(2) };
    Ok(rows.iter().map(column).collect())
}

/// Roles that were granted a table and that row level security will shut out: neither its owner, nor exempt.
pub(super) async fn readers_to_lose(client: &Client, schema: &str, table: &str) -> Result<Vec<String>, MigrateError> {
    let question = "select distinct coalesce(r.rolname::pg_catalog.text, 'PUBLIC')
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        cross join lateral pg_catalog.aclexplode(c.relacl) a
        left join pg_catalog.pg_roles r on r.oid = a.grantee
        where n.nspname = $1 and c.relname = $2 and a.grantee <> c.relowner
            and not coalesce(r.rolbypassrls or r.rolsuper, false)
        order by 1";
    Ok(client.query(question, &[&schema, &table]).await?.iter().map(|row| row.get(0)).collect())
}

/// Whether the schema exists. When it, or what is needed to make it, is not to be had, the error names the grant.
pub(super) async fn may_create_in(client: &Client, schema: &str) -> Result<bool, MigrateError> {
    let question = "select pg_catalog.has_schema_privilege(n.oid, 'create'), current_user::pg_catalog.text
        from pg_catalog.pg_namespace n where n.nspname = $1";
    let denied = |user: &str, what: String| MigrateError::NoCreate { user: user.to_owned(), what };
    if let Some(row) = client.query_opt(question, &[&schema]).await? {
        if row.get(0) {
            return Ok(true);
        }
        return Err(denied(row.get(1), format!("schema {}", quote_ident(schema))));
    }
    let question = "select pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create'),
        current_user::pg_catalog.text, pg_catalog.current_database()::pg_catalog.text";
    let row = client.query_one(question, &[]).await?;
    if row.get(0) { Ok(false) } else { Err(denied(row.get(1), format!("database {}", quote_ident(row.get(2))))) }
}

/// Which of the roles do not exist. When some do not and the session may not create roles, the error says what to run.
pub(super) async fn missing_roles(client: &Client, roles: &[String; 3]) -> Result<Vec<String>, MigrateError> {
    let question = "select w.name from pg_catalog.unnest($1::pg_catalog.text[]) w (name)
        where not exists (select from pg_catalog.pg_roles r where r.rolname = w.name)";
    let missing: Vec<String> = client.query(question, &[&&roles[..]]).await?.iter().map(|row| row.get(0)).collect();
    let question = "select r.rolsuper or r.rolcreaterole, r.rolname::pg_catalog.text
        from pg_catalog.pg_roles r where r.rolname = current_user";
    let me = client.query_one(question, &[]).await?;
    if missing.is_empty() || me.get(0) {
        return Ok(missing);
    }
    let statements: Vec<String> =
        missing.iter().map(|role| format!("create role {} nologin;", quote_ident(role))).collect();
    Err(MigrateError::Roles { user: me.get(1), statements: statements.join(" ") })
}

/// Indexes of a schema by name, and whether each is whole (an interrupted concurrent build leaves one that is not).
pub(super) async fn indexes(client: &Client, schema: &str) -> Result<Vec<(String, bool)>, MigrateError> {
    let question = "select c.relname::pg_catalog.text, i.indisvalid
        from pg_catalog.pg_index i
        join pg_catalog.pg_class c on c.oid = i.indexrelid
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1";
    Ok(client.query(question, &[&schema]).await?.iter().map(|row| (row.get(0), row.get(1))).collect())
}
