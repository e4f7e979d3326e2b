//! The detail of a job, tested by giving it jobs and keys and looking at the screen. Not part of the program.

mod actions;
mod texts;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::fixture::{NOW, ago, ahead, job, screen};
use super::*;
use crate::model::{Attempt, Excerpt, JobState, Reading};
use crate::msg::COPY_MOST;

const SIZE: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (100, 60);

pub(super) fn preview(text: &str, bytes: u64, cut: bool) -> Preview {
    let next = cut.then(|| text.chars().count() as u64);
    Preview::Read(Excerpt { text: text.into(), bytes, next, stamp: "s".into() })
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
        claimed_at: Some(ago(552)),
        completed_at: None,
        replayed_as: None,
        more: vec![("key".into(), "order-17".into())],
        taken_at: NOW,
        cost: Duration::ZERO,
    }
}

fn of_state(state: JobState, attempts: i32) -> JobDetail {
    let at = if matches!(state, JobState::Running | JobState::Scheduled) { ahead(160) } else { ago(252) };
    let attempts_read = Reading::Exact(Vec::new());
    JobDetail { job: job(1, "webhooks", state, attempts, at), attempts: attempts_read, ..detail() }
}

fn open(detail: JobDetail) -> Detail {
    let mut open = Detail::new(detail.job.at.clone(), Redaction::default());
    take(&mut open, detail);
    open
}

fn take(open: &mut Detail, detail: JobDetail) {
    let at = open.at().clone();
    open.on_detail(&at, Some(detail), Duration::ZERO);
}

fn draw(open: &mut Detail, size: (u16, u16)) -> String {
    screen(size, false, |area, buf, ctx| open.render(area, buf, ctx))
}

fn press(open: &mut Detail, command: Command) -> Answer {
    open.on_key(&KeyEvent::new(KeyCode::Null, KeyModifiers::NONE), Some(command))
}

fn type_in(open: &mut Detail, text: &str) {
    for c in text.chars() {
        open.on_key(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), None);
    }
}

/// Looks for a text and gives back what was said of it.
fn search(open: &mut Detail, text: &str) -> Answer {
    press(open, Command::Search);
    type_in(open, text);
    press(open, Command::Confirm)
}

/// The row that the cursor's sign is on.
fn cursor(screen: &str) -> &str {
    screen.lines().find(|line| line.starts_with('▸')).unwrap_or_default().trim_start_matches('▸')
}

fn said(answer: &Answer) -> &str {
    match answer {
        Answer::Say(words, _) => words,
        Answer::Copy { notice, .. } => notice,
        _ => "",
    }
}

#[test]
fn it_opens_at_once_and_says_how_far_it_is() {
    let at = detail().job.at;
    let mut open = Detail::new(at.clone(), Redaction::default());
    assert!(draw(&mut open, SIZE).contains("reading…"));
    assert_eq!(open.job(), None);
    open.on_failure(&at, "permission denied for table jobs\nHINT: x", Duration::ZERO);
    assert!(draw(&mut open, SIZE).contains("it could not be read: permission denied for table jobs…"));
    open.on_detail(&at, None, Duration::ZERO);
    assert!(draw(&mut open, SIZE).contains("it is gone"));
    let other = job(2, "webhooks", JobState::Ready, 0, NOW);
    open.on_detail(&other.at, Some(JobDetail { job: other.clone(), ..detail() }), Duration::ZERO);
    assert_eq!(open.job(), None, "another job's answer is not this one's");
    take(&mut open, detail());
    assert_eq!(open.job().unwrap().at, at);
    assert_eq!(open.at(), &at);
}

