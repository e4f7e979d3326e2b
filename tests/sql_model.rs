//! Random sequences of all functions, against a model in memory: answers, states, fences and the history agree.
//!
//! `PROPTEST_CASES` sets how many sequences are tried.

mod model;
mod operator;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::support::pg;
use crate::support::queue::{one, operate_on};
use model::{Model, Place};
use operator::Act;

/// One call, or time going by. Jobs are named by their place in the order of creation.
#[derive(Clone, Debug)]
enum Step {
    Enqueue { max: i32, priority: i32, due: bool, key: Option<u8> },
    Claim { worker: usize, batch: usize },
    Heartbeat { job: usize, worker: usize, attempt: Option<i32> },
    Complete { job: usize, worker: usize, attempt: Option<i32> },
    Fail { job: usize, worker: usize, attempt: Option<i32>, for_good: bool },
    PassTime { job: usize },
    UseUp { job: usize },
    Reap,
    Act { act: Act, job: usize, force: bool, seen: Option<i32> },
    Undo { back: usize },
    Pause(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let (job, worker) = (0..12_usize, 0..2_usize);
    let attempt = prop::option::of(1..3_i32);
    let act = prop_oneof![
        3 => Just(Act::Requeue),
        2 => Just(Act::DeadLetter),
        2 => Just(Act::Reap),
        1 => Just(Act::Postpone),
        1 => (0..3).prop_map(Act::Prioritise),
        3 => Just(Act::Replay),
    ];
    prop_oneof![
        4 => (1..4_i32, 0..3_i32, prop::bool::weighted(0.8), prop::option::of(0..3_u8))
            .prop_map(|(max, priority, due, key)| Step::Enqueue { max, priority, due, key }),
        6 => (worker.clone(), 1..4_usize).prop_map(|(worker, batch)| Step::Claim { worker, batch }),
        1 => (job.clone(), worker.clone(), attempt.clone())
            .prop_map(|(job, worker, attempt)| Step::Heartbeat { job, worker, attempt }),
        2 => (job.clone(), worker.clone(), attempt.clone())
            .prop_map(|(job, worker, attempt)| Step::Complete { job, worker, attempt }),
        4 => (job.clone(), worker, attempt.clone(), any::<bool>())
            .prop_map(|(job, worker, attempt, for_good)| Step::Fail { job, worker, attempt, for_good }),
        6 => job.clone().prop_map(|job| Step::PassTime { job }),
        1 => job.clone().prop_map(|job| Step::UseUp { job }),
        2 => Just(Step::Reap),
        7 => (act, job, any::<bool>(), attempt).prop_map(|(act, job, force, seen)| Step::Act { act, job, force, seen }),
        4 => (0..4_usize).prop_map(|back| Step::Undo { back }),
        1 => prop::bool::weighted(0.3).prop_map(Step::Pause),
    ]
}

fn worker_id(worker: usize) -> Uuid {
    Uuid::from_u128(worker as u128 + 1)
}

/// The real queue and its model, side by side.
struct Pair {
    client: Client,
    model: Model,
    /// Jobs in the order of creation.
    ids: Vec<Uuid>,
    /// Operators' actions, oldest first.
    actions: Vec<i64>,
}

impl Pair {
    fn id(&self, job: usize) -> Uuid {
        if self.ids.is_empty() { Uuid::nil() } else { self.ids[job % self.ids.len()] }
    }

