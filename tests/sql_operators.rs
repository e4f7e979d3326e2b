//! Several operators on the same jobs in the same moment: one effect, everybody is told the truth, and the audit says what happened.

use std::collections::BTreeMap;

use tokio_postgres::Client;
use uuid::Uuid;

use crate::support::{pg, wait_until_async};

const ACT: [&str; 2] = [
    "select outcome, coalesce(state_now, '') from operator_requeue($1::text::jsonb)",
    "select outcome, coalesce(state_now, '') from operator_dead_letter($1::text::jsonb)",
];

/// Outcome and present state of one target.
async fn ask(client: &Client, sql: &str, targets: &str) -> (String, String) {
    let row = client.query_one(sql, &[&targets]).await.expect("an answer");
    (row.get(0), row.get(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_yeses_in_the_same_millisecond_have_one_effect_and_the_other_is_told() {
    let database = pg::database().await;
    let (one, other) = (database.client().await, database.client().await);
    let mut told: BTreeMap<(String, String), u32> = BTreeMap::new();
    for round in 0..200 {
        let expired = "insert into jobs (queue, payload, status, attempts, lease_until, locked_by)
            values ('q', '{}', 'running', 1, now() - interval '1 s', gen_random_uuid()) returning id::text, locked_by::text";
        let row = one.query_one(expired, &[]).await.expect("a job");
        let (id, worker): (String, String) = (row.get(0), row.get(1));
        let seen = format!(r#"[{{"id": "{id}", "status": "running", "attempts": 1, "locked_by": "{worker}"}}]"#);
        // Half of the rounds they want the same, half of them different things.
        let (a, b) = tokio::join!(ask(&one, ACT[0], &seen), ask(&other, ACT[round % 2], &seen));
        let done = [&a, &b].iter().filter(|answer| answer.0 == "done").count();
        assert_eq!(done, 1, "round {round}: {a:?} {b:?}");
        let loser = if a.0 == "done" { b } else { a };
        *told.entry(loser).or_default() += 1;
        let effects = "select count(*) from operator_actions a, jsonb_array_elements(a.rows) r
                       where r ->> 'id' = $1 and r ->> 'outcome' = 'done'";
        let effects: i64 = one.query_one(effects, &[&id]).await.expect("a number").get(0);
        assert_eq!(effects, 1, "round {round}");
    }
    // Whoever came second is never told that nothing is there to say.
    assert!(told.keys().all(|(outcome, _)| ["changed", "gone", "locked"].contains(&outcome.as_str())), "{told:?}");
    let left: i64 =
        one.query_one("select count(*) from jobs where status = 'running'", &[]).await.expect("a number").get(0);
    assert_eq!(left, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_being_moved_is_held_where_it_arrives() {
    let database = pg::database().await;
    let (client, mover, locker) = (database.client().await, database.client().await, database.client().await);
    let fill = "insert into jobs (queue, payload) values ('q', '{}') returning id";
    let id: Uuid = client.query_one(fill, &[]).await.expect("a job").get(0);
    let target = format!(r#"[{{"id": "{id}"}}]"#);
    mover.batch_execute("begin").await.expect("a transaction");
    assert_eq!(ask(&mover, ACT[1], &target).await.0, "done");
    locker.batch_execute("begin").await.expect("a transaction");
    let lock = async { locker.query_one("select operator_lock(array[$1::uuid])", &[&id]).await };
    let release = async {
        let waits =
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
        wait_until_async("it waits for the mover", async || {
            client.query_one(waits, &[]).await.expect("a number").get::<_, i64>(0) == 1
        })
        .await;
        mover.batch_execute("commit").await.expect("the move");
    };
    let (answer, ()) = tokio::join!(lock, release);
    assert_eq!(
        answer.expect("an answer").get::<_, Vec<Uuid>>(0),
        Vec::<Uuid>::new(),
        "nothing is left to somebody else"
    );
    let free = "select count(*) from (select from dead_letter_jobs where id = $1 for update skip locked) as free";
    assert_eq!(client.query_one(free, &[&id]).await.expect("a number").get::<_, i64>(0), 0, "it is held");
}

/// What an operator was told of one job.
type Told = (Uuid, String);

/// So many random actions on random jobs; what the answers said, in order.
async fn operate(client: Client, ids: Vec<Uuid>, actions: usize, seed: u64) -> Vec<(String, Vec<Told>)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut said = Vec::new();
    for _ in 0..actions {
        let some: Vec<String> = (0..random.usize(1..4)).map(|_| ids[random.usize(..ids.len())].to_string()).collect();
        let mut some: Vec<String> = some.iter().map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
        some.sort();
        some.dedup();
        let targets = format!("[{}]", some.join(","));
        let (name, sql) = [
            ("requeue", "select id, outcome from operator_requeue($1::text::jsonb, null, true)"),
            ("dead_letter", "select id, outcome from operator_dead_letter($1::text::jsonb, null, true)"),
            ("replay", "select id, outcome from operator_replay($1::text::jsonb)"),
            ("reschedule", "select id, outcome from operator_reschedule($1::text::jsonb, now() + interval '1 h')"),
            ("set_priority", "select id, outcome from operator_set_priority($1::text::jsonb, 5)"),
        ][random.usize(..5)];
        let rows = client.query(sql, &[&targets]).await.expect("answers");
        said.push((name.to_owned(), rows.iter().map(|row| (row.get(0), row.get(1))).collect()));
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_says_what_happened_for_a_thousand_random_actions_of_four_operators() {
    let database = pg::database().await;
    let client = database.client().await;
    let fill = "insert into jobs (queue, payload) select 'q', '{}' from generate_series(1, 60) returning id";
    let ids: Vec<Uuid> = client.query(fill, &[]).await.expect("jobs").iter().map(|row| row.get(0)).collect();
    let mut operators = tokio::task::JoinSet::new();
    for number in 0..4 {
        let session = database.client().await;
        session.batch_execute(&format!("set application_name = 'operator {number}'")).await.expect("a name");
        operators.spawn(operate(session, ids.clone(), 250, number));
    }
    let mut said: Vec<(String, Vec<Told>)> = operators.join_all().await.into_iter().flatten().collect();
    let audit = "select a.action, r ->> 'id', r ->> 'outcome', a.id, a.application_name
                 from operator_actions a, jsonb_array_elements(a.rows) with ordinality as t (r, place) order by a.id, place";
    let mut written: BTreeMap<i64, (String, Vec<Told>)> = BTreeMap::new();
    for row in client.query(audit, &[]).await.expect("the audit") {
        let entry = written.entry(row.get(3)).or_insert_with(|| (row.get(0), Vec::new()));
        entry.1.push((row.get::<_, String>(1).parse().expect("an id"), row.get(2)));
        assert!(row.get::<_, String>(4).starts_with("operator "));
    }
    let mut written: Vec<(String, Vec<Told>)> = written.into_values().collect();
    assert_eq!(said.len(), 1000);
    said.sort();
    written.sort();
    let first_difference = said.iter().zip(&written).find(|(said, written)| said != written);
    assert_eq!(first_difference, None);
    assert_eq!(said.len(), written.len());
    // And what was told to be done is what is there: each dead letter was dead-lettered, each replay made a job.
    let done = |action: &str| {
        let targets = said.iter().filter(|(name, _)| name == action).flat_map(|(_, told)| told);
        i64::try_from(targets.filter(|(_, outcome)| outcome == "done").count()).expect("a number")
    };
    let number = async |sql: &str| -> i64 { client.query_one(sql, &[]).await.expect("a number").get(0) };
    assert_eq!(number("select count(*) from dead_letter_jobs").await, done("dead_letter"));
    assert_eq!(number("select count(*) from jobs where replay_of is not null").await, done("replay"));
    assert_eq!(number("select count(*) from jobs where replay_of is null").await, 60 - done("dead_letter"));
}
