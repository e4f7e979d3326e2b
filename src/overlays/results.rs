//! What became of an action: one line for the foot of the screen, and a list by job where not all was done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::frame::{self, Line};
use super::scroll::Scroll;
use crate::fmt::{self, whole_seconds};
use crate::keymap::Command;
use crate::model::{ActionReport, Outcome, TargetResult, Time};
use crate::panes::Ctx;
use crate::panes::parts::put;
use crate::text::Safe;

/// Outcomes other than done, in the order they are told.
const NOT_DONE: [Outcome; 5] = [Outcome::Changed, Outcome::Locked, Outcome::Gone, Outcome::Refused, Outcome::Unknown];

/// `requeued 1 of 1 · 8c1f…e2`, `not requeued: 8c1f…e2 is completed now (2s ago)`, `requeued 3 of 5 · 1 changed · 1 gone`.
/// `now` is the server's time.
#[must_use]
pub fn one_line(report: &ActionReport, now: Time) -> String {
    let (done, asked) = (report.done(), report.asked.len().max(report.results.len()));
    if let ([only], 1) = (report.results.as_slice(), asked) {
        let id = Safe::new(&fmt::short_id(&only.id));
        return match only.outcome {
            Outcome::Done => format!("{} 1 of 1 · {id}", report.action.done()),
            Outcome::Unknown => {
                format!("{} {id}: the answer was lost; it may or may not have happened", report.action.verb())
            }
            _ => format!("not {}: {id} {}", report.action.done(), why(only, report.at, now)),
        };
    }
    let mut parts = vec![format!("{} {} of {}", report.action.done(), number(done), number(asked))];
    let mut told = done;
    for outcome in NOT_DONE {
        let count = report.results.iter().filter(|r| r.outcome == outcome).count();
        told += count;
        if count > 0 && outcome != Outcome::Unknown {
            parts.push(format!("{} {}", number(count), outcome.as_str()));
        }
    }
    // What has no answer is as unknown as what has an unknown one.
    let unknown = asked.saturating_sub(told) + report.results.iter().filter(|r| r.outcome == Outcome::Unknown).count();
    if unknown > 0 {
        parts.push(format!("{} unknown, look again", number(unknown)));
    }
    parts.join(" · ")
}

/// Why one target was not done, after its id: `is completed now (2s ago)`.
fn why(result: &TargetResult, at: Option<Time>, now: Time) -> String {
    let age = at.and_then(|at| now.seconds_since(at)).map(whole_seconds);
    let ago = match age {
        Some(0 | 1) => " (a second ago)".to_owned(),
        Some(seconds) if seconds > 1 => format!(" ({} ago)", fmt::span(seconds)),
        _ => String::new(),
    };
    let words = listed(result);
    match result.outcome {
        Outcome::Changed if result.state_now.is_none() => format!("changed meanwhile{ago}"),
        Outcome::Changed => format!("is {words}{ago}"),
        Outcome::Locked => format!("is locked {words}"),
        Outcome::Gone => "is gone".to_owned(),
        Outcome::Refused if words.is_empty() => "was refused".to_owned(),
        Outcome::Refused => format!("was refused: {words}"),
        Outcome::Done | Outcome::Unknown => words,
    }
}

/// The same after the word for the outcome.
fn listed(result: &TargetResult) -> String {
    let state = result.state_now.as_deref().map(|state| Safe::new(state).to_string());
    let detail = result.detail.as_deref().map(|detail| Safe::first_line(detail).to_string()).filter(|d| !d.is_empty());
    match result.outcome {
        Outcome::Changed => state.map_or_else(String::new, |state| format!("{state} now")),
        Outcome::Locked => "by another session: try again".to_owned(),
        Outcome::Gone => String::new(),
        Outcome::Refused => detail.or(state.map(|state| format!("it is {state}"))).unwrap_or_default(),
        Outcome::Done => state.map_or_else(String::new, |state| format!("now {state}")),
        Outcome::Unknown => "may or may not be done: look again".to_owned(),
    }
}

fn number(n: usize) -> String {
    fmt::count(u64::try_from(n).unwrap_or(u64::MAX))
}

/// The answer for each job, those not done first.
#[derive(Debug, Clone)]
pub struct Results {
    report: ActionReport,
    scroll: Scroll,
}

impl Results {
    /// Shows a report.
    #[must_use]
    pub fn new(mut report: ActionReport) -> Self {
        let rank = |r: &TargetResult| NOT_DONE.iter().position(|o| *o == r.outcome).unwrap_or(NOT_DONE.len());
        report.results.sort_by_key(rank);
        Self { report, scroll: Scroll::default() }
    }

    /// What it shows.
    #[must_use]
    pub fn report(&self) -> &ActionReport {
        &self.report
    }

    /// Scrolls.
    pub fn on_command(&mut self, command: Command) {
        self.scroll.on_command(command);
    }