#[test]
fn everything_about_the_job_is_there() {
    let text = draw(&mut open(detail()), LARGE);
    for words in [
        "─ JOB 8c1fd0a4-1111-4222-8333-444444440001 ──",
        "state            ✗ lease expired 4m12s ago",
        "attempts         3 of 8, priority 0",
        "key              order-17",
        " r  requeue        claimable now; attempt 3 counts as expired",
        " F  force requeue  as r: there is no live lease to break",
        "ATTEMPTS  the longest took 9m12s",
        "   1  12m05s ago        3s  ▕█         ▏  failed     7f3a…01  timeout connecting to smtp.example…",
        "   3  9m12s ago      9m12s  ▕██████████▏  ✗ expired  7f3a…01  lease expired 4m12s ago",
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
    open.on_detail(&at, None, Duration::ZERO);
    let text = draw(&mut open, SIZE);
    assert!(text.contains("it is gone") && text.contains("lease expired"), "{text}");
    assert_eq!(open.job(), None);
    assert!(!open.works(Command::Requeue, NOW));
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
    assert!(text.contains("PAYLOAD  denied: this role may not read it"), "{text}");
    assert!(text.contains("those that ended: not recorded here"), "{text}");
    assert!(text.contains("LAST ERROR  5.0 MB, the first 2.0 kB of it  m reads on, M all"), "{text}");
}

#[test]
fn tab_goes_from_section_to_section_and_the_cursor_scrolls() {
    let payload = (0..70_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let long = JobDetail { payload: Reading::Exact(preview(&format!("[{payload}]"), 9, false)), ..detail() };
    let mut open = open(long);
    assert!(cursor(&draw(&mut open, SIZE)).starts_with("queue"));
    press(&mut open, Command::NextPane);
    let text = draw(&mut open, SIZE);
    assert!(text.lines().nth(3).unwrap().contains("KEYS NOW") && cursor(&text).starts_with("r "), "{text}");
    let mut heads = Vec::new();
    for _ in 0..4 {
        press(&mut open, Command::NextPane);
        heads.push(cursor(&draw(&mut open, SIZE)).trim().chars().take(7).collect::<String>());
    }
    assert_eq!(heads, ["1  12m0", "timeout", "[", "queue  "]);
    press(&mut open, Command::Bottom);
    let text = draw(&mut open, SIZE);
    assert!(text.contains("of 70,0") && cursor(&text) == "]", "{text}");
    for _ in 0..5 {
        press(&mut open, Command::Up);
    }
    assert_eq!(cursor(&draw(&mut open, SIZE)), "  69995,");
    open.scroll(Command::Up);
    assert_eq!(cursor(&draw(&mut open, SIZE)), "  69995,", "the wheel moves the page");
    press(&mut open, Command::PageUp);
    assert_eq!(cursor(&draw(&mut open, SIZE)), "  69976,");
    press(&mut open, Command::Top);
    assert!(cursor(&draw(&mut open, SIZE)).starts_with("queue"));
}

#[test]
fn the_cursor_and_the_folds_stay_when_the_job_is_read_again() {
    let mut open = open(detail());
    draw(&mut open, SIZE);
    search(&mut open, "tries");
    press(&mut open, Command::Fold);
    let before = draw(&mut open, SIZE);
    assert_eq!(cursor(&before), "  \"tries\": [… 2 items · 1, 2 ],");
    let line = |text: &str| text.lines().position(|line| line.starts_with('▸'));
    for stamp_only in [false, true] {
        let mut again = of_state(JobState::Ready, 3);
        again.error = Reading::Exact(None);
        if stamp_only {
            again.payload = Reading::Exact(Preview::Same);
        }
        take(&mut open, again);
        let after = draw(&mut open, SIZE);
        assert_eq!(cursor(&after), cursor(&before));
        assert!(after.contains("ready") && !after.contains("LAST ERROR"), "{after}");
        assert_eq!(line(&after), line(&before), "on the same line of the screen");
    }
    let text = draw(&mut open, (40, 12));
    assert!(cursor(&text).contains("tries"), "{text}");
    let mut other = detail();
    other.payload = Reading::Exact(preview(r#"{"tries": [1, 2]}"#, 17, false));
    take(&mut open, other);
    assert!(draw(&mut open, LARGE).contains("    1,\n"), "another payload has its own folds");
}

#[test]
fn a_job_that_was_moved_is_followed() {
    let mut open = open(of_state(JobState::Expired, 3));
    let live = open.at().clone();
    take(&mut open, of_state(JobState::Dead, 8));
    let text = draw(&mut open, SIZE);
    assert!(text.contains("─ DEAD LETTER 8c1f") && text.contains("it was moved to the dead letters"), "{text}");
    assert!(open.at().dead && open.works(Command::Replay, NOW));
    open.on_detail(&live, None, Duration::ZERO);
    assert!(open.job().is_some(), "an answer about where it was before says nothing");
}

#[test]
fn it_is_read_again_as_its_cost_allows() {
    let mut open = open(detail());
    let at = open.at().clone();
    let seconds = Duration::from_secs;
    assert_eq!(open.request_again(seconds(1)), None);
    let request = open.request_again(seconds(2)).expect("it is due");
    assert_eq!(request.known, Stamps { payload: Some("s".into()), error: Some("s".into()) });
    assert_eq!(open.request_again(seconds(9)), None, "one is on its way");
    assert!(open.request_again(seconds(17)).is_some(), "an answer that never came is not waited for");
    let dear = JobDetail { cost: Duration::from_millis(200), ..detail() };
    open.on_detail(&at, Some(dear), seconds(20));
    assert_eq!(open.request_again(seconds(29)), None);
    assert!(open.request_again(seconds(30)).is_some());
    open.on_failure(&at, "no", seconds(31));
    assert!(open.request_again(seconds(33)).is_some());
}

#[test]
fn attempts_are_a_timeline_with_gaps_and_the_present_one() {
    let mut gaps = of_state(JobState::Running, 7);
    gaps.claimed_at = Some(ago(64));
    let attempt = |number, begun, ended| Attempt {
        number,
        worker: None,
        begun_at: begun,
        ended_at: ended,
        outcome: "fenced".into(),
        error: None,
    };
    let attempts = vec![
        attempt(2, Some(ago(900)), Some(ago(770))),
        attempt(5, None, Some(ago(300))),
        attempt(6, Some(Time::NegInfinity), Some(NOW)),
    ];
    gaps.attempts = Reading::Exact(attempts);
    let text = draw(&mut open(gaps), LARGE);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("ATTEMPTS")).take(8).map(str::trim).collect();
    let want = [
        "ATTEMPTS  the longest took 2m10s",
        "1  not recorded",
        "2  15m00s ago     2m10s  ▕██████████▏  fenced     ?",
        "3 to 4  not recorded",
        "5  ?                  ?  ▕          ▏  fenced     ?",
        "6  -infinity          ?  ▕          ▏  fenced     ?",
        "7  1m04s ago       1m4s  ▕█████     ▏  running    7f3a…01  lease ends in 2m40s",
        "",
    ];
    assert_eq!(lines, want, "{text}");
    let mut completed = of_state(JobState::Completed, 1);
    (completed.claimed_at, completed.completed_at) = (Some(ago(100)), Some(ago(88)));
    let text = draw(&mut open(completed), LARGE);
    assert!(text.contains("1  1m40s ago        12s  ▕██████████▏  completed"), "{text}");
    assert!(!draw(&mut open(of_state(JobState::Ready, 0)), LARGE).contains("ATTEMPTS"));
}
