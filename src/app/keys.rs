//! Key presses: through the one table to a command, and from the command to a pane, an overlay or the program itself.

use std::time::Duration;

use crossterm::event::{KeyEvent, KeyEventKind};

use crate::keymap::{self, Command, Key, Scope};
use crate::model::{Filter, Job};
use crate::msg::Effect;
use crate::overlays::palette::{Palette, Target};
use crate::panes::{Ask, TimeStyle};

use super::act::action_of;
use super::overlay::{Answer, Overlay};
use super::{App, Effects, View};

/// Time ranges of the charts, shortest first.
const RANGES: [Duration; 6] = [
    Duration::from_mins(5),
    Duration::from_mins(15),
    Duration::from_hours(1),
    Duration::from_hours(6),
    Duration::from_hours(24),
    Duration::from_hours(24 * 7),
];
/// Up to here the past is shown in spans of five minutes, beyond in hours.
const DAY: Duration = Duration::from_hours(24);
/// The number key of the first of the full views.
const FIRST_FULL: usize = 3;
/// Polls are never asked for more often than this.
const FASTEST: Duration = Duration::from_millis(50);
/// Nor less often.
const SLOWEST: Duration = Duration::from_mins(1);

impl App {
    /// Scopes of keys in force, innermost first.
    #[must_use]
    pub fn scopes(&self) -> Vec<Scope> {
        if let Some(overlay) = self.overlays.last() {
            return vec![overlay.scope(), Scope::Always];
        }
        let mut scopes = self.focused().scopes().to_vec();
        scopes.extend([Scope::Global, Scope::Always]);
        scopes
    }

    pub(super) fn key(&mut self, event: &KeyEvent) -> Effects {
        if event.kind == KeyEventKind::Release {
            return Effects::new();
        }
        let command = Key::of(event).and_then(|key| keymap::resolve(&self.scopes(), key));
        if event.kind == KeyEventKind::Repeat && !self.repeats(command) {
            return Effects::new();
        }
        match command {
            Some(Command::QuitNow) => return vec![Effect::Quit],
            Some(Command::Suspend) => return vec![Effect::Suspend],
            _ => {}
        }
        if let Some(overlay) = self.overlays.last_mut() {
            if matches!(overlay, Overlay::Detail(_)) {
                self.notice = None;
            }
            let answer = overlay.key(event, command, self.world.mono);
            return self.answered(answer);
        }
        self.notice = None;
        command.map_or_else(Effects::new, |command| self.command(command))
    }

    /// A held key moves and types on, and does nothing else a second time.
    fn repeats(&self, command: Option<Command>) -> bool {
        self.overlays.last().is_some_and(|overlay| matches!(overlay.scope(), Scope::Prompt | Scope::Palette))
            || matches!(command, Some(Command::Up | Command::Down | Command::PageUp | Command::PageDown))
    }

    fn command(&mut self, command: Command) -> Effects {
        match command {
            Command::Quit => return vec![Effect::Quit],
            Command::Help => self.overlays.push(Overlay::help(self.scopes())),
            Command::View(1) => self.view = View::Overview,
            Command::View(2) => return self.show_jobs(self.jobs.filter().clone()),
            Command::View(number) => return self.open_full(usize::from(number).saturating_sub(FIRST_FULL)),
            Command::NextPane => self.step_focus(1),
            Command::PreviousPane => self.step_focus(self.overview.len().saturating_sub(1)),
            Command::Filter => self.ask_for_filter(),
            Command::Palette => self.open_palette(),
            Command::Reschedule | Command::Priority => self.ask_for_value(command),
            Command::Pause => self.ask_to_pause(),
            Command::Undo => self.ask_to_undo(),
            Command::Freeze => self.world.toggle_freeze(),
            Command::Zoom => self.zoomed = !self.zoomed,
            Command::AllQueues => self.world.follow = !self.world.follow,
            Command::Mouse => return self.toggle_mouse(),
            Command::Times => self.world.times = next_times(self.world.times),
            Command::RangeShorter => return self.step_range(false),
            Command::RangeLonger => return self.step_range(true),
            Command::Faster => return self.set_interval(self.world.rhythm.asked / 2),
            Command::Slower => return self.set_interval(self.world.rhythm.asked * 2),
            Command::Refresh => return vec![Effect::Repaint, Effect::PollNow],
            Command::PsqlLine => self.show_psql_line(),
            Command::Back => return self.back(),
            _ => return self.pane_command(command),
        }
        Effects::new()
    }

    /// What the focused pane does with a command; what is the same for every job is done here.
    pub(super) fn pane_command(&mut self, command: Command) -> Effects {
        let ctx = self.world.ctx(true);
        let job = self.focused().current_job(&ctx).cloned();
        if let Some(action) = action_of(command, self.targets_are_dead()) {
            return self.ask_to_act(action);
        }
        match (command, job) {
            (Command::Inspect, Some(job)) => return self.perform(Ask::Inspect(job.at)),
            (Command::Copy, Some(job)) => return self.perform(Ask::Copy(job.at.id)),
            (Command::Mark, Some(job)) => {
                self.toggle_mark(job);
                return self.pane_command(Command::Down);
            }
            _ => {}
        }
        let (pane, ctx) = self.focused_mut();
        let ask = pane.on_command(command, &ctx);
        self.follow_cursor();
        ask.map_or_else(Effects::new, |ask| self.perform(ask))
    }

