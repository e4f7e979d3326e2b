//! What is typed is literal, and each field finds what it says; by every letter that means something elsewhere.

use queuetop::model::filter::{StateWord, TextField};
use queuetop::model::{Filter, Sort};
use tokio_postgres::Client;
use uuid::Uuid;

use super::{Lists, request, rows, run};
use crate::support::pg::database;

/// Texts that mean something to LIKE, to SQL, to the shell or to the filter itself.
const LITERAL: [&str; 16] = [
    "100%",
    "a_b",
    "it's",
    "say \"no\"",
    r"C:\temp\",
    r"\",
    "%",
    "_",
    "'; drop table jobs; --",
    "$1",
    "{schema}",
    "-minus",
    "a:b",
    "x,y",
    "1..2",
    "Straße 漢字 🦀",
];

async fn put(client: &Client, queue: &str, error: &str, key: &str, payload: serde_json::Value) -> String {
    let sql = "insert into jobs (queue, payload, last_error, idempotency_key) values ($1, $2, $3, $4) returning id";
    client.query_one(sql, &[&queue, &payload, &error, &key]).await.expect("a job").get::<_, Uuid>(0).to_string()
}

/// What a filter finds through its own text, as if it was typed.
async fn found(lists: &Lists, filter: &Filter) -> Vec<String> {
    lists.ids(&filter.to_string()).await
}

#[tokio::test]
async fn every_letter_stands_for_itself() {
    let database = database().await;
    let client = database.client().await;
    let lists = Lists::new(&database.dsn()).await;
    put(&client, "other", "nothing of that kind: 100, ab, acb, its", "none", serde_json::json!({ "to": "other" }))
        .await;
    let mut ids = Vec::new();
    for (at, text) in LITERAL.iter().enumerate() {
        let error = format!("before {text} behind");
        ids.push(
            put(&client, text, &error, &format!("key {at} {text}"), serde_json::json!({ "to": text, (*text): 1 }))
                .await,
        );
    }
    for (text, id) in LITERAL.iter().zip(&ids) {
        let holds = |at: usize| LITERAL[at].contains(text);
        let mut parts: Vec<String> = (0..LITERAL.len()).filter(|at| holds(*at)).map(|at| ids[at].clone()).collect();
        parts.sort_unstable();
        let quoted = format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""));
        let all = Filter::default();
        let whole = std::slice::from_ref(id);
        assert_eq!(found(&lists, &all.clone().and(TextField::Queue, text)).await, whole, "queue {text}");
        assert_eq!(found(&lists, &all.clone().and(TextField::Error, text)).await, parts, "error {text}");
        assert_eq!(found(&lists, &all.with_text(text)).await, parts, "text {text}");
        assert_eq!(lists.ids(&format!("queue~{quoted}")).await, parts, "a part of the queue {text}");
        assert_eq!(lists.ids(&format!("key~{quoted}")).await, parts, "a part of the key {text}");
        assert_eq!(lists.ids(&format!("payload.to:{quoted}")).await, whole, "payload {text}");
        assert_eq!(lists.ids(&format!("payload.to~{quoted}")).await, parts, "a part of the payload {text}");
        assert_eq!(lists.ids(&format!("has:payload.{quoted}")).await, whole, "a key of the payload {text}");
        assert_eq!(lists.ids(&format!("-payload.to:{quoted}")).await.len(), LITERAL.len(), "without {text}");
    }
    assert_eq!(lists.ids("key:none").await.len(), 1);
    assert_eq!(lists.ids("STRASSE").await.len(), 0, "a letter is no other letter");
    assert_eq!(lists.ids("BEFORE").await.len(), LITERAL.len(), "in any case");
}

