//! The table: each figure with its goal and whether it was met, printed as soon as it is known, so that an early end loses
//! nothing. It must never leave a missed goal or a failed section unsaid.

use std::error::Error;

/// What a figure should be.
pub(crate) struct Goal {
    words: String,
    met: bool,
}

impl Goal {
    /// In the unit of the figure. What is no number meets no goal.
    pub(crate) fn at_most(value: f64, limit: f64, unit: &str) -> Self {
        Self { words: format!("<= {limit}{unit}"), met: value <= limit }
    }

    /// The same from below.
    pub(crate) fn at_least(value: f64, limit: f64, unit: &str) -> Self {
        Self { words: format!(">= {limit}{unit}"), met: value >= limit }
    }
}

/// All figures so far.
#[derive(Default)]
pub(crate) struct Report {
    met: usize,
    missed: Vec<String>,
    failed: Vec<String>,
    section: &'static str,
}

impl Report {
    /// Begins a section; `how` says how it measures.
    pub(crate) fn begin(&mut self, section: &'static str, how: &str) {
        self.section = section;
        println!("\n{section}: {how}");
        println!("  {:<50} {:<58} {:<12} met", "figure", "measured", "goal");
    }

    /// A figure with a goal.
    pub(crate) fn figure(&mut self, what: &str, measured: &str, goal: &Goal) {
        line(what, measured, &goal.words, if goal.met { "yes" } else { "MISSED" });
        if goal.met {
            self.met += 1;
        } else {
            self.missed.push(format!("{}: {what}: {measured}, the goal is {}", self.section, goal.words));
        }
    }

    /// The section could not be measured, or not to its end.
    pub(crate) fn fail(&mut self, error: &(dyn Error + Send + Sync)) {
        let mut words = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            words.push_str(": ");
            words.push_str(&error.to_string());
            cause = error.source();
        }
        println!("  FAILED: {words}");
        self.failed.push(format!("{}: {words}", self.section));
    }

    /// The last lines; false when a section failed.
    pub(crate) fn end(&self) -> bool {
        println!("\n{} goals met, {} missed, {} sections failed", self.met, self.missed.len(), self.failed.len());
        for missed in &self.missed {
            println!("  missed: {missed}");
        }
        for failed in &self.failed {
            println!("  failed: {failed}");
        }
        self.failed.is_empty()
    }
}

/// A figure without a goal: what stands beside another.
pub(crate) fn beside(what: &str, measured: &str) {
    line(what, measured, "", "");
}

/// What has to be known to read the figures.
pub(crate) fn note(words: &str) {
    println!("  {words}");
}

fn line(what: &str, measured: &str, goal: &str, met: &str) {
    println!("  {}", format!("{what:<50} {measured:<58} {goal:<12} {met}").trim_end());
}

/// What is going on, for whoever waits. Not part of the table.
pub(crate) fn say(words: &str) {
    eprintln!("  … {words}");
}
