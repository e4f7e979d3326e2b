//! The operators' functions: what each does in each state, the fence, the audit, undo.

use serde_json::{Value, json};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{
    Claimed, claim_one, count, enqueue, enqueue_with_attempts, expire, one, operate, operate_on, operate_one, running,
    state,
};

/// One job in each state, each in a queue of that name.
async fn job_in(client: &Client, wanted: &str) -> Uuid {
    let id = match wanted {
        "ready" => enqueue(client, wanted).await,
        "scheduled" => {
            let id = enqueue(client, wanted).await;
            client
                .execute("update jobs set run_at = now() + interval '1 hour' where id = $1", &[&id])
                .await
                .expect("later");
            id
        }
        "exhausted" => {
            let id = enqueue(client, wanted).await;
            client.execute("update jobs set attempts = max_attempts where id = $1", &[&id]).await.expect("exhausted");
            id
        }
        "running" => running(client, wanted).await.id,
        "expired" => {
            let job = running(client, wanted).await;
            expire(client, job.id).await;
            job.id
        }
        "last attempt expired" => {
            let id = enqueue_with_attempts(client, wanted, 1).await;
            claim_one(client, wanted).await;
            expire(client, id).await;
            id
        }
        "completed" => {
            let job = running(client, wanted).await;
            assert!(complete(client, job).await);
            job.id
        }
        "dead" => {
            let job = running(client, wanted).await;
            let sql = "select move_to_dead_letter($1, $2, 'boom')";
            client.execute(sql, &[&job.id, &job.worker]).await.expect("dead");
            job.id
        }
        _ => Uuid::new_v4(),
    };
    let now = if wanted == "last attempt expired" { "expired" } else { wanted };
    assert_eq!(state(client, id).await, now);
    id
}

async fn complete(client: &Client, job: Claimed) -> bool {
    one(client, "select complete_job($1, $2, $3)", &[&job.id, &job.worker, &job.attempt]).await
}

/// What each action does in each state: outcome and state afterwards.
const RULES: &[(&str, &str, &str, &str, &str)] = &[
    ("operator_requeue", "", "ready", "refused", "ready"),
    ("operator_requeue", "", "scheduled", "done", "ready"),
    ("operator_requeue", "", "exhausted", "done", "ready"),
    ("operator_requeue", "", "running", "refused", "running"),
    ("operator_requeue", ", p_force => true", "running", "done", "ready"),
    ("operator_requeue", "", "expired", "done", "ready"),
    ("operator_requeue", "", "last attempt expired", "done", "ready"),
    ("operator_requeue", ", p_force => true", "completed", "refused", "completed"),
    ("operator_requeue", "", "dead", "changed", "dead"),
    ("operator_requeue", "", "gone", "gone", "gone"),
    ("operator_dead_letter", "", "ready", "done", "dead"),
    ("operator_dead_letter", "", "scheduled", "done", "dead"),
    ("operator_dead_letter", "", "exhausted", "done", "dead"),
    ("operator_dead_letter", "", "running", "refused", "running"),
    ("operator_dead_letter", ", p_force => true", "running", "done", "dead"),
    ("operator_dead_letter", "", "expired", "done", "dead"),
    ("operator_dead_letter", ", p_force => true", "completed", "refused", "completed"),
    ("operator_dead_letter", "", "dead", "changed", "dead"),
    ("operator_dead_letter", "", "gone", "gone", "gone"),
    ("operator_reap", "", "ready", "refused", "ready"),
    ("operator_reap", "", "scheduled", "refused", "scheduled"),
    ("operator_reap", "", "exhausted", "refused", "exhausted"),
    ("operator_reap", "", "running", "refused", "running"),
    ("operator_reap", "", "expired", "done", "ready"),
    ("operator_reap", "", "last attempt expired", "done", "dead"),
    ("operator_reap", "", "completed", "refused", "completed"),
    ("operator_reap", "", "dead", "changed", "dead"),
    ("operator_reschedule", ", p_run_at => now() + interval '1 h'", "ready", "done", "scheduled"),
    ("operator_reschedule", ", p_run_at => now()", "scheduled", "done", "ready"),
    ("operator_reschedule", ", p_run_at => 'infinity'", "ready", "done", "scheduled"),
    ("operator_reschedule", ", p_run_at => '-infinity'", "scheduled", "done", "ready"),
    ("operator_reschedule", ", p_run_at => now()", "exhausted", "refused", "exhausted"),
    ("operator_reschedule", ", p_run_at => now()", "running", "refused", "running"),
    ("operator_reschedule", ", p_run_at => now()", "expired", "refused", "expired"),
    ("operator_reschedule", ", p_run_at => now()", "completed", "refused", "completed"),
    ("operator_set_priority", ", p_priority => 7", "ready", "done", "ready"),
    ("operator_set_priority", ", p_priority => 7", "scheduled", "done", "scheduled"),
    ("operator_set_priority", ", p_priority => 7", "running", "done", "running"),
    ("operator_set_priority", ", p_priority => 7", "completed", "refused", "completed"),
    ("operator_replay", "", "dead", "done", "dead"),
    ("operator_replay", "", "ready", "changed", "ready"),
    ("operator_replay", "", "gone", "gone", "gone"),
];

