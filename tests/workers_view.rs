//! The view of workers: what it shows, whom it marks, where its keys lead; and its reading on a real server.

use std::time::Duration;

use queuetop::keymap::Command;
use queuetop::model::{Panel, PanelKind, Reading, WorkerStats, Workers};
use queuetop::panes::{Ask, Marks, Pane, workers::WorkersPane};
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::assert_harmless;
use crate::support::fixtures::{self, Fixture, NOW, ago, ahead, context, queue_id};
use crate::support::hostile;
use crate::support::screen::{text_of, titled};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn worker(number: u32, held: u64, expired: u64, beat: i64) -> WorkerStats {
    WorkerStats {
        id: format!("7f3a0000-0000-4000-8000-{number:012}"),
        name: Some(format!("mailer-{number}")),
        host: Some("worker-host".into()),
        pid: Some(4000),
        version: Some("1.2.3".into()),
        last_seen: Reading::Exact(Some(ago(beat.min(30)))),
        last_heartbeat: (held > 0).then(|| ago(beat)),
        held: Reading::Exact(held),
        expired: Reading::Exact(expired),
        oldest_claim: (held > 0).then(|| ago(beat + 60)),
        first_end: (held > 0).then(|| if expired > 0 { ago(250) } else { ahead(200) }),
        lease: (held > 0).then_some(Duration::from_mins(5)),
        queues: if held > 0 { vec![queue_id("emails"), queue_id("webhooks")] } else { Vec::new() },
    }
}

fn read(workers: Reading<Vec<WorkerStats>>, note: Option<&str>) -> Workers {
    Workers { workers, taken_at: ago(2), cost: Duration::from_millis(1), note: note.map(str::to_owned) }
}

/// A worker that died with its leases, and registers no more.
fn gone() -> WorkerStats {
    WorkerStats { last_seen: Reading::Exact(Some(ago(1_000))), ..worker(3, 4, 4, 900) }
}

fn busy() -> Workers {
    let unnamed = WorkerStats { name: None, host: None, pid: None, version: None, ..worker(9, 1, 0, 3) };
    read(Reading::Exact(vec![worker(1, 3, 0, 2), worker(2, 0, 0, 10), gone(), unnamed]), None)
}

fn overflowing() -> Workers {
    let many = (0..90).map(|n| worker(n, u64::from(n % 7) * 1000, u64::from(n % 3), i64::from(n * 20))).collect();
    read(Reading::AtLeast(many), Some("by the 20,000 leases that end first"))
}

fn draw(pane: &mut WorkersPane, fixture: &Fixture, area: Rect) -> Buffer {
    let (marks, theme) = (Marks::new(), Theme::terminal());
    let ctx = context(fixture, &marks, &theme);
    titled(pane, &ctx, area)
}

#[test]
fn it_looks_as_reviewed() {
    let (marks, theme) = (Marks::new(), Theme::terminal());
    let stale = Fixture { stale: true, ..fixtures::busy() };
    for (name, panel, fixture) in [
        ("reading", None, fixtures::busy()),
        ("empty", Some(read(Reading::Exact(Vec::new()), None)), fixtures::empty()),
        ("busy", Some(busy()), fixtures::busy()),
        ("overflowing", Some(overflowing()), fixtures::overflowing()),
        ("stale", Some(busy()), stale),
        ("denied", Some(read(Reading::Denied, Some("app may not read jobs"))), fixtures::denied()),
    ] {
        for (width, height) in SIZES {
            let mut pane = WorkersPane::default();
            if let Some(workers) = &panel {
                pane.on_panel(&Panel::Workers(workers.clone()), &context(&fixture, &marks, &theme));
            }
            let buf = draw(&mut pane, &fixture, Rect::new(0, 0, width, height));
            insta::assert_snapshot!(format!("{name}-{width}x{height}"), text_of(&buf));
        }
    }
}

#[test]
fn hostile_names_are_harmless_at_any_size() {
    let fixture = hostile::fixture();
    let (marks, theme) = (Marks::new(), Theme::terminal());
    let workers = hostile::strings().into_iter().map(|text| WorkerStats {
        id: text.clone(),
        name: Some(text.clone()),
        host: Some(text.clone()),
        queues: vec![queue_id(&text)],
        ..worker(1, 2, 1, 5)
    });
    let mut pane = WorkersPane::default();
    pane.on_panel(&Panel::Workers(read(Reading::Exact(workers.collect()), None)), &context(&fixture, &marks, &theme));
    for (width, height) in [(1, 1), (3, 2), (20, 5), (80, 24), (200, 60)] {
        let area = Rect::new(0, 0, width, height);
        assert_harmless(&draw(&mut pane, &fixture, area), area, "workers");
    }
}

#[test]
fn the_worst_is_on_top_and_the_cursor_stays_on_its_worker() {
    let fixture = fixtures::busy();
    let (marks, theme) = (Marks::new(), Theme::mono());
    let ctx = context(&fixture, &marks, &theme);
    let mut pane = WorkersPane::default();
    pane.on_panel(&Panel::Workers(busy()), &ctx);
    let copied = |pane: &mut WorkersPane| pane.on_command(Command::Copy, &ctx);
    assert_eq!(copied(&mut pane), Some(Ask::Copy(gone().id)));
    pane.on_command(Command::Down, &ctx);
    let second = copied(&mut pane);
    assert_ne!(second, Some(Ask::Copy(gone().id)));
    // The worst one comes back to life: the rows change places, the cursor does not.
    let recovered = vec![worker(1, 3, 0, 2), worker(2, 0, 0, 10), worker(3, 0, 0, 1), worker(9, 1, 1, 3)];
    pane.on_panel(&Panel::Workers(read(Reading::Exact(recovered), None)), &ctx);
    assert_eq!(copied(&mut pane), second);
    assert!(pane.title(&ctx).starts_with("LEASES AND WORKERS  4 workers, worst first"), "{}", pane.title(&ctx));
}

#[test]
fn a_failed_reading_keeps_the_rows_and_says_so() {
    let fixture = fixtures::busy();
    let (marks, theme) = (Marks::new(), Theme::mono());
    let ctx = context(&fixture, &marks, &theme);
    let mut pane = WorkersPane::default();
    pane.on_panel(&Panel::Workers(busy()), &ctx);
    pane.on_panel_failed("it took too long\nmore");
    assert!(pane.title(&ctx).contains("not read again: it took too long"), "{}", pane.title(&ctx));
    let buf = draw(&mut pane, &fixture, Rect::new(0, 0, 120, 20));
    assert!(text_of(&buf).contains("mailer-1"), "{}", text_of(&buf));
    assert_eq!(pane.panel(), Some(PanelKind::Workers));
    assert_eq!(NOW, ctx.now);
}