    /// Draws it over the middle of the screen `area`.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if area.width < 12 || area.height < 4 {
            frame::clear(area, buf);
            put(buf, area, 0, &one_line(&self.report, ctx.now), ctx.theme.text);
            return;
        }
        let width = area.width.min(92);
        let rows = u16::try_from(self.report.results.len()).unwrap_or(u16::MAX);
        let height = rows.saturating_add(2).clamp(3, area.height.saturating_sub(2).max(3));
        let Some(place) = frame::centered(area, width - 2, height - 2) else {
            return;
        };
        let (done, asked) = (self.report.done(), self.report.asked.len().max(self.report.results.len()));
        let title = format!("{} {} of {}", self.report.action.done(), number(done), number(asked));
        let inner = frame::draw(place, &title, ctx.theme.accent, buf);
        let first = self.scroll.settle(self.report.results.len(), usize::from(inner.height));
        let lines: Vec<Line> = self
            .report
            .results
            .iter()
            .skip(first)
            .take(usize::from(inner.height))
            .map(|result| {
                let style = if result.outcome == Outcome::Done { ctx.theme.text } else { ctx.theme.warn };
                let text = format!(" {}  {:<8}{}", Safe::new(&result.id), result.outcome.as_str(), listed(result));
                Line::new(text, style)
            })
            .collect();
        frame::lines(buf, inner, &lines);
        let label =
            self.scroll.label("jobs").map_or_else(|| " Esc closes ".into(), |at| format!(" Esc closes · {at} "));
        let foot = Rect { x: place.x + 2, y: place.bottom() - 1, width: place.width.saturating_sub(4), height: 1 };
        put(buf, foot, 0, &label, ctx.theme.quiet);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{NOW, ago, job, screen};
    use super::*;
    use crate::model::{Action, JobState};

    fn result(outcome: Outcome, state: Option<&str>, detail: Option<&str>) -> TargetResult {
        TargetResult {
            id: "8c1fd0a4-1111-4222-8333-4444444444e2".into(),
            outcome,
            state_now: state.map(str::to_owned),
            detail: detail.map(str::to_owned),
        }
    }

    fn report(results: Vec<TargetResult>) -> ActionReport {
        let asked = results.iter().map(|_| job(1, "q", JobState::Ready, 0, NOW).at).collect();
        ActionReport { action: Action::Requeue { force: false }, asked, results, at: Some(ago(1)), audit: None }
    }

    #[test]
    fn one_target_is_told_in_words() {
        for (result, words) in [
            (result(Outcome::Done, Some("ready"), None), "requeued 1 of 1 · 8c1f…e2"),
            (
                result(Outcome::Changed, Some("completed"), None),
                "not requeued: 8c1f…e2 is completed now (a second ago)",
            ),
            (result(Outcome::Gone, Some("gone"), None), "not requeued: 8c1f…e2 is gone"),
            (
                result(Outcome::Refused, Some("ready"), Some("already ready")),
                "not requeued: 8c1f…e2 was refused: already ready",
            ),
            (
                result(Outcome::Locked, Some("ready"), Some("somebody else is changing it")),
                "not requeued: 8c1f…e2 is locked by another session: try again",
            ),
            (
                result(Outcome::Unknown, None, None),
                "requeue 8c1f…e2: the answer was lost; it may or may not have happened",
            ),
        ] {
            assert_eq!(one_line(&report(vec![result]), NOW), words);
        }
    }

    #[test]
    fn several_targets_are_counted_and_a_missing_answer_is_unknown() {
        let done = || result(Outcome::Done, Some("ready"), None);
        let mut mixed = report(vec![
            done(),
            done(),
            done(),
            result(Outcome::Changed, Some("completed"), None),
            result(Outcome::Gone, None, None),
        ]);
        assert_eq!(one_line(&mixed, NOW), "requeued 3 of 5 · 1 changed · 1 gone");
        mixed.results.pop();
        mixed.results.push(result(Outcome::Unknown, None, None));
        mixed.asked.push(mixed.asked[0].clone());
        assert_eq!(one_line(&mixed, NOW), "requeued 3 of 6 · 1 changed · 2 unknown, look again");
        assert_eq!(one_line(&report(vec![done(), done()]), NOW), "requeued 2 of 2");
    }

    #[test]
    fn the_list_shows_what_was_not_done_first_at_any_size() {
        let mut results: Vec<TargetResult> = (0..90).map(|_| result(Outcome::Done, Some("ready"), None)).collect();
        results.push(result(Outcome::Refused, Some("running"), Some("by\u{1b}[2J force")));
        let mut list = Results::new(report(results));
        let mut draw = |size| screen(size, false, |area, buf, ctx| list.render(area, buf, ctx));
        let text = draw((80, 24));
        assert!(text.lines().nth(2).unwrap().contains(r"refused by\x1b[2J force"), "{text}");
        assert!(text.contains("requeued 90 of 91"), "{text}");
        assert!(text.contains("Esc closes · jobs 1-20 of 91"), "{text}");
        for size in [(20, 5), (10, 3), (1, 1), (300, 2), (0, 0), (12, 4)] {
            draw(size);
        }
    }
}