#[tokio::test]
async fn each_action_does_in_each_state_what_the_rules_say() {
    let database = pg::database().await;
    let client = database.client().await;
    for (function, more, before, outcome, after) in RULES {
        let id = job_in(&client, before).await;
        let live: bool = one(&client, "select exists (select from jobs where id = $1)", &[&id]).await;
        let done = operate_one(&client, function, id, more).await;
        assert_eq!(done, ((*outcome).to_owned(), (*after).to_owned()), "{function}{more} of {before}");
        assert_eq!(state(&client, id).await, *after, "{function}{more} of {before}: the row agrees");
        let both = "select from jobs join dead_letter_jobs using (id)";
        assert_eq!(count(&client, both).await, 0, "{function}: in one of the two tables");
        if live && *outcome == "refused" {
            let detail = operate(&client, function, &[id], more).await[0].detail.clone();
            assert!(!detail.is_empty(), "{function} of {before} says why");
        }
        client.batch_execute("delete from jobs; delete from dead_letter_jobs").await.expect("clean");
    }
}

#[tokio::test]
async fn requeue_at_the_limit_gives_one_more_attempt() {
    let database = pg::database().await;
    let client = database.client().await;
    for before in ["exhausted", "last attempt expired"] {
        let id = job_in(&client, before).await;
        operate_one(&client, "operator_requeue", id, "").await;
        let one_more: bool = one(&client, "select max_attempts = attempts + 1 from jobs where id = $1", &[&id]).await;
        assert!(one_more, "{before}");
        let job = claim_one(&client, before).await;
        assert_eq!(job.id, id, "it does get claimed");
        assert!(complete(&client, job).await);
    }
    let limit = enqueue(&client, "limit").await;
    client
        .execute("update jobs set attempts = 2147483647, max_attempts = 5 where id = $1", &[&limit])
        .await
        .expect("at the limit of the type");
    assert_eq!(operate_one(&client, "operator_requeue", limit, "").await.0, "refused");
}

#[tokio::test]
async fn a_job_taken_away_by_force_is_lost_to_its_worker() {
    let database = pg::database().await;
    let client = database.client().await;
    for function in ["operator_requeue", "operator_dead_letter"] {
        let job = running(&client, "q").await;
        let (outcome, after) = operate_one(&client, function, job.id, ", p_force => true").await;
        assert_eq!(outcome, "done");
        assert!(!complete(&client, job).await);
        let beats = "select from heartbeat_jobs(array[$1::uuid], $2)";
        assert!(client.query(beats, &[&job.id, &job.worker]).await.expect("asked").is_empty());
        assert_eq!(state(&client, job.id).await, after);
        client.execute("select reap_expired_jobs()", &[]).await.expect("reaped");
        assert_eq!(state(&client, job.id).await, after, "the reaper does not bring it back");
        let history = "select format('%s %s', outcome, fenced_call) from job_failures where job_id = $1";
        assert_eq!(one::<String>(&client, history, &[&job.id]).await, "fenced complete_job");
        client.batch_execute("delete from jobs").await.expect("clean");
    }
}

#[tokio::test]
async fn what_was_seen_must_still_be_so() {
    let database = pg::database().await;
    let client = database.client().await;
    let job = running(&client, "q").await;
    expire(&client, job.id).await;
    let seen: Value = one(
        &client,
        "select jsonb_build_object('id', id, 'status', status, 'attempts', attempts, 'locked_by', locked_by,
            'run_at', run_at, 'priority', priority, 'lease_until', lease_until) from jobs",
        &[],
    )
    .await;
    for (key, other) in [
        ("status", json!("queued")),
        ("attempts", json!(2)),
        ("locked_by", json!(Uuid::new_v4())),
        ("locked_by", Value::Null),
        ("run_at", json!("2001-01-01T00:00:00Z")),
        ("run_at", json!("infinity")),
        ("priority", json!(-1)),
        ("lease_until", json!("-infinity")),
        ("lease_until", Value::Null),
    ] {
        let mut target = seen.clone();
        target[key] = other.clone();
        let answer = operate_on(&client, "operator_requeue", &json!([target]), "").await.remove(0);
        assert_eq!((answer.outcome.as_str(), answer.state.as_str()), ("changed", "expired"), "{key} {other}");
        let alone = json!([{ "id": job.id, key: other }]);
        assert_eq!(operate_on(&client, "operator_reap", &alone, "").await[0].outcome, "changed", "{key} alone");
    }
    client.batch_execute("set timezone = 'Pacific/Chatham'").await.expect("another zone");
    let answer = operate_on(&client, "operator_requeue", &json!([seen]), "").await.remove(0);
    assert_eq!((answer.outcome.as_str(), answer.state.as_str()), ("done", "ready"));
    let answer = operate_on(&client, "operator_requeue", &json!([seen]), "").await.remove(0);
    assert_eq!((answer.outcome.as_str(), answer.state.as_str()), ("changed", "ready"), "a second time");
}

