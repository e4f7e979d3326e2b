//! Views and what lies over them: what opening asks for, and where Esc leads.

use std::time::Duration;

use crossterm::event::KeyCode;
use queuetop::app::{Overlay, View};
use queuetop::model::{JobDetail, Panel, PanelKind, Reading, Sort, Workers};
use queuetop::msg::{Effect, Msg};

use super::{Rig, snapshot};
use crate::support::fixtures;

#[test]
fn a_full_view_asks_for_its_reading_and_again_as_its_cost_allows() {
    let mut rig = Rig::connected();
    assert_eq!(rig.keys("3"), [Effect::ReadPanel(PanelKind::Workers)]);
    assert_eq!(rig.app.view(), View::Full(0));
    let again = |rig: &mut Rig| rig.poll(snapshot()).contains(&Effect::ReadPanel(PanelKind::Workers));
    assert!(!again(&mut rig), "one reading is on its way");
    let workers = |cost| {
        let taken_at = fixtures::NOW;
        Panel::Workers(Workers { workers: Reading::Exact(Vec::new()), taken_at, cost, note: None })
    };
    rig.app.update(Msg::PanelRead(Box::new(workers(Duration::from_millis(100)))));
    rig.clock(14);
    assert!(!again(&mut rig), "100 ms are 2 % of 5 s");
    rig.clock(15);
    assert!(again(&mut rig));
    rig.app.update(Msg::PanelFailed { kind: PanelKind::Workers, reason: "no".into() });
    rig.clock(16);
    assert!(again(&mut rig), "a failed reading is repeated");
    rig.clock(27);
    assert!(again(&mut rig), "an answer that never came is not waited for");
    assert!(rig.screen(80, 24).contains("LEASES AND WORKERS"));
    rig.press(KeyCode::Esc);
    assert_eq!(rig.app.view(), View::Overview);
    assert!(!again(&mut rig), "nobody looks at it");
}

