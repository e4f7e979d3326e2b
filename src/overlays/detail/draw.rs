//! A frame of a detail: the sections below each other, the part of them that is in view, the cursor, and what was found.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::frame;
use super::page::{Block, Row, SECTIONS, Section};
use super::search::Within;
use super::sheet::SheetRow;
use super::{Detail, Found, Long, head, timeline};
use crate::fmt;
use crate::keymap::Command;
use crate::model::{JobDetail, Reading};
use crate::panes::Ctx;
use crate::panes::parts::{dim_if_stale, put, say};
use crate::text::{Safe, width};
use crate::theme::CURSOR;

/// A row in view.
enum Shown {
    Row(Row),
    Text(SheetRow),
}

impl Detail {
    /// Draws it over the screen `area`, leaving the header above and the keys below in view where there is room.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (above, below) = if area.height >= 10 { (2, 1) } else { (0, 0) };
        let place = Rect { y: area.y + above, height: area.height.saturating_sub(above + below), ..area };
        let place = place.intersection(buf.area);
        frame::clear(place, buf);
        if place.is_empty() {
            return;
        }
        let body = Rect { y: place.y + 1, height: place.height - 1, ..place };
        let columns = usize::from(indent(body).width);
        for long in [&mut self.error, &mut self.payload].into_iter().flatten() {
            long.sheet.lay_out(columns);
        }
        let Some(detail) = &self.last else {
            self.title(place, buf, ctx, &[]);
            let words = if let Found::Here = self.found { String::new() } else { self.notes().concat() };
            say(buf, indent(body), ctx.theme, &words);
            return self.prompt(area, buf, ctx);
        };
        let blocks = self.blocks(detail, columns, ctx);
        let rows = usize::from(body.height);
        let mut view = self.view.clone();
        let (top, at, all) = view.settle(&blocks, rows);
        let shown = self.in_view(&blocks, top..top + rows);
        for (line, row) in (0..body.height).zip(&shown) {
            draw_row(buf, body, line, row, ctx);
        }
        let cursor = u16::try_from(at - top).unwrap_or(u16::MAX);
        if let Some(row) = shown.get(usize::from(cursor)) {
            draw_cursor(buf, body, cursor, row, ctx);
        }
        dim_if_stale(buf, body, ctx);
        let count = |n: usize| fmt::count(u64::try_from(n).unwrap_or(u64::MAX));
        let last = (top + rows).min(all);
        let lines = (all > rows).then(|| format!("lines {}-{} of {}", count(top + 1), count(last), count(all)));
        let read = format!("read {}", ctx.ago(detail.taken_at));
        self.title(place, buf, ctx, &[lines, Some(read)]);
        self.prompt(area, buf, ctx);
        self.view = view;
    }

    fn in_view(&self, blocks: &[Block<'_>; SECTIONS.len()], range: Range<usize>) -> Vec<Shown> {
        let mut start = 0;
        let mut shown = Vec::new();
        for (section, block) in SECTIONS.iter().zip(blocks) {
            let height = block.height();
            let from = range.start.saturating_sub(start).min(height);
            let to = range.end.saturating_sub(start).min(height);
            match block {
                Block::Rows(rows) => shown.extend(rows.iter().take(to).skip(from).cloned().map(Shown::Row)),
                Block::Sheet(sheet) if from < to => {
                    let within = if *section == Section::Error { Within::Error } else { Within::Payload };
                    let found = self.search.as_ref().map_or(&[] as &[_], |search| search.found(within));
                    shown.extend(sheet.visible(from..to, found).into_iter().map(Shown::Text));
                }
                Block::Sheet(_) => {}
            }
            start += height;
        }
        shown
    }

    /// What to say where there is no job to show, or above it.
    fn notes(&self) -> Vec<String> {
        let moved =
            if self.at.dead { "it was moved to the dead letters" } else { "it came back from the dead letters" };
        let state = match &self.found {
            Found::Reading => Some("reading…".to_owned()),
            Found::Failed(reason) => Some(format!("it could not be read: {}", Safe::first_line(reason))),
            Found::Gone => Some("it is gone: completed and pruned, or deleted".to_owned()),
            Found::Here => None,
        };
        self.moved.then(|| moved.to_owned()).into_iter().chain(state).collect()
    }

    fn blocks<'a>(&'a self, detail: &'a JobDetail, columns: usize, ctx: &Ctx<'_>) -> [Block<'a>; SECTIONS.len()] {
        let barred = head::barred(self.read_only, ctx);
        let (facts, keys) = head::rows(detail, (&self.notes(), barred.as_deref()), columns, ctx);
        let has_error = !matches!(detail.error, Reading::Exact(None));
        let nothing = || Block::Rows(Vec::new());
        let sheet = |long: &'a Option<Long>| long.as_ref().map_or_else(nothing, |long| Block::Sheet(&long.sheet));
        let error_head = heading("LAST ERROR", self.error.as_ref(), &detail.error, ctx);
        [
            Block::Rows(facts),
            Block::Rows(keys),
            Block::Rows(timeline::rows(detail, columns, ctx)),
            if has_error { Block::Rows(error_head) } else { nothing() },
            sheet(&self.error),
            Block::Rows(heading("PAYLOAD", self.payload.as_ref(), &detail.payload, ctx)),
            sheet(&self.payload),
        ]
    }

    /// A rule with the job's id in it, and on the right as many labels as there is room for, the last one first.
    fn title(&self, place: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, labels: &[Option<String>]) {
        let kind = if self.at.dead { "DEAD LETTER" } else { "JOB" };
        let name = format!("─ {kind} {} ", Safe::new(&self.at.id));
        let room = usize::from(place.width).saturating_sub(width(&name));
        let found = self.search.as_ref().map(|search| {
            let cut = [&self.error, &self.payload].into_iter().flatten().any(|long| long.next.is_some());
            let so_far = if cut { ", in what is here" } else { "" };
            format!("{}: {}{so_far}", Safe::new(search.wanted()).truncate(24), search.label())
        });
        let mut label = String::new();
        for next in [found].iter().chain(labels).flatten() {
            let longer = if label.is_empty() { next.clone() } else { format!("{label}, {next}") };
            // Two spaces around the label and a piece of rule on both sides.
            if width(&longer) + 4 <= room {
                label = longer;
            }
        }
        let label = if label.is_empty() { label } else { format!(" {label} ─") };
        let rule = "─".repeat(room.saturating_sub(width(&label)));
        put(buf, place, 0, &format!("{name}{rule}{label}"), ctx.theme.accent);
    }

    /// What to look for, as far as it was typed, over the last row of the screen.
    fn prompt(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        const LABEL: &str = " search: ";
        let Some(field) = &self.typing else { return };
        let line = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
        frame::clear(line, buf);
        put(buf, line, 0, LABEL, ctx.theme.accent);
        let label = u16::try_from(width(LABEL)).unwrap_or(0).min(line.width.saturating_sub(1));
        let rest = Rect { x: line.x + label, width: line.width.saturating_sub(label), ..line };
        field.render(rest, buf, ctx.theme);
    }
}

