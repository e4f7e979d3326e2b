//! Bad input to every function: a clear error that names the argument, or an answer for each id; nothing by halves.

use serde_json::{Value, json};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{claim_one, count, enqueue, failure, one, operate, running, state};

const ID: &str = "'00000000-0000-4000-8000-000000000001'";

/// A call that must be refused, and the argument that the error must name.
const REFUSED: &[(&str, &str)] = &[
    ("enqueue_job(null, '{}')", "p_queue"),
    ("enqueue_job('', '{}')", "p_queue"),
    ("enqueue_job(repeat('q', 2001), '{}')", "p_queue"),
    ("enqueue_job(repeat('q', 1000000), '{}')", "p_queue"),
    ("enqueue_job('q', null)", "p_payload"),
    ("enqueue_job('q', '{}', p_priority => null)", "p_priority"),
    ("enqueue_job('q', '{}', p_run_at => null)", "p_run_at"),
    ("enqueue_job('q', '{}', p_max_attempts => null)", "p_max_attempts"),
    ("enqueue_job('q', '{}', p_max_attempts => 0)", "p_max_attempts"),
    ("enqueue_job('q', '{}', p_max_attempts => -1)", "p_max_attempts"),
    ("enqueue_job('q', '{}', p_max_attempts => 2147483647)", "p_max_attempts"),
    ("enqueue_job('q', '{}', p_idempotency_key => repeat('k', 1001))", "idempotency key"),
    ("enqueue_job(repeat('q', 2000), '{}', p_idempotency_key => repeat('k', 700))", "idempotency key"),
    ("enqueue_jobs(null)", "p_jobs"),
    ("enqueue_jobs('{}')", "p_jobs"),
    ("enqueue_jobs('[1]')", "p_jobs[0]"),
    ("enqueue_jobs('[{\"queue\": \"q\", \"payload\": 1}, {\"payload\": 1}]')", "p_jobs[1].queue"),
    ("enqueue_jobs('[{\"queue\": \"q\"}]')", "p_jobs[0].payload"),
    ("enqueue_jobs('[{\"queue\": \"q\", \"payload\": 1, \"nice\": 1}]')", "p_jobs[0] has an unknown key nice"),
    ("enqueue_jobs('[{\"queue\": \"q\", \"payload\": 1, \"priority\": \"high\"}]')", "p_jobs[0].priority"),
    ("enqueue_jobs('[{\"queue\": \"q\", \"payload\": 1, \"priority\": 99999999999}]')", "p_jobs[0].priority"),
    ("enqueue_jobs('[{\"queue\": \"q\", \"payload\": 1, \"run_at\": \"soon\"}]')", "p_jobs[0].run_at"),
    ("enqueue_jobs('[{\"queue\": \"q\", \"payload\": 1, \"run_at\": \"2026-02-31\"}]')", "p_jobs[0].run_at"),
    ("enqueue_jobs('[{\"queue\": \"q\", \"payload\": 1, \"max_attempts\": 0}]')", "p_jobs[0].max_attempts"),
    ("enqueue_jobs((select jsonb_agg(1) from generate_series(1, 10001)))", "p_jobs has 10001 jobs"),
    ("claim_jobs(null, $ID)", "p_queue"),
    ("claim_jobs('q', null)", "p_worker"),
    ("claim_jobs('q', $ID, null)", "p_batch"),
    ("claim_jobs('q', $ID, 0)", "p_batch"),
    ("claim_jobs('q', $ID, -5)", "p_batch"),
    ("claim_jobs('q', $ID, 1001)", "p_batch"),
    ("claim_jobs('q', $ID, 1, null)", "p_lease"),
    ("claim_jobs('q', $ID, 1, '0')", "p_lease"),
    ("claim_jobs('q', $ID, 1, '-1 s')", "p_lease"),
    ("claim_jobs('q', $ID, 1, '300000 years')", "p_lease"),
    ("heartbeat_jobs(null, $ID)", "p_ids"),
    ("heartbeat_jobs('{}', null)", "p_worker"),
    ("heartbeat_jobs('{}', $ID, null)", "p_lease"),
    ("heartbeat_jobs('{}', $ID, '-1 s')", "p_lease"),
    ("heartbeat_jobs(array[$ID::uuid], $ID, '1 s', '{1,2}')", "p_attempts"),
    ("complete_job(null, $ID)", "job_id"),
    ("complete_job($ID, null)", "worker_id"),
    ("retry_job(null, $ID, 'x', '1 s')", "job_id"),
    ("retry_job($ID, null, 'x', '1 s')", "worker_id"),
    ("retry_job($ID, $ID, 'x', null)", "backoff"),
    ("retry_job($ID, $ID, 'x', '-1 s')", "backoff"),
    ("retry_job($ID, $ID, 'x', '10 years')", "backoff"),
    ("move_to_dead_letter(null, $ID, 'x')", "job_id"),
    ("move_to_dead_letter($ID, null, 'x')", "worker_id"),
    ("worker_seen(null)", "p_worker"),
    ("reap_expired_jobs(null)", "p_batch"),
    ("reap_expired_jobs(0)", "p_batch"),
    ("reap_expired_jobs(-1)", "p_batch"),
    ("reap_expired_jobs(2147483647)", "p_batch"),
    ("operator_requeue(null)", "p_targets"),
    ("operator_requeue('{}')", "p_targets"),
    ("operator_requeue('[null]')", "p_targets[0]"),
    ("operator_requeue('[{}]')", "p_targets[0]"),
    ("operator_dead_letter('[{\"id\": null}]')", "p_targets[0]"),
    ("operator_reap('[{\"id\": \"x\"}]')", "p_targets[0].id"),
    ("operator_requeue('[{\"id\": $Q, \"attempt\": 1}]')", "p_targets[0] has an unknown key attempt"),
    ("operator_requeue('[{\"id\": $Q, \"attempts\": \"one\"}]')", "p_targets[0].attempts"),
    ("operator_requeue('[{\"id\": $Q, \"attempts\": 1e30}]')", "p_targets[0].attempts"),
    ("operator_requeue('[{\"id\": $Q, \"locked_by\": 7}]')", "p_targets[0].locked_by"),
    ("operator_requeue('[{\"id\": $Q, \"run_at\": \"then\"}]')", "p_targets[0].run_at"),
    ("operator_requeue('[{\"id\": $Q, \"status\": \"ready\"}]')", "p_targets[0].status"),
    ("operator_requeue('[{\"id\": $Q}, {\"id\": $Q}]')", "p_targets names a job twice"),
    ("operator_requeue((select jsonb_agg(1) from generate_series(1, 10001)))", "p_targets has 10001 targets"),
    ("operator_replay('[{\"id\": \"x\"}]')", "p_targets[0].id"),
    ("operator_reschedule('[]', null)", "p_run_at"),
    ("operator_set_priority('[]', null)", "p_priority"),
    ("operator_undo(null)", "p_action"),
    ("operator_undo(-1)", "p_action"),
    ("pause_queue(null)", "p_queue"),
    ("pause_queue('')", "p_queue"),
    ("resume_queue(null)", "p_queue"),
    ("prune_completed_jobs(null)", "p_older_than"),
    ("prune_completed_jobs('-1 day')", "p_older_than"),
    ("prune_completed_jobs('1 day', 0)", "p_batch"),
    ("prune_completed_jobs('1 day', null)", "p_batch"),
    ("prune_dead_letters('5000 years')", "p_older_than"),
    ("prune_dead_letters('1 day', -1)", "p_batch"),
    ("prune_history(null)", "p_older_than"),
    ("prune_history('1 day', 1000000000)", "p_batch"),
];

