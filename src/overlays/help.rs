//! The keys that count here and everywhere, from the one table, and what signs and cells mean.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::frame::{self, Line, wrapped};
use super::scroll::Scroll;
use crate::keymap::{self, Binding, Command, Key, Scope};
use crate::panes::Ctx;
use crate::panes::parts::put;
use crate::text::{self, Side};
use crate::theme::{self, Theme};

/// No wider than this.
const WIDEST: u16 = 92;
/// Columns of the keys.
const KEYS: usize = 18;

/// The open help page.
#[derive(Debug, Clone)]
pub struct Help {
    /// The scopes that were in force when it was opened, innermost first.
    scopes: Vec<Scope>,
    scroll: Scroll,
}

impl Help {
    /// The keys that count in `scopes` first, then all others.
    #[must_use]
    pub fn new(scopes: Vec<Scope>) -> Self {
        Self { scopes, scroll: Scroll::default() }
    }

    /// Scrolls.
    pub fn on_command(&mut self, command: Command) {
        self.scroll.on_command(command);
    }

    /// Draws it over most of the screen `area`.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let theme = ctx.theme;
        if area.width < 12 || area.height < 3 {
            // No room for a box: at least the way out.
            frame::clear(area, buf);
            put(buf, area, 0, "Esc closes", theme.text);
            return;
        }
        let width = area.width.min(WIDEST);
        let place = Rect { x: area.x + (area.width - width) / 2, width, ..area };
        let inner = frame::draw(place, "Keys and signs", theme.accent, buf);
        let lines = self.lines(usize::from(inner.width), theme);
        let first = self.scroll.settle(lines.len(), usize::from(inner.height));
        frame::lines(buf, inner, lines.iter().skip(first));
        let label =
            self.scroll.label("lines").map_or_else(|| " Esc closes ".into(), |at| format!(" Esc closes · {at} "));
        let foot = Rect { x: place.x + 2, y: place.bottom() - 1, width: place.width.saturating_sub(4), height: 1 };
        put(buf, foot, 0, &label, theme.quiet);
    }

    fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rows: Vec<&Binding> = keymap::in_force(&self.scopes).collect();
        for scope in &self.scopes {
            let of_scope: Vec<&Binding> = rows.iter().copied().filter(|b| b.scope == *scope).collect();
            group(&mut lines, name(*scope), &of_scope, columns, theme);
        }
        // What counts in other places, so that the page is complete wherever it is opened.
        rows.clear();
        rows.extend(keymap::bindings());
        for scope in ALL.iter().filter(|scope| !self.scopes.contains(scope)) {
            let of_scope: Vec<&Binding> = rows.iter().copied().filter(|b| b.scope == *scope).collect();
            group(&mut lines, name(*scope), &of_scope, columns, theme);
        }
        legend(&mut lines, columns, theme);
        lines
    }
}

/// Every scope, in the order of the page.
const ALL: [Scope; 14] = [
    Scope::Jobs,
    Scope::JobList,
    Scope::Queues,
    Scope::Failures,
    Scope::Groups,
    Scope::Workers,
    Scope::List,
    Scope::Global,
    Scope::Always,
    Scope::Detail,
    Scope::Confirm,
    Scope::Prompt,
    Scope::Palette,
    Scope::Help,
];

fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::Jobs => "ON A JOB",
        Scope::JobList => "ON THE LIST OF JOBS",
        Scope::Queues => "ON A QUEUE",
        Scope::Failures => "ON AN ERROR",
        Scope::Groups => "ON ERRORS AND DEAD LETTERS",
        Scope::Workers => "ON A WORKER",
        Scope::List => "MOVING",
        Scope::Global => "EVERYWHERE",
        Scope::Always => "EVERYWHERE, DIALOGS TOO",
        Scope::Detail => "IN THE DETAIL OF A JOB",
        Scope::Confirm => "IN A CONFIRMATION",
        Scope::Prompt => "IN A TEXT FIELD",
        Scope::Palette => "IN THE PALETTE",
        Scope::Help => "ON THIS PAGE",
    }
}

fn group(lines: &mut Vec<Line>, name: &str, rows: &[&Binding], columns: usize, theme: &Theme) {
    if rows.is_empty() {
        return;
    }
    heading(lines, name, theme);
    for row in rows {
        let keys: Vec<String> = row.keys.iter().map(|key| Key::label(*key)).collect();
        entry(lines, &keys.join(" "), row.help, columns, theme.text);
    }
}

fn heading(lines: &mut Vec<Line>, name: &str, theme: &Theme) {
    if !lines.is_empty() {
        lines.push(Line::new("", theme.text));
    }
    lines.push(Line::new(format!(" {name}"), theme.heading));
}

/// `  key   what it means`, wrapped under itself.
fn entry(lines: &mut Vec<Line>, what: &str, means: &str, columns: usize, style: Style) {
    let column = KEYS.min(columns / 2);
    let room = columns.saturating_sub(column + 2).max(1);
    for (at, piece) in wrapped(means, room, style).into_iter().enumerate() {
        let left = if at == 0 { what } else { "" };
        lines.push(Line::new(format!("  {}{}", text::fit(left, column, Side::Left), piece.text), style));
    }
}

fn legend(lines: &mut Vec<Line>, columns: usize, theme: &Theme) {
    heading(lines, "SIGNS", theme);
    for (sign, means) in [
        (theme::ATTENTION, "needs attention"),
        (theme::EXPIRED, "the lease ran out"),
        (theme::PAUSED, "paused: nothing is claimed"),
        (theme::ESTIMATED, "its numbers are estimates"),
        (theme::CURSOR, "under the cursor"),
        (theme::MARK, "marked"),
    ] {
        entry(lines, sign, means, columns, theme.text);
    }
    heading(lines, "NUMBERS", theme);
    for (cell, means) in [
        ("-", "a true zero: it was counted"),
        ("~1.2 M", "about: an estimate"),
        ("10k+", "at least: counting stopped there"),
        ("?", "not known (yet)"),
        ("denied", "this role may not read it"),
        ("·", "does not apply here"),
        ("dimmed", "true once; the header says how old it is"),
    ] {
        entry(lines, cell, means, columns, theme.text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::screen;
    use super::*;

    fn draw(help: &mut Help, size: (u16, u16)) -> String {
        screen(size, false, |area, buf, ctx| help.render(area, buf, ctx))
    }

    #[test]
    fn every_key_and_sign_is_on_the_page() {
        let mut help = Help::new(vec![Scope::Jobs, Scope::List, Scope::Global, Scope::Always]);
        let page = draw(&mut help, (100, 200));
        for binding in keymap::bindings() {
            assert!(page.contains(binding.help), "{}", binding.help);
        }
        assert!(page.find("ON A JOB") < page.find("EVERYWHERE"));
        assert!(page.contains("~1.2 M") && page.contains("denied") && page.contains(theme::PAUSED));
    }

    #[test]
    fn it_scrolls_to_its_end_at_any_size() {
        for size in [(20, 5), (10, 3), (1, 1), (300, 2), (80, 24), (0, 0)] {
            let mut help = Help::new(vec![Scope::Global]);
            draw(&mut help, size);
            help.on_command(Command::Bottom);
            let text = draw(&mut help, size);
            assert!(size != (80, 24) || text.contains("true once; the header says how old it is"), "{text}");
            assert!(size.0 < 10 || text.contains("Esc"), "{text}");
        }
    }
}
