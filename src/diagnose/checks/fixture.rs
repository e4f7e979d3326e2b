//! An installation where nothing is wrong, for the tests of the checks; each test changes one thing. Not part of the program.

use std::time::Duration;

use serde_json::Value;

use super::{CHECKS, Check, Checked, How, one};
use crate::model::checkup::{Answer, Contents, GroupRoles, Surroundings};
use crate::model::{Reading, Time};

pub(super) const NOW: Time = Time::At(1_800_000_000_000_000);

fn groups() -> GroupRoles {
    let [viewer, worker, operator] = ["viewer", "worker", "operator"].map(|group| format!("queue_{group}"));
    GroupRoles { viewer, worker, operator }
}

fn needs(check: &Check) -> &'static [&'static str] {
    match check.how {
        How::Known(_) => &[],
        How::Asked { needs, .. } => needs,
    }
}

/// A primary with the newest version, and all tables that any check reads.
pub(super) fn surroundings() -> Surroundings {
    Surroundings {
        schema: Some("public".into()),
        schema_named: false,
        schema_sql: "public".into(),
        elsewhere: Vec::new(),
        version: Reading::Exact(Some(12)),
        newest: 12,
        contents: Contents::default(),
        tables: CHECKS.iter().flat_map(needs).map(|table| (*table).to_owned()).collect(),
        notes: Vec::new(),
        groups: groups(),
        groups_sql: groups(),
        role: "alice".into(),
        role_sql: "alice".into(),
        superuser: false,
        server: "16.4".into(),
        server_num: 16_00_04,
        standby: false,
        poll_only: None,
    }
}

/// What a check says about an answer of these rows.
pub(super) fn judged(id: &str, around: &Surroundings, rows: &[Value]) -> Checked {
    let answer = Answer { rows: rows.to_vec(), server_time: NOW, client_time: NOW, took: Duration::from_millis(1) };
    judged_answer(id, around, answer)
}

/// What a check says about an answer.
pub(super) fn judged_answer(id: &str, around: &Surroundings, answer: Answer) -> Checked {
    let check = CHECKS.iter().find(|check| check.id == id).unwrap();
    one(check, around, Some(&Ok(answer)))
}