#[tokio::test]
async fn bad_arguments_are_refused_by_name_and_change_nothing() {
    let database = pg::database().await;
    let client = database.client().await;
    running(&client, "q").await;
    enqueue(&client, "q").await;
    let all = "select string_agg(t::text, '|') from (select jobs::text from jobs order by id) t";
    let before: String = one(&client, all, &[]).await;
    for (call, argument) in REFUSED {
        let call = call.replace("$ID", ID).replace("$Q", &ID.replace('\'', "\""));
        let (code, message) = failure(&client, &format!("select {call}")).await;
        assert!(["22023", "22004"].contains(&code.as_str()), "{call}: {code} {message}");
        assert!(message.contains(argument), "{call}: {message}");
        assert!(message.len() < 500, "{call}: {} bytes", message.len());
    }
    assert_eq!(one::<String>(&client, all, &[]).await, before);
    assert_eq!(count(&client, "select from operator_actions").await, 0);
}

/// jsonb takes neither; the message is the server's and names them, and nothing is enqueued.
#[tokio::test]
async fn nul_and_lone_surrogates_are_refused_and_what_only_looks_like_them_is_kept() {
    let database = pg::database().await;
    let client = database.client().await;
    for payload in [r#"{"a": "x\u0000y"}"#, r#"{"a": "\ud800"}"#, r#"{"a": "\udc00\ud800"}"#] {
        let (code, message) = failure(&client, &format!("select enqueue_job('q', '{payload}')")).await;
        assert!(["22P05", "22P02"].contains(&code.as_str()), "{code} {message}");
        let jobs = format!(r#"[{{"queue": "q", "payload": {payload}}}]"#);
        failure(&client, &format!("select enqueue_jobs('{jobs}')")).await;
    }
    let nul = client.query("select enqueue_job($1, '{}')", &[&"a\0b"]).await.expect_err("refused");
    assert_eq!(nul.as_db_error().expect("by the server").code().code(), "22021");
    assert_eq!(count(&client, "select from jobs").await, 0);
    let harmless = r#"{"a": "\\u0000"}"#;
    client.batch_execute(&format!("select enqueue_job('q', '{harmless}')")).await.expect("enqueued");
    assert_eq!(one::<String>(&client, "select payload->>'a' from jobs", &[]).await, "\\u0000");
}

/// Texts that have gone wrong elsewhere, and long ones.
fn nasty() -> Vec<String> {
    let listed: Value = serde_json::from_str(include_str!("data/hostile_strings.json")).expect("JSON");
    let mut texts =
        vec!["x".repeat(1 << 20), "\u{1F4A3}".repeat(2000), "'; drop table jobs; --".to_owned(), String::new()];
    let mut found = Vec::new();
    strings(&listed, &mut found);
    texts.extend(found.into_iter().map(|text| text.replace('\0', "")));
    texts.sort();
    texts.dedup();
    texts
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| strings(item, found)),
        _ => {}
    }
}

