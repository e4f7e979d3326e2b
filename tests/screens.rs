//! What is drawn: every pane with every fixture at three sizes as reviewed text, and every pane at odd sizes with hostile
//! data, where nothing may panic and no control character may reach a cell.

use std::time::Duration;

use queuetop::panes::{self, Ctx, Marks, Pane, TimeStyle};
use queuetop::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::support::fixtures::{self, Fixture, NOW};

const SIZES: [(u16, u16); 3] = [(40, 10), (80, 24), (120, 40)];

fn all_panes() -> Vec<Box<dyn Pane>> {
    let mut all = panes::overview();
    all.push(Box::new(panes::jobs::Jobs::default()));
    all
}

fn ctx<'a>(fixture: &'a Fixture, marks: &'a Marks, theme: &'a Theme) -> Ctx<'a> {
    Ctx {
        snapshot: fixture.snapshot.as_ref(),
        history: &fixture.history,
        server: None,
        queue: fixture.queue.as_ref(),
        marks,
        now: NOW,
        stale: fixture.stale,
        range: Duration::from_mins(15),
        times: TimeStyle::Relative,
        theme,
        filter: "",
        focused: true,
    }
}

/// The title and the pane, as the app lays them out.
fn draw(pane: &mut dyn Pane, fixture: &Fixture, area: Rect, theme: &Theme) -> Buffer {
    let marks = Marks::new();
    let ctx = ctx(fixture, &marks, theme);
    pane.on_snapshot(&ctx);
    if let Some(page) = &fixture.page {
        pane.on_page(page);
    }
    let mut buf = Buffer::empty(area);
    if area.height > 0 {
        let title = queuetop::text::truncate(&pane.title(&ctx), usize::from(area.width)).into_owned();
        buf.set_string(area.x, area.y, title, Style::new());
        pane.render(Rect { y: area.y + 1, height: area.height - 1, ..area }, &mut buf, &ctx);
    }
    theme.finish(&mut buf);
    buf
}

fn text_of(buf: &Buffer) -> String {
    let width = usize::from(buf.area.width).max(1);
    let line = |cells: &[ratatui::buffer::Cell]| {
        let mut skip = 0;
        let mut out = String::new();
        for cell in cells {
            if skip == 0 {
                out += cell.symbol();
                skip = queuetop::text::width(cell.symbol()).max(1);
            }
            skip -= 1;
        }
        out.trim_end().to_owned() + "\n"
    };
    buf.content.chunks(width).map(line).collect()
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
