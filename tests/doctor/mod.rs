//! `queuetop doctor` on real servers: for each check a scene in which it speaks, and one nearby in which it is silent. Where
//! the next step is SQL it is run, and then the check is silent again.
//!
//! Nothing waits for minutes to pass: an answer is read, and judged as if it had been so for some time.

mod command;
mod installation;
mod numbers;
mod recount;
mod roles;
mod sessions;

use std::collections::BTreeMap;

use queuetop::db::{ConnInfo, Connector, Env, Purpose, SqlLog};
use queuetop::diagnose::checks::{self, Checked, Status};
use queuetop::engine::doctor::{Look, ask_all, look};
use queuetop::model::checkup::{Answer, Surroundings, Unanswered};
use tokio_postgres::Client;

/// What was read, to be judged now or as of later.
pub(crate) struct Patient {
    around: Surroundings,
    answers: Vec<Option<Result<Answer, Unanswered>>>,
}

impl Patient {
    /// Asks everything.
    async fn read(dsn: &str, wanted: &Look) -> Self {
        let nothing = Env { vars: BTreeMap::new(), home: None, ..Env::of_process() };
        let info = ConnInfo::resolve(Some(dsn), &nothing).expect("a good DSN");
        let connector = Connector::new(info, SqlLog::default());
        let session = connector.connect(Purpose::Read).await.expect("a session");
        let around = look(&connector, &session, wanted).await.expect("surroundings");
        let answers = ask_all(&connector, session, &checks::questions(&around)).await;
        Self { around, answers }
    }

    /// What a check says.
    fn say(&self, id: &str) -> Checked {
        let all = checks::judge(&self.around, &self.answers);
        all.into_iter().find(|checked| checked.id == id).unwrap_or_else(|| panic!("no check {id}"))
    }

    /// The same as if these ages, in seconds, were so much higher by now.
    fn later(mut self, fields: &[&str], seconds: f64) -> Self {
        let answers = self.answers.iter_mut().flatten().flatten();
        for row in answers.flat_map(|answer| &mut answer.rows) {
            for field in fields {
                if let Some(age) = row.get(*field).and_then(serde_json::Value::as_f64) {
                    row[*field] = (age + seconds).into();
                }
            }
        }
        self
    }
}

/// What a check says of a database.
pub(crate) async fn say(dsn: &str, id: &str) -> Checked {
    Patient::read(dsn, &Look::default()).await.say(id)
}

/// Runs the statements among the next steps, each by itself.
async fn follow(client: &Client, checked: &Checked) {
    for step in checked.findings.iter().flat_map(|finding| finding.next_step.lines()) {
        if !step.starts_with("--") && !step.starts_with("queuetop ") {
            client.batch_execute(step).await.unwrap_or_else(|error| panic!("{step}: {error:?}"));
        }
    }
}

/// Fails unless the check found this, first of all.
fn assert_found(checked: &Checked, status: Status, says: &str) {
    let sentence = checked.findings.first().map_or("", |finding| finding.sentence.as_str());
    assert!(checked.status == status && sentence.contains(says), "not {status:?} with {says:?}: {checked:#?}");
    assert!(checked.findings.iter().all(|finding| !finding.next_step.is_empty()), "no next step: {checked:#?}");
}

/// Fails unless the check ran in full and found nothing.
fn assert_fine(checked: &Checked) {
    assert!(checked.status == Status::Ok && !checked.fine.is_empty(), "{checked:#?}");
}
