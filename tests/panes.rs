//! How panes behave: cursors belong to ids, rows move only for a reason, pages are kept, colours mean something.

use std::time::Duration;

use queuetop::keymap::Command;
use queuetop::model::filter::TextField;
use queuetop::model::{Filter, JobState, Page, PageCursor, PageRequest, Reading};
use queuetop::panes::{Ask, Ctx, Marks, Pane, failures::FailuresPane, jobs::Jobs, leases::Leases, queues::Queues};
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::support::fixtures::{self, Fixture, NOW, ahead, context, job, queue_id};

const AREA: Rect = Rect::new(0, 0, 100, 12);

/// Draws a pane and gives the cells.
fn drawn(pane: &mut dyn Pane, ctx: &Ctx<'_>) -> Buffer {
    let mut buf = Buffer::empty(AREA);
    pane.render(AREA, &mut buf, ctx);
    buf
}

fn lines(buf: &Buffer) -> Vec<String> {
    let text = |row: &[ratatui::buffer::Cell]| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
    buf.content.chunks(usize::from(buf.area.width)).map(|row| text(row).trim_end().to_owned()).collect()
}

/// The queues of a table, from the top.
fn names(buf: &Buffer) -> Vec<String> {
    let name = |line: &String| line.chars().skip(3).take_while(|c| *c != ' ').collect::<String>();
    lines(buf).iter().skip(1).map(name).filter(|name| !name.is_empty()).collect()
}

/// A reading some seconds later, with something changed.
fn later(fixture: &mut Fixture, seconds: u64, change: impl FnOnce(&mut Vec<queuetop::model::QueueStats>)) {
    let snapshot = fixture.snapshot.as_mut().unwrap();
    snapshot.taken_at = snapshot.taken_at.plus(Duration::from_secs(seconds));
    change(&mut snapshot.queues);
    fixture.findings = queuetop::diagnose::findings(snapshot, &fixture.history, None);
}

#[test]
fn queues_change_places_seldom_and_the_cursor_stays_on_its_queue() {
    let (marks, theme) = (Marks::new(), Theme::mono());
    let mut fixture = fixtures::diagnosed(fixtures::busy());
    let mut pane = Queues::default();
    let ctx = context(&fixture, &marks, &theme);
    pane.on_snapshot(&ctx);
    assert_eq!(pane.on_command(Command::Down, &ctx), Some(Ask::Follow(queue_id("emails"))));
    let before = names(&drawn(&mut pane, &ctx));
    assert_eq!(before[..2], ["webhooks", "emails"]);

    let worsen = |queues: &mut Vec<queuetop::model::QueueStats>| {
        let emails = queues.iter_mut().find(|q| q.id == queue_id("emails")).unwrap();
        (emails.expired, emails.oldest_ready) = (Reading::Exact(9), Reading::Exact(Some(fixtures::ago(9_000))));
        queues.reverse();
    };
    later(&mut fixture, 2, worsen);
    let ctx = context(&fixture, &marks, &theme);
    pane.on_snapshot(&ctx);
    assert_eq!(names(&drawn(&mut pane, &ctx)), before);

    later(&mut fixture, 4, |_| ());
    let ctx = context(&fixture, &marks, &theme);
    pane.on_snapshot(&ctx);
    assert_eq!(names(&drawn(&mut pane, &ctx))[0], "emails");
    assert_eq!(pane.current_queue(&ctx), Some(queue_id("emails")));
}

#[test]
fn a_queue_that_is_gone_leaves_nothing_selected() {
    let (marks, theme) = (Marks::new(), Theme::mono());
    let mut fixture = fixtures::diagnosed(fixtures::busy());
    let mut pane = Queues::default();
    pane.on_snapshot(&context(&fixture, &marks, &theme));
    later(&mut fixture, 1, |queues| queues.retain(|q| q.id != queue_id("webhooks")));
    let ctx = context(&fixture, &marks, &theme);
    pane.on_snapshot(&ctx);
    assert_eq!(pane.current_queue(&ctx), None);
    assert_eq!(pane.on_command(Command::Inspect, &ctx), None);
    assert!(!lines(&drawn(&mut pane, &ctx)).concat().contains('▸'));
    assert_eq!(pane.on_command(Command::Down, &ctx), Some(Ask::Follow(queue_id("emails"))));
}

