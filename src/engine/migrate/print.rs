//! The migrations as plain SQL, for people who keep their own.
//!
//! What it writes must do by itself what `migrate` does around the files: refuse where they would do harm, and leave the
//! history that a later `migrate` reads.

use std::fmt::Write as _;

use refinery_core::traits::r#async::AsyncMigrate;
use tokio_postgres::Client;

use super::files::{Names, created, latest_version, migrations, quote_literal};
use super::plan::{adoptable, exclusive};
use super::transaction::InTransaction;
use super::{MigrateError, Options, inspect};

/// Goes before everything else; its tokens are in curly brackets.
const GUARD: &str = include_str!("guard.sql");
/// The present moment as refinery writes it: RFC 3339.
const NOW: &str = "to_char(now() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";

/// The SQL that brings a database from where it is to this program's version.
///
/// # Errors
/// When a name cannot be used, the database cannot be asked, or it is newer than this program.
pub async fn print_for(client: &Client, options: &Options) -> Result<String, MigrateError> {
    let role_prefix = Some(inspect::role_prefix(client, options).await?);
    let installed = inspect::installed_version(client, &options.schema).await?;
    if let Some(version) = installed.filter(|version| *version > latest_version()) {
        return Err(MigrateError::Newer { schema: options.schema.clone(), version, ours: latest_version() });
    }
    print(&Options { role_prefix, ..options.clone() }, installed)
}

/// SQL that brings a schema from a version (none: not installed) to this program's, in one transaction.
///
/// # Errors
/// When a name cannot be used.
pub fn print(options: &Options, installed: Option<i32>) -> Result<String, MigrateError> {
    let names = Names::new(&options.schema, options.role_prefix.as_deref().unwrap_or_default())?;
    let from = installed.unwrap_or(0);
    let mut sql = format!(
        "-- queuetop's SQL for schema {}, version {}. Made by `queuetop migrate --print`.\n\
         -- One transaction: leave the first and the last statement out where your tool makes its own.\n\
         begin;\n\nset local search_path = pg_catalog, pg_temp;\n\n",
        names.schema.replace('\n', " "),
        latest_version()
    );
    sql.push_str(&guard(options, &names, installed));
    if installed.is_none() {
        let _ = writeln!(sql, "\ncreate schema if not exists {};", names.schema);
        sql.push_str(&InTransaction::assert_migrations_table_query(&names.history_table()));
        sql.push('\n');
    }
    for migration in migrations(&names)?.iter().filter(|one| one.version() > from) {
        let _ = writeln!(sql, "\n-- {migration}\n\n{}", migration.sql().unwrap_or_default().trim_end());
        let _ = writeln!(
            sql,
            "\ninsert into {} (version, name, applied_on, checksum)\nvalues ({}, {}, {NOW}, '{}');",
            names.history_table(),
            migration.version(),
            quote_literal(migration.name()),
            migration.checksum()
        );
    }
    sql.push_str("\ncommit;\n");
    for recount in created("function", from).iter().filter(|name| name.starts_with("recount_")) {
        let _ = writeln!(
            sql,
            "\n-- Counts the rows that were there before, without blocking anybody.\nselect * from {}.{recount}();",
            names.schema
        );
    }
    Ok(sql)
}

fn guard(options: &Options, names: &Names, installed: Option<i32>) -> String {
    let list = |names: &[&str]| names.iter().map(|name| quote_literal(name)).collect::<Vec<_>>().join(", ");
    let ours = exclusive();
    GUARD
        .replace("{from}", &installed.map_or("null".to_owned(), |version| version.to_string()))
        .replace("{ours}", &list(&ours))
        .replace("{adoptable}", &list(&adoptable().collect::<Vec<_>>()))
        .replace("{functions}", &list(&created("function", installed.unwrap_or(0))))
        .replace("{replace}", if options.replace_functions { "true" } else { "false" })
        .replace("{history}", &quote_literal(&names.history_table()))
        .replace("{schema}", &quote_literal(&options.schema))
}
