//! Where things stand on screen. Three layouts of the overview: large, small with tabs, and one pane zoomed.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::panes::Pane;
use crate::text::{truncate, width};

use super::mouse::Place;
use super::world::World;
use super::{App, View, footer, header};

/// From this size on the overview shows all panes at once.
const LARGE: (u16, u16) = (100, 30);

impl App {
    /// Draws everything. Total for any size.
    pub fn draw(&mut self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let rows = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(u16::from(area.height >= 20)),
            Constraint::Min(0),
            Constraint::Length(1),
        ]);
        let [top, verdict, _, body, bottom] = area.layout(&rows);
        header::render(self, top, buf);
        header::verdict(self, verdict, buf);
        self.places.clear();
        match (self.view, self.zoomed) {
            (View::Jobs, _) => {
                self.places.push((body, Place::Pane(0)));
                titled(&mut self.jobs, &self.world, true, body, buf);
            }
            (View::Full(index), _) => {
                self.places.push((body, Place::Pane(index)));
                titled(self.full[index].as_mut(), &self.world, true, body, buf);
            }
            (View::Overview, true) => self.pane(self.focus, body, buf),
            (View::Overview, false) if area.width >= LARGE.0 && area.height >= LARGE.1 => self.large(body, buf),
            (View::Overview, false) => self.small(body, buf),
        }
        footer::render(self, bottom, buf);
        for overlay in &mut self.overlays {
            overlay.render(area, buf, &self.world.ctx(true));
        }
        self.world.theme.finish(buf);
    }

    /// The table of queues on top, the others two by two below it.
    fn large(&mut self, area: Rect, buf: &mut Buffer) {
        let queues = self.world.snapshot.as_ref().map_or(5, |s| s.queues.len());
        let most = area.height * 2 / 5;
        let table = u16::try_from(queues + 2).unwrap_or(most).clamp(6.min(most), most);
        let rows = Layout::vertical([Constraint::Length(table), Constraint::Fill(1), Constraint::Fill(1)]).spacing(1);
        let [first, upper, lower] = area.layout(&rows);
        let columns = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(3);
        let [upper_left, upper_right] = upper.layout(&columns);
        let [lower_left, lower_right] = lower.layout(&columns);
        let places = [first, upper_left, upper_right, lower_left, lower_right];
        for (index, place) in places.into_iter().enumerate() {
            self.pane(index, place, buf);
        }
        for half in [upper, lower] {
            let x = half.x + half.width.saturating_sub(3) / 2 + 1;
            for y in half.top()..half.bottom() {
                if let Some(cell) = buf.cell_mut((x, y)) {
                    cell.set_symbol("│").set_style(self.world.theme.quiet);
                }
            }
        }
    }

    /// The table of queues, then one other pane behind a line of tabs.
    fn small(&mut self, area: Rect, buf: &mut Buffer) {
        let queues = self.world.snapshot.as_ref().map_or(4, |s| s.queues.len());
        let most = (area.height / 2).max(4);
        let table = u16::try_from(queues + 2).unwrap_or(most).clamp(4, most);
        let rows = Layout::vertical([Constraint::Length(table), Constraint::Length(1), Constraint::Min(0)]);
        let [first, tabs, rest] = area.layout(&rows);
        self.pane(0, first, buf);
        self.tabs(tabs, buf);
        self.pane(self.lower, rest, buf);
    }

    /// A pane of the overview under its heading.
    fn pane(&mut self, index: usize, area: Rect, buf: &mut Buffer) {
        if let Some(pane) = self.overview.get_mut(index) {
            self.places.push((area, Place::Pane(index)));
            titled(pane.as_mut(), &self.world, index == self.focus, area, buf);
        }
    }

    fn tabs(&mut self, area: Rect, buf: &mut Buffer) {
        let theme = &self.world.theme;
        let mut spans = vec![Span::styled("─", theme.quiet)];
        for (index, pane) in self.overview.iter().enumerate().skip(1) {
            let style = match index {
                i if i == self.lower && i == self.focus => theme.accent,
                i if i == self.lower => theme.text,
                _ => theme.quiet,
            };
            let name = Span::styled(format!(" {} ", pane.name()), style);
            let before: usize = spans.iter().map(Span::width).sum();
            let (x, wide) =
                (u16::try_from(before).unwrap_or(u16::MAX), u16::try_from(name.width()).unwrap_or(u16::MAX));
            let place = Rect { x: area.x.saturating_add(x), width: wide, ..area }.intersection(area);
            self.places.push((place, Place::Tab(index)));
            spans.extend([name, Span::styled("─", theme.quiet)]);
        }
        let used: usize = spans.iter().map(Span::width).sum();
        let hint = " tab ";
        let fill = usize::from(area.width).saturating_sub(used + width(hint) + 1);
        spans.push(Span::styled("─".repeat(fill), theme.quiet));
        spans.push(Span::styled(hint, theme.quiet));
        Line::from(spans).render(area, buf);
    }
}

/// A pane under its heading.
fn titled(pane: &mut dyn Pane, world: &World, focused: bool, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let [heading, body] = area.layout(&Layout::vertical([Constraint::Length(1), Constraint::Min(0)]));
    let ctx = world.ctx(focused);
    let style = if focused { world.theme.accent } else { world.theme.heading };
    let title = format!(" {}", pane.title(&ctx));
    Line::styled(truncate(&title, usize::from(heading.width)).into_owned(), style).render(heading, buf);
    pane.render(body, buf, &ctx);
}
