//! The view of failures and dead letters: what it shows, where its keys lead, and what it says when something is missing.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use queuetop::app::world::World;
use queuetop::app::{App, Guards, View};
use queuetop::keymap::Command;
use queuetop::model::{Group, Groups, Panel, PanelKind, Reading, StateSet, Time};
use queuetop::msg::{Effect, Msg};
use queuetop::panes::{Ask, Ctx, Marks, Pane, TimeStyle, dead::DeadLetters};
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use crate::screens::assert_harmless;
use crate::support::fixtures::{self, Fixture, NOW, ago, context, queue_id};
use crate::support::hostile;
use crate::support::screen::{text_of, titled};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn group(signature: &str, queue: &str, failed: u64, dead: [u64; 2], seen: [i64; 2]) -> Group {
    let wave = (0..12).map(|i| i * i % 7 + i);
    Group {
        signature: signature.into(),
        queue: queue_id(queue),
        failed_15m: Reading::Exact(failed),
        retried_per_s: Reading::Exact(failed as f64 / 900.0),
        dead: Reading::Exact(dead[0]),
        replayed: Reading::Exact(dead[1]),
        first_seen: Some(ago(seen[0])),
        last_seen: Some(ago(seen[1])),
        trend: if failed > 0 { wave.collect() } else { Vec::new() },
    }
}

fn read(groups: Reading<Vec<Group>>, dead: Reading<u64>) -> Groups {
    Groups {
        groups,
        dead,
        trend_span: Some(Duration::from_hours(1)),
        failed_since: None,
        dead_since: None,
        taken_at: ago(2),
        cost: Duration::from_millis(4),
        note: None,
    }
}

fn busy() -> Groups {
    let groups = vec![
        group("503 Service Unavailable from hooks.example.net (request <id>)", "webhooks", 412, [64, 0], [187_000, 3]),
        group("connect to <ip>:<n>: connection timed out after <n> ms", "webhooks", 230, [39, 0], [187_000, 12]),
        group("connect to <ip>:<n>: connection timed out after <n> ms", "emails", 7, [1, 0], [9_000, 300]),
        group("lease expired", "thumbnails", 12, [0, 0], [3_000, 55]),
        group(
            "duplicate key value violates unique constraint \"orders_pkey\"",
            "invoices",
            0,
            [1_204, 310],
            [1_000_000, 4_800],
        ),
        group("", "reports", 0, [2, 2], [90_000, 86_000]),
    ];
    read(Reading::Exact(groups), Reading::Exact(1_310))
}

fn overflowing() -> Groups {
    let many = (0..90_u64).map(|i| {
        let text = format!("error number {i} of ninety, told at great length because the library that throws it prints its whole configuration");
        let n = 10_u64.saturating_pow(u32::try_from(i % 20).unwrap());
        let unsure = Group { failed_15m: Reading::AtLeast(n), retried_per_s: Reading::About(n as f64), ..group(&text, "a-rather-long-name-of-a-queue", n, [u64::MAX, n], [i64::MAX / 2_000_000, 1]) };
        if i % 2 == 0 { unsure } else { group(&text, &format!("tenant-{i}"), 0, [n, 0], [100_000, 50_000]) }
    });
    Groups {
        trend_span: Some(Duration::from_secs(100)),
        failed_since: Some(ago(100)),
        dead_since: Some(ago(11_520)),
        note: Some("the 1000 largest of 4711 groups".into()),
        ..read(Reading::AtLeast(many.collect()), Reading::AtLeast(20_000))
    }
}

fn denied() -> Groups {
    let note = Some("app may not read job_failures; app may not read dead_letter_jobs".into());
    Groups { note, trend_span: None, ..read(Reading::Denied, Reading::Denied) }
}

fn pane_with(groups: Groups, ctx: &Ctx<'_>) -> DeadLetters {
    let mut pane = DeadLetters::default();
    pane.on_panel(&Panel::Groups(groups), ctx);
    pane
}

#[test]
fn it_looks_as_reviewed() {
    let (marks, theme) = (Marks::new(), Theme::terminal());
    let stale = Fixture { stale: true, ..fixtures::busy() };
    for (name, panel, fixture) in [
        ("reading", None, fixtures::busy()),
        ("empty", Some(read(Reading::Exact(Vec::new()), Reading::Exact(0))), fixtures::empty()),
        ("busy", Some(busy()), fixtures::busy()),
        ("overflowing", Some(overflowing()), fixtures::overflowing()),
        ("stale", Some(busy()), stale),
        ("denied", Some(denied()), fixtures::denied()),
    ] {
        let ctx = context(&fixture, &marks, &theme);
        for (width, height) in SIZES {
            let mut pane = DeadLetters::default();
            if let Some(groups) = &panel {
                pane.on_panel(&Panel::Groups(groups.clone()), &ctx);
            }
            let buf = titled(&mut pane, &ctx, Rect::new(0, 0, width, height));
            insta::assert_snapshot!(format!("{name}-{width}x{height}"), text_of(&buf));
        }
    }
}

