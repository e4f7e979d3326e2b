//! A stretch of the past cut into equal buckets, one for each column of a chart, and what happened in each.
//!
//! Bucket edges stand at whole multiples of their length, so a chart moves by whole columns and does not shimmer.

use std::time::Duration;

use crate::model::history::Series;
use crate::model::{Point, Time, Totals};

/// Buckets up to now, by the server's clock. All in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// End of the last bucket, after now.
    end: i64,
    /// Length of a bucket, at least one second.
    bucket: i64,
    /// How many.
    len: usize,
}

/// One second.
const SECOND: i64 = 1_000_000;

impl Window {
    /// `len` buckets that together cover `back` before `now`. `None` when there is no room or no clock.
    #[must_use]
    pub(crate) fn new(now: Time, back: Duration, len: usize) -> Option<Self> {
        let now = now.micros()?;
        let count = i64::try_from(len).ok().filter(|n| *n > 0)?;
        let back = i64::try_from(back.as_micros()).unwrap_or(i64::MAX);
        let bucket = (back / count).max(SECOND);
        let end = now.div_euclid(bucket).checked_add(1)?.checked_mul(bucket)?;
        end.checked_sub(bucket.checked_mul(count)?)?;
        Some(Self { end, bucket, len })
    }

    /// Start of the first bucket.
    fn start(&self) -> i64 {
        self.edge(0)
    }

    fn edge(&self, index: usize) -> i64 {
        let before_end = i64::try_from(self.len - index.min(self.len)).unwrap_or(i64::MAX);
        self.end.saturating_sub(self.bucket.saturating_mul(before_end))
    }

    /// The buckets that a span touches, with the share of the span that falls into each.
    fn shares(&self, point: &Point) -> impl Iterator<Item = (usize, f64)> {
        let to = point.at.micros().unwrap_or(i64::MIN);
        let span = i64::try_from(point.span.as_micros()).unwrap_or(i64::MAX).max(1);
        let from = to.saturating_sub(span);
        let index = |micros: i64| usize::try_from(micros.saturating_sub(self.start()).div_euclid(self.bucket)).ok();
        let first = index(from).unwrap_or(0);
        let last = index(to.saturating_sub(1)).map_or(0, |i| i.saturating_add(1)).min(self.len);
        (first..last).map(move |i| {
            let overlap = to.min(self.edge(i + 1)).saturating_sub(from.max(self.edge(i))).max(0);
            (i, overlap as f64 / span as f64)
        })
    }

    /// The latest points that can touch the window.
    fn points<'a>(&self, series: &'a Series) -> impl Iterator<Item = &'a Point> {
        let start = Time::At(self.start());
        series.iter().rev().take_while(move |p| p.at > start)
    }

    /// The last known depth in each bucket; a bucket without one is a gap.
    #[must_use]
    pub(crate) fn depths(&self, series: &Series) -> Vec<Option<f64>> {
        let mut out = vec![None; self.len];
        for point in self.points(series) {
            let Some(depth) = point.depth else { continue };
            for (i, _) in self.shares(point) {
                if let Some(cell) = out.get_mut(i) {
                    // Points come latest first: the first to arrive is the last of its bucket.
                    cell.get_or_insert(depth as f64);
                }
            }
        }
        out
    }

    /// The depths of all the series together. A bucket that no point touches is a gap, and so is one where a depth is missing.
    #[must_use]
    pub(crate) fn depth_sums<'a>(&self, all: impl Iterator<Item = &'a Series>) -> Vec<Option<f64>> {
        let mut sums = vec![None; self.len];
        let mut missing = vec![false; self.len];
        for series in all {
            let depths = self.depths(series);
            for (sum, depth) in sums.iter_mut().zip(&depths).filter_map(|(sum, depth)| Some((sum, (*depth)?))) {
                *sum = Some(sum.unwrap_or(0.0) + depth);
            }
            for (i, _) in self.points(series).flat_map(|point| self.shares(point)) {
                let unknown = depths.get(i).is_some_and(Option::is_none);
                missing.get_mut(i).into_iter().for_each(|missing| *missing |= unknown);
            }
        }
        sums.into_iter().zip(missing).map(|(sum, missing)| sum.filter(|_| !missing)).collect()
    }

    /// What each of `picks` counts per second in each bucket, over all the series together. A bucket that no span covers
    /// is a gap, and so is one where a span is known to be unknown: a sum with a part missing would be a false figure.
    pub(crate) fn rates<'a, const N: usize>(
        &self,
        all: impl Iterator<Item = &'a Series>,
        picks: &[fn(&Totals) -> u64; N],
    ) -> [Vec<Option<f64>>; N] {
        let mut sums = vec![Bucket { rates: Some([0.0; N]), covered: false }; self.len];
        let mut own = vec![([0.0; N], 0.0); self.len];
        for series in all {
            own.fill(([0.0; N], 0.0));
            for point in self.points(series) {
                self.spread(point, picks, &mut own, &mut sums);
            }
            for ((jobs, seconds), sum) in own.iter().zip(&mut sums).filter(|((_, seconds), _)| *seconds > 0.0) {
                sum.covered = true;
                if let Some(rates) = &mut sum.rates {
                    rates.iter_mut().zip(jobs).for_each(|(rate, jobs)| *rate += jobs / seconds);
                }
            }
        }
        std::array::from_fn(|n| {
            let rate = |b: &Bucket<N>| b.rates.filter(|_| b.covered).and_then(|rates| rates.get(n).copied());
            sums.iter().map(rate).collect()
        })
    }

    /// Adds a point's counts and time to the buckets that it touches; one that is not known makes gaps of them.
    fn spread<const N: usize>(
        &self,
        point: &Point,
        picks: &[fn(&Totals) -> u64; N],
        own: &mut [([f64; N], f64)],
        sums: &mut [Bucket<N>],
    ) {
        for (i, share) in self.shares(point) {
            match (point.delta, own.get_mut(i), sums.get_mut(i)) {
                (Some(delta), Some((jobs, seconds)), _) => {
                    jobs.iter_mut().zip(picks).for_each(|(jobs, pick)| *jobs += pick(&delta) as f64 * share);
                    *seconds += point.span.as_secs_f64() * share;
                }
                (None, _, Some(sum)) => sum.rates = None,
                _ => {}
            }
        }
    }
}

