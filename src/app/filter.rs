//! Filters: what is typed goes to the list of jobs in full; free words alone also narrow the other views.

use crate::keymap::Command;
use crate::model::Filter;
use crate::model::filter::Test;
use crate::msg::Effect;
use crate::overlays::filter::Known;

use super::overlay::Overlay;
use super::{App, Effects, View};

/// So many filters are remembered.
const REMEMBERED: usize = 50;

impl App {
    pub(super) fn ask_for_filter(&mut self) {
        let text = if self.view == View::Jobs { self.jobs.filter().to_string() } else { self.world.filter.clone() };
        let snapshot = self.world.snapshot.as_ref();
        let queues = snapshot.map(|s| s.queues.iter().map(|queue| queue.id.name.clone()).collect()).unwrap_or_default();
        let leases = snapshot.and_then(|s| s.leases.value());
        let mut workers: Vec<String> =
            leases.map(|all| all.iter().filter_map(|lease| lease.job.worker.clone()).collect()).unwrap_or_default();
        workers.sort();
        workers.dedup();
        let known = Known { queues, workers, history: self.filters.clone() };
        self.overlays.push(Overlay::filter(&text, known));
    }

    /// Filters by a text that was typed or saved.
    pub(super) fn set_filter(&mut self, text: &str) -> Effects {
        let filter = match text.parse::<Filter>() {
            Ok(filter) => filter,
            Err(wrong) => {
                self.notify(format!("this is no filter: {wrong}"), false);
                return Effects::new();
            }
        };
        if !text.is_empty() {
            self.filters.retain(|earlier| earlier != text);
            self.filters.push(text.to_owned());
            let extra = self.filters.len().saturating_sub(REMEMBERED);
            self.filters.drain(..extra);
        }
        match words_only(&filter) {
            Some(words) if self.view != View::Jobs => {
                self.narrow(words);
                Effects::new()
            }
            _ => self.show_jobs(filter),
        }
    }

    /// Shows only what contains a text, in every view but the list of jobs.
    fn narrow(&mut self, words: String) {
        self.world.filter = words;
        if self.view == View::Overview {
            // The row under the cursor may be hidden now: begin at the top of what is left.
            let ctx = self.world.ctx(true);
            if let Some(table) = self.overview.first_mut() {
                table.on_command(Command::Top, &ctx);
            }
            self.follow_cursor();
        }
    }

    pub(super) fn show_jobs(&mut self, filter: Filter) -> Effects {
        self.view = View::Jobs;
        self.zoomed = false;
        vec![Effect::ReadPage(self.jobs.open(filter))]
    }
}

/// The free words of a filter that has nothing else; empty for one that has nothing at all.
fn words_only(filter: &Filter) -> Option<String> {
    let words: Option<Vec<&str>> = filter
        .terms()
        .iter()
        .map(|term| match &term.test {
            Test::Anywhere(text) if !term.negated => Some(text.as_str()),
            _ => None,
        })
        .collect();
    words.map(|words| words.join(" "))
}
