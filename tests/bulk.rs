//! Acting on many: the set that was frozen is the set that is changed, whatever is cut on the way.

use std::sync::Arc;

use queuetop::backends;
use queuetop::db::{ConnInfo, Connector, Env, Purpose, SqlLog};
use queuetop::engine::Live;
use queuetop::engine::browse::Sessions;
use queuetop::engine::bulk::{self, Control, Ended, Freeze, Journal, Run, freeze};
use queuetop::model::bulk::{Bulk, Pace, Plan, Tally};
use queuetop::model::{Action, Filter, JobState};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::support::bouncer;
use crate::support::cutter::{Cut, Cutter};
use crate::support::pg::{Database, database};
use crate::support::queue::one;

const EXPIRED: &str = "insert into jobs (queue, payload, status, attempts, lease_until, locked_by, created_at)
    select 'q', '{}', 'running', 1, now() - i * interval '1 s', gen_random_uuid(), now() from generate_series(1, 95) as i";
const DEAD: &str = "insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, failed_at, original_created_at)
    select gen_random_uuid(), 'q', '{}', 8, 8, 'boom', now() - i * interval '1 s', now() from generate_series(1, 95) as i";
const REQUEUE: Action = Action::Requeue { force: false };
const REPLAY: Action = Action::Replay { force: false };

/// The engine on a database.
struct Place {
    connector: Arc<Connector>,
    live: Arc<Live>,
}

async fn place(dsn: &str) -> Place {
    let mut env = Env::of_process();
    env.vars.clear();
    let mut info = ConnInfo::resolve(Some(dsn), &env).expect("a good DSN");
    // What is cut is cut on the straight way.
    if let Some(detour) = bouncer::detour(&info.dbname).filter(|_| !dsn.contains("127.0.0.1")) {
        info = ConnInfo::resolve(Some(&detour), &env).expect("a good DSN");
    }
    let connector = Arc::new(Connector::new(info, SqlLog::default()));
    let session = Arc::new(connector.connect(Purpose::Read).await.expect("a session"));
    let backends = Arc::new(backends::all(&session, None).await.expect("detection"));
    Place { connector, live: Arc::new(Live { session, backends }) }
}

impl Place {
    async fn plan(&self, action: Action, state: JobState) -> Plan {
        let view = watch::channel(Some(Arc::clone(&self.live))).1;
        let sessions = Sessions { listening: view.clone(), polling: view };
        let filter = Filter::default().with_state(state);
        let frozen = freeze(&sessions, &Freeze { filter, most: 1_000_000 }, &watch::channel(0).0).await.expect("a set");
        let pace = Pace { step: 10, per_s: None };
        Plan { id: Uuid::new_v4(), action, reason: Some("tested".into()), targets: frozen.targets, pace }
    }

    fn run(
        &self,
        bulk: Bulk,
        journal: Option<Journal>,
    ) -> (Run, mpsc::Sender<Control>, watch::Receiver<bulk::Progress>) {
        let (control, told) = mpsc::channel(8);
        let (progress, seen) = watch::channel(bulk::at_start(bulk.plan()));
        let (connector, backends) = (Arc::clone(&self.connector), Arc::clone(&self.live.backends));
        (Run { connector, backends, bulk, journal, control: told, progress }, control, seen)
    }

    async fn run_whole(&self, plan: Plan) -> Ended {
        let (run, _control, _seen) = self.run(Bulk::new(plan), None);
        run.run().await
    }
}

async fn filled(sql: &str) -> Database {
    let database = database().await;
    database.client().await.batch_execute(sql).await.expect("rows");
    database
}

async fn number(database: &Database, sql: &str) -> i64 {
    one(&database.client().await, sql, &[]).await
}

const READY: &str = "select count(*) from jobs where status = 'queued'";
/// How often a target was named by a call that was carried out as done.
const DONE_TWICE: &str = "select count(*) from (
    select r ->> 'id' from operator_actions a, jsonb_array_elements(a.rows) r where r ->> 'outcome' = 'done'
    group by 1 having count(*) > 1) as twice";