    /// Carries out what a pane asks for.
    fn perform(&mut self, ask: Ask) -> Effects {
        match ask {
            Ask::Follow(queue) => self.world.queue = Some(queue),
            Ask::Inspect(job) => return self.inspect(job),
            Ask::ShowJobs(filter) => return self.show_jobs(filter),
            Ask::Read(request) => return vec![Effect::ReadPage(request)],
            Ask::MarkAll(jobs) => {
                self.world.marks.extend(jobs.into_iter().map(|job| (job.at.clone(), job)));
            }
            Ask::Copy(text) => {
                self.notify("copied to the clipboard, if the terminal allows it (OSC 52)", true);
                return vec![Effect::Copy(text)];
            }
        }
        Effects::new()
    }

    /// What an overlay answered.
    fn answered(&mut self, answer: Answer) -> Effects {
        match answer {
            Answer::Stay => {}
            Answer::Close => drop(self.overlays.pop()),
            Answer::Filter(text) => {
                self.overlays.pop();
                return self.set_filter(&text);
            }
            Answer::Confirmed { action, jobs } => {
                self.overlays.pop();
                return self.start_acting(action, jobs);
            }
            Answer::SetPaused(queue, paused) => {
                self.overlays.pop();
                return vec![Effect::SetPaused { queue, paused, reason: None }];
            }
            Answer::Chosen(action) => {
                self.overlays.pop();
                return self.ask_to_act(action);
            }
            Answer::Ask(wanted) => self.ask_for(wanted),
            Answer::Go(target) => {
                self.overlays.pop();
                return self.go(target);
            }
            Answer::Act(action) => return self.ask_to_act(action),
            Answer::Copy(text, notice) => {
                self.notify(notice, true);
                return vec![Effect::Copy(text)];
            }
            Answer::Say(words, good) => self.notify(words, good),
            Answer::Read(request) => return vec![Effect::ReadPart(request)],
            Answer::Command(command) => return self.command(command),
        }
        Effects::new()
    }

    fn open_palette(&mut self) {
        let queues = self.world.snapshot.as_ref().map_or(&[] as &[_], |snapshot| &snapshot.queues);
        let queues = queues.iter().map(|queue| &queue.id);
        let palette = Palette::new(keymap::in_force(&self.scopes()), queues, &self.guards.filters);
        self.overlays.push(Overlay::Palette(Box::new(palette)));
    }

    /// Goes where an entry of the palette leads.
    fn go(&mut self, target: Target) -> Effects {
        match target {
            Target::Command(Command::QuitNow) => vec![Effect::Quit],
            Target::Command(Command::Suspend) => vec![Effect::Suspend],
            Target::Command(command) => self.command(command),
            Target::Queue(queue) => self.show_jobs(Filter::of_queue(&queue)),
            Target::Filter(text) => self.set_filter(&text),
        }
    }

    fn back(&mut self) -> Effects {
        if !self.world.marks.is_empty() {
            self.world.marks.clear();
        } else if self.view != View::Jobs && !self.world.filter.is_empty() {
            return self.set_filter("");
        } else if self.zoomed {
            self.zoomed = false;
        } else {
            self.view = View::Overview;
        }
        Effects::new()
    }

    fn toggle_mark(&mut self, job: Job) {
        if self.world.marks.remove(&job.at).is_none() {
            self.world.marks.insert(job.at.clone(), job);
        }
    }

    fn step_focus(&mut self, by: usize) {
        if self.view == View::Overview {
            self.set_focus((self.focus + by) % self.overview.len());
        }
    }

    pub(super) fn set_focus(&mut self, index: usize) {
        self.focus = index;
        if index > 0 {
            self.lower = index;
        }
    }

    /// Another time range. What lies further back than what is there is read in coarser spans: no chart shows more.
    fn step_range(&mut self, longer: bool) -> Effects {
        let now = self.world.range;
        let next = if longer { RANGES.iter().find(|r| **r > now) } else { RANGES.iter().rev().find(|r| **r < now) };
        let back = next.copied().unwrap_or(now);
        self.world.range = back;
        if back <= self.world.history_back {
            return Effects::new();
        }
        self.world.history_back = back;
        let span = if back > DAY { Duration::from_hours(1) } else { Duration::from_mins(5) };
        vec![Effect::ReadHistory { back, span }]
    }

    fn set_interval(&mut self, asked: Duration) -> Effects {
        let asked = asked.clamp(FASTEST, SLOWEST);
        self.world.rhythm.asked = asked;
        self.notify(format!("polls about every {} ms, as the load budget allows", asked.as_millis()), true);
        vec![Effect::SetInterval(asked)]
    }

    fn show_psql_line(&mut self) {
        let line = self.guards.psql_line.clone();
        match line {
            Some(line) => self.notify(line, true),
            None => self.notify("only the demo has a database of its own", false),
        }
    }
}

/// "1 job", "3 jobs".
pub(super) fn count_of(jobs: usize) -> String {
    if jobs == 1 { "1 job".into() } else { format!("{jobs} jobs") }
}

fn next_times(times: TimeStyle) -> TimeStyle {
    match times {
        TimeStyle::Relative => TimeStyle::Utc,
        TimeStyle::Utc => TimeStyle::Local,
        TimeStyle::Local => TimeStyle::Relative,
    }
}
