//! The migration files, and how they become SQL for one schema.
//!
//! It must not talk to a database: what it makes is text, the same each time, because refinery hashes it.

use refinery_core::Migration;

use super::MigrateError;

/// A migration: version, name, text.
type File = (i32, &'static str, &'static str);

/// Every migration in order.
const FILES: &[File] = &[
    (1, "jobs", include_str!("../../../migrations/V1__jobs.sql")),
    (2, "history", include_str!("../../../migrations/V2__history.sql")),
    (3, "counters", include_str!("../../../migrations/V3__counters.sql")),
    (4, "worker", include_str!("../../../migrations/V4__worker.sql")),
    (5, "operator", include_str!("../../../migrations/V5__operator.sql")),
    (6, "housekeeping", include_str!("../../../migrations/V6__housekeeping.sql")),
    (7, "notify", include_str!("../../../migrations/V7__notify.sql")),
    (8, "enqueue", include_str!("../../../migrations/V8__enqueue.sql")),
    (9, "folding", include_str!("../../../migrations/V9__folding.sql")),
    (10, "replay", include_str!("../../../migrations/V10__replay.sql")),
    (11, "rights", include_str!("../../../migrations/V11__rights.sql")),
    (12, "tokens", include_str!("../../../migrations/V12__tokens.sql")),
    (13, "signatures", include_str!("../../../migrations/V13__signatures.sql")),
    (14, "dead_letter_keys", include_str!("../../../migrations/V14__dead_letter_keys.sql")),
    (15, "lighter_complete", include_str!("../../../migrations/V15__lighter_complete.sql")),
    (16, "long_transactions", include_str!("../../../migrations/V16__long_transactions.sql")),
    (17, "lighter_writes", include_str!("../../../migrations/V17__lighter_writes.sql")),
    (18, "operator_locks", include_str!("../../../migrations/V18__operator_locks.sql")),
];

/// The files up to a version, in order.
pub(super) fn texts(version: i32) -> impl Iterator<Item = &'static str> {
    FILES.iter().filter(move |(file, ..)| *file <= version).map(|(.., text)| *text)
}

/// Table with refinery's history of what was applied.
pub const HISTORY_TABLE: &str = "queuetop_migrations";

/// The version that this program installs.
#[must_use]
pub fn latest_version() -> i32 {
    FILES.last().map_or(0, |(version, ..)| *version)
}

/// The names that the files use, quoted.
pub(super) struct Names {
    /// The schema as an identifier.
    pub(super) schema: String,
    /// The three roles, unquoted.
    pub(super) roles: [String; 3],
    tokens: Vec<(String, String)>,
}

impl Names {
    /// # Errors
    /// When a name cannot be one: empty, longer than PostgreSQL keeps, reserved, or one that would end a function's body.
    pub(super) fn new(schema: &str, role_prefix: &str) -> Result<Self, MigrateError> {
        check_name("schema", schema)?;
        let mut tokens = vec![
            ("{schema}".to_owned(), quote_ident(schema)),
            ("{schema_literal}".to_owned(), quote_literal(schema)),
            // The identifier inside a string, for a constant that is resolved when a statement is planned, not each time.
            ("{schema_in_string}".to_owned(), quote_ident(schema).replace('\'', "''")),
            ("{role_prefix_literal}".to_owned(), quote_literal(role_prefix)),
        ];
        let roles = ["viewer", "worker", "operator"].map(|role| format!("{role_prefix}queue_{role}"));
        for (role, name) in ["viewer", "worker", "operator"].iter().zip(&roles) {
            check_name("role", name)?;
            tokens.push((format!("{{{role}}}"), quote_ident(name)));
            tokens.push((format!("{{{role}_literal}}"), quote_literal(name)));
        }
        Ok(Self { schema: quote_ident(schema), roles, tokens })
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
            if let Some((token, name)) = self.tokens.iter().find(|(token, _)| from.starts_with(token.as_str())) {
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
    let file = |(version, name, text): &File| Migration::unapplied(&format!("V{version}__{name}"), &names.fill(text));
    FILES.iter().map(|one| file(one).map_err(MigrateError::from)).collect()
}

/// Names of the objects of a kind (`function`, `table`) that the migrations above `version` create.
pub(super) fn created(kind: &str, version: i32) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (_, _, text) in FILES.iter().filter(|(file, ..)| *file > version) {
        for line in text.lines() {
            let line = line.strip_prefix("create ").and_then(|rest| rest.strip_prefix(kind)).unwrap_or_default();
            let line = line.strip_prefix(" if not exists").unwrap_or(line);
            if let Some(name) = line.strip_prefix(" {schema}.") {
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
                found.push(&name[..end]);
            }
        }
    }
    found
}

/// Names of the objects of a kind that the migrations leave behind.
#[cfg(test)]
pub(super) fn kept(kind: &str) -> Vec<&'static str> {
    let dropped = |name: &str| {
        let drop = format!("drop {kind} {{schema}}.{name}");
        FILES
            .iter()
            .flat_map(|(_, _, text)| text.lines())
            .any(|line| line.strip_prefix(&drop).is_some_and(|rest| rest.starts_with(['(', ';'])))
    };
    created(kind, 0).into_iter().filter(|name| !dropped(name)).collect()
}