#[test]
fn dates_have_room_and_their_zone() {
    let (marks, theme, fixture) = (Marks::new(), Theme::terminal(), fixtures::busy());
    let ctx = Ctx { times: TimeStyle::Utc, ..context(&fixture, &marks, &theme) };
    let mut pane = pane_with(busy(), &ctx);
    insta::assert_snapshot!("dates-200x12", text_of(&titled(&mut pane, &ctx, Rect::new(0, 0, 200, 12))));
}

#[test]
fn hostile_texts_are_harmless_at_any_size() {
    let fixture = hostile::fixture();
    let (marks, theme) = (Marks::new(), (Theme { ascii: true, ..Theme::mono() }));
    let ctx = context(&fixture, &marks, &theme);
    let times = [Time::NegInfinity, Time::Infinity, Time::At(i64::MIN), Time::At(i64::MAX)];
    let groups = hostile::strings().into_iter().zip(times.into_iter().cycle()).map(|(text, time)| Group {
        first_seen: Some(time),
        last_seen: Some(time),
        retried_per_s: Reading::Exact(f64::NAN),
        trend: vec![u64::MAX; 3],
        ..group(&text, &text, u64::MAX, [u64::MAX, u64::MAX], [0, 0])
    });
    let note = Some(hostile::strings().concat());
    let groups = Groups { note, ..read(Reading::Exact(groups.collect()), Reading::Exact(1)) };
    let mut pane = pane_with(groups, &ctx);
    pane.on_panel_failed(&hostile::strings().concat());
    for sort in 0..8 {
        for (width, height) in [(1, 1), (3, 2), (20, 5), (80, 24), (200, 60)] {
            let area = Rect::new(0, 0, width, height);
            let buf = titled(&mut pane, &ctx, area);
            assert_harmless(&buf, area, "dead letters");
            assert!(buf.content.iter().all(|cell| cell.symbol().is_ascii()), "{sort}");
        }
        pane.on_command(Command::Sort, &ctx);
    }
}

/// The errors from the top, as far as a narrow column shows them.
fn errors(pane: &mut DeadLetters, ctx: &Ctx<'_>) -> Vec<String> {
    let text = text_of(&titled(pane, ctx, Rect::new(0, 0, 120, 20)));
    let error = |line: &str| line.chars().skip(3).take(9).collect::<String>();
    text.lines().skip(2).map(error).take_while(|error| !error.is_empty()).collect()
}

#[test]
fn the_cursor_belongs_to_its_error_whatever_the_order() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::busy());
    let ctx = context(&fixture, &marks, &theme);
    let mut pane = pane_with(busy(), &ctx);
    assert_eq!(errors(&mut pane, &ctx), ["503 Servi", "connect t", "lease exp", "duplicate", "(no error"]);
    pane.on_command(Command::Down, &ctx);
    let copied = Some(Ask::Copy("connect to <ip>:<n>: connection timed out after <n> ms".into()));
    assert_eq!(pane.on_command(Command::Copy, &ctx), copied);
    for (words, first) in [
        ("most retry/s first", "503 Servi"),
        ("most dead first", "duplicate"),
        ("most not replayed first", "duplicate"),
        ("newest first", "lease exp"),
        ("latest first", "503 Servi"),
        ("by text", "(no error"),
        ("worst first", "503 Servi"),
    ] {
        pane.on_command(Command::Sort, &ctx);
        assert!(pane.title(&ctx).contains(words), "{}", pane.title(&ctx));
        assert_eq!(errors(&mut pane, &ctx)[0], first, "{words}");
        assert_eq!(pane.on_command(Command::Copy, &ctx), copied, "{words}");
    }
    let third = Position::new(9, 4);
    titled(&mut pane, &ctx, Rect::new(0, 0, 120, 20));
    assert!(!pane.on_click(third, &ctx) && pane.on_click(third, &ctx), "the second click is on the row of the first");
    assert_eq!(pane.on_command(Command::Copy, &ctx), Some(Ask::Copy("lease expired".into())));
    // The error is gone: nothing is selected, and Enter opens nothing.
    pane.on_panel(
        &Panel::Groups(read(Reading::Exact(vec![group("new", "a", 1, [0, 0], [1, 1])]), Reading::Exact(0))),
        &ctx,
    );
    assert_eq!(pane.on_command(Command::Inspect, &ctx), None);
}

