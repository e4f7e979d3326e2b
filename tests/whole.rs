//! The whole screen at the three layouts, as the app draws it from messages: looked at, and kept as reviewed text.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use queuetop::app::world::World;
use queuetop::app::{App, Guards};
use queuetop::model::{Ability, BackendKind, ServerFacts, TlsState};
use queuetop::msg::{Effect, Msg};
use queuetop::panes::TimeStyle;
use queuetop::text::Safe;
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::support::fixtures::{self, Fixture};
use crate::support::hostile;
use crate::support::screen::text_of;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
const SECOND: Duration = Duration::from_secs(1);

fn server() -> ServerFacts {
    ServerFacts {
        user: "oncall".into(),
        database: "app".into(),
        host: "db1.internal".into(),
        local: false,
        version: "16.4".into(),
        version_num: 160_004,
        standby: false,
        tls: TlsState::Verified,
        backends: vec![(BackendKind::Jobs, "public".into())],
        act: Ability::Yes,
        notes: vec![],
    }
}

/// A program that saw a fixture.
fn app(fixture: Fixture) -> App {
    let world = World::new(Theme::terminal(), TimeStyle::Relative, Duration::from_mins(15), SECOND);
    let mut app = App::new(world, Guards { typed_above: 20, ..Guards::default() });
    app.update(Msg::Clock(SECOND));
    app.update(Msg::Connected(Box::new(server())));
    app.update(Msg::PushState { live: true, note: None });
    app.update(Msg::Rhythm { every: SECOND, load: 0.003, cost: Duration::from_millis(3), sharers: 1 });
    let history = fixture.history.queues().map(|id| {
        let points = fixture.history.series(id).into_iter().flatten().copied().collect();
        (id.clone(), points)
    });
    app.update(Msg::HistoryRead(history.collect()));
    if let Some(snapshot) = fixture.snapshot {
        app.update(Msg::Polled(Box::new(snapshot)));
    }
    app
}

fn drawn(app: &mut App, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    app.update(Msg::Resized(width, height));
    app.draw(area, &mut buf);
    buf
}

#[test]
fn whole_screens_look_as_reviewed() {
    for fixture in [fixtures::empty, fixtures::busy, fixtures::overflowing, fixtures::denied] {
        for (width, height) in SIZES {
            let fixture = fixture();
            let name = format!("whole@{}-{width}x{height}", fixture.name);
            let mut app = app(fixture);
            insta::assert_snapshot!(name, text_of(&drawn(&mut app, width, height)));
        }
    }
}

fn press(app: &mut App, code: KeyCode) {
    app.update(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

#[test]
fn the_list_of_jobs_looks_as_reviewed() {
    for (width, height) in SIZES {
        let fixture = fixtures::busy();
        let mut page = fixture.page.clone().unwrap();
        let mut app = app(fixture);
        let asked = app.update(Msg::Key(KeyEvent::new(KeyCode::Char('2'), KeyModifiers::NONE)));
        let Some(Effect::ReadPage(request)) = asked.into_iter().next() else { panic!("no page was asked for") };
        page.request = request;
        app.update(Msg::PageRead(Box::new(page)));
        press(&mut app, KeyCode::Down);
        press(&mut app, KeyCode::Char(' '));
        insta::assert_snapshot!(format!("whole@jobs-{width}x{height}"), text_of(&drawn(&mut app, width, height)));
    }
}

#[test]
fn before_and_without_a_connection_the_screen_says_so() {
    let world = World::new(Theme::terminal(), TimeStyle::Relative, Duration::from_mins(15), SECOND);
    let mut app = App::new(world, Guards::default());
    app.update(Msg::Connecting { target: "app@db1.internal".into(), attempt: 1 });
    insta::assert_snapshot!("whole@connecting-80x24", text_of(&drawn(&mut app, 80, 24)));

    let mut app = self::app(fixtures::busy());
    app.update(Msg::Lost {
        reason: "the server closed the connection".into(),
        retry_in: Some(SECOND * 5),
        connected: false,
    });
    app.update(Msg::Clock(SECOND * 4));
    let buf = drawn(&mut app, 80, 24);
    insta::assert_snapshot!("whole@lost-80x24", text_of(&buf));
    let numbers = buf.content.iter().skip(80 * 5).take(80 * 6);
    assert!(numbers.filter(|cell| cell.symbol() != " ").all(|cell| cell.modifier.contains(Modifier::DIM)));
}

#[test]
fn any_size_of_screen_and_any_data_are_drawn_without_harm() {
    for theme in [Theme::terminal(), (Theme { ascii: true, ..Theme::mono() })] {
        let mut app = app(hostile::fixture());
        app.world.theme = theme;
        for key in ['\t', '\t', '\t', '\t', '?', '2'] {
            let code = if key == '\t' { KeyCode::Tab } else { KeyCode::Char(key) };
            press(&mut app, code);
            for (width, height) in [(1, 1), (2, 2), (7, 3), (20, 5), (10, 3), (300, 2), (39, 9), (80, 24), (101, 31)] {
                let buf = drawn(&mut app, width, height);
                for cell in &buf.content {
                    let safe = Safe::full(cell.symbol());
                    assert!(safe.as_str() == cell.symbol() || cell.symbol() == "\\", "{:?}", cell.symbol());
                    assert!(!theme.ascii || cell.symbol().is_ascii(), "{:?}", cell.symbol());
                }
            }
            press(&mut app, KeyCode::Esc);
        }
    }
}
