//! A job that is open: when it is read again, what its keys ask for, what the footer offers, and what happens over it.

use std::time::Duration;

use crossterm::event::KeyCode;
use queuetop::app::Overlay;
use queuetop::model::{
    Action, Excerpt, Job, JobDetail, JobState, Part, PartRead, PartRequest, Preview, Reading, ServerFacts, Stamps,
};
use queuetop::msg::{COPY_MOST, Effect, Msg};

use super::{Rig, server, snapshot};
use crate::support::fixtures::{self, ago};

fn excerpt(text: &str, cut: bool) -> Preview {
    let next = cut.then(|| text.chars().count() as u64);
    let bytes = text.len() as u64 * if cut { 10 } else { 1 };
    Preview::Read(Excerpt { text: text.into(), bytes, next, stamp: "s".into() })
}

fn found(job: Job) -> JobDetail {
    JobDetail {
        job,
        payload: Reading::Exact(excerpt(r#"{"to": "Rdqy", "tags": [1, 2]}"#, false)),
        error: Reading::Exact(Some(excerpt("timeout", false))),
        attempts: Reading::Exact(Vec::new()),
        claimed_at: Some(ago(60)),
        completed_at: None,
        replayed_as: None,
        more: Vec::new(),
        taken_at: fixtures::NOW,
        cost: Duration::from_millis(1),
    }
}

impl Rig {
    /// The first lease is open, and read as `change` makes it.
    fn on_detail(change: impl FnOnce(&mut JobDetail)) -> Self {
        let mut rig = Self::on_leases();
        let effects = rig.press(KeyCode::Enter);
        let [Effect::ReadDetail(asked)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(asked.known, Stamps::default());
        let leases = snapshot().leases;
        let lease = leases.value().unwrap().iter().find(|lease| lease.job.at == asked.job).unwrap();
        let mut detail = found(lease.job.clone());
        change(&mut detail);
        rig.app.update(Msg::DetailRead { job: asked.job.clone(), detail: Some(Box::new(detail)) });
        rig.screen(120, 40);
        rig
    }

    fn footer(&mut self) -> String {
        self.screen(160, 40).lines().last().unwrap().trim_end().to_owned()
    }
}

/// As a job of this state.
fn of(state: JobState) -> impl FnOnce(&mut JobDetail) {
    move |detail| {
        let job = fixtures::job(1, "emails", state, 2, ago(60));
        detail.job = Job { at: detail.job.at.clone(), ..job };
        detail.job.at.dead = state == JobState::Dead;
    }
}

#[test]
fn an_open_job_is_read_again_with_the_polls_and_says_what_it_knows() {
    let mut rig = Rig::on_detail(|_| {});
    let again = |rig: &mut Rig| rig.poll(snapshot()).into_iter().find(|effect| matches!(effect, Effect::ReadDetail(_)));
    rig.clock(11);
    assert_eq!(again(&mut rig), None, "two seconds is the shortest");
    rig.clock(12);
    let Some(Effect::ReadDetail(asked)) = again(&mut rig) else { panic!("not read again") };
    assert_eq!(asked.known, Stamps { payload: Some("s".into()), error: Some("s".into()) });
    assert_eq!(again(&mut rig), None, "one is on its way");
    rig.app.update(Msg::DetailFailed { job: asked.job.clone(), reason: "canceled".into() });
    assert!(rig.screen(120, 40).contains("it could not be read: canceled"));
    rig.keys("z");
    rig.clock(20);
    assert!(again(&mut rig).is_some(), "z is no key here: nothing is frozen");
    rig.press(KeyCode::Esc);
    rig.clock(30);
    assert_eq!(again(&mut rig), None, "nobody looks at it");
}

#[test]
fn what_is_typed_to_be_found_is_no_command() {
    let mut rig = Rig::on_detail(|_| {});
    assert_eq!(rig.keys("/Rd"), []);
    assert_eq!(rig.app.update(Msg::Paste("qy\n".into())), []);
    assert!(rig.screen(80, 24).lines().last().unwrap().starts_with(" search: Rdqy"));
    assert!(matches!(rig.app.overlay(), Some(Overlay::Detail(_))));
    rig.press(KeyCode::Enter);
    assert!(rig.screen(120, 40).contains("Rdqy: 1 of 1"));
    rig.keys("/x");
    rig.press(KeyCode::Esc);
    assert!(rig.screen(120, 40).contains("Rdqy: 1 of 1"), "leaving the line leaves what was there");
    rig.press(KeyCode::Esc);
    assert!(rig.app.overlay().is_some() && !rig.screen(120, 40).contains("1 of 1"));
    rig.press(KeyCode::Esc);
    assert!(rig.app.overlay().is_none());
    let mut rig = Rig::on_detail(|_| {});
    assert_eq!(rig.app.update(Msg::Paste("dy".into())), []);
    assert!(rig.screen(120, 40).contains("pasted text is not taken as keys"));
}

#[test]
fn copies_say_what_they_are() {
    let mut rig = Rig::on_detail(|detail| {
        detail.error = Reading::Exact(Some(excerpt(&"é".repeat(100_000), false)));
    });
    let Some(Effect::Copy(id)) = rig.keys("y").pop() else { panic!() };
    assert!(rig.footer().contains("copied the id") && id.len() == 36, "{id}");
    assert_eq!(rig.keys("Y"), [Effect::Copy(r#"{"to": "Rdqy", "tags": [1, 2]}"#.into())]);
    assert!(rig.footer().starts_with("copied the payload, 30 bytes"));
    let Some(Effect::Copy(error)) = rig.keys("E").pop() else { panic!() };
    assert_eq!(error.len(), COPY_MOST);
    assert!(rig.footer().starts_with("copied the first 73 kB of 195 kB of the error"), "{}", rig.footer());
    rig.keys("j");
    assert!(rig.footer().contains("search"), "the next key takes the notice away: {}", rig.footer());
}

#[test]
fn what_was_cut_is_asked_for_by_a_key_and_its_cost_is_said() {
    let mut rig = Rig::on_detail(|detail| detail.payload = Reading::Exact(excerpt("[1, 2", true)));
    assert!(rig.footer().contains(" m more"));
    let effects = rig.keys("m");
    let [Effect::ReadPart(request)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((request.part, request.from), (Part::Payload, 5));
    rig.app.update(Msg::PartFailed { request: request.clone(), reason: "took too long".into() });
    assert!(rig.footer().contains("no more of the payload could be read: took too long"));
    let effects = rig.keys("M");
    let [Effect::ReadPart(request)] = effects.as_slice() else { panic!("{effects:?}") };
    let piece = Some(Excerpt { text: ", 3]".into(), bytes: 9, next: None, stamp: "s".into() });
    let read = Box::new(PartRead { piece, cost: Duration::from_millis(58) });
    rig.app.update(Msg::PartRead { request: PartRequest { from: 4, ..request.clone() }, read: read.clone() });
    assert!(!rig.footer().contains("are here"), "nobody waits for that one");
    rig.app.update(Msg::PartRead { request: request.clone(), read });
    assert!(rig.footer().contains("all 9 bytes of the payload are here; that took the server 58 ms"));
    assert!(rig.screen(120, 40).contains("   3"));
    rig.keys("j");
    assert!(!rig.footer().contains(" m more"));
}

#[test]
fn the_footer_offers_only_keys_that_do_something() {
    let hints = |state| {
        let mut footer = Rig::on_detail(of(state)).footer();
        footer.retain(|c| c.is_ascii());
        ["requeue", "dead-letter", "reap", "replay", "next", "more", "reveal", "fold", "copy id", "help", "back"]
            .map(|hint| footer.contains(&format!(" {hint} ")) || footer.ends_with(hint))
    };
    let (yes, no) = (true, false);
    assert_eq!(hints(JobState::Expired), [yes, yes, yes, no, no, no, no, yes, yes, yes, yes]);
    assert_eq!(hints(JobState::Ready), [no, yes, no, no, no, no, no, yes, yes, yes, yes]);
    assert_eq!(hints(JobState::Completed), [no, no, no, no, no, no, no, yes, yes, yes, yes]);
    assert_eq!(hints(JobState::Dead), [no, no, no, yes, no, no, no, yes, yes, yes, yes]);
}

#[test]
fn a_dead_letter_is_replayed_from_here() {
    for (key, force) in [("R", false), ("F", true)] {
        let mut rig = Rig::on_detail(of(JobState::Dead));
        rig.keys(key);
        assert!(matches!(rig.app.overlay(), Some(Overlay::Confirm(_))), "{key}");
        rig.clock(11);
        let effects = rig.keys("y");
        let [Effect::Act { action, targets, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((*action, targets.len()), (Action::Replay { force }, 1));
    }
}

#[test]
fn a_confirmation_over_it_is_told_what_became_of_the_job() {
    let mut rig = Rig::on_detail(of(JobState::Expired));
    rig.keys("d");
    let Some(Overlay::Confirm(asks)) = rig.app.overlay() else { panic!("no box") };
    let job = asks.jobs()[0].clone();
    let mut now = found(Job { state: JobState::Completed, ..job.clone() });
    now.job.fence.0 = serde_json::json!({ "status": "completed" });
    rig.app.update(Msg::DetailRead { job: job.at, detail: Some(Box::new(now)) });
    assert!(rig.screen(120, 40).contains("completed now"), "{}", rig.screen(120, 40));
}

#[test]
fn nothing_is_done_on_an_old_reading_and_it_is_shown_dimmed() {
    let mut rig = Rig::on_detail(of(JobState::Expired));
    rig.clock(40);
    assert_eq!(rig.keys("r"), []);
    assert!(matches!(rig.app.overlay(), Some(Overlay::Detail(_))));
    assert!(rig.footer().contains("fresh reading"), "{}", rig.footer());
}

#[test]
fn a_replica_is_told_and_help_undo_and_times_work_here() {
    let mut rig = Rig::on_detail(of(JobState::Expired));
    rig.app.update(Msg::Connected(Box::new(ServerFacts { standby: true, ..server() })));
    assert!(rig.screen(120, 40).contains("nothing: this server is a replica, read only"));
    assert!(!rig.footer().contains("requeue") && rig.footer().contains("copy id"), "{}", rig.footer());
    rig.keys("t");
    assert!(rig.screen(120, 40).contains("UTC"));
    rig.keys("?");
    assert!(rig.screen(120, 40).contains("IN THE DETAIL OF A JOB"), "{}", rig.screen(120, 40));
    rig.press(KeyCode::Esc);
    rig.keys("u");
    assert!(rig.footer().contains("cannot undo"), "{}", rig.footer());
}
