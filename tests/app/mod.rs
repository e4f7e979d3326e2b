//! The pure core: keys and facts in, effects out, and what is on screen then. No terminal, no database, no clock.

mod detail;
mod mouse;
mod undo;
mod views;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use queuetop::app::world::World;
use queuetop::app::{App, Guards, Overlay};
use queuetop::model::{Ability, Action, ActionReport, Outcome, ServerFacts, Snapshot, TargetResult};
use queuetop::msg::{Effect, Msg};
use queuetop::panes::TimeStyle;
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::support::fixtures;

/// A program with a reading on screen, its clock at ten seconds.
struct Rig {
    app: App,
}

impl Rig {
    fn new() -> Self {
        let world = World::new(Theme::default(), TimeStyle::Relative, Duration::from_mins(15), Duration::from_secs(1));
        let guards = Guards { typed_above: 20, ..Guards::default() };
        Self { app: App::new(world, guards) }
    }

    fn connected() -> Self {
        let mut rig = Self::new();
        rig.app.update(Msg::Clock(Duration::from_secs(10)));
        rig.app.update(Msg::Connected(Box::new(server())));
        rig.poll(snapshot());
        rig
    }

    fn poll(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        self.app.update(Msg::Polled(Box::new(snapshot)))
    }

    /// Time passes after a frame was drawn.
    fn clock(&mut self, seconds: u64) {
        self.screen(120, 40);
        self.app.update(Msg::Clock(Duration::from_secs(seconds)));
    }

