//! What overlays look like: each at two sizes as reviewed text over a busy overview, and each at odd sizes with hostile
//! data, where nothing may panic, no control character may reach a cell, and nothing may be confirmed that cannot be read.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use queuetop::diagnose;
use queuetop::keymap::{Command, Scope};
use queuetop::model::{
    Action, ActionReport, Attempt, Excerpt, Job, JobDetail, JobState, Outcome, Preview, Reading, Redaction,
    ServerFacts, TargetResult,
};
use queuetop::overlays::confirm::{Answer, Confirm, Place};
use queuetop::overlays::detail::Detail;
use queuetop::overlays::filter::{FilterPrompt, Known};
use queuetop::overlays::help::Help;
use queuetop::overlays::results::Results;
use queuetop::panes::{Ctx, Marks};
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::assert_harmless;
use crate::support::fixtures::{self, NOW, ago, ahead, context, job};
use crate::support::hostile;
use crate::support::screen::text_of;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];
const ODD_SIZES: [(u16, u16); 10] =
    [(20, 5), (10, 3), (1, 1), (300, 2), (0, 0), (2, 60), (40, 10), (12, 4), (25, 9), (200, 60)];

/// Draws an overlay on a screen filled with something else, so that what it does not clear is seen.
fn draw(size: (u16, u16), render: impl FnOnce(Rect, &mut Buffer, &Ctx<'_>)) -> Buffer {
    let (fixture, marks, theme) = (fixtures::busy(), Marks::new(), Theme::terminal());
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buf = Buffer::empty(area);
    for cell in &mut buf.content {
        cell.set_symbol("░");
    }
    render(area, &mut buf, &context(&fixture, &marks, &theme));
    buf
}

fn place(production: bool) -> Place {
    let server = ServerFacts {
        user: "ops".into(),
        database: "app".into(),
        host: "db1.internal".into(),
        ..ServerFacts::default()
    };
    Place { server, production, typed_above: 20 }
}

fn confirm(action: Action, jobs: Vec<Job>, production: bool) -> Confirm {
    Confirm::new(action, jobs, place(production), Duration::ZERO)
}

fn requeue() -> Confirm {
    confirm(Action::Requeue { force: false }, vec![job(1, "webhooks", JobState::Expired, 3, ago(252))], false)
}

/// Thirty jobs in every state, of two queues.
fn dead_letter_many() -> Confirm {
    let states = [JobState::Expired, JobState::Running, JobState::Ready, JobState::Scheduled, JobState::Exhausted];
    let jobs = (0..30).map(|n| {
        let state = states[n as usize % states.len()];
        let at = if matches!(state, JobState::Running | JobState::Scheduled) { ahead(160) } else { ago(252) };
        let attempts = if state == JobState::Exhausted { 8 } else { 2 };
        job(n, if n < 20 { "webhooks" } else { "emails" }, state, attempts, at)
    });
    confirm(Action::DeadLetter { force: false }, jobs.collect(), true)
}

fn attempt(number: i32, seconds: i64, outcome: &str, error: &str) -> Attempt {
    Attempt {
        number,
        worker: Some("7f3a0001-0000-4000-8000-000000000000".into()),
        begun_at: Some(ago(seconds + 12)),
        ended_at: Some(ago(seconds)),
        outcome: outcome.into(),
        error: Some(error.into()),
    }
}

fn preview(text: &str, bytes: u64, cut: bool) -> Preview {
    let next = cut.then(|| text.chars().count() as u64);
    Preview::Read(Excerpt { text: text.into(), bytes, next, stamp: String::new() })
}

fn job_detail() -> JobDetail {
    let payload =
        r#"{"to": "https://hooks.example/7", "event": {"id": 12345678901234567890, "tags": ["a", "b"], "note": null}}"#;
    let error = "timeout connecting to smtp.example after 1 ms\n  at send (mail.js:1)\n  at run (worker.js:88)";
    JobDetail {
        job: job(1, "webhooks", JobState::Expired, 3, ago(252)),
        payload: Reading::Exact(preview(payload, 104, false)),
        error: Reading::Exact(Some(preview(error, 94, false))),
        attempts: Reading::Exact(vec![
            attempt(1, 3_900, "failed", "HTTP 422 from hooks.example\nbody: …"),
            attempt(2, 900, "expired", "lease expired"),
        ]),
        claimed_at: Some(ago(552)),
        completed_at: None,
        replayed_as: None,
        more: vec![("idempotency key".into(), "order-17".into())],
        taken_at: NOW,
        cost: Duration::from_millis(1),
    }
}

fn detail(found: JobDetail) -> Detail {
    let mut open = Detail::new(found.job.at.clone(), Redaction::default());
    open.on_detail(&found.job.at.clone(), Some(found), Duration::ZERO);
    open
}

fn results() -> Results {
    let result = |n: u32, outcome, state: Option<&str>, detail: Option<&str>| TargetResult {
        id: job(n, "webhooks", JobState::Ready, 0, NOW).at.id,
        outcome,
        state_now: state.map(str::to_owned),
        detail: detail.map(str::to_owned),
    };
    let results = vec![
        result(1, Outcome::Done, Some("ready"), None),
        result(2, Outcome::Changed, Some("completed"), None),
        result(3, Outcome::Gone, Some("gone"), None),
        result(4, Outcome::Refused, Some("running"), Some("its lease has not run out; only by force")),
        result(5, Outcome::Locked, Some("ready"), Some("somebody else is changing it")),
        result(6, Outcome::Unknown, None, None),
    ];
    let asked = (1..=6).map(|n| job(n, "webhooks", JobState::Ready, 0, NOW).at).collect();
    Results::new(ActionReport {
        action: Action::Requeue { force: false },
        asked,
        results,
        at: Some(ago(2)),
        audit: None,
    })
}

/// What draws an overlay.
type Drawing = Box<dyn FnMut(Rect, &mut Buffer, &Ctx<'_>)>;

/// Every overlay, by name, ready to be drawn.
fn all() -> Vec<(&'static str, Drawing)> {
    let (mut one, mut many) = (requeue(), dead_letter_many());
    let mut reading = Detail::new(job(1, "webhooks", JobState::Expired, 3, ago(252)).at, Redaction::default());
    let mut detail = detail(job_detail());
    let mut help = Help::new(vec![Scope::Jobs, Scope::List, Scope::Global, Scope::Always]);
    let (mut results, filter) = (results(), FilterPrompt::new("timeout", Known::default()));
    vec![
        ("confirm-one", Box::new(move |area, buf, ctx| one.render(area, buf, ctx))),
        ("confirm-many", Box::new(move |area, buf, ctx| many.render(area, buf, ctx))),
        ("detail-reading", Box::new(move |area, buf, ctx| reading.render(area, buf, ctx))),
        ("detail", Box::new(move |area, buf, ctx| detail.render(area, buf, ctx))),
        ("help", Box::new(move |area, buf, ctx| help.render(area, buf, ctx))),
        ("results", Box::new(move |area, buf, ctx| results.render(area, buf, ctx))),
        ("filter", Box::new(move |area, buf, ctx| filter.render(area, buf, ctx))),
    ]
}

#[test]
fn overlays_look_as_reviewed() {
    for (name, mut render) in all() {
        for (width, height) in SIZES {
            let buf = draw((width, height), |area, buf, ctx| render(area, buf, ctx));
            insta::assert_snapshot!(format!("{name}-{width}x{height}"), text_of(&buf));
        }
    }
}

#[test]
fn overlays_are_total_for_any_size() {
    for (_, mut render) in all() {
        for size in ODD_SIZES {
            draw(size, |area, buf, ctx| render(area, buf, ctx));
        }
    }
}

/// The job with hostile text in every place that a stranger can write to.
fn hostile_detail(text: &str) -> JobDetail {
    let mut found = job_detail();
    found.job.at.queue.name = text.into();
    found.job.at.id = text.into();
    found.job.worker = Some(text.into());
    found.job.error = Some(text.into());
    found.payload = Reading::Exact(preview(&format!("{{\"{text}\": [\"{text}\"]}}"), 9, true));
    found.error = Reading::Exact(Some(preview(&text.repeat(20), 9, true)));
    found.attempts = Reading::Exact(vec![attempt(1, 9, text, text)]);
    found.more = vec![(text.into(), text.into())];
    found
}

#[test]
fn hostile_text_is_harmless_in_every_overlay() {
    for text in &hostile::strings() {
        let found = hostile_detail(text);
        let mut one = confirm(Action::Reap, vec![found.job.clone()], true);
        let mut two = confirm(Action::Reap, vec![found.job.clone(), found.job.clone()], false);
        let mut open = detail(found.clone());
        let mut prompt = FilterPrompt::new(text, Known::default());
        prompt.paste(text);
        let result = TargetResult {
            id: text.clone(),
            outcome: Outcome::Refused,
            state_now: Some(text.clone()),
            detail: Some(text.clone()),
        };
        let report = ActionReport {
            action: Action::Reap,
            asked: vec![found.job.at.clone(); 2],
            results: vec![result.clone(), result],
            at: None,
            audit: None,
        };
        let mut results = Results::new(report);
        for size in [(80, 24), (120, 40), (30, 30), (12, 9)] {
            let bufs = [
                draw(size, |area, buf, ctx| one.render(area, buf, ctx)),
                draw(size, |area, buf, ctx| two.render(area, buf, ctx)),
                draw(size, |area, buf, ctx| open.render(area, buf, ctx)),
                draw(size, |area, buf, ctx| prompt.render(area, buf, ctx)),
                draw(size, |area, buf, ctx| results.render(area, buf, ctx)),
            ];
            for buf in &bufs {
                assert_harmless(buf, buf.area, text);
            }
            press(&mut open, Command::PageDown);
        }
    }
}

/// What a key does to an open detail.
fn press(open: &mut Detail, command: Command) {
    open.on_key(&KeyEvent::new(KeyCode::Null, KeyModifiers::NONE), Some(command));
}

#[test]
fn the_end_of_huge_texts_is_reached() {
    let huge = JobDetail {
        error: Reading::Exact(Some(preview(&"x".repeat(5 << 20), 5 << 20, false))),
        payload: Reading::Exact(preview(&"[".repeat(10_000), 1 << 30, true)),
        ..job_detail()
    };
    let mut open = detail(huge);
    let frame = |open: &mut Detail| text_of(&draw((80, 24), |area, buf, ctx| open.render(area, buf, ctx)));
    assert!(frame(&mut open).contains("lines 1-20 of 67,4"), "{}", frame(&mut open));
    press(&mut open, Command::Bottom);
    let text = frame(&mut open);
    assert!(text.contains("[… 1 item so far · ["), "{text}");
}

#[test]
fn what_cannot_be_read_cannot_be_confirmed() {
    for size in [(20, 5), (10, 3), (1, 1), (300, 2), (0, 0)] {
        for mut open in [requeue(), dead_letter_many()] {
            let buf = draw(size, |area, buf, ctx| open.render(area, buf, ctx));
            let words = text_of(&buf).replace('\n', " ");
            assert!(size.0 < 20 || words.contains("this dialog needs a screen of"), "{words}");
            let y = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
            let answer = open.on_key(&y, Some(Command::Confirm), Duration::from_secs(9));
            assert_eq!(answer, Answer::Stay, "{size:?}");
        }
    }
}

#[test]
fn the_verdict_of_a_busy_night_names_the_worst_first() {
    let fixture = fixtures::busy();
    let snapshot = fixture.snapshot.unwrap();
    let findings = diagnose::findings(&snapshot, &fixture.history, None);
    let verdict = diagnose::verdict(&findings, &snapshot, 118);
    insta::assert_snapshot!("verdict-busy", verdict.text);
}

#[test]
fn strange_readings_make_no_finding_panic_and_no_text_dangerous() {
    let fixture = hostile::fixture();
    let snapshot = fixture.snapshot.unwrap();
    let findings = diagnose::findings(&snapshot, &fixture.history, None);
    for columns in 0..200 {
        let verdict = diagnose::verdict(&findings, &snapshot, columns);
        assert!(queuetop::text::width(&verdict.text) <= columns);
    }
    for finding in findings {
        let texts = format!("{}{}{}{:?}", finding.sentence, finding.brief, finding.next_step, finding.evidence);
        assert!(!texts.contains(|c: char| c.is_control()), "{texts:?}");
    }
}
