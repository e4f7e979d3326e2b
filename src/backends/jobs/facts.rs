//! What was found in the database and what this role may do with it: plain data, and what follows from it.

use std::collections::BTreeMap;

/// A table that exists.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    /// Its columns.
    pub(super) columns: Vec<String>,
    /// Those that this role may read.
    pub(super) readable: Vec<String>,
    /// Row level security leaves rows out for this role.
    pub(super) hidden: bool,
    /// Definitions of its valid indexes.
    pub(super) indexes: Vec<String>,
}

/// A function that exists.
#[derive(Debug, Clone, Default)]
pub(super) struct Function {
    /// This role may call it.
    pub(super) callable: bool,
    /// A group role that may.
    pub(super) granted_to: Option<String>,
}

/// Whether something may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Yes.
    Yes,
    /// It is there and may not be read, or not in full.
    Denied,
    /// It is not there.
    Missing,
}

/// Everything that detection finds out.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// The schema's name.
    pub(super) schema: String,
    /// The role.
    pub(super) user: String,
    /// The session cannot write.
    pub(super) read_only: bool,
    /// The tables of our names that exist.
    pub(super) relations: BTreeMap<String, Relation>,
    /// The functions of our names that exist.
    pub(super) functions: BTreeMap<String, Function>,
}

/// Tables that are looked for.
pub(super) const RELATIONS: &[&str] = &[
    "jobs",
    "dead_letter_jobs",
    "job_failures",
    "queues",
    "maintenance_runs",
    "workers",
    "operator_actions",
    "counter_deltas",
    "counter_fold",
    "job_counts",
    "job_slots",
    "queue_counters",
    "queue_history",
    "history_minutes",
    "signature_counts",
    "signature_deltas",
    "signature_fold",
];
/// Functions that are looked for.
pub(super) const FUNCTIONS: &[&str] = &[
    "operator_requeue",
    "operator_dead_letter",
    "operator_reap",
    "operator_replay",
    "operator_reschedule",
    "operator_set_priority",
    "operator_undo",
    "pause_queue",
    "resume_queue",
    "time_slot",
    "counter_floor",
    "counter_drift",
    "error_signature",
    "recount_counters",
    "notify_changed",
];
/// What the list of jobs shows, and what the numbers of a bare table need.
pub(super) const JOB_COLUMNS: &[&str] = &[
    "id",
    "queue",
    "status",
    "priority",
    "attempts",
    "max_attempts",
    "run_at",
    "created_at",
    "locked_by",
    "lease_until",
    "updated_at",
    "last_error",
];
/// What the list of dead letters shows.
pub(super) const DEAD_COLUMNS: &[&str] =
    &["id", "queue", "attempts", "max_attempts", "last_error", "failed_at", "original_created_at"];
const COUNTERS: &[&str] = &["counter_deltas", "counter_fold", "job_counts", "job_slots", "queue_counters"];

impl Facts {
    /// Whether these columns of a table may be read, with all rows.
    pub(super) fn access(&self, table: &str, columns: &[&str]) -> Access {
        let Some(relation) = self.relations.get(table) else {
            return Access::Missing;
        };
        let has = |list: &[String], name: &str| list.iter().any(|column| column == name);
        if columns.iter().any(|name| !has(&relation.columns, name)) {
            Access::Missing
        } else if relation.hidden || columns.iter().any(|name| !has(&relation.readable, name)) {
            Access::Denied
        } else {
            Access::Yes
        }
    }

    /// Whether the whole table may be read.
    fn whole(&self, table: &str) -> Access {
        match self.relations.get(table) {
            None => Access::Missing,
            Some(relation) if relation.hidden || relation.readable.len() < relation.columns.len() => Access::Denied,
            Some(_) => Access::Yes,
        }
    }

    /// Whether our counters may be read.
    pub(super) fn counters(&self) -> Access {
        let callable = |name: &&str| self.functions.get(*name).is_some_and(|function| function.callable);
        let tables: Vec<Access> = COUNTERS.iter().map(|table| self.whole(table)).collect();
        if tables.contains(&Access::Missing) {
            Access::Missing
        } else if tables.contains(&Access::Denied) || !["time_slot", "counter_floor"].iter().all(callable) {
            Access::Denied
        } else {
            Access::Yes
        }
    }

