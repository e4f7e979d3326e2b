//! Attempts distribution: how many live jobs have begun how many attempts, and how many die at their next failure.
//!
//! ```text
//! 0  ███████ 220
//! 1  ███████████████████ 1,012
//! 8  █ 1  last attempt
//! ```

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::parts::{dim_if_stale, inset, put, say};
use super::{Ctx, Pane};
use crate::fmt::Figure;
use crate::model::Reading;
use crate::text::{self, Side};

/// Bars by attempts.
#[derive(Debug)]
pub struct Attempts;

/// One bar: a range of attempts, mostly a single number.
#[derive(Debug, PartialEq, Eq)]
struct Bar {
    from: u32,
    to: u32,
    jobs: u64,
}

/// Live jobs by attempts, over all the queues that are followed, and how well they are known.
fn distribution(ctx: &Ctx<'_>) -> (Reading<()>, BTreeMap<u32, u64>) {
    let mut jobs = BTreeMap::new();
    for (attempts, count) in ctx.stats().filter_map(|q| q.attempts.value()).flatten() {
        add(&mut jobs, u32::try_from(*attempts).unwrap_or(0), *count);
    }
    // The knowledge of a sum is that of its parts; the values play no part in it.
    let known = ctx.count(|queue| match &queue.attempts {
        Reading::Exact(_) => Reading::Exact(0),
        Reading::AtLeast(_) => Reading::AtLeast(0),
        Reading::About(_) => Reading::About(0),
        Reading::Stale(_) => Reading::Stale(0),
        Reading::Denied => Reading::Denied,
        Reading::Unknown => Reading::Unknown,
        Reading::NotApplicable => Reading::NotApplicable,
    });
    (known.map(|_| ()), jobs)
}

fn add(map: &mut BTreeMap<u32, u64>, attempts: u32, jobs: u64) {
    let sum = map.entry(attempts).or_default();
    *sum = sum.saturating_add(jobs);
}

/// The highest limit among the live jobs that are followed.
fn limit(ctx: &Ctx<'_>) -> Option<u32> {
    ctx.stats().filter_map(|q| q.max_attempts).max().and_then(|max| u32::try_from(max).ok())
}

/// Bars from 0 to the limit, in at most `rows` rows: where there are more, neighbours share one. What is above the limit
/// has a bar of its own.
fn bars(jobs: &BTreeMap<u32, u64>, limit: Option<u32>, rows: u16) -> Vec<Bar> {
    let highest = jobs.keys().next_back().copied().unwrap_or(0);
    let end = limit.unwrap_or(highest);
    let above = u16::from(highest > end);
    let room = u32::from(rows.saturating_sub(above)).max(1);
    let step = (u64::from(end) + 1).div_ceil(u64::from(room));
    let step = u32::try_from(step).unwrap_or(u32::MAX).max(1);
    let mut out = Vec::new();
    let mut from = 0_u32;
    loop {
        let to = from.saturating_add(step - 1).min(end);
        out.push(Bar { from, to, jobs: sum(jobs, from, to) });
        if to >= end {
            break;
        }
        from = to + 1;
    }
    if above == 1 {
        out.push(Bar { from: end.saturating_add(1), to: u32::MAX, jobs: sum(jobs, end.saturating_add(1), u32::MAX) });
    }
    out
}

fn sum(jobs: &BTreeMap<u32, u64>, from: u32, to: u32) -> u64 {
    jobs.range(from..=to).fold(0, |sum, (_, jobs)| sum.saturating_add(*jobs))
}

impl Bar {
    fn label(&self) -> String {
        match (self.from, self.to) {
            (from, u32::MAX) => format!("{from}+"),
            (from, to) if from == to => from.to_string(),
            (from, to) => format!("{from}-{to}"),
        }
    }

    fn draw(&self, buf: &mut Buffer, area: Rect, row: u16, scale: &Scale<'_>) {
        let theme = scale.ctx.theme;
        let label = text::fit(&self.label(), scale.label, Side::Right);
        put(buf, area, row, &label, theme.quiet);
        let left = u16::try_from(scale.label + 2).unwrap_or(u16::MAX);
        let room = Rect { x: area.x.saturating_add(left), width: area.width.saturating_sub(left), ..area };
        let number = Figure::count(&scale.known.map(|()| self.jobs), 9).text;
        let words = self.words(scale.limit);
        let widest = usize::from(room.width).saturating_sub(number.len() + words.len() + 2);
        let length = bar_length(self.jobs, scale.most, widest.min(60));
        let text = format!("{}{}{number}{words}", "█".repeat(length), if length > 0 { " " } else { "" });
        let style = match self.jobs {
            0 => theme.quiet,
            _ if self.is_last(scale.limit) => theme.warn,
            _ => theme.text,
        };
        put(buf, room, row, &text, style);
    }