#[test]
fn the_palette_does_what_is_chosen() {
    let mut rig = Rig::connected();
    rig.keys(":freeze");
    assert!(rig.screen(80, 24).contains("freeze the screen"));
    rig.press(KeyCode::Enter);
    assert!(rig.app.overlay().is_none() && rig.screen(120, 40).contains("FROZEN"));
    rig.keys("z:webhooks");
    let effects = rig.press(KeyCode::Enter);
    let [Effect::ReadPage(request)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(request.filter.one_queue(), Some(fixtures::queue_id("webhooks")));
    rig.keys(":");
    rig.press(KeyCode::Esc);
    assert!(rig.app.overlay().is_none());
    assert_eq!(rig.keys(":q"), []);
    assert_eq!(rig.press(KeyCode::Enter), [Effect::Quit]);
}

#[test]
fn a_confirmation_goes_back_to_the_detail_it_came_from() {
    let mut rig = Rig::on_leases();
    rig.press(KeyCode::Enter);
    let job = fixtures::busy().snapshot.unwrap().leases.value().unwrap()[0].job.clone();
    let detail = JobDetail {
        job: job.clone(),
        payload: Reading::Unknown,
        error: Reading::Unknown,
        attempts: Reading::Unknown,
        claimed_at: None,
        completed_at: None,
        replayed_as: None,
        more: Vec::new(),
        taken_at: fixtures::NOW,
        cost: Duration::ZERO,
    };
    rig.app.update(Msg::DetailRead { job: job.at, detail: Some(Box::new(detail)) });
    rig.keys("d");
    assert!(matches!(rig.app.overlay(), Some(Overlay::Confirm(_))));
    rig.press(KeyCode::Esc);
    assert!(matches!(rig.app.overlay(), Some(Overlay::Detail(_))));
}

#[test]
fn the_list_of_jobs_is_read_when_it_opens() {
    let mut rig = Rig::connected();
    let effects = rig.keys("2");
    assert!(matches!(effects.as_slice(), [Effect::ReadPage(_)]), "{effects:?}");
    assert_eq!(rig.app.view(), View::Jobs);
    rig.press(KeyCode::Esc);
    assert_eq!(rig.app.view(), View::Overview);
}

#[test]
fn enter_opens_the_job_and_reads_it() {
    let mut rig = Rig::on_leases();
    let effects = rig.press(KeyCode::Enter);
    assert!(matches!(effects.as_slice(), [Effect::ReadDetail(_)]), "{effects:?}");
    assert!(matches!(rig.app.overlay(), Some(Overlay::Detail(_))));
    rig.press(KeyCode::Esc);
    assert!(rig.app.overlay().is_none());
}

#[test]
fn a_longer_range_reads_more_of_the_past_once() {
    let mut rig = Rig::connected();
    assert_eq!(rig.keys("]]"), [], "six hours are there from the start");
    let hours = |hours| Duration::from_hours(hours);
    let day = Effect::ReadHistory { back: hours(24), span: Duration::from_mins(5) };
    let week = Effect::ReadHistory { back: hours(24 * 7), span: hours(1) };
    assert_eq!(rig.keys("]]"), [day.clone(), week]);
    assert!(rig.screen(120, 40).contains("jobs/s, 7d"));
    assert_eq!(rig.keys("[[]]"), [], "it is there already");
    rig.app.update(Msg::HistoryFailed("it took too long".into()));
    assert!(rig.screen(120, 40).contains("the past could not be read: it took too long"));
    assert_eq!(rig.keys("[[]"), [day], "what failed is asked for again");
}

/// The filter of the page that is asked for.
fn asked(effects: &[Effect]) -> String {
    let [Effect::ReadPage(request)] = effects else { panic!("{effects:?}") };
    request.filter.to_string()
}

#[test]
fn a_filter_opens_the_list_and_free_words_narrow_the_view() {
    let mut rig = Rig::connected();
    rig.keys("/web");
    assert_eq!(rig.press(KeyCode::Enter), []);
    assert_eq!(rig.app.view(), View::Overview);
    assert!(!rig.screen(120, 40).contains("thumbnails"));
    rig.press(KeyCode::Esc);
    assert!(rig.screen(120, 40).contains("thumbnails"));
    rig.keys("/state:dead attempts>=3");
    assert_eq!(asked(&rig.press(KeyCode::Enter)), "state:dead attempts>=3");
    assert_eq!(rig.app.view(), View::Jobs);
    // The list's own filter is edited, and what is wrong changes nothing.
    rig.keys("/ qeu:x");
    assert_eq!(rig.press(KeyCode::Enter), []);
    assert!(rig.screen(120, 40).contains("^^^"), "{}", rig.screen(120, 40));
    for _ in 0.." qeu:x".len() {
        rig.press(KeyCode::Backspace);
    }
    rig.keys(" queue:emails");
    assert_eq!(asked(&rig.press(KeyCode::Enter)), "state:dead attempts>=3 queue:emails");
    rig.keys("/");
    rig.press(KeyCode::Up);
    rig.press(KeyCode::Up);
    assert_eq!(asked(&rig.press(KeyCode::Enter)), "state:dead attempts>=3");
    rig.press(KeyCode::Esc);
    assert_eq!(rig.app.view(), View::Overview);
}

#[test]
fn enter_on_a_number_opens_the_jobs_behind_it() {
    let mut rig = Rig::connected();
    assert_eq!(asked(&rig.press(KeyCode::Enter)), "queue:webhooks");
    for (steps, want) in [
        (1, "queue:webhooks state:ready"),
        (2, "queue:webhooks state:scheduled"),
        (4, "queue:webhooks state:expired"),
        (9, "queue:webhooks state:scheduled attempts>=1"),
        (10, "queue:webhooks state:dead"),
    ] {
        let mut rig = Rig::connected();
        for _ in 0..steps {
            assert_eq!(rig.press(KeyCode::Right), []);
        }
        assert_eq!(asked(&rig.press(KeyCode::Enter)), want);
    }
    let mut rig = Rig::connected();
    rig.keys("llhhh");
    assert_eq!(asked(&rig.press(KeyCode::Enter)), "queue:webhooks", "the first is the queue itself");
}

#[test]
fn the_list_is_sorted_by_what_makes_sense_for_it_and_says_how_far() {
    let mut rig = Rig::connected();
    rig.keys("/queue:emails");
    rig.press(KeyCode::Enter);
    let mut seen = Vec::new();
    for _ in 0..8 {
        let effects = rig.keys("s");
        let [Effect::ReadPage(request)] = effects.as_slice() else { panic!("{effects:?}") };
        seen.push(request.sort);
    }
    assert!(seen.contains(&Sort::Natural) && seen.len() > 3);
    rig.keys("/state:dead");
    rig.press(KeyCode::Enter);
    let effects = rig.keys("s");
    let [Effect::ReadPage(request)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(request.after, None, "from the top");
}