    /// Whether the minutes kept by our counters may be read.
    pub(super) fn history(&self) -> Access {
        match (self.counters(), self.whole("queue_history"), self.whole("history_minutes")) {
            (Access::Yes, Access::Yes, Access::Yes) => Access::Yes,
            (Access::Missing, ..) => Access::Missing,
            _ => Access::Denied,
        }
    }

    /// A column is there and may be read.
    pub(super) fn can_read(&self, table: &str, column: &str) -> bool {
        self.access(table, &[column]) == Access::Yes
    }

    /// Changes are told on a channel.
    pub(super) fn notifies(&self) -> bool {
        self.functions.contains_key("notify_changed")
    }

    /// A valid index on `table` whose definition holds all these parts.
    pub(super) fn has_index(&self, table: &str, parts: &[&str]) -> bool {
        let indexes = self.relations.get(table).map(|relation| relation.indexes.as_slice()).unwrap_or_default();
        indexes.iter().any(|definition| parts.iter().all(|part| definition.contains(part)))
    }

    /// The index that claims walk.
    pub(super) fn has_claim_index(&self) -> bool {
        self.has_index("jobs", &["(queue, priority DESC, run_at", "'queued'"])
    }

    /// The index of leases.
    pub(super) fn has_lease_index(&self) -> bool {
        self.has_index("jobs", &["(lease_until)", "'running'"])
    }

    /// A group that was granted this function, else what it is usually called.
    pub(super) fn granted<'a>(&'a self, function: &str, usual: &'a str) -> &'a str {
        self.functions.get(function).and_then(|function| function.granted_to.as_deref()).unwrap_or(usual)
    }

    /// `Ok(())` when this role may act, else why not.
    pub(super) fn may_act(&self) -> Result<(), String> {
        if self.read_only {
            return Err("this server or session is read-only".into());
        }
        let names = ["operator_requeue", "operator_dead_letter", "operator_reap"];
        let found: Vec<&Function> = names.iter().filter_map(|name| self.functions.get(*name)).collect();
        if found.len() < names.len() {
            return Err(format!("schema {} has no operator functions; run: queuetop migrate", self.schema));
        }
        match found.iter().find(|function| !function.callable) {
            None => Ok(()),
            Some(function) => {
                let role = function.granted_to.as_deref().unwrap_or("queue_operator");
                Err(format!("role {user} may not act; run: GRANT {role} TO {user}", user = self.user))
            }
        }
    }

    /// What is missing or limited, with the next step.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let grant = format!("GRANT queue_viewer TO {}", self.user);
        match self.counters() {
            Access::Yes => {}
            Access::Denied => {
                notes.push(format!("the counters in schema {} may not be read; run: {grant}", self.schema));
            }
            Access::Missing => notes.push(format!(
                "no counters in schema {}: numbers stop at a limit, no rates; run: queuetop migrate",
                self.schema
            )),
        }
        if self.relations.get("jobs").is_some_and(|jobs| jobs.hidden) {
            notes.push(format!("row level security hides rows of jobs from {}; run: {grant}", self.user));
        } else if self.access("jobs", JOB_COLUMNS) == Access::Denied {
            notes.push(format!("table jobs in schema {} may not be read; run: {grant}", self.schema));
        }
        if self.access("dead_letter_jobs", DEAD_COLUMNS) == Access::Denied {
            notes.push(format!("table dead_letter_jobs in schema {} may not be read; run: {grant}", self.schema));
        }
        if !self.has_claim_index() {
            notes.push(
                "no index on jobs (queue, priority desc, run_at) for queued ones: claims and lists are slow".into(),
            );
        }
        if !self.has_lease_index() {
            notes.push("no index on jobs (lease_until) for running ones: leases cannot be listed".into());
        }
        notes
    }
}
