//! Undo, values that are asked for, and pausing: what is sent, and what is remembered.

use crossterm::event::KeyCode;
use queuetop::app::Overlay;
use queuetop::model::{Action, ActionReport, JobRef, Outcome, TargetResult};
use queuetop::msg::{Effect, Msg};

use super::{Rig, snapshot};
use crate::support::fixtures::{self, queue_id};

/// Confirms what is open; the answer says that all was done.
fn confirm(rig: &mut Rig, at: u64, audit: Option<i64>) -> (Action, Vec<JobRef>) {
    rig.clock(at);
    rig.poll(snapshot());
    let effects = rig.keys("y");
    let [Effect::Act { action, targets, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let asked: Vec<JobRef> = targets.iter().map(|(job, _)| job.clone()).collect();
    let done = |job: &JobRef| TargetResult {
        id: job.id.clone(),
        outcome: Outcome::Done,
        state_now: Some("ready".into()),
        detail: None,
    };
    let results = asked.iter().map(done).collect();
    let report = ActionReport { action: *action, asked: asked.clone(), results, at: Some(fixtures::NOW), audit };
    rig.app.update(Msg::Acted(Box::new(report)));
    (*action, asked)
}

#[test]
fn the_last_action_is_undone_by_one_key_and_a_yes() {
    let mut rig = Rig::on_leases();
    rig.keys("r");
    let (_, first) = confirm(&mut rig, 12, Some(41));
    assert!(rig.screen(120, 40).contains("u undoes it"));
    rig.keys("d");
    let (_, second) = confirm(&mut rig, 14, Some(42));
    assert_eq!(first, second, "both on the job under the cursor");
    rig.keys("u");
    assert!(rig.screen(120, 40).contains("Put back 1 job"), "{}", rig.screen(120, 40));
    assert_eq!(confirm(&mut rig, 16, Some(43)), (Action::Undo { audit: 42 }, second));
    assert!(rig.screen(120, 40).contains("put back 1 of 1"));
    rig.keys("u");
    assert_eq!(confirm(&mut rig, 18, Some(44)).0, Action::Undo { audit: 41 });
    rig.keys("u");
    assert!(rig.app.overlay().is_none(), "an undo is not undone");
    assert!(rig.screen(120, 40).contains("nothing to undo"));
}

#[test]
fn without_an_audit_row_nothing_is_promised() {
    let mut rig = Rig::on_leases();
    rig.keys("r");
    confirm(&mut rig, 12, None);
    assert!(!rig.screen(120, 40).contains("undoes it"));
    rig.keys("u");
    assert!(rig.screen(120, 40).contains("nothing to undo"));
}

#[test]
fn a_time_and_a_priority_are_asked_for_before_the_confirmation() {
    let mut rig = Rig::on_leases();
    rig.keys("P");
    assert!(matches!(rig.app.overlay(), Some(Overlay::Value(_))));
    rig.keys("x");
    rig.press(KeyCode::Enter);
    assert!(rig.screen(80, 24).contains("`x` is not a priority"));
    rig.press(KeyCode::Backspace);
    rig.keys("-5");
    assert_eq!(rig.press(KeyCode::Enter), []);
    assert!(matches!(rig.app.overlay(), Some(Overlay::Confirm(_))));
    assert_eq!(confirm(&mut rig, 12, None).0, Action::SetPriority { priority: -5 });
    rig.keys("e");
    rig.press(KeyCode::Esc);
    assert!(rig.app.overlay().is_none());
}

#[test]
fn a_queue_is_paused_after_a_yes_and_u_lets_it_go_on() {
    let mut rig = Rig::connected();
    rig.keys("p");
    assert!(rig.screen(120, 40).contains("Pause 1 queue"));
    assert_eq!(rig.keys("y"), [], "typed before it could be read");
    rig.clock(12);
    let queue = queue_id("webhooks");
    let set = |paused| Effect::SetPaused { queue: queue.clone(), paused, reason: None };
    assert_eq!(rig.keys("y"), [set(true)]);
    rig.app.update(Msg::Paused { queue: queue.clone(), paused: true, changed: true });
    assert!(rig.screen(120, 40).contains("paused webhooks · u undoes it"));
    rig.keys("u");
    assert!(rig.screen(120, 40).contains("Resume 1 queue"));
    rig.clock(14);
    rig.poll(snapshot());
    assert_eq!(rig.keys("y"), [set(false)]);
    rig.app.update(Msg::Paused { queue: queue.clone(), paused: false, changed: true });
    rig.keys("u");
    assert!(rig.app.overlay().is_none(), "it stands as it was");
    rig.app.update(Msg::PauseFailed { queue, reason: "no right".into() });
    assert!(rig.screen(120, 40).contains("stays as it is: no right"));
}
