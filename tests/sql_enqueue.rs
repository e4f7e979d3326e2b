//! Enqueueing: keys, many at once, in the caller's transaction.

use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::count;

#[tokio::test]
async fn a_key_that_is_taken_answers_with_the_job_that_has_it() {
    let database = pg::database().await;
    let client = database.client().await;
    let sql = "select id, created from enqueue_job('mail', '{}', p_idempotency_key => 'order 7')";
    let first = client.query_one(sql, &[]).await.expect("enqueued");
    let second = client.query_one(sql, &[]).await.expect("enqueued");
    assert!(first.get::<_, bool>(1));
    assert!(!second.get::<_, bool>(1));
    assert_eq!(first.get::<_, Uuid>(0), second.get::<_, Uuid>(0));
    let many = r#"[{"queue": "mail", "payload": 1, "idempotency_key": "order 7"},
                   {"queue": "mail", "payload": 2, "idempotency_key": "order 8"},
                   {"queue": "mail", "payload": 3, "idempotency_key": "order 8"},
                   {"queue": "bill", "payload": 4, "idempotency_key": "order 7"},
                   {"queue": "mail", "payload": 5}]"#;
    let rows =
        client.query("select ordinal, id, created from enqueue_jobs($1)", &[&json(many)]).await.expect("enqueued");
    let created: Vec<(i32, bool)> = rows.iter().map(|row| (row.get(0), row.get(2))).collect();
    assert_eq!(created, [(1, false), (2, true), (3, false), (4, true), (5, true)]);
    assert_eq!(rows[0].get::<_, Uuid>(1), first.get::<_, Uuid>(0));
    assert_eq!(rows[1].get::<_, Uuid>(1), rows[2].get::<_, Uuid>(1));
    assert_eq!(count(&client, "select from jobs").await, 4);
}

#[tokio::test]
async fn the_same_keys_from_many_sessions_make_one_job_each() {
    let database = pg::database().await;
    let mut sessions = tokio::task::JoinSet::new();
    for session in 0..8 {
        let client = database.client().await;
        sessions.spawn(async move {
            for round in 0..10 {
                let mut keys: Vec<i32> = (0..20).map(|key| round * 20 + key).collect();
                if session % 2 == 0 {
                    keys.reverse();
                }
                let jobs: Vec<_> = keys
                    .iter()
                    .map(|key| serde_json::json!({"queue": "q", "payload": key, "idempotency_key": key.to_string()}))
                    .collect();
                let jobs = serde_json::Value::from(jobs);
                let rows = client.query("select id, created from enqueue_jobs($1)", &[&jobs]).await;
                assert_eq!(rows.expect("enqueued").len(), 20);
            }
        });
    }
    sessions.join_all().await;
    let client = database.client().await;
    assert_eq!(count(&client, "select from jobs").await, 200);
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}