/// Frees a running job for the next claim and claims it.
async fn claim_again(client: &Client) -> (Uuid, Uuid) {
    client
        .batch_execute("update jobs set status = 'queued', run_at = now(), max_attempts = attempts + 2")
        .await
        .expect("queued");
    let job = claim_one(client, "q").await;
    (job.id, job.worker)
}

#[tokio::test]
async fn an_error_is_data_whatever_it_holds() {
    let database = pg::database().await;
    let client = database.client().await;
    enqueue(&client, "q").await;
    for error in nasty() {
        let (id, worker) = claim_again(&client).await;
        let answer: String = one(&client, "select retry_job($1, $2, $3, '1 s')", &[&id, &worker, &error]).await;
        assert_eq!(answer, "queued", "{error:.40}");
        let kept: String = one(&client, "select last_error from jobs", &[]).await;
        assert_eq!(kept, error.chars().take(8000).collect::<String>());
        let history: String = one(&client, "select error from job_failures order by id desc limit 1", &[]).await;
        assert_eq!(history, kept);
        let signature: String = one(&client, "select signature from job_failures order by id desc limit 1", &[]).await;
        assert!(signature.chars().count() <= 200 && !signature.contains('\n'));
    }
    let none: Option<String> = None;
    let (id, worker) = claim_again(&client).await;
    let answer: String = one(&client, "select retry_job($1, $2, $3, '1 s')", &[&id, &worker, &none]).await;
    assert_eq!(answer, "queued");
    assert_eq!(one::<String>(&client, "select last_error from jobs", &[]).await, "no error given");
    for error in nasty() {
        let job = running(&client, "other").await;
        let answer: String =
            one(&client, "select move_to_dead_letter($1, $2, $3)", &[&job.id, &job.worker, &error]).await;
        assert_eq!(answer, "dead");
        operate(&client, "operator_replay", &[job.id], &format!(", {}", literal(&error))).await;
        client.batch_execute("delete from jobs where queue = 'other'").await.expect("clean");
    }
}