#[test]
fn it_narrows_to_the_queue_that_is_followed_and_to_the_filter() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::busy());
    let ctx = context(&fixture, &marks, &theme);
    let mut pane = pane_with(busy(), &ctx);
    pane.on_command(Command::Narrow, &ctx);
    assert_eq!(errors(&mut pane, &ctx), ["503 Servi", "connect t"]);
    assert!(pane.title(&ctx).contains("only webhooks"), "{}", pane.title(&ctx));
    let text = text_of(&titled(&mut pane, &ctx, Rect::new(0, 0, 120, 20)));
    assert!(text.contains(" 230 ") && !text.contains(" 237 "), "the numbers of that queue alone: {text}");
    let all = Ctx { queue: None, ..ctx };
    assert_eq!(errors(&mut pane, &all).len(), 5, "no queue is followed");
    pane.on_command(Command::Narrow, &ctx);
    for (filter, found) in [("TIMED OUT", "connect t"), ("emails", "connect t"), ("ORDERS", "duplicate")] {
        assert_eq!(errors(&mut pane, &Ctx { filter, ..ctx }), [found], "{filter}");
    }
    let none = Ctx { filter: "%_'\\", ..ctx };
    let text = text_of(&titled(&mut pane, &none, Rect::new(0, 0, 120, 20)));
    assert!(text.contains(r#"no error contains "%_'\""#), "{text}");
}

#[test]
fn a_failed_reading_keeps_the_rows_dimmed_and_says_so() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::busy());
    let ctx = context(&fixture, &marks, &theme);
    let dimmed = |buf: &Buffer| {
        buf.content.iter().skip(240).filter(|c| c.symbol() != " ").all(|c| c.modifier.contains(Modifier::DIM))
    };
    let area = Rect::new(0, 0, 120, 20);
    let mut pane = pane_with(busy(), &ctx);
    assert!(!dimmed(&titled(&mut pane, &ctx, area)));
    let later = Ctx { now: NOW.plus(Duration::from_secs(30)), ..ctx };
    assert!(dimmed(&titled(&mut pane, &later, area)), "an old reading");
    pane.on_panel_failed("it took too long\nmore");
    let buf = titled(&mut pane, &ctx, area);
    assert!(dimmed(&buf) && text_of(&buf).contains("503 Service"), "{}", text_of(&buf));
    assert!(pane.title(&ctx).contains("read 2s ago · not read again: it took too long"), "{}", pane.title(&ctx));
    pane.on_panel(&Panel::Groups(busy()), &ctx);
    assert!(!pane.title(&ctx).contains("not read again") && !dimmed(&titled(&mut pane, &ctx, area)));
}

#[test]
fn what_is_not_known_is_never_a_zero() {
    let (marks, theme, fixture) = (Marks::new(), Theme::mono(), fixtures::busy());
    let ctx = context(&fixture, &marks, &theme);
    let bare = Group {
        failed_15m: Reading::Unknown,
        retried_per_s: Reading::Unknown,
        replayed: Reading::Unknown,
        dead: Reading::AtLeast(5_000),
        trend: vec![],
        ..group("no host <n>", "gone", 0, [0, 0], [9, 9])
    };
    let mut pane = pane_with(read(Reading::AtLeast(vec![bare]), Reading::AtLeast(5_000)), &ctx);
    insta::assert_snapshot!("bare-120x8", text_of(&titled(&mut pane, &ctx, Rect::new(0, 0, 120, 8))));
}

fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

#[test]
fn the_keys_open_it_move_in_it_and_lead_to_the_jobs() {
    let world = World::new(Theme::mono(), TimeStyle::Relative, Duration::from_mins(15), Duration::from_secs(1));
    let mut app = App::new(world, Guards::default());
    app.update(Msg::Clock(Duration::from_secs(10)));
    app.update(Msg::Polled(Box::new(fixtures::busy().snapshot.unwrap())));
    assert_eq!(press(&mut app, KeyCode::Char('4')), [Effect::ReadPanel(PanelKind::Groups)]);
    assert_eq!(app.view(), View::Full(1));
    app.update(Msg::PanelRead(Box::new(Panel::Groups(busy()))));
    let screen = |app: &mut App| {
        let area = Rect::new(0, 0, 120, 30);
        let mut buf = Buffer::empty(area);
        app.draw(area, &mut buf);
        text_of(&buf)
    };
    let shown = screen(&mut app);
    assert!(shown.contains("DEAD LETTERS  1,310 in all · 5 errors, worst first · read 2s ago"), "{shown}");
    assert!(shown.contains("s sort") && shown.contains("f one queue"), "{shown}");
    for _ in 0..3 {
        assert_eq!(press(&mut app, KeyCode::Down), []);
    }
    let opened = press(&mut app, KeyCode::Enter);
    let [Effect::ReadPage(page)] = opened.as_slice() else { panic!("{opened:?}") };
    assert_eq!((page.filter.one_queue(), page.filter.states()), (None, StateSet::DEAD));
    let typed = page.filter.to_string();
    assert!(typed.contains("signature:\"duplicate key value violates unique constraint"), "{typed}");
    assert_eq!(app.view(), View::Jobs);
    // Back, and to one that nobody died of, in one queue.
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Down);
    assert_eq!(press(&mut app, KeyCode::Char('4')), [Effect::ReadPanel(PanelKind::Groups)]);
    press(&mut app, KeyCode::Char('f'));
    assert!(screen(&mut app).contains("only "), "{}", screen(&mut app));
    press(&mut app, KeyCode::Char('a'));
    assert!(screen(&mut app).contains("5 errors"), "{}", screen(&mut app));
}
