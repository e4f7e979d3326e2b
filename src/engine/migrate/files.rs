//! The migration files, and how they become SQL for one schema.
//!
//! It must not talk to a database: what it makes is text, the same each time, because refinery hashes it.

use refinery::Migration;

use super::{MigrateError, Options};

/// Every migration in order: refinery's name for it and the file's text.
const FILES: &[(&str, &str)] = &[
    ("V1__jobs", include_str!("../../../migrations/V1__jobs.sql")),
    ("V2__history", include_str!("../../../migrations/V2__history.sql")),
    ("V3__counters", include_str!("../../../migrations/V3__counters.sql")),
    ("V4__worker", include_str!("../../../migrations/V4__worker.sql")),
    ("V5__operator", include_str!("../../../migrations/V5__operator.sql")),
    ("V6__housekeeping", include_str!("../../../migrations/V6__housekeeping.sql")),
];

/// Table with refinery's history of what was applied.
pub const HISTORY_TABLE: &str = "queuetop_migrations";

/// The version that this program installs.
#[must_use]
pub fn latest_version() -> i32 {
    i32::try_from(FILES.len()).unwrap_or(i32::MAX)
}

/// The names that the files use, quoted.
pub(super) struct Names {
    /// The schema as an identifier.
    pub(super) schema: String,
    tokens: [(&'static str, String); 5],
}

impl Names {
    /// # Errors
    /// When a name cannot be one: empty, longer than PostgreSQL keeps, reserved, or one that would end a function's body.
    pub(super) fn new(options: &Options) -> Result<Self, MigrateError> {
        check_name("schema", &options.schema)?;
        let role = |name: &str| -> Result<String, MigrateError> {
            let name = format!("{}{name}", options.role_prefix);
            check_name("role", &name)?;
            Ok(quote_ident(&name))
        };
        let schema = quote_ident(&options.schema);
        Ok(Self {
            tokens: [
                ("{schema}", schema.clone()),
                ("{schema_literal}", quote_literal(&options.schema)),
                ("{viewer}", role("queue_viewer")?),
                ("{worker}", role("queue_worker")?),
                ("{operator}", role("queue_operator")?),
            ],
            schema,
        })
    }

    /// The history table, qualified.
    pub(super) fn history_table(&self) -> String {
        format!("{}.{HISTORY_TABLE}", self.schema)
    }

    /// Replaces every token in one pass, so that a name that looks like a token is not replaced again.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut sql = String::with_capacity(template.len() + template.len() / 8);
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            sql.push_str(before);
            if let Some((token, name)) = self.tokens.iter().find(|(token, _)| from.starts_with(token)) {
                sql.push_str(name);
                rest = &from[token.len()..];
            } else {
                sql.push('{');
                rest = &from[1..];
            }
        }
        sql.push_str(rest);
        sql
    }
}

/// The migrations with names filled in: what refinery hashes, applies and compares.
pub(super) fn migrations(names: &Names) -> Result<Vec<Migration>, MigrateError> {
    FILES.iter().map(|(name, text)| Migration::unapplied(name, &names.fill(text)).map_err(MigrateError::from)).collect()
}

/// `name` as an SQL identifier.
#[must_use]
pub fn quote_ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `text` as an SQL string, whatever `standard_conforming_strings` says.
#[must_use]
pub fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') { format!(" E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

fn check_name(what: &'static str, name: &str) -> Result<(), MigrateError> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > 63 {
        "it has more than 63 bytes"
    } else if name.chars().any(char::is_control) {
        "it holds a control character"
    } else if name.contains("$queuetop$") {
        "it holds $queuetop$"
    } else if name.starts_with("pg_") {
        "names that begin with pg_ belong to PostgreSQL"
    } else {
        return Ok(());
    };
    Err(MigrateError::Name { what, name: name.to_owned(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(schema: &str) -> Names {
        Names::new(&Options { schema: schema.to_owned(), ..Options::default() }).expect("good names")
    }

    #[test]
    fn tokens_are_replaced_once() {
        let names = names("{viewer} \"x\"");
        assert_eq!(
            names.fill("a {schema}.b {viewer} {other} [0-9]{8} {"),
            "a \"{viewer} \"\"x\"\"\".b \"queue_viewer\" {other} [0-9]{8} {"
        );
    }

    #[test]
    fn literals_survive_quotes_and_backslashes() {
        assert_eq!(quote_literal("it's"), "'it''s'");
        assert_eq!(quote_literal("a\\'b"), " E'a\\\\''b'");
    }

    #[test]
    fn impossible_names_are_refused_with_the_reason() {
        for (name, why) in [
            ("", "empty"),
            ("pg_queue", "belong to PostgreSQL"),
            ("a\nb", "control"),
            ("x$queuetop$", "$queuetop$"),
            (&"é".repeat(32), "63 bytes"),
        ] {
            let options = Options { schema: name.to_owned(), ..Options::default() };
            let error = Names::new(&options).err().expect("refused").to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn versions_are_consecutive() {
        let all = migrations(&names("public")).expect("well named files");
        let versions: Vec<i32> = all.iter().map(Migration::version).collect();
        assert_eq!(versions, (1..=latest_version()).collect::<Vec<_>>());
    }

    #[test]
    fn no_token_is_left() {
        for migration in migrations(&names("public")).expect("well named files") {
            let sql = migration.sql().unwrap_or_default();
            for token in ["{schema", "{viewer", "{worker", "{operator"] {
                assert!(!sql.contains(token), "{token} in {migration}");
            }
        }
    }
}