/// One bucket of the sum over all series.
#[derive(Clone)]
struct Bucket<const N: usize> {
    /// `None`: a part is not known.
    rates: Option<[f64; N]>,
    covered: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: i64, span: u64, completed: Option<u64>) -> Point {
        let delta = completed.map(|completed| Totals { completed, ..Totals::default() });
        Point { at: Time::At(at * SECOND), span: Duration::from_secs(span), delta, depth: completed }
    }

    fn window(now: i64, back: u64, len: usize) -> Window {
        Window::new(Time::At(now * SECOND), Duration::from_secs(back), len).unwrap()
    }

    fn rates(w: &Window, series: &[Series]) -> Vec<Option<f64>> {
        let [rates] = w.rates(series.iter(), &[|t| t.completed]);
        rates
    }

    #[test]
    fn a_minute_is_spread_over_its_columns_and_gaps_stay_gaps() {
        let w = window(119, 120, 4);
        let series = Series::from([point(60, 60, Some(120))]);
        assert_eq!(rates(&w, &[series]), [Some(2.0), Some(2.0), None, None]);
    }

    #[test]
    fn a_rate_is_over_the_time_seen_and_an_unknown_span_is_a_gap() {
        let w = window(39, 40, 4);
        let series = Series::from([point(2, 2, Some(10)), point(15, 5, None), point(30, 10, Some(0))]);
        assert_eq!(rates(&w, &[series]), [Some(5.0), None, Some(0.0), None]);
    }

    #[test]
    fn queues_add_up_only_where_none_is_unknown() {
        let w = window(19, 20, 2);
        let a = Series::from([point(10, 10, Some(10)), point(20, 10, Some(10))]);
        let b = Series::from([point(20, 10, None)]);
        let c = Series::from([point(10, 10, Some(20))]);
        assert_eq!(rates(&w, &[a, b, c]), [Some(3.0), None]);
        assert_eq!(rates(&w, &[]), [None, None]);
    }

    #[test]
    fn the_last_depth_of_a_bucket_counts() {
        let w = window(29, 30, 3);
        let series = Series::from([point(3, 1, Some(7)), point(9, 1, Some(5)), point(25, 1, Some(9))]);
        assert_eq!(w.depths(&series), [Some(5.0), None, Some(9.0)]);
    }

    #[test]
    fn depths_add_up_only_where_none_is_missing() {
        let w = window(29, 30, 3);
        let a = Series::from([point(10, 10, Some(7)), point(20, 10, Some(5)), point(30, 10, Some(9))]);
        let b = Series::from([point(20, 10, None), point(30, 10, Some(1))]);
        assert_eq!(w.depth_sums([a, b].iter()), [Some(7.0), None, Some(10.0)]);
        assert_eq!(w.depth_sums([].iter()), [None, None, None]);
    }

    #[test]
    fn edges_do_not_move_within_a_bucket() {
        assert_eq!(window(120, 600, 60), window(129, 600, 60));
        assert_ne!(window(120, 600, 60), window(130, 600, 60));
    }

    #[test]
    fn odd_clocks_and_spans_do_no_harm() {
        let minute = Duration::from_mins(1);
        assert_eq!(Window::new(Time::Infinity, minute, 5), None);
        assert_eq!(Window::new(Time::At(0), minute, 0), None);
        for now in [i64::MIN, i64::MAX, 0, -1] {
            let Some(w) = Window::new(Time::At(now), Duration::MAX, 3) else { continue };
            let odd = Point { at: Time::At(now), span: Duration::MAX, delta: Some(Totals::default()), depth: Some(1) };
            assert_eq!(w.depths(&Series::from([odd])).len(), 3);
        }
        let huge = Point { at: Time::Infinity, span: Duration::ZERO, delta: None, depth: Some(u64::MAX) };
        assert_eq!(window(10, 10, 2).depths(&Series::from([huge])).len(), 2);
    }
}
