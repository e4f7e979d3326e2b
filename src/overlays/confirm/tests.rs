//! Confirmations, tested by pressing keys and looking at the screen. Not part of the program.

use crossterm::event::{KeyCode, KeyModifiers};

use super::super::fixture::{NOW, ago, ahead, job, screen};
use super::*;
use crate::keymap::{self, Key, Scope};
use crate::model::{Failures, JobState, Lease, QueueStats, Reading};

const REQUEUE: Action = Action::Requeue { force: false };
const OPENED: Duration = Duration::from_secs(100);
const SIZE: (u16, u16) = (80, 24);

fn place(production: bool) -> Place {
    let server = ServerFacts {
        user: "ops".into(),
        database: "app".into(),
        host: "db1.internal".into(),
        ..ServerFacts::default()
    };
    Place { server, production, typed_above: 20 }
}

fn expired(count: u32) -> Vec<Job> {
    (1..=count).map(|n| job(n, "webhooks", JobState::Expired, 3, ago(252))).collect()
}

fn open(jobs: Vec<Job>, production: bool) -> Confirm {
    Confirm::new(REQUEUE, jobs, place(production), OPENED)
}

fn draw(confirm: &mut Confirm, size: (u16, u16), stale: bool) -> String {
    screen(size, stale, |area, buf, ctx| confirm.render(area, buf, ctx))
}

/// Presses a key so many milliseconds after the opening.
fn press(confirm: &mut Confirm, code: KeyCode, ms: u64) -> Answer {
    let event = KeyEvent::new(code, KeyModifiers::NONE);
    let command = Key::of(&event).and_then(|key| keymap::resolve(&[Scope::Confirm, Scope::Always], key));
    confirm.on_key(&event, command, OPENED + Duration::from_millis(ms))
}

fn type_word(confirm: &mut Confirm, word: &str) {
    for (at, c) in word.chars().enumerate() {
        assert_eq!(press(confirm, KeyCode::Char(c), 1_000 + at as u64), Answer::Stay);
    }
}

#[test]
fn y_confirms_and_nothing_else_does() {
    let mut confirm = open(expired(1), false);
    draw(&mut confirm, SIZE, false);
    for code in [KeyCode::Enter, KeyCode::Char(' '), KeyCode::Char('Y'), KeyCode::Char('r'), KeyCode::Tab] {
        assert_eq!(press(&mut confirm, code, 1_000), Answer::Stay, "{code}");
    }
    assert!(draw(&mut confirm, SIZE, false).contains("only y does"));
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 1_001), Answer::Confirmed);
    for code in [KeyCode::Esc, KeyCode::Char('n'), KeyCode::Char('q')] {
        assert_eq!(press(&mut confirm, code, 1_000), Answer::Cancel, "{code}");
    }
    assert_eq!(confirm.jobs(), expired(1));
    assert_eq!(confirm.action(), REQUEUE);
}

#[test]
fn keys_typed_before_it_appeared_do_not_count() {
    let mut confirm = open(expired(1), false);
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 5_000), Answer::Stay, "never drawn");
    draw(&mut confirm, SIZE, false);
    assert!(!confirm.is_armed(OPENED + Duration::from_millis(5_100)));
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 5_100), Answer::Stay, "the burst goes on");
    assert!(draw(&mut confirm, SIZE, false).contains("typed before this appeared"));
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 5_350), Answer::Confirmed);

    let mut confirm = open(expired(1), false);
    draw(&mut confirm, SIZE, false);
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 30), Answer::Stay, "faster than anybody reads");
    assert_eq!(press(&mut confirm, KeyCode::Esc, 31), Answer::Cancel, "leaving is always possible");
}

#[test]
fn production_is_confirmed_by_typing_the_queues_name() {
    let mut confirm = open(expired(2), true);
    let text = draw(&mut confirm, SIZE, false);
    assert!(text.contains("To confirm type  webhooks  and then y."), "{text}");
    assert!(text.contains("ops @ app @ db1.internal (primary, production)"), "{text}");
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 900), Answer::Stay);
    press(&mut confirm, KeyCode::Backspace, 901);
    type_word(&mut confirm, "webhookn");
    press(&mut confirm, KeyCode::Backspace, 1_100);
    press(&mut confirm, KeyCode::Char('s'), 1_101);
    assert!(draw(&mut confirm, SIZE, false).contains("> webhooks"));
    assert_eq!(press(&mut confirm, KeyCode::Enter, 2_000), Answer::Stay);
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 3_000), Answer::Confirmed);
    assert_eq!(press(&mut confirm, KeyCode::Esc, 3_001), Answer::Cancel);
}

#[test]
fn many_jobs_are_confirmed_by_typing_their_number() {
    let mut confirm = open(expired(21), false);
    assert!(draw(&mut confirm, SIZE, false).contains("To confirm type  21  and then y."));
    type_word(&mut confirm, "21");
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 1_002), Answer::Stay, "as fast as a paste");
    assert!(draw(&mut confirm, SIZE, false).contains("y again"));
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 1_500), Answer::Confirmed);
    assert!(open(expired(20), false).guard.typed.is_none());
}

#[test]
fn a_name_that_cannot_be_typed_is_not_asked_for() {
    for name in ["", "a b", "\u{1b}[2J", "名前", &"x".repeat(31)] {
        let jobs = vec![job(1, name, JobState::Expired, 1, ago(9)); 3];
        assert_eq!(word_for(&jobs, &place(true)), "3", "{name:?}");
    }
    let mut jobs = expired(2);
    assert_eq!(word_for(&jobs, &place(true)), "webhooks");
    jobs.extend([job(9, "emails", JobState::Expired, 1, ago(9))]);
    assert_eq!(word_for(&jobs, &place(true)), "3");
}

