//! The state machine of a run, step by step. Not part of the program.

use super::*;
use crate::model::{BackendKind, QueueId};

fn plan(jobs: usize, per_s: Option<u32>) -> Plan {
    let queue = QueueId { backend: BackendKind::Jobs, name: "q".into() };
    let target = |n: usize| {
        let job = JobRef { queue: queue.clone(), id: n.to_string(), dead: false };
        (job, Fence(serde_json::json!({ "id": n })))
    };
    let pace = Pace { step: 10, per_s };
    Plan { id: Uuid::nil(), action: Action::Reap, reason: None, targets: (0..jobs).map(target).collect(), pace }
}

fn results(step: &Step, outcome: Outcome) -> Vec<TargetResult> {
    let one = |at: usize| TargetResult { id: at.to_string(), outcome, state_now: None, detail: None };
    step.range.clone().map(one).collect()
}

fn call(bulk: &mut Bulk, now: u64) -> Step {
    match bulk.next(Duration::from_millis(now), Uuid::from_u128(u128::from(now))) {
        Next::Call(step) => step,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_target_is_asked_once_and_answered_for() {
    let mut bulk = Bulk::new(plan(25, None));
    for range in [0..10, 10..20, 20..25] {
        let step = call(&mut bulk, 1);
        assert_eq!(step.range, range);
        bulk.answered(&step, results(&step, Outcome::Done));
    }
    assert_eq!(bulk.next(Duration::ZERO, Uuid::nil()), Next::End);
    assert_eq!(bulk.tally(), Tally { done: 25, ..Tally::default() });
}

#[test]
fn a_pace_is_kept_evenly() {
    let mut bulk = Bulk::new(plan(30, Some(5)));
    let step = call(&mut bulk, 1_000);
    assert_eq!(step.range, 0..5, "a second's worth at most");
    bulk.answered(&step, results(&step, Outcome::Done));
    let wait = bulk.next(Duration::from_millis(1_400), Uuid::nil());
    assert_eq!(wait, Next::Wait(Duration::from_millis(600)));
    assert_eq!(call(&mut bulk, 2_000).range, 5..10);
}

#[test]
fn a_lost_answer_is_looked_up_before_anything_else() {
    let mut bulk = Bulk::new(plan(30, None));
    let step = call(&mut bulk, 1);
    bulk.lost(&step);
    bulk.set_paused(true);
    assert_eq!(bulk.next(Duration::ZERO, Uuid::nil()), Next::LookUp(step.clone()));
    bulk.never_happened(&step);
    assert_eq!(bulk.next(Duration::ZERO, Uuid::nil()), Next::Pause);
    bulk.set_paused(false);
    let again = call(&mut bulk, 2);
    assert_eq!(again.range, step.range);
    assert_ne!(again.token, step.token, "a new call has a name of its own");
    bulk.lost(&again);
    bulk.answered(&again, results(&again, Outcome::Done));
    assert_eq!(call(&mut bulk, 3).range, 10..20);
}

#[test]
fn a_stop_leaves_the_rest_and_what_cannot_be_found_out_is_unknown() {
    let mut bulk = Bulk::new(plan(30, None));
    let step = call(&mut bulk, 1);
    bulk.lost(&step);
    bulk.stop();
    assert_eq!(bulk.next(Duration::ZERO, Uuid::nil()), Next::LookUp(step));
    bulk.give_up();
    assert_eq!(bulk.next(Duration::ZERO, Uuid::nil()), Next::End);
    assert_eq!(bulk.tally(), Tally { unknown: 10, left: 20, ..Tally::default() });
    assert_eq!(bulk.tally().total(), 30);
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let mut bulk = Bulk::new(plan(30, None));
    let first = Step { token: Uuid::from_u128(1), range: 0..10 };
    let second = Step { token: Uuid::from_u128(2), range: 10..20 };
    bulk.resume(first.clone(), Some(results(&first, Outcome::Done)));
    bulk.resume(second.clone(), None);
    assert_eq!(bulk.next(Duration::ZERO, Uuid::nil()), Next::LookUp(second.clone()));
    bulk.never_happened(&second);
    assert_eq!(call(&mut bulk, 1).range, 10..20);
    assert_eq!(bulk.tally(), Tally { done: 10, left: 20, ..Tally::default() });
}

#[test]
fn it_slows_down_while_the_queue_falls_behind() {
    let mut governor = Governor::new(100);
    governor.observe(Some(10.0));
    assert_eq!((governor.per_s(), governor.slows()), (100, false));
    governor.observe(Some(21.0));
    governor.observe(Some(30.0));
    assert_eq!((governor.per_s(), governor.slows()), (25, true));
    for _ in 0..20 {
        governor.observe(Some(1_000.0));
    }
    assert_eq!(governor.per_s(), 1, "never quite still");
    for _ in 0..40 {
        governor.observe(None);
    }
    assert_eq!(governor.per_s(), 100);
}