/// A blank row, and the name of a text with its size and what can be done about it.
fn heading<T>(name: &str, long: Option<&Long>, reading: &Reading<T>, ctx: &Ctx<'_>) -> Vec<Row> {
    let theme = ctx.theme;
    let Some(long) = long else {
        let denied = matches!(reading, Reading::Denied);
        let words = if denied { "denied: this role may not read it" } else { "not known" };
        return vec![Row::default(), Row(vec![(format!("{name}  {words}"), theme.heading)])];
    };
    let mut more = String::new();
    if long.next.is_some() {
        more = format!("  {} reads on, {} all", head::key(Command::ReadMore), head::key(Command::ReadAll));
    }
    if long.sheet.hides_something() {
        more.extend(["  ", &head::key(Command::Reveal), " reveals"]);
    }
    vec![Row::default(), Row(vec![(format!("{name}  {}", long.size()), theme.heading), (more, theme.quiet)])]
}

fn draw_row(buf: &mut Buffer, body: Rect, line: u16, row: &Shown, ctx: &Ctx<'_>) {
    let area = indent(body);
    match row {
        Shown::Row(row) => {
            let mut used = 0_usize;
            for (text, style) in &row.0 {
                let from = u16::try_from(used).unwrap_or(u16::MAX).min(area.width);
                put(buf, Rect { x: area.x + from, width: area.width - from, ..area }, line, text, *style);
                used += width(text);
            }
        }
        Shown::Text(row) => {
            put(buf, area, line, &row.text, ctx.theme.text);
            mark(buf, area, line, row, Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD));
        }
    }
}

/// The row under the cursor, reversed; what was found in it the other way round.
fn draw_cursor(buf: &mut Buffer, body: Rect, line: u16, row: &Shown, ctx: &Ctx<'_>) {
    if line >= body.height {
        return;
    }
    let area = Rect { y: body.y + line, height: 1, ..body };
    buf.set_style(area.intersection(buf.area), ctx.theme.cursor);
    if indent(body).x > body.x {
        put(buf, area, 0, CURSOR, ctx.theme.cursor);
    }
    if let Shown::Text(row) = row {
        let other_way =
            Style::new().remove_modifier(Modifier::REVERSED).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        mark(buf, indent(body), line, row, other_way);
    }
}

/// Styles what was found in a row.
fn mark(buf: &mut Buffer, area: Rect, line: u16, row: &SheetRow, style: Style) {
    for columns in &row.marks {
        let at = |column: usize| u16::try_from(column).unwrap_or(u16::MAX).min(area.width);
        let (from, to) = (at(columns.start), at(columns.end));
        let cells = Rect { x: area.x + from, y: area.y + line, width: to - from, height: 1 };
        buf.set_style(cells.intersection(buf.area), style);
    }
}

/// A column of air on both sides where there is room for it.
fn indent(area: Rect) -> Rect {
    let air = u16::from(area.width >= 20);
    Rect { x: area.x + air, width: area.width.saturating_sub(2 * air), ..area }
}