#[tokio::test(flavor = "multi_thread")]
async fn every_target_is_answered_for_and_nothing_else_is_touched() {
    let database = filled(EXPIRED).await;
    let place = place(&database.dsn()).await;
    let plan = place.plan(REQUEUE, JobState::Expired).await;
    assert_eq!(plan.targets.len(), 95);
    let client = database.client().await;
    // One is taken again, one is gone, and others come in meanwhile.
    client
        .batch_execute("update jobs set attempts = 2 where id = (select id from jobs order by lease_until limit 1)")
        .await
        .unwrap();
    client
        .batch_execute("delete from jobs where id = (select id from jobs order by lease_until desc limit 1)")
        .await
        .unwrap();
    client.batch_execute(EXPIRED).await.unwrap();
    let ended = place.run_whole(plan).await;
    assert_eq!(ended.failure, None);
    assert_eq!(ended.bulk.tally(), Tally { done: 93, changed: 1, gone: 1, ..Tally::default() });
    assert_eq!(number(&database, READY).await, 93);
    assert_eq!(number(&database, "select count(*) from jobs where status = 'running'").await, 96);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_cut_the_report_says_what_the_database_has() {
    for cut in [Cut::Question, Cut::Answer] {
        // How many pieces a run sends, undisturbed.
        let database = filled(DEAD).await;
        let cutter = Cutter::new(&database.dsn(), cut).await;
        let undisturbed = place(&cutter.dsn(&database.dsn())).await;
        let plan = undisturbed.plan(REPLAY, JobState::Dead).await;
        let before = cutter.seen();
        assert_eq!(undisturbed.run_whole(plan).await.bulk.tally().done, 95);
        let pieces = cutter.seen() - before;
        assert!(pieces > 10, "{pieces}");
        // Each on its own database: they wait for their connections at the same time.
        let mut runs = tokio::task::JoinSet::new();
        for piece in 1..=pieces {
            runs.spawn(cut_once(cut, piece));
        }
        runs.join_all().await;
    }
}

async fn cut_once(cut: Cut, piece: usize) {
    let database = filled(DEAD).await;
    let cutter = Cutter::new(&database.dsn(), cut).await;
    let place = place(&cutter.dsn(&database.dsn())).await;
    let plan = place.plan(REPLAY, JobState::Dead).await;
    cutter.cut_at(piece);
    let ended = place.run_whole(plan).await;
    assert_eq!(ended.failure, None, "{cut:?} at {piece}");
    assert_eq!(ended.bulk.tally(), Tally { done: 95, ..Tally::default() }, "{cut:?} at {piece}");
    assert_eq!(number(&database, READY).await, 95, "{cut:?} at {piece}");
    assert_eq!(number(&database, DONE_TWICE).await, 0, "{cut:?} at {piece}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_is_taken_up_again_and_nothing_is_done_twice() {
    let database = filled(DEAD).await;
    let place = place(&database.dsn()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut plan = place.plan(REPLAY, JobState::Dead).await;
    plan.pace.per_s = Some(200);
    let journal = Journal::create(folder.path(), &plan, "here").expect("a journal");
    let path = journal.path().to_owned();
    let (run, _control, mut seen) = place.run(Bulk::new(plan), Some(journal));
    let task = tokio::spawn(run.run());
    seen.wait_for(|progress| progress.tally.done >= 30).await.expect("progress");
    task.abort();
    assert!(task.await.is_err());
    // What it was writing when it died.
    let cut = std::fs::read_to_string(&path).expect("the journal") + "{\"answered\":{\"from\":9";
    std::fs::write(&path, cut).expect("the journal");

    let (journal, found) = Journal::open(&path).expect("a journal");
    assert!(!found.ended && found.database == "here" && found.bulk.tally().left > 0);
    let (run, _control, _seen) = place.run(found.bulk, Some(journal));
    let ended = run.run().await;
    assert_eq!(ended.failure, None);
    assert_eq!(ended.bulk.tally(), Tally { done: 95, ..Tally::default() });
    assert_eq!(number(&database, READY).await, 95);
    assert_eq!(number(&database, DONE_TWICE).await, 0);
    let (_, found) = Journal::open(&path).expect("a journal");
    assert!(found.ended && found.bulk.tally().done == 95);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_paused_goes_on_and_is_stopped() {
    let database = filled(EXPIRED).await;
    let place = place(&database.dsn()).await;
    let mut plan = place.plan(REQUEUE, JobState::Expired).await;
    plan.pace.per_s = Some(10);
    let (run, control, mut seen) = place.run(Bulk::new(plan), None);
    control.send(Control::Pause).await.expect("a run");
    let task = tokio::spawn(run.run());
    seen.wait_for(|progress| progress.paused).await.expect("progress");
    assert_eq!(number(&database, READY).await, 0);
    control.send(Control::Resume).await.expect("a run");
    seen.wait_for(|progress| progress.tally.done == 10).await.expect("progress");
    control.send(Control::Stop).await.expect("a run");
    let ended = task.await.expect("an end");
    let tally = ended.bulk.tally();
    assert!(tally.left >= 75 && tally.done + tally.left == 95, "{tally:?}");
    assert_eq!(number(&database, READY).await, i64::try_from(tally.done).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_pass_by_itself_ends_it_with_the_reason() {
    let database = filled(EXPIRED).await;
    let place = place(&database.dsn()).await;
    let plan = place.plan(REQUEUE, JobState::Expired).await;
    database.client().await.batch_execute("drop function operator_requeue(jsonb, text, boolean)").await.unwrap();
    let ended = place.run_whole(plan).await;
    assert!(ended.failure.is_some_and(|why| why.contains("operator_requeue")));
    assert_eq!(ended.bulk.tally().left, 95);
}

#[test]
fn a_journal_that_is_none_is_refused_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.jsonl");
    for (text, why) in [
        ("", "the list of jobs is not whole"),
        ("hello\nworld\n", "line 1"),
        ("{\"ended\":{}}\n", "begins with its run"),
    ] {
        std::fs::write(&path, text).expect("a file");
        let error = Journal::open(&path).expect_err("refused").to_string();
        assert!(error.contains(why), "{error}");
    }
    let none = bulk::read_journal(&folder.path().join("none.jsonl")).expect_err("refused").to_string();
    assert!(none.contains("none.jsonl"), "{none}");
}