#[test]
fn a_paste_never_confirms() {
    let mut confirm = open(expired(1), true);
    draw(&mut confirm, SIZE, false);
    assert!(confirm.paste("abc\ny\n"));
    assert_eq!(press(&mut confirm, KeyCode::Enter, 1_000), Answer::Stay);
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 2_000), Answer::Stay);
    assert!(draw(&mut confirm, SIZE, false).contains("> abc yy"));
    let mut confirm = open(expired(1), false);
    draw(&mut confirm, SIZE, false);
    assert!(!confirm.paste("y\n"));
}

#[test]
fn old_numbers_and_nothing_to_do_cannot_be_confirmed() {
    let mut confirm = open(expired(1), false);
    assert!(draw(&mut confirm, SIZE, true).contains("The numbers are old."));
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 1_000), Answer::Stay);
    draw(&mut confirm, SIZE, false);
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 1_001), Answer::Confirmed);

    let mut confirm = open(vec![job(1, "a", JobState::Ready, 0, ago(9))], false);
    let text = draw(&mut confirm, SIZE, false);
    assert!(text.contains("Refused: it is ready already.") && !text.contains("[y]"), "{text}");
    assert_eq!(press(&mut confirm, KeyCode::Char('y'), 1_000), Answer::Stay);
}

#[test]
fn a_screen_that_is_too_small_says_so_and_confirms_nothing() {
    for size in [(20, 5), (10, 3), (1, 1), (300, 2), (0, 0), (40, 6)] {
        for (jobs, production) in [(1, false), (1, true), (300, false)] {
            let mut confirm = open(expired(jobs), production);
            let text = draw(&mut confirm, size, false);
            assert!(size.0 < 10 || text.starts_with("this"), "{text}");
            let word = word_for(confirm.jobs(), &confirm.place);
            type_word(&mut confirm, &word);
            assert_eq!(press(&mut confirm, KeyCode::Char('y'), 9_000), Answer::Stay, "{size:?}");
            assert_eq!(press(&mut confirm, KeyCode::Esc, 9_001), Answer::Cancel);
        }
    }
}

#[test]
fn a_long_list_scrolls_and_shows_every_id() {
    let mut confirm = open(expired(300), false);
    let mut seen = std::collections::BTreeSet::new();
    for step in 0..60 {
        let text = draw(&mut confirm, SIZE, false);
        seen.extend(text.lines().filter_map(|line| line.split_once("8c1fd0a4-").map(|(_, id)| id[..27].to_owned())));
        assert_eq!(press(&mut confirm, KeyCode::PageDown, 1_000 + step), Answer::Stay);
    }
    assert_eq!(seen.len(), 300);
    assert!(draw(&mut confirm, SIZE, false).contains("of 300, ↑ ↓ scroll"));
}

fn snapshot(leases: Vec<Job>, running: u64) -> Snapshot {
    let mut queue = QueueStats::unknown(expired(1)[0].at.queue.clone());
    (queue.running, queue.expired) = (Reading::Exact(running), Reading::Exact(0));
    Snapshot {
        taken_at: NOW,
        queues: vec![queue],
        leases: Reading::Exact(leases.into_iter().map(|job| Lease { job }).collect()),
        failures: Failures::default(),
        reaper_last: Reading::Unknown,
        cost: Duration::ZERO,
    }
}

#[test]
fn what_changes_while_it_is_open_is_said() {
    let mut confirm = open(expired(2), false);
    confirm.on_snapshot(&snapshot(expired(2), 2), NOW);
    assert!(!draw(&mut confirm, SIZE, false).contains("changed"));
    // One was claimed again; the other is in no lease any more.
    let again = Job { worker: Some("91bc".into()), ..job(1, "webhooks", JobState::Running, 4, ahead(300)) };
    confirm.on_snapshot(&snapshot(vec![again.clone()], 1), NOW);
    let text = draw(&mut confirm, SIZE, false);
    assert!(text.contains("changed: running again, attempt 4"), "{text}");
    assert!(text.contains("changed: no longer running"), "{text}");
    assert!(text.contains("2 changed meanwhile"), "{text}");
    // A list that is cut proves nothing about what is not in it.
    let mut confirm = open(expired(2), false);
    confirm.on_snapshot(&snapshot(vec![again], 500), NOW);
    assert!(draw(&mut confirm, SIZE, false).contains("1 changed meanwhile"));
    let completed = job(2, "webhooks", JobState::Completed, 3, ago(1));
    confirm.on_jobs(std::slice::from_ref(&completed));
    assert!(draw(&mut confirm, SIZE, false).contains("changed: completed now"));

    let mut confirm = open(vec![expired(2).remove(1)], false);
    confirm.on_jobs(&[completed]);
    assert!(draw(&mut confirm, SIZE, false).contains("changed   completed now: it changed while this box was open"));
}

#[test]
fn hostile_names_are_harmless() {
    let hostile = "\u{1b}]52;c;YQ==\u{7}\u{9b}31m\u{202e}";
    let mut one = job(1, hostile, JobState::Expired, 3, ago(9));
    one.worker = Some(hostile.into());
    one.at.id = hostile.into();
    let mut place = place(true);
    place.server.database = hostile.into();
    place.server.host = hostile.into();
    for jobs in [vec![one.clone()], vec![one.clone(), one]] {
        let mut confirm = Confirm::new(REQUEUE, jobs, place.clone(), OPENED);
        for size in [SIZE, (120, 40), (30, 40)] {
            let text = draw(&mut confirm, size, false);
            assert!(!text.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')), "{text:?}");
        }
    }
}
