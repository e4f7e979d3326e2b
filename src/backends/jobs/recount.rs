//! The counters against all rows, and mending them. Nobody is locked out: comparing reads one snapshot, and what
//! `recount_counters()` writes is a difference that holds whatever happens meanwhile; until it is done nobody sums up.

use std::time::Duration;

use super::facts::{Access, JOB_COLUMNS};
use super::row::{count, get, text};
use super::{Jobs, texts};
use crate::db::{Class, DbError, Limits, Session, Statement};

/// Each reads all rows once: seconds for a million.
const LIMITS: Limits = Limits {
    statement: Duration::from_mins(30),
    // Whoever sums up holds the lock for milliseconds; in a transaction of somebody's that goes on, until its end.
    lock: Duration::from_secs(10),
    deadline: Duration::from_mins(31),
};
/// Tries where the lock could not be had.
const TRIES: u32 = 3;

/// One figure of a queue that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The queue (foreign: show through `text::Safe`).
    pub queue: String,
    /// `ready`, `scheduled`, `running`, `expired`, `exhausted`, `dead`; or `attempts`, `times`: the sums are right, and not
    /// which attempt or second they stand at.
    pub figure: String,
    /// What the counters say.
    pub counted: i64,
    /// What the tables hold.
    pub truth: u64,
}

/// What the counters are wrong about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// By queue, then by figure.
    pub differences: Vec<Difference>,
    /// The counters themselves say that they may be off.
    pub suspect: bool,
}

impl Jobs {
    /// Compares all figures of all queues with all rows. Changes nothing and locks nothing.
    ///
    /// # Errors
    /// `Err(words)` inside: there are no counters, or they may not be read; else what the database says.
    pub async fn compare(&self, session: &Session) -> Result<Result<Comparison, String>, DbError> {
        if let Err(why) = self.may_compare() {
            return Ok(Err(why));
        }
        let sql = texts::fill(include_str!("sql/compare.sql"), &self.texts.schema, &[("{core}", &self.texts.core)]);
        let suspect = format!(
            "select f.suspect or exists (select from {schema}.counter_deltas d where d.event in ('suspect', 'emptied')) as suspect
             from {schema}.counter_fold f",
            schema = self.texts.schema
        );
        let asks = [Statement::new(sql), Statement::new(suspect)];
        let answers = session.read_many("counters against all rows", &asks, LIMITS).await?.rows;
        let [differences, suspect] = answers.as_slice() else {
            return Err(DbError::shape("an answer is missing"));
        };
        let difference = |row: &tokio_postgres::Row| {
            Ok::<_, DbError>(Difference {
                queue: text(row, "queue")?.unwrap_or_default(),
                figure: text(row, "figure")?.unwrap_or_default(),
                counted: get(row, "counted")?,
                truth: count(row, "truth")?,
            })
        };
        Ok(Ok(Comparison {
            differences: differences.iter().map(difference).collect::<Result<_, _>>()?,
            suspect: suspect.first().map_or(Ok(false), |row| get(row, "suspect"))?,
        }))
    }

    fn may_compare(&self) -> Result<(), String> {
        let (schema, user) = (&self.facts.schema, &self.facts.user);
        let dead = self.facts.access("dead_letter_jobs", &["queue"]);
        match (self.facts.counters(), self.facts.access("jobs", JOB_COLUMNS), dead) {
            (Access::Missing, ..) => Err(format!("no counters in schema {schema}; run: queuetop migrate")),
            (Access::Yes, Access::Yes, Access::Yes) => Ok(()),
            _ => {
                // The viewers' group bears the same prefix as that of the operators.
                let operator = self.facts.granted("recount_counters", "queue_operator");
                let role =
                    operator.strip_suffix("operator").map_or_else(|| operator.into(), |own| format!("{own}viewer"));
                Err(format!("role {user} may not read the counters and the tables; run: GRANT {role} TO {user}"))
            }
        }
    }

    /// Whether this role may mend the counters.
    ///
    /// # Errors
    /// Why not, with the missing GRANT.
    pub fn may_recount(&self) -> Result<(), String> {
        let (schema, user) = (&self.facts.schema, &self.facts.user);
        if self.facts.read_only {
            return Err("this server or session is read-only".into());
        }
        match self.facts.functions.get("recount_counters") {
            None => Err(format!("no recount_counters() in schema {schema}; run: queuetop migrate")),
            Some(function) if function.callable => Ok(()),
            Some(_) => {
                let role = self.facts.granted("recount_counters", "queue_operator");
                Err(format!("role {user} may not mend the counters; run: GRANT {role} TO {user}"))
            }
        }
    }

    /// Mends the counters, all or nothing. Workers go on meanwhile.
    ///
    /// # Errors
    /// What the database says; a lock that somebody keeps in an open transaction after three tries.
    pub async fn recount(&self, session: &Session) -> Result<(), DbError> {
        let sql = format!("select count(*) from {}.recount_counters()", self.texts.schema);
        let mut tries = 1;
        loop {
            match session.call("recount", &Statement::new(sql.clone()), LIMITS).await {
                // A TRUNCATE in the same moment, or a worker that folded within a longer transaction of its own.
                Err(error) if tries < TRIES && (error.class == Class::LockTimeout || is_deadlock(&error)) => tries += 1,
                result => return result.map(|_| ()),
            }
        }
    }
}

fn is_deadlock(error: &DbError) -> bool {
    error.sqlstate.as_deref() == Some("40P01")
}
