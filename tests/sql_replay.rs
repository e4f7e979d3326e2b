//! Replay of dead letters and undo.

use serde_json::json;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{
    claim_one, count, enqueue, enqueue_with_attempts, expire, failure, one, operate, operate_one, running, state,
};

/// A dead letter of a job that had a key and a priority.
async fn dead_letter(client: &Client, queue: &str, key: &str) -> Uuid {
    let sql = "select id from enqueue_job($1, '{\"n\": 1}', p_priority => 5, p_idempotency_key => $2)";
    let id: Uuid = one(client, sql, &[&queue, &key]).await;
    operate_one(client, "operator_dead_letter", id, ", 'broken'").await;
    id
}

async fn undo(client: &Client, action: i64) -> Vec<(String, String)> {
    let sql = "select outcome, state_now, detail from operator_undo($1)";
    let rows = client.query(sql, &[&action]).await.expect("undone");
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn last_action(client: &Client) -> i64 {
    one(client, "select max(id) from operator_actions", &[]).await
}

#[tokio::test]
async fn a_replay_is_a_new_job_that_knows_where_it_comes_from() {
    let database = pg::database().await;
    let client = database.client().await;
    let dead = dead_letter(&client, "q", "order 7").await;
    let answer = operate(&client, "operator_replay", &[dead], "").await.remove(0);
    assert_eq!((answer.outcome.as_str(), answer.state.as_str()), ("done", "dead"));
    let job: Uuid = one(&client, "select replayed_job_id from dead_letter_jobs", &[]).await;
    assert_eq!(answer.detail, format!("replayed as job {job}"));
    let sql = "select format('%s %s %s %s %s %s %s', queue, payload, priority, attempts, idempotency_key, replay_of, origin_key)
        from jobs";
    assert_eq!(one::<String>(&client, sql, &[]).await, format!("q {{\"n\": 1}} 5 0 replay:{dead} {dead} order 7"));
    // Dead again and replayed again: the first ancestor stays known.
    operate_one(&client, "operator_dead_letter", job, "").await;
    operate_one(&client, "operator_replay", job, "").await;
    let sql = "select format('%s %s %s', idempotency_key, replay_of, origin_key) from jobs";
    assert_eq!(one::<String>(&client, sql, &[]).await, format!("replay:{job} {dead} order 7"));
    assert_eq!(count(&client, "select from dead_letter_jobs where replays = 1").await, 2);
}

#[tokio::test]
async fn a_second_replay_names_the_first_and_goes_only_by_force() {
    let database = pg::database().await;
    let client = database.client().await;
    let dead = dead_letter(&client, "q", "k").await;
    operate(&client, "operator_replay", &[dead], "").await;
    let first: Uuid = one(&client, "select replayed_job_id from dead_letter_jobs", &[]).await;
    let answer = operate(&client, "operator_replay", &[dead], "").await.remove(0);
    assert_eq!(answer.outcome, "refused");
    assert_eq!(answer.detail, format!("already replayed as job {first}"));
    for n in 2..=3 {
        assert_eq!(operate(&client, "operator_replay", &[dead], ", null, true").await[0].outcome, "done");
        let key = format!("replay:{dead}:{n}");
        assert_eq!(count(&client, &format!("select from jobs where idempotency_key = '{key}'")).await, 1);
    }
    client
        .execute("select enqueue_job('q', '{}', p_idempotency_key => $1)", &[&format!("replay:{dead}:4")])
        .await
        .expect("somebody takes the next key");
    let answer = operate(&client, "operator_replay", &[dead], ", null, true").await.remove(0);
    assert_eq!(answer.outcome, "refused", "never a raw constraint error");
}

#[tokio::test]
async fn two_replays_at_once_make_one_job() {
    let database = pg::database().await;
    let client = database.client().await;
    for round in 0..20 {
        let dead = dead_letter(&client, "q", &format!("k{round}")).await;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..2 {
            let client = database.client().await;
            calls.spawn(async move { operate(&client, "operator_replay", &[dead], "").await.remove(0).outcome });
        }
        let mut outcomes = calls.join_all().await;
        outcomes.sort();
        assert_eq!(outcomes, ["done", "refused"]);
        assert_eq!(count(&client, &format!("select from jobs where replay_of = '{dead}'")).await, 1);
    }
}

#[tokio::test]
async fn undo_puts_back_what_each_action_changed() {
    let database = pg::database().await;
    let client = database.client().await;
    let mutable = "select coalesce((select to_jsonb(jobs)::text from jobs where id = $1), '-')";
    for (function, more, attempts, expired) in [
        ("operator_requeue", ", p_force => true", 8, false),
        ("operator_requeue", "", 1, true),
        ("operator_dead_letter", ", p_force => true", 8, false),
        ("operator_reap", "", 8, true),
        ("operator_reap", "", 1, true),
        ("operator_set_priority", ", p_priority => 9", 8, false),
    ] {
        let id = enqueue_with_attempts(&client, "q", attempts).await;
        let job = claim_one(&client, "q").await;
        if expired {
            expire(&client, id).await;
        }
        let before: String = one(&client, mutable, &[&id]).await;
        assert_eq!(operate_one(&client, function, id, more).await.0, "done");
        assert_ne!(one::<String>(&client, mutable, &[&id]).await, before);
        let action = last_action(&client).await;
        let now = if expired { "expired" } else { "running" };
        assert_eq!(undo(&client, action).await, [("done".to_owned(), now.to_owned())], "{function}");
        assert_eq!(one::<String>(&client, mutable, &[&id]).await, before, "{function}{more}");
        assert_eq!(count(&client, "select from job_failures").await, 0, "the attempt goes on");
        assert_eq!(count(&client, "select from dead_letter_jobs").await, 0);
        assert_eq!(undo(&client, action).await[0].0, "changed", "only once");
        let done: bool = one(&client, "select complete_job($1, $2, $3)", &[&id, &job.worker, &job.attempt]).await;
        assert!(done, "its worker owns it again");
        client.batch_execute("delete from jobs").await.expect("clean");
    }
}

#[tokio::test]
async fn undo_of_a_replay_takes_the_new_job_back_unless_it_was_claimed() {
    let database = pg::database().await;
    let client = database.client().await;
    let (quick, slow) = (dead_letter(&client, "quick", "k").await, dead_letter(&client, "slow", "k").await);
    operate(&client, "operator_replay", &[quick, slow], "").await;
    let action = last_action(&client).await;
    claim_one(&client, "quick").await;
    let sql = "select id, outcome from operator_undo($1, 'too early')";
    let rows = client.query(sql, &[&action]).await.expect("undone");
    let said: Vec<(Uuid, &str)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(said, [(quick, "changed"), (slow, "done")]);
    assert_eq!(count(&client, "select from jobs").await, 1);
    assert_eq!(operate(&client, "operator_replay", &[slow], "").await[0].outcome, "done", "it may be replayed again");
    let linked: bool = one(
        &client,
        "select undone_by = (select id from operator_actions where action = 'undo') from operator_actions where id = $1",
        &[&action],
    )
    .await;
    assert!(linked);
}

#[tokio::test]
async fn undo_only_what_is_still_as_it_was_left() {
    let database = pg::database().await;
    let client = database.client().await;
    // Requeued, then claimed by somebody.
    let job = running(&client, "q").await;
    operate_one(&client, "operator_requeue", job.id, ", p_force => true").await;
    let action = last_action(&client).await;
    let fresh = claim_one(&client, "q").await;
    assert_eq!(undo(&client, action).await, [("changed".to_owned(), "running".to_owned())]);
    assert_eq!(fresh.attempt, 2);
    // Dead-lettered, then replayed.
    let dead = dead_letter(&client, "p", "k").await;
    let action = last_action(&client).await;
    operate(&client, "operator_replay", &[dead], "").await;
    assert_eq!(undo(&client, action).await, [("changed".to_owned(), "dead".to_owned())]);
    // Dead-lettered, then its key was taken by a new job.
    let dead = dead_letter(&client, "r", "k").await;
    let action = last_action(&client).await;
    let sql = "select id from enqueue_job('r', '{}', p_idempotency_key => 'k')";
    let taker: Uuid = one(&client, sql, &[]).await;
    let row = client.query_one("select outcome, detail from operator_undo($1)", &[&action]).await.expect("asked");
    assert_eq!(row.get::<_, &str>(0), "refused");
    assert_eq!(row.get::<_, &str>(1), format!("job {taker} has its idempotency key now"));
    assert_eq!(state(&client, dead).await, "dead", "it stays where it is");
    // Dead-lettered, then pruned.
    let gone = dead_letter(&client, "s", "k").await;
    let action = last_action(&client).await;
    client.execute("delete from dead_letter_jobs where id = $1", &[&gone]).await.expect("pruned");
    assert_eq!(undo(&client, action).await, [("gone".to_owned(), "gone".to_owned())]);
}

#[tokio::test]
async fn what_cannot_be_undone_says_why() {
    let database = pg::database().await;
    let client = database.client().await;
    let id = enqueue(&client, "q").await;
    operate_one(&client, "operator_set_priority", id, ", p_priority => 1").await;
    let action = last_action(&client).await;
    undo(&client, action).await;
    client.execute("select pause_queue('q')", &[]).await.expect("paused");
    for (action, why) in [(action + 1, "kind undo"), (action + 2, "kind pause"), (999_999, "no action 999999")] {
        let (code, message) = failure(&client, &format!("select operator_undo({action})")).await;
        assert_eq!(code, "22023");
        assert!(message.contains(why), "{message}");
    }
}

#[tokio::test]
async fn replay_keeps_what_a_plain_statement_left_out() {
    let database = pg::database().await;
    let client = database.client().await;
    client
        .execute("select enqueue_job('q', '{}', p_priority => 4, p_idempotency_key => 'k', p_max_attempts => 1)", &[])
        .await
        .expect("enqueued");
    let job = claim_one(&client, "q").await;
    let plain = "with moved as (delete from jobs where id = $1 returning *)
        insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
        select id, queue, payload, attempts, max_attempts, 'boom', created_at from moved";
    client.execute(plain, &[&job.id]).await.expect("moved");
    let sql = "select format('%s %s %s', priority, idempotency_key, reason) from dead_letter_jobs";
    assert_eq!(one::<String>(&client, sql, &[]).await, "4 k exhausted");
    let failure = "select format('%s %s %s', outcome, became, error) from job_failures";
    assert_eq!(one::<String>(&client, failure, &[]).await, "failed dead boom");
    let answers = operate(&client, "operator_replay", &[job.id], "").await;
    assert_eq!(answers[0].outcome, "done");
    assert_eq!(one::<i32>(&client, "select priority from jobs", &[]).await, 4);
}

#[tokio::test]
async fn a_replay_takes_nothing_but_ids() {
    let database = pg::database().await;
    let client = database.client().await;
    let dead = dead_letter(&client, "q", "k").await;
    let targets = json!([{ "id": dead, "status": "running" }]);
    let error = client.query("select operator_replay($1)", &[&targets]).await.expect_err("refused");
    let message = error.as_db_error().expect("by the server").message();
    assert_eq!(message, "p_targets of a replay hold only the id of a dead letter");
}
