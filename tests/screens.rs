//! What is drawn: every pane with every fixture at three sizes as reviewed text, and every pane at odd sizes with hostile
//! data, where nothing may panic and no control character may reach a cell.

use queuetop::panes::{self, Marks, Pane};
use queuetop::text::{self, Safe};
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::support::fixtures::{self, Fixture, context};
use crate::support::hostile;
use crate::support::screen::text_of;

const SIZES: [(u16, u16); 3] = [(40, 10), (80, 24), (120, 40)];

fn all_panes() -> Vec<Box<dyn Pane>> {
    let mut all = panes::overview();
    all.push(Box::new(panes::jobs::Jobs::default()));
    all
}

/// The title and the pane, as the app lays them out.
fn draw(pane: &mut dyn Pane, fixture: &Fixture, area: Rect, theme: &Theme) -> Buffer {
    let marks = Marks::new();
    let ctx = context(fixture, &marks, theme);
    pane.on_snapshot(&ctx);
    if let Some(page) = &fixture.page {
        pane.on_page(page);
    }
    // One more cell on every side, to see what is drawn outside.
    let mut buf = Buffer::empty(Rect::new(0, 0, area.right() + area.x, area.bottom() + area.y));
    if area.height > 0 {
        let title = text::truncate(&pane.title(&ctx), usize::from(area.width)).into_owned();
        buf.set_string(area.x, area.y, title, Style::new());
        pane.render(Rect { y: area.y + 1, height: area.height - 1, ..area }, &mut buf, &ctx);
    }
    theme.finish(&mut buf);
    buf
}

#[test]
fn panes_look_as_reviewed() {
    let theme = Theme::terminal();
    for fixture in fixtures::all() {
        for (width, height) in SIZES {
            for mut pane in all_panes() {
                let name = format!("{}@{}-{width}x{height}", pane.name(), fixture.name);
                let buf = draw(pane.as_mut(), &fixture, Rect::new(0, 0, width, height), &theme);
                insta::assert_snapshot!(name, text_of(&buf));
            }
        }
    }
}

/// No cell outside of the area, no control character and nothing that a terminal could act upon in any cell.
pub(crate) fn assert_harmless(buf: &Buffer, area: Rect, what: &str) {
    for (at, cell) in buf.content.iter().enumerate() {
        let (x, y) = buf.pos_of(at);
        let inside = area.contains((x, y).into());
        assert!(inside || cell.symbol() == " ", "{what}: {:?} at {x},{y}", cell.symbol());
        let safe = Safe::full(cell.symbol());
        assert!(safe.as_str() == cell.symbol() || cell.symbol() == "\\", "{what}: {:?} at {x},{y}", cell.symbol());
    }
}

#[test]
fn any_size_and_any_data_are_drawn_without_harm() {
    let widths = [1, 2, 3, 5, 8, 13, 20, 34, 40, 80, 81, 120, 200, 500];
    let heights = [1, 2, 3, 4, 5, 6, 10, 24, 60, 200];
    let fixtures = [hostile::fixture(), fixtures::overflowing(), fixtures::empty()];
    for fixture in &fixtures {
        for mut pane in all_panes() {
            for (width, height) in widths.iter().flat_map(|w| heights.map(|h| (*w, h))) {
                // Large in both directions shows nothing that large in one does not.
                if u32::from(width) * u32::from(height) > 12_000 {
                    continue;
                }
                let area = Rect::new(1, 1, width, height);
                let theme = if width % 2 == 0 { Theme::terminal() } else { Theme { ascii: true, ..Theme::mono() } };
                let buf = draw(pane.as_mut(), fixture, area, &theme);
                let what = format!("{} {} {width}x{height}", pane.name(), fixture.name);
                assert_harmless(&buf, area, &what);
                assert!(!theme.ascii || buf.content.iter().all(|cell| cell.symbol().is_ascii()), "{what}");
            }
        }
    }
}

#[test]
fn a_size_of_nothing_draws_nothing() {
    for mut pane in all_panes() {
        for area in [Rect::new(0, 0, 0, 0), Rect::new(0, 0, 0, 5), Rect::new(0, 0, 5, 0), Rect::new(90, 90, 5, 5)] {
            let fixture = fixtures::busy();
            let marks = Marks::new();
            let mut buf = Buffer::empty(Rect::new(0, 0, 10, 10));
            pane.render(area, &mut buf, &context(&fixture, &marks, &Theme::terminal()));
            assert!(buf.content.iter().all(|cell| cell.symbol() == " "));
        }
    }
}
