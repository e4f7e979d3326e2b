//! The one thing that may lie over the panes, and what it answers to keys. While it is open it takes every key.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

use crate::keymap::{Command, Scope};
use crate::model::{Action, Job, PartRequest, QueueId};
use crate::overlays::confirm::{self, Confirm, QueueConfirm};
use crate::overlays::detail::{self, Detail};
use crate::overlays::filter::{self, FilterPrompt, Known};
use crate::overlays::help::Help;
use crate::overlays::palette::{self, Palette};
use crate::overlays::results::Results;
use crate::overlays::value::{self, ValuePrompt, Wanted};
use crate::panes::Ctx;

use super::act::{action_of, value_of};

/// An overlay.
pub enum Overlay {
    /// Asks before acting.
    Confirm(Box<Confirm>),
    /// One job.
    Detail(Box<Detail>),
    /// Asks before a queue is paused or goes on.
    Queue(Box<QueueConfirm>),
    /// Asks for the value that an action needs.
    Value(Box<ValuePrompt>),
    /// Text that queues and jobs must contain.
    Filter(Box<FilterPrompt>),
    /// The keys.
    Help(Box<Help>),
    /// Everything that can be done, by name.
    Palette(Box<Palette>),
    /// The answer for each job of an action.
    Results(Box<Results>),
}

/// What an overlay wants done.
pub(super) enum Answer {
    /// Nothing; it stays open.
    Stay,
    /// Close it.
    Close,
    /// Close it and filter by this text.
    Filter(String),
    /// Close it and act.
    Confirmed {
        /// What was confirmed.
        action: Action,
        /// On which jobs, as they were seen.
        jobs: Vec<Job>,
    },
    /// Close it and pause the queue, or let it go on.
    SetPaused(QueueId, bool),
    /// Close it and ask to act on what is under the cursor.
    Chosen(Action),
    /// Close it and go there.
    Go(palette::Target),
    /// Ask to act on the job shown.
    Act(Action),
    /// Ask for the value that an action on the job shown needs.
    Ask(Wanted),
    /// Put a text on the clipboard and say so.
    Copy(String, String),
    /// Say this, as good news or not.
    Say(String, bool),
    /// Read more of a text of the job shown.
    Read(PartRequest),
    /// Do what this command means everywhere.
    Command(Command),
}

impl Overlay {
    /// The keys that count with `scopes`.
    pub(super) fn help(scopes: Vec<Scope>) -> Self {
        Self::Help(Box::new(Help::new(scopes)))
    }

    /// A filter to edit.
    pub(super) fn filter(text: &str, known: Known) -> Self {
        Self::Filter(Box::new(FilterPrompt::new(text, known)))
    }

    /// Whose keys count.
    pub(super) fn scope(&self) -> Scope {
        match self {
            Self::Confirm(_) | Self::Queue(_) => Scope::Confirm,
            Self::Detail(open) => open.scope(),
            Self::Filter(_) | Self::Value(_) => Scope::Prompt,
            Self::Palette(_) => Scope::Palette,
            Self::Help(_) | Self::Results(_) => Scope::Help,
        }
    }

    /// A key, with the command it has in this overlay's scope, at the monotonic time `now`.
    pub(super) fn key(&mut self, event: &KeyEvent, command: Option<Command>, now: Duration) -> Answer {
        match self {
            Self::Confirm(open) => match open.on_key(event, command, now) {
                confirm::Answer::Stay => Answer::Stay,
                confirm::Answer::Cancel => Answer::Close,
                confirm::Answer::Confirmed => Answer::Confirmed { action: open.action(), jobs: open.jobs().to_vec() },
            },
            Self::Queue(open) => match open.on_key(event, command, now) {
                confirm::Answer::Stay => Answer::Stay,
                confirm::Answer::Cancel => Answer::Close,
                confirm::Answer::Confirmed => Answer::SetPaused(open.queue().id.clone(), open.pauses()),
            },
            Self::Value(open) => match open.on_key(event, command, now) {
                value::Answer::Stay => Answer::Stay,
                value::Answer::Cancel => Answer::Close,
                value::Answer::Chosen(action) => Answer::Chosen(action),
            },
            Self::Filter(open) => match open.on_key(event, command) {
                filter::Answer::Stay => Answer::Stay,
                filter::Answer::Cancel => Answer::Close,
                filter::Answer::Done(text) => Answer::Filter(text),
            },
            Self::Palette(open) => match open.on_key(event, command) {
                palette::Answer::Stay => Answer::Stay,
                palette::Answer::Cancel => Answer::Close,
                palette::Answer::Chosen(target) => Answer::Go(target),
            },
            Self::Detail(open) => match command {
                Some(command @ (Command::Help | Command::Times | Command::Undo)) => Answer::Command(command),
                Some(command) if value_of(command).is_some() => value_of(command).map_or(Answer::Stay, Answer::Ask),
                Some(command) if action_of(command, open.at().dead).is_some() => {
                    action_of(command, open.at().dead).map_or(Answer::Stay, Answer::Act)
                }
                command => match open.on_key(event, command) {
                    detail::Answer::Stay => Answer::Stay,
                    detail::Answer::Close => Answer::Close,
                    detail::Answer::Say(words, good) => Answer::Say(words, good),
                    detail::Answer::Read(request) => Answer::Read(request),
                    detail::Answer::Copy { text, notice } => Answer::Copy(text, notice),
                },
            },
            Self::Help(open) => close_or(command, |command| open.on_command(command)),
            Self::Results(open) => close_or(command, |command| open.on_command(command)),
        }
    }

    /// Scrolls by one line, or moves the cursor by one row.
    pub(super) fn scroll(&mut self, command: Command) {
        match self {
            Self::Confirm(open) => open.scroll_by(command),
            Self::Detail(open) => open.scroll(command),
            Self::Help(open) => open.on_command(command),
            Self::Results(open) => open.on_command(command),
            Self::Palette(open) => open.on_movement(command),
            Self::Filter(_) | Self::Queue(_) | Self::Value(_) => {}
        }
    }

    /// Pasted text: goes into a text field. Says whether there was one.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        match self {
            Self::Confirm(open) => open.paste(text),
            Self::Queue(open) => open.paste(text),
            Self::Value(open) => {
                open.paste(text);
                true
            }
            Self::Filter(open) => {
                open.paste(text);
                true
            }
            Self::Palette(open) => {
                open.paste(text);
                true
            }
            Self::Detail(open) => open.paste(text),
            Self::Help(_) | Self::Results(_) => false,
        }
    }

    /// Draws over the whole screen `area`.
    pub(super) fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        match self {
            Self::Confirm(open) => open.render(area, buf, ctx),
            Self::Detail(open) => open.render(area, buf, ctx),
            Self::Filter(open) => open.render(area, buf, ctx),
            Self::Help(open) => open.render(area, buf, ctx),
            Self::Palette(open) => open.render(area, buf, ctx),
            Self::Queue(open) => open.render(area, buf, ctx),
            Self::Value(open) => open.render(area, buf, ctx),
            Self::Results(open) => open.render(area, buf, ctx),
        }
    }
}

fn close_or(command: Option<Command>, pass_on: impl FnOnce(Command)) -> Answer {
    match command {
        Some(Command::Back) => return Answer::Close,
        Some(command) => pass_on(command),
        None => {}
    }
    Answer::Stay
}
