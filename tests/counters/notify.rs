//! NOTIFY: a hint at most every 100 ms, whoever writes how much.

use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_postgres::{AsyncMessage, Client, NoTls, Notification};

use super::{number, run, start};
use crate::support::LIMIT;
use crate::support::pg::Database;

/// A client that listens, and what it hears.
async fn listen(database: &Database) -> (Client, UnboundedReceiver<Notification>) {
    let (client, mut connection) = tokio_postgres::connect(&database.dsn(), NoTls).await.expect("a connection");
    let (sender, heard) = unbounded_channel();
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    tokio::spawn(async move {
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(notification) = message {
                let _ = sender.send(notification);
            }
        }
    });
    run(&client, "listen queuetop").await;
    (client, heard)
}

/// Everything heard up to now: an answered question comes after it.
async fn heard_so_far(client: &Client, heard: &mut UnboundedReceiver<Notification>) -> Vec<String> {
    run(client, "select 1").await;
    let mut payloads = Vec::new();
    while let Ok(one) = heard.try_recv() {
        payloads.push(one.payload().to_owned());
    }
    payloads
}

#[tokio::test]
async fn a_change_is_told_by_the_schemas_name_and_a_burst_in_few() {
    let (database, client) = start().await;
    let (listener, mut heard) = listen(&database).await;
    run(&client, "select enqueue_job('mail', jsonb_build_object('big', repeat('x', 1000000)))").await;
    let first =
        tokio::time::timeout(Duration::from_secs(10), heard.recv()).await.expect("in time").expect("a connection");
    assert_eq!((first.channel(), first.payload()), ("queuetop", "public"));
    let began = Instant::now();
    for _ in 0..300 {
        run(&client, "insert into jobs (queue, payload) values ('mail', '{}')").await;
    }
    let most = began.elapsed().as_millis() / 100 + 2;
    let told = heard_so_far(&listener, &mut heard).await.len() as u128;
    assert!(told <= most, "{told}, at most {most} were due");
    // What comes when the time has passed is told again.
    while heard_so_far(&listener, &mut heard).await.is_empty() {
        assert!(began.elapsed() < LIMIT, "muted");
        run(&client, "insert into jobs (queue, payload) values ('mail', '{}')").await;
    }
}

#[tokio::test]
async fn it_can_be_switched_off() {
    let (database, client) = start().await;
    let (listener, mut heard) = listen(&database).await;
    run(
        &client,
        "insert into queue_settings (name, value) values ('notify', 'off');
         select enqueue_job('mail', '{}'); delete from jobs;",
    )
    .await;
    assert_eq!(heard_so_far(&listener, &mut heard).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_clock_that_was_set_back_mutes_nothing() {
    let (_database, client) = start().await;
    let ahead = "select setval('notify_clock', (extract(epoch from now()) * 1000 + 3600000)::bigint),
                        setval('fold_clock', (extract(epoch from now()) * 1000 + 3600000)::bigint)";
    run(&client, ahead).await;
    run(&client, "select enqueue_job('mail', '{}'); select fold_counters_step()").await;
    let minute_ahead =
        "select count(*) from (select last_value from notify_clock union all select last_value from fold_clock) as c
                        where last_value > extract(epoch from now()) * 1000 + 60000";
    assert_eq!(number(&client, minute_ahead).await, 0);
}
