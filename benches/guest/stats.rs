//! What many measured values come to: percentiles and a slope. Knows nothing of what was measured.

use std::time::Duration;

use crate::Fallible;

/// Measured values in order.
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    /// Nothing measured is an error: it must not look like a figure.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Fallible<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        if sorted.is_empty() { Err("nothing was measured".into()) } else { Ok(Self(sorted)) }
    }

    /// The least value that so many percent of all do not exceed (the nearest rank).
    pub(crate) fn percent(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0[rank.min(self.0.len()) - 1]
    }

    pub(crate) fn median(&self) -> f64 {
        self.percent(50)
    }

    pub(crate) fn least(&self) -> f64 {
        self.percent(0)
    }

    pub(crate) fn most(&self) -> f64 {
        self.percent(100)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// For times in milliseconds.
    pub(crate) fn in_millis(&self) -> String {
        let places = if self.median() < 1.0 { 2 } else { 1 };
        let value = |value: f64| format!("{value:.places$}");
        format!(
            "median {} ms, 99 % {}, most {} (of {})",
            value(self.median()),
            value(self.percent(99)),
            value(self.most()),
            self.len()
        )
    }
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// How much y grows while x grows by one, by least squares; 0 where x does not vary.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let across: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let along: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if along > 0.0 { across / along } else { 0.0 }
}

/// 1234567 as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