fn literal(text: &str) -> String {
    queuetop::engine::migrate::quote_literal(text)
}

#[tokio::test]
async fn names_of_queues_and_keys_may_be_anything_that_fits() {
    let database = pg::database().await;
    let client = database.client().await;
    let emoji: String = (0..500).filter_map(|n| char::from_u32(0x1F300 + n)).collect();
    for queue in nasty().iter().filter(|text| !text.is_empty() && text.len() <= 2000).chain([&emoji]) {
        let key = queue.chars().take(150).collect::<String>();
        let sql = "select id from enqueue_job($1, '{}', p_idempotency_key => $2, p_max_attempts => 1)";
        let id: Uuid = one(&client, sql, &[queue, &key]).await;
        assert_eq!(one::<Uuid>(&client, sql, &[queue, &key]).await, id);
        let job = claim_one(&client, queue).await;
        let answer: String = one(&client, "select retry_job($1, $2, 'x', '1 s')", &[&job.id, &job.worker]).await;
        assert_eq!(answer, "dead");
        assert_eq!(operate(&client, "operator_replay", &[id], "").await[0].outcome, "done", "{queue:.40}");
        client.execute("select pause_queue($1)", &[queue]).await.expect("paused");
    }
}

#[tokio::test]
async fn a_hundred_thousand_ids_at_once() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = running(&client, "q").await;
    let mut ids: Vec<Uuid> = (0..99_999).map(|_| Uuid::new_v4()).collect();
    ids.push(job.id);
    let rows = client.query("select * from heartbeat_jobs($1, $2)", &[&ids, &job.worker]).await.expect("heartbeats");
    assert_eq!(rows.iter().map(|row| row.get::<_, Uuid>(0)).collect::<Vec<_>>(), [job.id]);
    let attempts = vec![1; ids.len()];
    let sql = "select * from heartbeat_jobs($1, $2, '1 minute', $3)";
    assert_eq!(client.query(sql, &[&ids, &job.worker, &attempts]).await.expect("heartbeats").len(), 1);
    let targets: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    let error =
        client.query("select operator_requeue($1)", &[&Value::from(targets.clone())]).await.expect_err("refused");
    assert!(error.as_db_error().expect("by the server").message().contains("at most 10000"));
    let answers = operate(&client, "operator_requeue", &ids[90_000..], ", 'many', true").await;
    assert_eq!(answers.len(), 10_000);
    assert_eq!(answers.iter().filter(|answer| answer.outcome == "gone").count(), 9_999);
    assert_eq!(state(&client, job.id).await, "ready");
}

#[tokio::test]
async fn ten_thousand_jobs_are_moved_in_one_call_and_come_back() {
    let database = pg::database().await;
    let client = database.client().await;
    let jobs: Vec<Value> = (0..10_000).map(|n| json!({"queue": "q", "payload": n})).collect();
    let rows = client.query("select id from enqueue_jobs($1)", &[&Value::from(jobs)]).await.expect("enqueued");
    let ids: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
    let done = |answers: Vec<crate::support::queue::Answer>| answers.iter().filter(|one| one.outcome == "done").count();
    assert_eq!(done(operate(&client, "operator_dead_letter", &ids, "").await), 10_000);
    assert_eq!(count(&client, "select from operator_undo(1) where outcome = 'done'").await, 10_000);
    assert_eq!(count(&client, "select from jobs").await, 10_000);
    assert_eq!(done(operate(&client, "operator_set_priority", &ids, ", p_priority => 3").await), 10_000);
}
