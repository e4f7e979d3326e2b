//! What the detail of a job looks like, in the states that matter, at three sizes; and that no text and no depth hurts it.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use queuetop::keymap::Command;
use queuetop::model::{
    Attempt, Excerpt, Job, JobDetail, JobState, PartRead, PartRequest, Preview, Reading, Redaction, Time,
};
use queuetop::overlays::detail::{Answer, Detail};
use queuetop::panes::Marks;
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::assert_harmless;
use crate::support::fixtures::{self, NOW, ago, ahead, context, job};
use crate::support::hostile;
use crate::support::screen::text_of;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn draw(open: &mut Detail, (width, height): (u16, u16)) -> Buffer {
    let (fixture, marks, theme) = (fixtures::busy(), Marks::new(), Theme::terminal());
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    open.render(area, &mut buf, &context(&fixture, &marks, &theme));
    theme.finish(&mut buf);
    buf
}

fn press(open: &mut Detail, command: Command) -> Answer {
    open.on_key(&KeyEvent::new(KeyCode::Null, KeyModifiers::NONE), Some(command))
}

fn search(open: &mut Detail, text: &str) {
    press(open, Command::Search);
    open.paste(text);
    press(open, Command::Confirm);
}

fn preview(text: &str, bytes: Option<u64>) -> Preview {
    let next = bytes.map(|_| text.chars().count() as u64);
    let bytes = bytes.unwrap_or(text.len() as u64);
    Preview::Read(Excerpt { text: text.into(), bytes, next, stamp: "1".into() })
}

fn attempt(number: i32, begun: i64, took: i64, outcome: &str, error: &str) -> Attempt {
    Attempt {
        number,
        worker: Some(format!("7f3a000{number}-0000-4000-8000-0000000000{number:02}")),
        begun_at: Some(ago(begun)),
        ended_at: Some(ago(begun - took)),
        outcome: outcome.into(),
        error: Some(error.into()),
    }
}

fn found(job: Job) -> JobDetail {
    let payload = r#"{"order": {"id": 12345678901234567890, "total": 1e400, "lines": [{"sku": "A-1", "n": 2}, {"sku": "B-7", "n": 1}]}, "to": "ops@example.org", "tags": [], "note": null, "note": "again"}"#;
    JobDetail {
        job,
        payload: Reading::Exact(preview(payload, None)),
        error: Reading::Exact(Some(preview("HTTP 503 from hooks.example\n  at send (hook.js:12)\n", None))),
        attempts: Reading::Exact(vec![
            attempt(1, 7_500, 2, "failed", "HTTP 503 from hooks.example\n  at send"),
            attempt(2, 7_400, 300, "expired", "lease expired"),
            attempt(3, 3_600, 31, "operator", "taken away by an operator"),
        ]),
        claimed_at: Some(ago(130)),
        completed_at: None,
        replayed_as: None,
        more: vec![("idempotency key".into(), "order-17".into())],
        taken_at: NOW,
        cost: Duration::ZERO,
    }
}

fn open(detail: JobDetail) -> Detail {
    let at = detail.job.at.clone();
    let mut open = Detail::new(at.clone(), Redaction::default());
    open.on_detail(&at, Some(detail), Duration::ZERO);
    open
}

fn running() -> Detail {
    open(found(job(3, "webhooks", JobState::Running, 4, ahead(170))))
}

/// Replayed once; it died of its eighth attempt, and the first are not recorded.
fn dead() -> Detail {
    let mut dead = found(job(4, "webhooks", JobState::Dead, 8, ago(300)));
    dead.attempts = Reading::Exact(vec![attempt(7, 4_000, 61, "failed", "a"), attempt(8, 400, 100, "failed", "b")]);
    dead.replayed_as = Some("55d00000-1111-4222-8333-4444444444aa".into());
    dead.more = vec![("reason".into(), "exhausted".into())];
    open(dead)
}

/// Some of the payload is hidden; the cursor is on one of those values.
fn hidden() -> Detail {
    let found = found(job(9, "webhooks", JobState::Ready, 4, ago(20)));
    let at = found.job.at.clone();
    let paths = ["to", "order.lines.sku", "tags"].map(str::to_owned);
    let mut open = Detail::new(at.clone(), Redaction::new(false, &paths));
    open.on_detail(&at, Some(found), Duration::ZERO);
    draw(&mut open, SIZES[1]);
    search(&mut open, "sku");
    open
}