    fn press(&mut self, code: KeyCode) -> Vec<Effect> {
        self.app.update(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn keys(&mut self, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|c| self.press(KeyCode::Char(c))).collect()
    }

    fn screen(&mut self, columns: u16, rows: u16) -> String {
        let area = Rect::new(0, 0, columns, rows);
        let mut buf = Buffer::empty(area);
        self.app.draw(area, &mut buf);
        let line = |y| (0..columns).map(|x| buf[(x, y)].symbol().to_owned()).collect::<String>();
        (0..rows).map(line).collect::<Vec<_>>().join("\n")
    }

    /// On the leases, where the rows are jobs.
    fn on_leases() -> Self {
        let mut rig = Self::connected();
        rig.press(KeyCode::Tab);
        rig.press(KeyCode::Tab);
        rig
    }
}

fn server() -> ServerFacts {
    ServerFacts {
        user: "op".into(),
        database: "app".into(),
        host: "/tmp".into(),
        local: true,
        version: "15.18 (Debian)".into(),
        version_num: 150_018,
        act: Ability::Yes,
        ..ServerFacts::default()
    }
}

fn snapshot() -> Snapshot {
    fixtures::all().into_iter().find(|f| f.name == "busy").and_then(|f| f.snapshot).unwrap()
}

fn is_confirm(app: &App) -> bool {
    matches!(app.overlay(), Some(Overlay::Confirm(_)))
}

#[test]
fn before_the_first_reading_it_says_where_it_connects() {
    let mut rig = Rig::new();
    rig.app.update(Msg::Connecting { target: "app @ db1".into(), attempt: 1 });
    assert!(rig.screen(80, 24).contains("connecting to app @ db1"));
}

#[test]
fn quitting_works_from_everywhere() {
    assert_eq!(Rig::connected().keys("q"), [Effect::Quit]);
    let mut rig = Rig::on_leases();
    rig.keys("r");
    let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(rig.app.update(Msg::Key(ctrl_c)), [Effect::Quit]);
}

#[test]
fn only_y_confirms_and_exactly_what_was_seen_is_sent() {
    let mut rig = Rig::on_leases();
    assert_eq!(rig.keys("r"), []);
    assert!(is_confirm(&rig.app));
    rig.clock(12);
    for code in [KeyCode::Enter, KeyCode::Char(' '), KeyCode::Char('r'), KeyCode::Tab] {
        assert_eq!(rig.press(code), []);
        assert!(is_confirm(&rig.app), "{code:?} closed it");
    }
    let effects = rig.keys("y");
    let [Effect::Act { action: Action::Requeue { force: false }, targets, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let leases = snapshot().leases;
    let seen = leases.value().unwrap().iter().find(|lease| lease.job.at == targets[0].0).unwrap();
    assert_eq!(targets.len(), 1);
    assert_eq!(targets[0].1, seen.job.fence);
}

#[test]
fn keys_typed_before_the_box_appeared_do_not_answer_it() {
    let mut rig = Rig::on_leases();
    assert_eq!(rig.keys("ry"), []);
    assert!(is_confirm(&rig.app));
}

#[test]
fn releases_and_held_keys_act_once_at_most() {
    let mut rig = Rig::on_leases();
    rig.keys("r");
    rig.clock(12);
    for kind in [KeyEventKind::Release, KeyEventKind::Repeat] {
        let mut event = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
        event.kind = kind;
        assert_eq!(rig.app.update(Msg::Key(event)), []);
        assert!(is_confirm(&rig.app));
    }
}

#[test]
fn pasted_text_is_never_taken_as_keys() {
    let mut rig = Rig::on_leases();
    assert_eq!(rig.app.update(Msg::Paste("Rdqy\nyyy".into())), []);
    assert!(rig.app.overlay().is_none());
    rig.keys("d");
    rig.clock(12);
    assert_eq!(rig.app.update(Msg::Paste("y\n".into())), []);
    assert!(is_confirm(&rig.app));
}

#[test]
fn old_numbers_are_dated_and_nothing_is_done_on_them() {
    let mut rig = Rig::on_leases();
    rig.clock(40);
    assert!(rig.screen(120, 40).contains("30s old"), "{}", rig.screen(120, 40));
    assert_eq!(rig.keys("r"), []);
    assert!(rig.app.overlay().is_none());
    assert!(rig.screen(80, 24).contains("fresh reading"));
}

#[test]
fn a_lost_link_says_why_and_when_it_tries_again() {
    let mut rig = Rig::connected();
    rig.app.update(Msg::Lost {
        reason: "the server is shutting down".into(),
        retry_in: Some(Duration::from_secs(3)),
        connected: false,
    });
    let screen = rig.screen(120, 40);
    assert!(screen.contains("not connected · next try in 3 s"), "{screen}");
    assert!(screen.contains("the server is shutting down"));
    assert!(screen.contains("emails"), "the last numbers stay");
    rig.poll(snapshot());
    assert!(!rig.screen(120, 40).contains("not connected"));
}

#[test]
fn a_role_that_may_only_read_is_told_the_missing_grant() {
    let mut rig = Rig::on_leases();
    let facts = ServerFacts { act: Ability::No("GRANT queue_operator TO op".into()), ..server() };
    rig.app.update(Msg::Connected(Box::new(facts)));
    rig.keys("d");
    assert!(rig.app.overlay().is_none());
    assert!(rig.screen(120, 40).contains("GRANT queue_operator TO op"));
}

#[test]
fn marks_are_acted_on_together_and_cleared_after_the_answer() {
    let mut rig = Rig::on_leases();
    rig.keys("  x");
    rig.clock(12);
    let effects = rig.keys("y");
    let [Effect::Act { action: Action::Reap, targets, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(targets.len(), 2);
    let asked: Vec<_> = targets.iter().map(|(job, _)| job.clone()).collect();
    let answer = |outcome| TargetResult { id: String::new(), outcome, state_now: None, detail: None };
    let mut results = vec![answer(Outcome::Done), answer(Outcome::Gone)];
    for (result, job) in results.iter_mut().zip(&asked) {
        result.id.clone_from(&job.id);
    }
    let report = ActionReport { action: Action::Reap, asked, results, at: None, audit: None };
    assert!(rig.app.update(Msg::Acted(Box::new(report))).contains(&Effect::PollNow));
    assert!(matches!(rig.app.overlay(), Some(Overlay::Results(_))), "a partly failed batch is listed");
    assert!(rig.app.world.marks.is_empty());
}

#[test]
fn a_lost_answer_is_unknown_and_not_called_done() {
    let mut rig = Rig::connected();
    let reason = "the server closed the connection".to_owned();
    rig.app.update(Msg::ActFailed { action: Action::Requeue { force: false }, count: 1, reason, unknown: true });
    assert!(rig.screen(120, 40).contains("it may have happened"));
}

#[test]
fn a_refused_first_contact_ends_the_program_with_its_reason() {
    let mut rig = Rig::new();
    assert_eq!(rig.app.update(Msg::Refused("no such database".into())), [Effect::Quit]);
    assert_eq!(rig.app.refused(), Some("no such database"));
}

#[test]
fn a_frozen_screen_keeps_its_numbers_until_it_runs_again() {
    let mut rig = Rig::connected();
    rig.keys("z");
    let frozen = rig.screen(120, 40);
    assert!(frozen.contains("FROZEN"));
    let mut later = snapshot();
    later.taken_at = later.taken_at.plus(Duration::from_secs(5));
    later.queues.truncate(1);
    rig.poll(later);
    assert!(rig.screen(120, 40).contains("invoices"));
    rig.keys("z");
    assert!(!rig.screen(120, 40).contains("FROZEN"));
}

#[test]
fn the_interval_is_changed_by_key_within_bounds() {
    let mut rig = Rig::connected();
    assert_eq!(rig.keys("+"), [Effect::SetInterval(Duration::from_millis(500))]);
    let last = rig.keys("----------").pop();
    assert_eq!(last, Some(Effect::SetInterval(Duration::from_mins(1))));
}

#[test]
fn a_filter_puts_the_cursor_on_the_first_row_that_is_left() {
    let mut rig = Rig::connected();
    rig.keys("/invo");
    rig.press(KeyCode::Enter);
    assert_eq!(rig.app.world.queue.as_ref().map(|queue| queue.name.as_str()), Some("invoices"));
}