/// The first migration: it alone runs on tables that exist already, and changes nothing when run twice.
pub(super) fn first(names: &Names) -> String {
    FILES.first().map(|(_, _, text)| names.fill(text)).unwrap_or_default()
}

/// The statements of the first migration that build indexes.
pub(super) fn index_statements(names: &Names) -> Vec<String> {
    let begins = |part: &str| part.find("create unique index ").or_else(|| part.find("create index "));
    first(names).split(';').filter_map(|part| Some(part[begins(part)?..].to_owned())).collect()
}

/// Table and name of each of those indexes.
pub(super) fn index_names(names: &Names) -> Vec<(String, String)> {
    let both = |statement: &String| {
        let (head, tail) = statement.split_once(" on ")?;
        let table = tail.strip_prefix(&names.schema)?.strip_prefix('.')?;
        let table = table.split_whitespace().next()?;
        Some((table.to_owned(), head.split_whitespace().last()?.to_owned()))
    };
    index_statements(names).iter().filter_map(both).collect()
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
        Names::new(schema, "").expect("good names")
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
            let error = Names::new(name, "").err().expect("refused").to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn versions_grow_and_the_last_one_is_ours() {
        let all = migrations(&names("public")).expect("well named files");
        let versions: Vec<i32> = all.iter().map(Migration::version).collect();
        assert!(versions.is_sorted_by(|a, b| a < b));
        assert_eq!(versions.last(), Some(&latest_version()));
    }

    #[test]
    fn no_token_is_left() {
        for migration in migrations(&names("public")).expect("well named files") {
            let sql = migration.sql().unwrap_or_default();
            for token in ["{schema", "{viewer", "{worker", "{operator", "{role"] {
                assert!(!sql.contains(token), "{token} in {migration}");
            }
        }
    }

    /// A function or table that the lists of rights leave out would keep what PUBLIC gets by default.
    #[test]
    fn the_lists_of_rights_are_complete() {
        // The last migration that says what is ours.
        let lists = |kind: &str| {
            let wanted = format!("function {{schema}}.queuetop_{kind}s()");
            FILES.iter().rev().find(|(_, _, sql)| sql.contains(&wanted)).expect("a list").2
        };
        for kind in ["function", "table"] {
            let rights = lists(kind);
            for name in kept(kind) {
                assert!(rights.contains(&format!("'{name}'")), "{kind} {name} is not in the lists of rights");
            }
        }
    }

    #[test]
    fn indexes_are_found_with_their_tables() {
        let names = names("a on b");
        let found = index_names(&names);
        assert_eq!(found.len(), index_statements(&names).len());
        assert!(found.contains(&("jobs".to_owned(), "jobs_queue_idempotency_key_uq".to_owned())));
        assert!(found.contains(&("dead_letter_jobs".to_owned(), "dead_letter_jobs_failed_at_idx".to_owned())));
    }

    #[test]
    fn what_is_created_is_found_in_the_files() {
        assert!(created("function", 0).contains(&"claim_jobs"));
        assert!(created("table", 0).contains(&"jobs"));
        assert!(!created("table", 1).contains(&"jobs"));
        assert!(created("function", 0).contains(&"note_claim"));
        assert!(!kept("function").contains(&"note_claim"));
    }
}