#[tokio::test]
async fn a_row_that_somebody_holds_is_locked_and_the_others_are_done() {
    let database = pg::database().await;
    let client = database.client().await;
    let held = job_in(&client, "scheduled").await;
    let free = enqueue(&client, "q").await;
    let mut holder = database.client().await;
    let transaction = holder.transaction().await.expect("a transaction");
    transaction.execute("select from jobs where id = $1 for update", &[&held]).await.expect("locked");
    let answers = operate(&client, "operator_dead_letter", &[held, free], "").await;
    assert_eq!((answers[0].id, answers[0].outcome.as_str()), (held, "locked"));
    assert_eq!(answers[0].state, "scheduled");
    assert_eq!((answers[1].id, answers[1].outcome.as_str()), (free, "done"));
    transaction.commit().await.expect("let go");
    assert_eq!(operate_one(&client, "operator_dead_letter", held, "").await.0, "done");
}

#[tokio::test]
async fn many_targets_are_answered_in_order_each_on_its_own() {
    let database = pg::database().await;
    let client = database.client().await;
    let mut ids = Vec::new();
    for before in ["completed", "scheduled", "gone", "dead", "exhausted"] {
        ids.push(job_in(&client, before).await);
    }
    let answers = operate(&client, "operator_requeue", &ids, ", 'tidy up'").await;
    let said: Vec<(Uuid, &str, &str)> =
        answers.iter().map(|answer| (answer.id, answer.outcome.as_str(), answer.state.as_str())).collect();
    let expected =
        [("refused", "completed"), ("done", "ready"), ("gone", "gone"), ("changed", "dead"), ("done", "ready")];
    let expected: Vec<(Uuid, &str, &str)> =
        ids.iter().zip(expected).map(|(id, (outcome, state))| (*id, outcome, state)).collect();
    assert_eq!(said, expected);
    assert!(operate(&client, "operator_requeue", &[], "").await.is_empty());
}

#[tokio::test]
async fn every_call_leaves_one_row_that_says_who_what_and_how_it_was_before() {
    let database = pg::database().await;
    let client = database.client().await;
    client
        .batch_execute(
            r#"set application_name = 'a test'; set request.jwt.claims = '{"sub": "anna@example.org", "role": "x"}'"#,
        )
        .await
        .expect("set");
    let id = job_in(&client, "scheduled").await;
    operate(&client, "operator_requeue", &[id, Uuid::new_v4()], ", 'because', true").await;
    let sql = "select action || ' ' || session_user_name || ' ' || jwt_subject || ' ' || application_name || ' ' || reason
            || ' ' || arguments::text || ' ' || outcome::text || ' ' || cardinality(ids)
        from operator_actions where client_addr is null and role_name is null and acted_at > now() - interval '1 minute'";
    assert_eq!(
        one::<String>(&client, sql, &[]).await,
        r#"requeue postgres anna@example.org a test because {"force": true} {"done": 1, "gone": 1} 2"#
    );
    let sql = "select (rows->0->'before'->>'run_at')::timestamptz > now() and (rows->0->'after'->>'run_at')::timestamptz <= now()
            and not rows->0->'before' ? 'payload' from operator_actions";
    assert!(one::<bool>(&client, sql, &[]).await);
    client.batch_execute("set request.jwt.claims = 'no json'").await.expect("set");
    operate(&client, "operator_reap", &[], "").await;
    client.execute("select pause_queue('q', 'bank down')", &[]).await.expect("paused");
    let sql = "select string_agg(action || coalesce(jwt_subject, ''), ' ' order by id) from operator_actions";
    assert_eq!(one::<String>(&client, sql, &[]).await, "requeueanna@example.org reap pause");
    let failed = client.query("select operator_requeue('[{\"id\": \"x\"}]')", &[]).await;
    assert!(failed.is_err());
    assert_eq!(count(&client, "select from operator_actions").await, 3, "a refused call leaves nothing");
}

#[tokio::test]
async fn a_role_put_on_is_named_in_the_audit() {
    let database = pg::database().await;
    let client = database.client().await;
    client.batch_execute("set role queue_operator").await.expect("a role");
    client.execute("select pause_queue('q')", &[]).await.expect("paused");
    client.batch_execute("reset role").await.expect("back");
    let who = "select session_user_name || ' as ' || role_name from operator_actions";
    assert_eq!(one::<String>(&client, who, &[]).await, "postgres as queue_operator");
}

#[tokio::test]
async fn pausing_says_whether_it_changed_anything() {
    let database = pg::database().await;
    let client = database.client().await;
    for (call, changed) in [
        ("resume_queue('never seen')", false),
        ("pause_queue('q')", true),
        ("pause_queue('q', 'again')", false),
        ("resume_queue('q')", true),
        ("resume_queue('q')", false),
        ("pause_queue('q')", true),
    ] {
        assert_eq!(one::<bool>(&client, &format!("select {call}"), &[]).await, changed, "{call}");
    }
    assert_eq!(one::<String>(&client, "select changed_by from queues where paused", &[]).await, "postgres");
}
