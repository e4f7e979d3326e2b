//! What a migration would do, decided before anything is changed; what cannot be done is refused here.
//!
//! It must not change anything.

use std::fmt;

use tokio_postgres::Client;

use super::files::{Names, created, index_names, latest_version, migrations};
use super::inspect::{self, Found};
use super::{MigrateError, Options};

/// The tables that a database may have before us, with the columns that we rely on.
const PLAIN_TABLES: &[(&str, &[(&str, &str)])] = &[
    (
        "jobs",
        &[
            ("id", "uuid"),
            ("queue", "text"),
            ("payload", "jsonb"),
            ("status", "text"),
            ("priority", "integer"),
            ("run_at", "timestamp with time zone"),
            ("attempts", "integer"),
            ("max_attempts", "integer"),
            ("locked_by", "uuid"),
            ("lease_until", "timestamp with time zone"),
            ("last_error", "text"),
            ("idempotency_key", "text"),
            ("created_at", "timestamp with time zone"),
            ("updated_at", "timestamp with time zone"),
            ("completed_at", "timestamp with time zone"),
        ],
    ),
    (
        "dead_letter_jobs",
        &[
            ("id", "uuid"),
            ("queue", "text"),
            ("payload", "jsonb"),
            ("attempts", "integer"),
            ("max_attempts", "integer"),
            ("last_error", "text"),
            ("failed_at", "timestamp with time zone"),
            ("original_created_at", "timestamp with time zone"),
        ],
    ),
    // Left by an adoption that was interrupted after its first step.
    ("queue_settings", &[("name", "text"), ("value", "text"), ("changed_at", "timestamp with time zone")]),
];

/// An existing table that is taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// Its name.
    pub table: String,
    /// Its rows by the statistics; none when it was never analysed.
    pub rows: Option<i64>,
}

/// What a migration would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The schema.
    pub schema: String,
    /// It does not exist yet.
    pub create_schema: bool,
    /// The version installed, if any.
    pub installed: Option<i32>,
    /// Names of the migrations to apply, in order.
    pub pending: Vec<String>,
    /// Existing tables that are taken over.
    pub adopts: Vec<Adopted>,
    /// Indexes that those lack, built concurrently.
    pub indexes: Vec<String>,
    /// Roles to create.
    pub new_roles: Vec<String>,
    /// Functions of somebody else's under names of ours: replaced only when asked to.
    pub foreign_functions: Vec<String>,
    /// What whoever runs the database should know.
    pub warnings: Vec<String>,
}

pub(super) async fn make(client: &Client, options: &Options, names: &Names) -> Result<Plan, MigrateError> {
    inspect::check_server(client).await?;
    let schema = &options.schema;
    let installed = inspect::installed_version(client, schema).await?;
    let from = installed.unwrap_or(0);
    if from > latest_version() {
        return Err(MigrateError::Newer { schema: schema.clone(), version: from, ours: latest_version() });
    }
    let pending: Vec<String> =
        migrations(names)?.iter().filter(|one| one.version() > from).map(ToString::to_string).collect();
    let mut plan = Plan {
        schema: schema.clone(),
        create_schema: false,
        installed,
        adopts: Vec::new(),
        indexes: Vec::new(),
        new_roles: Vec::new(),
        foreign_functions: Vec::new(),
        warnings: Vec::new(),
        pending,
    };
    if plan.pending.is_empty() {
        return Ok(plan);
    }
    plan.create_schema = !inspect::may_create_in(client, schema).await?;
    plan.new_roles = inspect::missing_roles(client, &names.roles).await?;
    plan.foreign_functions = inspect::functions(client, schema, from).await?;
    if installed.is_none() {
        adopt(client, names, &mut plan).await?;
    }
    Ok(plan)
}