#[tokio::test]
async fn values_of_payloads() {
    let database = database().await;
    run(
        &database,
        r#"insert into jobs (queue, payload) values
           ('n', '{"user": {"id": 42, "tags": ["a", "b"]}, "n": 1.5}'), ('n', '{"user": {"id": "42"}, "n": -3}'),
           ('n', '{"user": {"id": 420}, "n": "9"}'), ('n', '{"user": null, "n": null}'), ('n', '[1, {"user": 1}]'),
           ('n', '"text"'), ('n', 'null'), ('n', '{"n": 1e3}')"#,
    )
    .await;
    let lists = Lists::new(&database.dsn()).await;
    for (text, expected) in [
        ("payload.user.id:42", 2),
        ("payload.user.id~42", 3),
        ("payload.user.id:42,420", 3),
        ("payload.user.tags.1:b", 1),
        ("payload.1.user:1", 1),
        ("payload.n>1", 2),
        ("payload.n>=-3 payload.n<1.6", 2),
        ("payload.n:-5..2", 2),
        ("has:payload.user", 3),
        ("has:payload.n", 4),
        ("-has:payload.n", 4),
        ("payload:tags", 1),
        ("payload:TEXT", 1),
        ("payload.user:\"{\\\"id\\\": 420}\"", 1),
    ] {
        assert_eq!(lists.ids(text).await.len(), expected, "{text}");
    }
}

#[tokio::test]
async fn ids_and_keys_are_found_in_any_state() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (id, queue, payload, status, attempts, idempotency_key) values
           ('8c1fd0a4-1111-4222-8333-4444444444e2', 'a', '{}', 'completed', 1, 'k1'),
           ('8c1fd0a4-1111-4222-8333-4444444444ff', 'b', '{}', 'queued', 0, 'k1'),
           ('8c20d0a4-1111-4222-8333-4444444444e2', 'b', '{}', 'running', 1, 'k2');
         insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, original_created_at, idempotency_key, reason)
         values ('8c1fd0a4-9999-4222-8333-4444444444e2', 'c', '{}', 8, 8, now(), 'k1', 'operator: gone')",
    )
    .await;
    let lists = Lists::new(&database.dsn()).await;
    for (text, expected) in [
        ("8c1fd0a4-1111-4222-8333-4444444444e2", 1),
        ("id=8C1FD0A4-9999-4222-8333-4444444444E2", 1),
        ("id:8c1fd0a4-9999-4222-8333-4444444444e2 state:live", 0),
        ("id:8c1f", 1),
        ("id:8c1f state:any", 3),
        ("id:8c1f…e2 state:any", 2),
        ("id:8c1f,8c20,8 state:any", 4),
        ("id:8c1fd0a4-1 -queue:a state:any", 1),
        ("id:xyz", 0),
        ("id~d0a4-1111", 2),
        ("key:k1", 3),
        ("key:k1 queue:b", 1),
        ("key:k1,k2 queue:b,c", 3),
        ("key:k1 state:dead", 1),
        ("key~K", 2),
        ("reason:OPERATOR", 1),
        ("has:key", 2),
    ] {
        assert_eq!(lists.ids(text).await.len(), expected, "{text}");
        // Page by page as well.
        assert_eq!(lists.all(text, Sort::Natural, 1).await.len(), expected, "{text}");
    }
}

#[tokio::test]
async fn signatures_of_live_and_dead_jobs() {
    let database = database().await;
    run(
        &database,
        "insert into jobs (queue, payload, last_error) values ('a', '{}', E'no host 10.0.0.7\\nat x'), ('a', '{}', 'other');
         insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
         values (gen_random_uuid(), 'a', '{}', 8, 8, 'no host 10.0.0.9', now())",
    )
    .await;
    let lists = Lists::new(&database.dsn()).await;
    let client = database.client().await;
    let row = client.query_one("select error_signature('no host 10.0.0.7')", &[]).await.expect("a signature");
    let alike = Filter::default().and(TextField::Signature, row.get(0)).with_states(vec![StateWord::Any]);
    assert_eq!(found(&lists, &alike).await.len(), 2, "{alike}");
    assert_eq!(lists.ids("signature~HOST").await.len(), 1);
    let page = lists.page(&request("error=other", Sort::Natural, 5)).await;
    assert_eq!(rows(&page).len(), 1);
}