#[test]
fn a_filter_keeps_the_queue_not_the_row() {
    let (marks, theme) = (Marks::new(), Theme::mono());
    let fixture = fixtures::busy();
    let mut pane = Queues::default();
    let all = context(&fixture, &marks, &theme);
    pane.on_snapshot(&all);
    let filtered = Ctx { filter: "MAIL", ..all };
    assert_eq!(names(&drawn(&mut pane, &filtered)), ["emails"]);
    assert_eq!(pane.current_queue(&filtered), None);
    pane.on_command(Command::Top, &filtered);
    assert_eq!(pane.current_queue(&filtered), Some(queue_id("emails")));
    drawn(&mut pane, &all);
    assert_eq!(pane.current_queue(&all), Some(queue_id("emails")));
    pane.on_command(Command::Sort, &all);
    assert_eq!(pane.current_queue(&all), Some(queue_id("emails")));
    let none = Ctx { filter: "%_'\\", ..all };
    assert!(lines(&drawn(&mut pane, &none))[0].contains(r#"no queue contains "%_'\""#));
}

#[test]
fn numbers_keep_their_columns_from_frame_to_frame() {
    let (marks, theme) = (Marks::new(), Theme::mono());
    let mut fixture = fixtures::diagnosed(fixtures::busy());
    let mut pane = Queues::default();
    pane.on_snapshot(&context(&fixture, &marks, &theme));
    let head = lines(&drawn(&mut pane, &context(&fixture, &marks, &theme)))[0].clone();
    for n in [0, 9, 99_999, 123_456, 7_654_321, u64::MAX] {
        later(&mut fixture, 1, |queues| {
            for q in queues {
                (q.ready, q.scheduled, q.running) = (Reading::Exact(n), Reading::About(n), Reading::AtLeast(n));
                (q.rates.enqueued, q.rates.completed) = (Reading::Exact(n as f64), Reading::About(n as f64));
            }
        });
        let now = lines(&drawn(&mut pane, &context(&fixture, &marks, &theme)));
        assert_eq!(now[0], head);
        for column in ["ready", "sched", "oldest"] {
            let end = head.find(column).unwrap() + column.len();
            for line in &now[1..6] {
                let cells: Vec<char> = line.chars().collect();
                assert!(cells[end - 1] != ' ' && cells[end] == ' ', "{column} in {line}");
            }
        }
    }
}

fn page(jobs: &mut Jobs, ids: std::ops::Range<u32>, request: &PageRequest, more: bool) {
    let rows = ids.map(|i| job(i, "emails", JobState::Scheduled, 1, ahead(60))).collect();
    let next = more.then(|| PageCursor(serde_json::json!(request.after.is_none())));
    jobs.on_page(&Page {
        request: request.clone(),
        jobs: Reading::Exact(rows),
        next,
        taken_at: NOW,
        cost: Duration::ZERO,
        note: None,
    });
}

fn current(jobs: &Jobs, ctx: &Ctx<'_>) -> Option<String> {
    jobs.current_job(ctx).map(|job| job.at.id.clone())
}

fn id(number: u32) -> String {
    job(number, "emails", JobState::Ready, 1, NOW).at.id
}

#[test]
fn pages_follow_each_other_and_late_answers_change_nothing() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::empty());
    let ctx = context(&fixture, &marks, &theme);
    let mut jobs = Jobs::default();
    let first = jobs.open(Filter::default());
    page(&mut jobs, 0..200, &first, true);
    drawn(&mut jobs, &ctx);
    assert_eq!(jobs.refresh(&ctx), Some(first.clone()));
    assert_eq!(jobs.on_command(Command::Bottom, &ctx), None);
    assert_eq!(current(&jobs, &ctx), Some(id(199)));

    let Some(Ask::Read(second)) = jobs.on_command(Command::Down, &ctx) else { panic!("no next page") };
    assert!(second.after.is_some());
    assert_eq!(jobs.refresh(&ctx), None, "a page is on its way");
    page(&mut jobs, 900..990, &first, true);
    assert_eq!(current(&jobs, &ctx), Some(id(199)), "the answer to an old question");
    page(&mut jobs, 200..230, &second, false);
    assert_eq!(current(&jobs, &ctx), Some(id(200)));

    assert_eq!(jobs.on_command(Command::Up, &ctx), Some(Ask::Read(first.clone())));
    page(&mut jobs, 0..200, &first, true);
    assert_eq!(current(&jobs, &ctx), Some(id(199)));
}

#[test]
fn a_page_that_vanished_steps_back_to_a_real_one() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::empty());
    let ctx = context(&fixture, &marks, &theme);
    let mut jobs = Jobs::default();
    let first = jobs.open(Filter::default());
    page(&mut jobs, 0..5, &first, true);
    jobs.on_command(Command::Bottom, &ctx);
    let Some(Ask::Read(second)) = jobs.on_command(Command::Down, &ctx) else { panic!("no next page") };
    page(&mut jobs, 0..0, &second, false);
    assert_eq!(jobs.refresh(&ctx), Some(first.clone()));
    page(&mut jobs, 0..5, &first, false);
    assert_eq!(current(&jobs, &ctx), Some(id(4)));
}