/// Large and cut: folded, and searched for something.
fn searching() -> Detail {
    let member =
        |n: u32| format!(r#"{{"id": {n}, "customer": {{"name": "Customer {n}", "mail": "c{n}@example.org"}}}}"#);
    let members: Vec<String> = (1..400).map(member).collect();
    let mut large = found(job(5, "imports", JobState::Expired, 8, ago(60)));
    large.payload =
        Reading::Exact(preview(&format!(r#"{{"rows": [{}, {{"id": 4"#, members.join(", ")), Some(5_300_000)));
    large.error = Reading::Exact(Some(preview(&"row 12 has no mail\n".repeat(300), Some(1_000_000))));
    let mut open = open(large);
    draw(&mut open, SIZES[1]);
    search(&mut open, "c12@");
    open
}

#[test]
fn it_looks_as_reviewed() {
    for (name, open) in [("running", running()), ("dead", dead()), ("searching", searching()), ("hidden", hidden())] {
        for size in SIZES {
            let buf = draw(&mut open.clone(), size);
            insta::assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), text_of(&buf));
        }
    }
}

#[test]
fn the_cursor_and_what_was_found_are_told_apart_without_colour() {
    let mut open = searching();
    press(&mut open, Command::Up);
    let buf = draw(&mut open, SIZES[1]);
    let style = |x: u16, y: u16| buf[(x, y)].modifier;
    let row = |words: &str| {
        let text = text_of(&buf);
        let y = text.lines().position(|line| line.contains(words)).unwrap();
        let x = text.lines().nth(y).unwrap().chars().position(|c| c == 'c').unwrap();
        (u16::try_from(x).unwrap(), u16::try_from(y).unwrap())
    };
    let reversed = ratatui::style::Modifier::REVERSED;
    let cursor = text_of(&buf).lines().position(|line| line.starts_with('▸')).unwrap();
    let cursor = u16::try_from(cursor).unwrap();
    assert!((0..120).all(|x| style(x, cursor).contains(reversed)));
    let (_, y) = row("c12@example.org");
    let found: Vec<u16> = (0..120).filter(|x| style(*x, y).contains(reversed)).collect();
    assert_eq!(found.len(), 4, "exactly what was found");
    press(&mut open, Command::Down);
    let buf = draw(&mut open, SIZES[1]);
    let plain: Vec<u16> = (0..120).filter(|x| !buf[(*x, y)].modifier.contains(reversed)).collect();
    assert_eq!(plain, found, "under the cursor it is the other way round");
}

/// Hostile text as payload (in its keys and values, and as what is no JSON at all), as error and in every short place.
#[test]
fn hostile_payloads_are_harmless_folded_found_and_broken() {
    for text in &hostile::strings() {
        let json = serde_json::json!({ text: { text: [text, { text: text }] } }).to_string();
        for payload in [json.clone(), text.clone(), format!("{{\"{text}\": [\"{text}"), format!("[{text}")] {
            let mut hostile = found(job(6, text, JobState::Expired, 2, ago(5)));
            hostile.job.at.id.clone_from(text);
            hostile.payload = Reading::Exact(preview(&payload, None));
            hostile.error = Reading::Exact(Some(preview(&format!("{text}\n{text}"), None)));
            hostile.attempts = Reading::Exact(vec![attempt(1, 60, 3, text, text)]);
            hostile.replayed_as = Some(text.clone());
            let mut open = open(hostile);
            for (step, size) in [(80, 24), (33, 60), (200, 60), (9, 9)].into_iter().enumerate() {
                assert_harmless(&draw(&mut open, size), Rect::new(0, 0, size.0, size.1), text);
                match step {
                    0 => search(&mut open, text),
                    1 => drop(press(&mut open, Command::FoldAll)),
                    2 => drop(press(&mut open, Command::Fold)),
                    _ => {}
                }
            }
            assert_harmless(&draw(&mut open, (60, 40)), Rect::new(0, 0, 60, 40), text);
            let Answer::Copy { text: copied, .. } = press(&mut open, Command::CopyError) else { panic!("not copied") };
            assert_eq!(copied, format!("{text}\n{text}"), "the clipboard gets it as it is");
        }
    }
}

/// Report 56: depth and number of members.
#[test]
fn ten_thousand_levels_and_a_million_keys_are_read_to_their_end() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let keys: Vec<String> = (0..1_000_000).map(|n| format!("\"k{n}\": {n}")).collect();
    for (text, last) in [(deep, "]"), (format!("{{{}}}", keys.join(", ")), "}")] {
        let mut large = found(job(7, "q", JobState::Ready, 0, ago(5)));
        let begin: String = text.chars().take(65_536).collect();
        large.payload = Reading::Exact(preview(&begin, (begin.len() < text.len()).then_some(text.len() as u64)));
        let mut open = open(large);
        draw(&mut open, SIZES[0]);
        if let Answer::Read(request) = press(&mut open, Command::ReadAll) {
            // More than is shown of it all, as the million is: the rest is said to be elsewhere.
            let rest: String = text.chars().skip(65_536).take(request.chars as usize).collect();
            let next = (begin.len() + rest.len() < text.len()).then_some(65_536 + rest.len() as u64);
            read_on(&mut open, &request, rest, next, text.len());
            if next.is_some() {
                let Answer::Say(words, false) = press(&mut open, Command::ReadMore) else {
                    panic!("more than the most")
                };
                assert!(words.contains("8.0 MB"), "{words}");
                continue;
            }
        }
        press(&mut open, Command::FoldAll);
        press(&mut open, Command::Bottom);
        let screen = text_of(&draw(&mut open, SIZES[0]));
        assert_eq!(screen.lines().nth(22).map(|line| line.trim_start_matches('▸').trim()), Some(last), "{screen}");
    }
}

fn read_on(open: &mut Detail, request: &PartRequest, text: String, next: Option<u64>, whole: usize) {
    let piece = Excerpt { text, bytes: whole as u64, next, stamp: "1".into() };
    open.on_part(request, PartRead { piece: Some(piece), cost: Duration::ZERO }).expect("it was asked for");
}

/// Reports 51 and 53: times without end, and a server that is ahead.
#[test]
fn strange_times_make_no_strange_lines() {
    for at in [Time::NegInfinity, Time::Infinity, Time::At(i64::MIN), Time::At(i64::MAX), ahead(600)] {
        let mut strange = found(job(8, "q", JobState::Running, i32::MAX, at));
        let run = Attempt { begun_at: Some(at), ended_at: Some(at), ..attempt(i32::MAX, 60, 3, "failed", "x") };
        strange.attempts = Reading::Exact(vec![run]);
        (strange.claimed_at, strange.job.created_at) = (Some(at), Some(at));
        (strange.job.run_at, strange.job.updated_at) = (at, Some(at));
        let text = text_of(&draw(&mut open(strange), (160, 60)));
        let negative = text.as_bytes().windows(3).any(|w| w.starts_with(b" -") && w[2].is_ascii_digit());
        assert!(!negative && text.contains("2147483647"), "{text}");
    }
}
