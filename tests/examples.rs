//! The examples do what they say. They are the very files of `examples/`.

#[path = "../examples/effect_once.rs"]
mod effect_once;
#[path = "../examples/enqueue.rs"]
mod enqueue;
#[path = "../examples/webhook.rs"]
mod webhook;
#[path = "../examples/worker.rs"]
mod worker;

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::webhook::{Received, receive};
use crate::support::LIMIT;
use crate::support::pg;
use crate::support::queue::{claim_one, count, expire, one, state};

#[tokio::test]
async fn a_worker_sends_what_can_be_sent() {
    let database = pg::database().await;
    let client = database.client().await;
    let sent: Uuid = one(&client, r#"select id from enqueue_job('emails', '{"to": "ada@example.com"}')"#, &[]).await;
    let bad: Uuid = one(&client, r#"select id from enqueue_job('emails', '{"to": "nobody"}')"#, &[]).await;
    let stop = CancellationToken::new();
    let dsn = database.dsn();
    let asked = stop.clone();
    let work = tokio::spawn(async move { worker::work(&dsn, asked).await });
    let done = async {
        while (state(&client, sent).await, state(&client, bad).await) != ("completed".into(), "dead".into()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, done).await.expect("both have ended");
    let error: String = one(&client, "select last_error from dead_letter_jobs", &[]).await;
    assert_eq!(error, "`nobody` is no address");
    stop.cancel();
    work.await.expect("no panic").expect("a clean end");
}

#[tokio::test]
async fn a_job_is_rolled_back_with_its_order() {
    let database = pg::database().await;
    let mut client = database.client().await;
    enqueue::prepare(&client).await.expect("a table");
    let job = enqueue::place_order(&mut client, 1, 100).await.expect("placed");
    assert_eq!(state(&client, job).await, "ready");
    enqueue::place_order(&mut client, 2, -1).await.expect_err("refused by the table's check");
    assert_eq!(count(&client, "select from jobs").await, 1);
    assert_eq!(count(&client, "select from orders").await, 1);
}

#[tokio::test]
async fn a_second_attempt_books_nothing() {
    let database = pg::database().await;
    let mut client = database.client().await;
    effect_once::prepare(&client).await.expect("tables");
    let sql = "select id from enqueue_job('bookings', '{}')";
    let job: Uuid = one(&client, sql, &[]).await;
    claim_one(&client, "bookings").await;
    assert!(effect_once::book(&mut client, job, "ada", 500).await.expect("booked"));
    // Its worker dies before it says so; the job is given to another one.
    expire(&client, job).await;
    one::<i64>(&client, "select requeued from reap_expired_jobs()", &[]).await;
    let again = claim_one(&client, "bookings").await;
    assert_eq!((again.id, again.attempt), (job, 2));
    assert!(!effect_once::book(&mut client, job, "ada", 500).await.expect("known"));
    assert_eq!(one::<i64>(&client, "select cents from accounts where name = 'ada'", &[]).await, 500);
}

#[tokio::test]
async fn an_event_sent_twice_is_one_job() {
    let database = pg::database().await;
    let (client, other) = (database.client().await, database.client().await);
    let event = json!({"type": "order.paid"});
    let (first, second) = tokio::join!(receive(&client, "evt_1", &event), receive(&other, "evt_1", &event));
    let (first, second) = (first.expect("received"), second.expect("received"));
    let job = |received: &Received| match received {
        Received::Enqueued(job) | Received::Known(job) => *job,
    };
    assert_eq!(job(&first), job(&second));
    assert_ne!(first, second, "one of them was new");
    assert_eq!(count(&client, "select from jobs").await, 1);
}