#[test]
fn rows_in_view_stay_while_others_come_in_above() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::empty());
    let ctx = context(&fixture, &marks, &theme);
    let mut jobs = Jobs::default();
    let request = jobs.open(Filter::default());
    page(&mut jobs, 100..200, &request, false);
    drawn(&mut jobs, &ctx);
    for _ in 0..50 {
        jobs.on_command(Command::Down, &ctx);
    }
    let before = lines(&drawn(&mut jobs, &ctx));
    for start in (90..100).rev() {
        page(&mut jobs, start..200, &request, false);
        assert_eq!(lines(&drawn(&mut jobs, &ctx)), before);
    }
    page(&mut jobs, 90..150, &request, false);
    assert_eq!(current(&jobs, &ctx), None, "the job under the cursor is gone");
}

#[test]
fn a_failed_reading_keeps_the_rows_and_says_so() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::empty());
    let ctx = context(&fixture, &marks, &theme);
    let mut jobs = Jobs::default();
    let request = jobs.open(Filter::default());
    jobs.on_page_failed(&request, "statement timeout\nmore");
    assert!(lines(&drawn(&mut jobs, &ctx))[0].contains("jobs could not be read: statement timeout…"));
    page(&mut jobs, 0..3, &request, false);
    jobs.on_page_failed(&request, "statement timeout");
    assert!(jobs.title(&ctx).ends_with("not read again: statement timeout"));
    assert_eq!(current(&jobs, &ctx), Some(id(0)));
}

#[test]
fn a_list_is_read_again_as_its_cost_allows() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::busy());
    let mut jobs = Jobs::default();
    let request = jobs.open(Filter::default());
    let cost = Duration::from_millis(30);
    let rows = Reading::Exact(Vec::new());
    jobs.on_page(&Page { request: request.clone(), jobs: rows, next: None, taken_at: NOW, cost, note: None });
    let at = |ms| Ctx { now: NOW.plus(Duration::from_millis(ms)), ..context(&fixture, &marks, &theme) };
    // 30 ms are 2 % of a second and a half.
    assert_eq!(jobs.refresh(&at(1_499)), None);
    assert_eq!(jobs.refresh(&at(1_500)), Some(request.clone()));
    assert_eq!(jobs.request(), request, "after an action it is read at once");
}

#[test]
fn a_range_reaches_from_the_nearest_mark() {
    let theme = Theme::mono();
    let fixture = fixtures::busy();
    let mut marks = Marks::new();
    let first = job(1, "webhooks", JobState::Expired, 3, NOW);
    let mut leases = Leases::default();
    let ctx = context(&fixture, &marks, &theme);
    leases.on_snapshot(&ctx);
    leases.on_command(Command::Down, &ctx);
    leases.on_command(Command::Down, &ctx);
    let ids = |ask| match ask {
        Some(Ask::MarkAll(jobs)) => jobs.into_iter().map(|job| job.at.id).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(ids(leases.on_command(Command::MarkRange, &ctx)), [id(3)]);
    marks.insert(first.at.clone(), first);
    let ctx = context(&fixture, &marks, &theme);
    assert_eq!(ids(leases.on_command(Command::MarkRange, &ctx)), [id(1), id(2), id(3)]);
}

#[test]
fn a_signature_opens_its_jobs() {
    let (marks, theme) = (Marks::new(), Theme::mono());
    let fixture = fixtures::busy();
    let mut failures = FailuresPane::default();
    let ctx = context(&fixture, &marks, &theme);
    failures.on_snapshot(&ctx);
    failures.on_command(Command::Down, &ctx);
    let filter = Filter::of_queue(&queue_id("webhooks")).and(TextField::Signature, "HTTP 422 from hooks.#");
    assert_eq!(failures.on_command(Command::Inspect, &ctx), Some(Ask::ShowJobs(filter)));
}

#[test]
fn a_calm_screen_has_no_alarm_and_a_cursor_is_reversed() {
    let (marks, theme) = (Marks::new(), Theme::terminal());
    let mut fixture = fixtures::diagnosed(fixtures::busy());
    later(&mut fixture, 0, |queues| queues.retain(|q| q.id == queue_id("thumbnails")));
    let mut pane = Queues::default();
    let ctx = context(&fixture, &marks, &theme);
    pane.on_snapshot(&ctx);
    let buf = drawn(&mut pane, &ctx);
    for cell in &buf.content {
        assert!(cell.fg != Color::Red && !cell.modifier.contains(Modifier::BOLD), "{cell:?}");
    }
    let row = |y: u16| (0..AREA.width).map(move |x| (x, y));
    assert!(row(1).all(|at| buf[at].modifier.contains(Modifier::REVERSED)));
    assert!(row(2).all(|at| !buf[at].modifier.contains(Modifier::REVERSED)));
}

#[test]
fn without_colours_there_are_none() {
    let (marks, theme) = (Marks::new(), Theme::mono());
    let fixture = fixtures::busy();
    for mut pane in queuetop::panes::overview() {
        let ctx = context(&fixture, &marks, &theme);
        pane.on_snapshot(&ctx);
        let buf = drawn(pane.as_mut(), &ctx);
        assert!(buf.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset), "{}", pane.name());
    }
}
