//! One job: its row, what each action would do to it now, its attempts, the error and the payload in full.
//!
//! It opens at once and fills when the job was read. Error and payload may be huge: they are laid out once for a width, and
//! a frame draws only the lines in view.

mod head;
mod long;
mod pretty;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame::{self, Line};
use super::scroll::Scroll;
use crate::fmt;
use crate::keymap::Command;
use crate::model::{Attempt, Job, JobDetail, JobRef, Preview, Reading};
use crate::panes::Ctx;
use crate::panes::parts::{put, say};
use crate::text::{Safe, width};
use long::{Kind, Long};

/// How far the reading of the job has come.
#[derive(Debug, Clone)]
enum Found {
    Reading,
    /// It could not be read: why.
    Failed(String),
    /// No such job.
    Gone,
    Here,
}

/// The open detail of one job.
#[derive(Debug, Clone)]
pub struct Detail {
    at: JobRef,
    found: Found,
    /// The job as it was last read.
    last: Option<JobDetail>,
    error: Option<Long>,
    payload: Option<Long>,
    scroll: Scroll,
    /// The first line of each section, as last drawn.
    sections: Vec<usize>,
}

/// A stretch of lines.
enum Block<'a> {
    Lines(Vec<Line>),
    Attempts(&'a [Attempt]),
    Long(&'a Long),
}

impl Detail {
    /// Opens on a job that is being read.
    #[must_use]
    pub fn new(at: JobRef) -> Self {
        Self {
            at,
            found: Found::Reading,
            last: None,
            error: None,
            payload: None,
            scroll: Scroll::default(),
            sections: Vec::new(),
        }
    }

    /// Which job.
    #[must_use]
    pub fn at(&self) -> &JobRef {
        &self.at
    }

    /// The job as it was read, for acting on it; `None` until then, and when it is gone.
    #[must_use]
    pub fn job(&self) -> Option<&Job> {
        match self.found {
            Found::Gone => None,
            _ => self.last.as_ref().map(|detail| &detail.job),
        }
    }

    /// A job was read; `None`: it is gone. Another job than the one that is open changes nothing.
    pub fn on_detail(&mut self, job: &JobRef, detail: Option<JobDetail>) {
        if *job != self.at {
            return;
        }
        let Some(detail) = detail else {
            // What was read before stays in view: it may be the last that is known of it.
            self.found = Found::Gone;
            return;
        };
        self.found = Found::Here;
        let old = self.last.replace(detail);
        let Some(new) = &self.last else { return };
        // Read again and the same: the lines that were worked out stay.
        if old.as_ref().is_none_or(|old| old.error != new.error) {
            let text = new.error.value().and_then(Option::as_ref).map(|error| error.text.clone());
            self.error = text.map(|text| Long::new(text, Kind::Plain));
        }
        if old.as_ref().is_none_or(|old| old.payload != new.payload) {
            let text = new.payload.value().map(|payload| pretty::pretty(&payload.text).into_owned());
            self.payload = text.map(|text| Long::new(text, Kind::Json));
        }
    }

    /// A job could not be read.
    pub fn on_failure(&mut self, job: &JobRef, reason: &str) {
        if *job == self.at {
            self.found = Found::Failed(reason.to_owned());
        }
    }

    /// Scrolls, or goes to the next section.
    pub fn on_command(&mut self, command: Command) {
        if command == Command::NextPane {
            let top = self.scroll.top();
            self.scroll.go_to(self.sections.iter().copied().find(|start| *start > top).unwrap_or(0));
        } else {
            self.scroll.on_command(command);
        }
    }

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
        let Some(detail) = &self.last else {
            title(place, buf, ctx, &self.at, [].iter());
            say(buf, indent(body), ctx.theme, &self.state().unwrap_or_default());
            return;
        };
        let columns = usize::from(indent(body).width);
        for long in [&mut self.error, &mut self.payload].into_iter().flatten() {
            long.lay_out(columns);
        }
        let blocks = self.blocks(detail, columns, ctx);
        let mut starts = Vec::with_capacity(blocks.len());
        let mut lines = 0;
        for block in &blocks {
            starts.push(lines);
            lines += block.height();
        }
        let rows = usize::from(body.height);
        let mut scroll = self.scroll;
        let first = scroll.settle(lines, rows);
        let visible: Vec<Line> = blocks
            .iter()
            .zip(&starts)
            .flat_map(|(block, start)| {
                let from = first.saturating_sub(*start).min(block.height());
                let to = (first + rows).saturating_sub(*start).min(block.height());
                block.visible(from..to, columns, ctx)
            })
            .collect();
        frame::lines(buf, indent(body), &visible);
        let read = format!("read {}", ctx.ago(detail.taken_at));
        let place_in_text = scroll.label("lines");
        let both = place_in_text.as_ref().map(|lines| format!("{read}, {lines}"));
        let labels = [both, place_in_text, Some(read)];
        title(place, buf, ctx, &self.at, labels.iter().flatten());
        (self.scroll, self.sections) = (scroll, starts);
    }

    /// What to say where there is no job to show, or above it.
    fn state(&self) -> Option<String> {
        match &self.found {
            Found::Reading => Some("reading…".into()),
            Found::Failed(reason) => Some(format!("it could not be read: {}", Safe::first_line(reason))),
            Found::Gone => Some("it is gone: completed and pruned, deleted, or moved".into()),
            Found::Here => None,
        }
    }

    fn blocks<'a>(&'a self, detail: &'a JobDetail, columns: usize, ctx: &Ctx<'_>) -> Vec<Block<'a>> {
        let theme = ctx.theme;
        let mut top = Vec::new();
        if let Some(words) = self.state() {
            top.extend(frame::wrapped(&words, columns, theme.warn));
        }
        top.extend(head::row(detail, columns, ctx));
        let mut blocks = vec![Block::Lines(top), Block::Lines(head::actions(&detail.job, columns, ctx))];
        let heading = |words: String| Block::Lines(vec![Line::new("", theme.text), Line::new(words, theme.heading)]);
        match detail.attempts.value() {
            Some(attempts) if !attempts.is_empty() => {
                blocks.extend([heading("ATTEMPTS that did not complete".into()), Block::Attempts(attempts)]);
            }
            Some(_) => {}
            None => blocks.push(heading(format!("ATTEMPTS {}", missing(&detail.attempts)))),
        }
        match (&self.error, detail.error.value().and_then(Option::as_ref)) {
            (Some(error), Some(preview)) => {
                blocks.extend([heading(format!("LAST ERROR  {}", size(preview))), Block::Long(error)]);
            }
            _ if detail.error.value().is_none() => {
                blocks.push(heading(format!("LAST ERROR {}", missing(&detail.error))));
            }
            _ => {}
        }
        match (&self.payload, detail.payload.value()) {
            (Some(payload), Some(preview)) => {
                blocks.extend([heading(format!("PAYLOAD  {}", size(preview))), Block::Long(payload)]);
            }
            _ => blocks.push(heading(format!("PAYLOAD {}", missing(&detail.payload)))),
        }
        blocks
    }
}