    async fn run(&mut self, step: &Step) {
        match step.clone() {
            Step::Enqueue { max, priority, due, key } => self.enqueue(max, priority, due, key).await,
            Step::Claim { worker, batch } => self.claim(worker, batch).await,
            Step::Heartbeat { job, worker, attempt } => {
                let sql = "select count(*) = 1 from heartbeat_jobs(array[$1::uuid], $2, '1 hour',
                    case when $3::integer is not null then array[$3::integer] end)";
                let id = self.id(job);
                let real: bool = one(&self.client, sql, &[&id, &worker_id(worker), &attempt]).await;
                assert_eq!(real, self.model.heartbeat(id, worker, attempt));
            }
            Step::Complete { job, worker, attempt } => {
                let id = self.id(job);
                let sql = "select complete_job($1, $2, $3)";
                let real: bool = one(&self.client, sql, &[&id, &worker_id(worker), &attempt]).await;
                assert_eq!(real, self.model.complete(id, worker, attempt));
            }
            Step::Fail { job, worker, attempt, for_good } => {
                let id = self.id(job);
                let call = if for_good {
                    "move_to_dead_letter($1, $2, 'x', $3)"
                } else {
                    "retry_job($1, $2, 'x', '1 hour', $3)"
                };
                let real: String =
                    one(&self.client, &format!("select {call}"), &[&id, &worker_id(worker), &attempt]).await;
                assert_eq!(real, self.model.fail(id, worker, attempt, for_good));
            }
            Step::PassTime { job } => self.pass_time(self.id(job)).await,
            Step::UseUp { job } => self.use_up(self.id(job)).await,
            Step::Reap => {
                let row = self.client.query_one("select * from reap_expired_jobs()", &[]).await.expect("reaped");
                assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), self.model.reap());
            }
            Step::Act { act, job, force, seen } => self.act(act, self.id(job), force, seen).await,
            Step::Undo { back } => self.undo(back).await,
            Step::Pause(paused) => {
                let call = if paused { "pause_queue('q')" } else { "resume_queue('q')" };
                let changed: bool = one(&self.client, &format!("select {call}"), &[]).await;
                assert_eq!(changed, self.model.paused != paused);
                self.model.paused = paused;
            }
        }
        self.compare().await;
    }

    async fn enqueue(&mut self, max: i32, priority: i32, due: bool, key: Option<u8>) {
        let key = key.map(|key| format!("key {key}"));
        let sql =
            "select id, created from enqueue_job('q', '{}', $1, case when $2 then now() else 'infinity' end, $3, $4)";
        let row = self.client.query_one(sql, &[&priority, &due, &max, &key]).await.expect("enqueued");
        let (id, created): (Uuid, bool) = (row.get(0), row.get(1));
        let holder = self.model.holder(key.as_deref());
        assert_eq!(holder, (!created).then_some(id));
        if created {
            self.ids.push(id);
            self.model.enqueue(id, max, priority, due, key);
        }
    }

    async fn claim(&mut self, worker: usize, batch: usize) {
        let sql = "select id from claim_jobs('q', $1, $2, '1 hour')";
        let count = i32::try_from(batch).expect("few");
        let rows = self.client.query(sql, &[&worker_id(worker), &count]).await.expect("claimed");
        let real: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(real, self.model.claim(worker, batch), "the same jobs in the same order");
    }

    async fn pass_time(&mut self, id: Uuid) {
        let sql = "update jobs set
                lease_until = case when status = 'running' then now() - interval '1 second' else lease_until end,
                run_at = case when status = 'queued' and run_at > now() then now() else run_at end
            where id = $1";
        self.client.execute(sql, &[&id]).await.expect("time passes");
        self.model.pass_time(id);
    }

    /// A hand's edit that leaves a queued job nobody can claim.
    async fn use_up(&mut self, id: Uuid) {
        let sql = "update jobs set attempts = greatest(attempts, max_attempts), updated_at = now()
            where id = $1 and status = 'queued'";
        self.client.execute(sql, &[&id]).await.expect("used up");
        self.model.use_up(id);
    }

    async fn act(&mut self, act: Act, id: Uuid, force: bool, seen: Option<i32>) {
        let (function, more) = match act {
            Act::Requeue => ("operator_requeue", format!(", null, {force}")),
            Act::DeadLetter => ("operator_dead_letter", format!(", null, {force}")),
            Act::Reap => ("operator_reap", String::new()),
            Act::Postpone => ("operator_reschedule", ", 'infinity'".to_owned()),
            Act::Prioritise(priority) => ("operator_set_priority", format!(", {priority}")),
            Act::Replay => ("operator_replay", format!(", null, {force}")),
        };
        let seen = seen.filter(|_| act != Act::Replay);
        let target = seen.map_or(json!({ "id": id }), |attempts| json!({ "id": id, "attempts": attempts }));
        let answer = operate_on(&self.client, function, &json!([target]), &more).await.remove(0);
        let made = answer.detail.strip_prefix("replayed as job ").and_then(|id| id.parse().ok());
        self.ids.extend(made);
        let action: i64 = one(&self.client, "select max(id) from operator_actions", &[]).await;
        self.actions.push(action);
        let expected = self.model.act(action, act, id, force, seen, made);
        assert_eq!((answer.outcome, answer.state), expected);
    }

    async fn undo(&mut self, back: usize) {
        let Some(action) = self.actions.iter().rev().nth(back) else { return };
        let sql = "select outcome, state_now from operator_undo($1)";
        let rows = self.client.query(sql, &[action]).await.expect("undone");
        let real: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        assert_eq!(real, self.model.undo(*action));
    }

    /// Rows and history are what the model says, and each job is in one place.
    async fn compare(&self) {
        let sql = "select id, job_state(status, run_at, attempts, max_attempts, lease_until), attempts, max_attempts, priority,
                locked_by, idempotency_key from jobs
            union all
            select id, 'dead', attempts, max_attempts, priority, null, idempotency_key from dead_letter_jobs
            order by 1";
        let rows = self.client.query(sql, &[]).await.expect("rows");
        let real: Vec<String> = rows
            .iter()
            .map(|row| {
                let (id, state, numbers): (Uuid, String, [i32; 3]) =
                    (row.get(0), row.get(1), [row.get(2), row.get(3), row.get(4)]);
                let (owner, key): (Option<Uuid>, Option<String>) = (row.get(5), row.get(6));
                format!("{id} {state} {numbers:?} {owner:?} {key:?}")
            })
            .collect();
        let expected = self.model.jobs.iter().map(|(id, job)| {
            let owner = match job.place {
                Place::Running { worker, .. } => Some(worker_id(worker)),
                _ => None,
            };
            let numbers = [job.attempts, job.max, job.priority];
            format!("{id} {} {numbers:?} {owner:?} {:?}", self.model.state(*id), job.key)
        });
        assert_eq!(real, expected.collect::<Vec<_>>());
        let sql =
            "select job_id::text || ' ' || attempt || ' ' || worker || ' ' || outcome from job_failures order by id";
        let rows = self.client.query(sql, &[]).await.expect("history");
        let mut real: Vec<String> = rows.iter().map(|row| row.get::<_, String>(0)).collect();
        let mut expected: Vec<String> = Vec::new();
        for failure in &self.model.failures {
            let outcome = if failure.fenced {
                "fenced"
            } else if failure.said {
                "failed"
            } else {
                "ended"
            };
            expected.push(format!("{} {} {} {outcome}", failure.job, failure.attempt, worker_id(failure.worker)));
        }
        for line in &mut real {
            *line = line.replace(" expired", " ended").replace(" operator", " ended");
        }
        real.sort();
        expected.sort();
        assert_eq!(real, expected, "the history");
    }
}

#[test]
fn random_sequences_agree_with_the_model() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let database = runtime.block_on(pg::database());
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let result = TestRunner::new(config).run(&prop::collection::vec(step(), 20..90), |steps| {
        runtime.block_on(async {
            let client = database.client().await;
            let clean = "truncate jobs, dead_letter_jobs, job_failures, operator_actions, queues";
            client.batch_execute(clean).await.expect("clean");
            let mut pair = Pair { client, model: Model::default(), ids: Vec::new(), actions: Vec::new() };
            for step in &steps {
                pair.run(step).await;
            }
        });
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