/// What of ours is there although we are not installed: tables to take over, or a reason to stop.
async fn adopt(client: &Client, names: &Names, plan: &mut Plan) -> Result<(), MigrateError> {
    let found = inspect::relations(client, &plan.schema).await?;
    let foreign: Vec<String> = found
        .iter()
        .filter(|one| !PLAIN_TABLES.iter().any(|(table, _)| *table == one.name))
        .map(|one| one.name.clone())
        .collect();
    if !foreign.is_empty() {
        return Err(MigrateError::ForeignTables { schema: plan.schema.clone(), tables: foreign });
    }
    for one in &found {
        check_table(client, one, plan).await?;
        plan.adopts.push(Adopted { table: one.name.clone(), rows: one.rows });
    }
    if !plan.adopts.is_empty() {
        let there = inspect::indexes(client, &plan.schema).await?;
        plan.indexes = index_names(names)
            .into_iter()
            .filter(|(table, _)| plan.adopts.iter().any(|adopted| adopted.table == *table))
            .filter(|(_, index)| !there.iter().any(|(name, whole)| name == index && *whole))
            .map(|(_, index)| index)
            .collect();
    }
    Ok(())
}

async fn check_table(client: &Client, found: &Found, plan: &mut Plan) -> Result<(), MigrateError> {
    let refuse = |why: String| MigrateError::Table { schema: plan.schema.clone(), table: found.name.clone(), why };
    match found.kind.as_str() {
        "r" => {}
        "p" => return Err(refuse("it is partitioned".to_owned())),
        _ => return Err(refuse("it is not a table".to_owned())),
    }
    if found.inherits {
        return Err(refuse("it inherits or is inherited from".to_owned()));
    }
    if !found.owned {
        return Err(refuse(format!("it belongs to {}: migrate as that role", found.owner)));
    }
    let columns = inspect::columns(client, &plan.schema, &found.name).await?;
    let wanted = PLAIN_TABLES.iter().find(|(table, _)| *table == found.name).map_or(&[][..], |(_, wanted)| *wanted);
    let mut wrong = Vec::new();
    for (name, kind) in wanted {
        match columns.iter().find(|column| column.name == *name) {
            None => wrong.push(format!("column {name} is missing")),
            Some(column) if column.kind != *kind => wrong.push(format!("column {name} is {}, not {kind}", column.kind)),
            Some(_) => {}
        }
    }
    if !wrong.is_empty() {
        return Err(refuse(wrong.join(", ")));
    }
    for column in columns.iter().filter(|column| column.required) {
        if !wanted.iter().any(|(name, _)| *name == column.name) {
            plan.warnings.push(format!(
                "{}.{} must be given a value and has no default: our functions cannot insert there",
                found.name, column.name
            ));
        }
    }
    if !found.row_security {
        for role in inspect::readers_to_lose(client, &plan.schema, &found.name).await? {
            plan.warnings.push(format!(
                "{role} has rights on {}; row level security will be switched on, and it will see no rows \
                 unless it has BYPASSRLS, a policy, or one of the queue's roles",
                found.name
            ));
        }
    }
    Ok(())
}

impl fmt::Display for Plan {
    /// One line for each thing, in the order in which it would be done.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.installed {
            None => writeln!(f, "schema {:?}: not installed", self.schema)?,
            Some(version) => writeln!(f, "schema {:?}: version {version}", self.schema)?,
        }
        if self.pending.is_empty() {
            return writeln!(f, "nothing to do");
        }
        for function in &self.foreign_functions {
            writeln!(f, "in the way: function {function}, not ours; --replace-functions replaces it")?;
        }
        for Adopted { table, rows } in &self.adopts {
            match rows {
                Some(rows) => writeln!(f, "take over table {table} with its rows, about {rows}")?,
                None => writeln!(f, "take over table {table} with its rows")?,
            }
        }
        for index in &self.indexes {
            writeln!(f, "build index {index} concurrently")?;
        }
        if self.create_schema {
            writeln!(f, "create the schema")?;
        }
        for role in &self.new_roles {
            writeln!(f, "create role {role}")?;
        }
        for migration in &self.pending {
            writeln!(f, "apply {migration}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "note: {warning}")?;
        }
        Ok(())
    }
}

/// Tables that a database may have before us.
pub(super) fn adoptable() -> impl Iterator<Item = &'static str> {
    PLAIN_TABLES.iter().map(|(table, _)| *table)
}

/// Tables of ours that nobody else may have made before us.
pub(super) fn exclusive() -> Vec<&'static str> {
    created("table", 0).into_iter().filter(|table| !adoptable().any(|adoptable| adoptable == *table)).collect()
}