impl Block<'_> {
    fn height(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.len(),
            Self::Attempts(attempts) => attempts.len(),
            Self::Long(long) => long.lines(),
        }
    }

    fn visible(&self, range: std::ops::Range<usize>, columns: usize, ctx: &Ctx<'_>) -> Vec<Line> {
        match self {
            Self::Lines(lines) => lines.get(range).unwrap_or_default().to_vec(),
            Self::Attempts(attempts) => {
                let rows = attempts.get(range).unwrap_or_default();
                rows.iter().map(|attempt| head::attempt(attempt, columns, ctx)).collect()
            }
            Self::Long(long) => long.visible(range).into_iter().map(|text| Line::new(text, ctx.theme.text)).collect(),
        }
    }
}

/// A rule with the job's id in it, and on the right the first label there is room for.
fn title<'a>(place: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, at: &JobRef, mut labels: impl Iterator<Item = &'a String>) {
    let name = format!("─ {} {} ", if at.dead { "DEAD LETTER" } else { "JOB" }, Safe::new(&at.id));
    let room = usize::from(place.width).saturating_sub(width(&name));
    // Two spaces around the label and a piece of rule on both sides.
    let label = labels.find(|label| width(label) + 4 <= room).map_or_else(String::new, |label| format!(" {label} ─"));
    let rule = "─".repeat(room.saturating_sub(width(&label)));
    put(buf, place, 0, &format!("{name}{rule}{label}"), ctx.theme.accent);
}

/// A column of air on both sides where there is room for it.
fn indent(area: Rect) -> Rect {
    let air = u16::from(area.width >= 20);
    Rect { x: area.x + air, width: area.width.saturating_sub(2 * air), ..area }
}

/// `812 bytes`, `1.2 MB, the first 64 kB of it`.
fn size(preview: &Preview) -> String {
    let shown = u64::try_from(preview.text.len()).unwrap_or(u64::MAX);
    let whole = fmt::bytes(preview.bytes);
    if preview.cut { format!("{whole}, the first {} of it", fmt::bytes(shown)) } else { whole }
}

fn missing<T>(reading: &Reading<T>) -> &'static str {
    if matches!(reading, Reading::Denied) { "denied: this role may not read it" } else { "not known" }
}

#[cfg(test)]
mod tests;