    /// The last attempt and beyond.
    fn is_last(&self, limit: Option<u32>) -> bool {
        limit.is_some_and(|limit| self.to >= limit)
    }

    fn words(&self, limit: Option<u32>) -> &'static str {
        match limit {
            Some(limit) if self.from > limit => "  above the limit",
            Some(limit) if self.to >= limit && self.from == self.to => "  last attempt",
            _ => "",
        }
    }
}

/// What all bars share.
struct Scale<'a> {
    ctx: &'a Ctx<'a>,
    known: Reading<()>,
    limit: Option<u32>,
    most: u64,
    label: usize,
}

/// A bar's length; whatever is not zero shows.
fn bar_length(jobs: u64, most: u64, widest: usize) -> usize {
    if jobs == 0 || most == 0 || widest == 0 {
        return 0;
    }
    let length = u128::from(jobs) * widest as u128 / u128::from(most);
    usize::try_from(length).unwrap_or(widest).clamp(1, widest)
}

/// The next wave of waiting jobs: ` · next wave 812 in 4m`.
fn wave(ctx: &Ctx<'_>) -> String {
    let wave = ctx.handling().wave;
    let some = wave.get().flatten().is_some();
    if some { format!(" · next wave {}", Figure::wave(&wave, ctx.now).text) } else { String::new() }
}

impl Pane for Attempts {
    fn name(&self) -> &'static str {
        "attempts"
    }

    fn title(&self, ctx: &Ctx<'_>) -> String {
        let cliff = ctx.count(|q| q.last_attempt);
        let cliff = match cliff.get() {
            None | Some(0) => String::new(),
            Some(_) => format!(" · next failure kills {}", Figure::words(&cliff)),
        };
        format!("ATTEMPTS  {}, live jobs{cliff}{}", ctx.followed(), wave(ctx))
    }

    fn render(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let (known, jobs) = distribution(ctx);
        match known.value().map(|()| &jobs) {
            _ if ctx.snapshot.is_none() => say(buf, area, ctx.theme, "waiting for the first reading"),
            None if matches!(known, Reading::Denied) => say(buf, area, ctx.theme, "attempts: denied for this role"),
            None => say(buf, area, ctx.theme, "attempts: not known"),
            Some(jobs) if jobs.values().all(|n| *n == 0) => {
                let place = if ctx.queue.is_some() { ctx.followed() } else { "any queue".to_owned() };
                say(buf, area, ctx.theme, &format!("no live jobs in {place}"));
            }
            Some(jobs) => {
                let limit = limit(ctx);
                let area = inset(area);
                let bars = bars(jobs, limit, area.height);
                let most = bars.iter().map(|bar| bar.jobs).max().unwrap_or(0);
                let label = bars.iter().map(|bar| bar.label().len()).max().unwrap_or(0);
                let scale = Scale { ctx, known, limit, most, label };
                for (row, bar) in (0..area.height).zip(&bars) {
                    bar.draw(buf, area, row, &scale);
                }
            }
        }
        dim_if_stale(buf, area, ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(u32, u64)], limit: Option<u32>, rows: u16) -> Vec<(String, u64)> {
        let jobs = pairs.iter().copied().collect();
        bars(&jobs, limit, rows).iter().map(|bar| (bar.label(), bar.jobs)).collect()
    }

    #[test]
    fn bars_fit_and_nothing_is_left_out() {
        let bar = |label: &str, jobs| (label.to_owned(), jobs);
        assert_eq!(labels(&[(0, 5), (2, 1)], Some(2), 9), [bar("0", 5), bar("1", 0), bar("2", 1)]);
        assert_eq!(labels(&[(0, 5), (7, 1)], Some(8), 4), [bar("0-2", 5), bar("3-5", 0), bar("6-8", 1)]);
        assert_eq!(labels(&[(0, 5), (9, 1)], Some(2), 9)[3], bar("3+", 1));
        assert_eq!(labels(&[(3, 5)], None, 1), [bar("0-3", 5)]);
        assert_eq!(labels(&[(u32::MAX, u64::MAX), (0, 1)], Some(u32::MAX), 2).len(), 2);
        for rows in 0..12 {
            let all = labels(&[(0, 1), (5, 2), (12, 4), (90, 8)], Some(25), rows);
            assert!(all.len() <= usize::from(rows.max(2)));
            assert_eq!(all.iter().map(|(_, jobs)| jobs).sum::<u64>(), 15);
        }
    }

    #[test]
    fn lengths_are_total() {
        for (jobs, most, widest, want) in
            [(0, 0, 10, 0), (1, 1_000_000, 10, 1), (u64::MAX, u64::MAX, 10, 10), (5, 10, 10, 5), (5, 10, 0, 0)]
        {
            assert_eq!(bar_length(jobs, most, widest), want);
        }
    }
}
