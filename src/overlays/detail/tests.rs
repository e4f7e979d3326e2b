//! The detail of a job, tested by giving it jobs and looking at the screen. Not part of the program.

use super::super::fixture::{NOW, ago, job, screen};
use super::*;
use crate::model::JobState;

const SIZE: (u16, u16) = (80, 24);

fn preview(text: &str, bytes: u64, cut: bool) -> Preview {
    Preview { text: text.into(), bytes, cut }
}

fn detail() -> JobDetail {
    let payload = r#"{"to": "ops@example.org", "tries": [1, 2], "big": 12345678901234567890}"#;
    let attempt = |number: i32, at: u64| Attempt {
        number,
        worker: Some("7f3a0000-0000-4000-8000-000000000001".into()),
        begun_at: Some(ago(at + 3)),
        ended_at: Some(ago(at)),
        outcome: "failed".into(),
        error: Some("timeout connecting to smtp.example\n  at x".into()),
    };
    JobDetail {
        job: job(1, "webhooks", JobState::Expired, 3, ago(252)),
        payload: Reading::Exact(preview(payload, 72, false)),
        error: Reading::Exact(Some(preview("timeout connecting to smtp.example\n  at x\n", 41, false))),
        attempts: Reading::Exact(vec![attempt(1, 722), attempt(2, 600)]),
        more: vec![("key".into(), "order-17".into())],
        taken_at: NOW,
    }
}

fn open(detail: JobDetail) -> Detail {
    let mut open = Detail::new(detail.job.at.clone());
    let at = detail.job.at.clone();
    open.on_detail(&at, Some(detail));
    open
}

fn draw(open: &mut Detail, size: (u16, u16)) -> String {
    screen(size, false, |area, buf, ctx| open.render(area, buf, ctx))
}

#[test]
fn it_opens_at_once_and_says_how_far_it_is() {
    let at = detail().job.at;
    let mut open = Detail::new(at.clone());
    assert!(draw(&mut open, SIZE).contains("reading…"));
    assert_eq!(open.job(), None);
    open.on_failure(&at, "permission denied for table jobs\nHINT: x");
    assert!(draw(&mut open, SIZE).contains("it could not be read: permission denied for table jobs…"));
    open.on_detail(&at, None);
    assert!(draw(&mut open, SIZE).contains("it is gone"));
    let other = job(2, "webhooks", JobState::Ready, 0, NOW);
    open.on_detail(&other.at, Some(JobDetail { job: other.clone(), ..detail() }));
    assert_eq!(open.job(), None, "another job's answer is not this one's");
    open.on_detail(&at, Some(detail()));
    assert_eq!(open.job().unwrap().at, at);
    assert_eq!(open.at(), &at);
}

#[test]
fn everything_about_the_job_is_there() {
    let text = draw(&mut open(detail()), (100, 60));
    for words in [
        "─ JOB 8c1fd0a4-1111-4222-8333-444444440001 ──",
        "state            ✗ lease expired 4m12s ago",
        "attempts         3 of 8, priority 0",
        "key              order-17",
        " r  requeue        claimable now; attempt 3 counts as expired",
        " F  force requeue  no live lease to break: as without force",
        "  1  12m02s ago    took 3s      failed    7f3a…01  timeout connecting to smtp.example…",
        "LAST ERROR  41 bytes",
        "PAYLOAD  72 bytes",
        "   \"to\": \"ops@example.org\",",
        "   \"big\": 12345678901234567890",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_job_that_is_gone_stays_readable_but_cannot_be_acted_on() {
    let mut open = open(detail());
    let at = open.at().clone();
    open.on_detail(&at, None);
    let text = draw(&mut open, SIZE);
    assert!(text.contains("it is gone") && text.contains("lease expired"), "{text}");
    assert_eq!(open.job(), None);
}

#[test]
fn what_may_not_be_read_is_said_and_what_was_cut_is_measured() {
    let cut = JobDetail {
        payload: Reading::Denied,
        attempts: Reading::Unknown,
        error: Reading::Exact(Some(preview(&"x".repeat(2048), 5 << 20, true))),
        ..detail()
    };
    let text = draw(&mut open(cut), (100, 70));
    assert!(text.contains("PAYLOAD denied: this role may not read it"), "{text}");
    assert!(text.contains("ATTEMPTS not known"), "{text}");
    assert!(text.contains("LAST ERROR  5.0 MB, the first 2.0 kB of it"), "{text}");
}

#[test]
fn tab_goes_from_section_to_section_and_movements_scroll() {
    let payload = (0..70_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let long = JobDetail { payload: Reading::Exact(preview(&format!("[{payload}]"), 9, false)), ..detail() };
    let mut open = open(long);
    draw(&mut open, SIZE);
    open.on_command(Command::NextPane);
    assert!(draw(&mut open, SIZE).lines().take(5).any(|line| line.contains("KEYS NOW")));
    open.on_command(Command::Bottom);
    let text = draw(&mut open, SIZE);
    assert!(text.contains("of 70,0") && text.contains("\n ]\n"), "{text}");
    open.on_command(Command::NextPane);
    assert!(draw(&mut open, SIZE).contains("queue            webhooks"), "after the last comes the first");
}

#[test]
fn any_size_and_any_text_will_do() {
    let hostile = "\u{1b}]52;c;YQ==\u{7}\u{9b}31m\u{202e}漢\n";
    let mut all = detail();
    all.job.at.queue.name = hostile.into();
    all.job.worker = Some(hostile.into());
    all.payload = Reading::Exact(preview(&format!("{{\"{hostile}\": \"{hostile}\"}}"), 9, false));
    all.error = Reading::Exact(Some(preview(&hostile.repeat(9), 9, false)));
    all.more = vec![(hostile.into(), hostile.into())];
    if let Reading::Exact(attempts) = &mut all.attempts {
        attempts[0].outcome = hostile.into();
        attempts[0].error = Some(hostile.into());
        attempts[0].worker = Some(hostile.into());
    }
    let mut open = open(all);
    for size in [SIZE, (120, 40), (20, 5), (10, 3), (1, 1), (300, 2), (0, 0)] {
        let text = draw(&mut open, size);
        assert!(!text.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')), "{text:?}");
        open.on_command(Command::Bottom);
    }
}
