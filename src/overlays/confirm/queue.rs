//! Asks before a queue is paused or goes on.

use std::time::Duration;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::frame::{self, Line, labelled, wrapped};
use super::super::scroll::Scroll;
use super::guard::{Guard, Shown};
use super::{Answer, Place};
use crate::fmt::Figure;
use crate::keymap::Command;
use crate::model::QueueStats;
use crate::panes::Ctx;
use crate::text::Safe;

/// No wider than this: lines must be easy to read.
const WIDEST: usize = 76;
/// Narrower than this nothing can be read.
const NARROWEST: usize = 24;

/// An open confirmation about a queue.
#[derive(Debug, Clone)]
pub struct QueueConfirm {
    /// As it was seen.
    queue: QueueStats,
    pause: bool,
    place: Place,
    guard: Guard,
}

impl QueueConfirm {
    /// Asks to pause the queue, or to let it go on; `now` is monotonic time since the program's start. On a production target
    /// the queue's name is typed.
    #[must_use]
    pub fn new(queue: QueueStats, pause: bool, place: Place, now: Duration) -> Self {
        let word = place.production.then(|| super::name_to_type(&queue.id.name).unwrap_or_else(|| "yes".into()));
        Self { queue, pause, place, guard: Guard::new(word, now) }
    }

    /// The queue as it was seen.
    #[must_use]
    pub fn queue(&self) -> &QueueStats {
        &self.queue
    }

    /// Pause it; else let it go on.
    #[must_use]
    pub fn pauses(&self) -> bool {
        self.pause
    }

    /// A key, with its command in the scope of confirmations, at the monotonic time `now`.
    pub fn on_key(&mut self, event: &KeyEvent, command: Option<Command>, now: Duration) -> Answer {
        self.guard.on_key(event, command, now, &mut Scroll::default())
    }

    /// Pasted text goes into the text field. Says whether there is one.
    pub fn paste(&mut self, text: &str) -> bool {
        self.guard.paste(text)
    }

    fn verb(&self) -> &'static str {
        if self.pause { "pause" } else { "resume" }
    }

    /// Draws it into the middle of the screen `area`.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let columns = usize::from(area.width).saturating_sub(2).min(WIDEST);
        let blocked = ctx.stale.then_some("The numbers are old. It can be confirmed after a fresh reading.");
        let lines = self.lines(columns, blocked, ctx);
        let size = u16::try_from(columns).ok().zip(u16::try_from(lines.len()).ok());
        let place = size.and_then(|(columns, rows)| frame::centered(area, columns, rows));
        let Some(place) = place.filter(|_| columns >= NARROWEST) else {
            self.guard.shown = Shown::Blocked("the screen is too small".into());
            frame::too_small(area, buf, ctx.theme, (NARROWEST + 2, lines.len() + 2));
            return;
        };
        self.guard.shown = blocked.map_or(Shown::Whole, |reason| Shown::Blocked(reason.into()));
        let border = if self.place.production { ctx.theme.act } else { ctx.theme.accent };
        let title = if self.pause { "Pause 1 queue" } else { "Resume 1 queue" };
        let inner = frame::draw(place, title, border, buf);
        frame::lines(buf, inner, &lines);
        if let (Some(typed), None) = (&self.guard.typed, blocked) {
            let y = inner.bottom().saturating_sub(2).max(inner.y);
            let room = Rect { x: inner.x.saturating_add(2), y, width: inner.width.saturating_sub(2), height: 1 };
            typed.field.render(room, buf, ctx.theme);
        }
    }

    fn lines(&self, columns: usize, blocked: Option<&str>, ctx: &Ctx<'_>) -> Vec<Line> {
        let theme = ctx.theme;
        let mut lines = self.place.lines(columns, ctx);
        lines.extend(labelled("queue", Safe::new(&self.queue.id.name).as_str(), columns, theme.text));
        let (ready, running) = (Figure::words(&self.queue.ready), Figure::words(&self.queue.running));
        lines.extend(labelled("now", &format!("{ready} ready, {running} running"), columns, theme.text));
        lines.push(Line::new("", theme.text));
        let words = if self.pause {
            "Workers get no more jobs of it; what runs goes on, and new jobs come in. Another key press resumes it."
        } else {
            "Workers get its jobs again, as fast as they ask."
        };
        lines.extend(wrapped(words, columns, theme.text));
        lines.extend(self.guard.lines(self.verb(), blocked, columns, theme));
        lines
    }
}
