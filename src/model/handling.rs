//! How the jobs of a queue are handled: how long handlers take, how many jobs one claim gets, and when the next wave of waiting
//! jobs comes due.

use serde::Serialize;

use super::{Reading, Time};

/// Handler durations at three points of their distribution, in seconds. Each is the middle of a bucket of the database's
/// histogram, whose buckets grow by the square root of two: at most 19 % off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// Half of them were at most so long.
    pub p50: f64,
    /// 95 in 100.
    pub p95: f64,
    /// 99 in 100.
    pub p99: f64,
}

/// The number of buckets that the database has.
const BUCKETS: usize = 64;

impl Quantiles {
    /// From counts by bucket: bucket `b` holds durations from `2^(b/2)` to `2^((b+1)/2)` milliseconds (migration V3,
    /// `duration_bucket`). `None` without any.
    #[must_use]
    pub fn of(buckets: &[u64]) -> Option<Self> {
        let buckets = buckets.get(..buckets.len().min(BUCKETS)).unwrap_or_default();
        let all = buckets.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        (all > 0).then(|| Self { p50: at(buckets, all, 50), p95: at(buckets, all, 95), p99: at(buckets, all, 99) })
    }
}

/// The duration that so many percent of `all` do not exceed, in seconds.
fn at(buckets: &[u64], all: u64, percent: u64) -> f64 {
    let rank = (u128::from(all) * u128::from(percent)).div_ceil(100);
    let mut seen = 0_u128;
    for (bucket, count) in (0_u32..).zip(buckets) {
        seen += u128::from(*count);
        if seen >= rank {
            return f64::from(bucket).mul_add(0.5, 0.25).exp2() / 1000.0;
        }
    }
    0.0
}

/// Waiting jobs that come due within the same minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Wave {
    /// When the minute begins.
    pub at: Time,
    /// How many.
    pub jobs: u64,
}

/// Over the last 15 minutes, as far as the database has counted; the wave is the largest of the next hour.
#[derive(Debug, Clone, PartialEq)]
pub struct Handling {
    /// Completed jobs by how long they took, in the buckets of [`Quantiles::of`].
    pub durations: Reading<Vec<u64>>,
    /// Attempts begun.
    pub claimed: Reading<u64>,
    /// Statements that began them.
    pub claims: Reading<u64>,
    /// The largest wave; `None`: nothing comes due within an hour.
    pub wave: Reading<Option<Wave>>,
}

impl Default for Handling {
    fn default() -> Self {
        Self::all(|| Reading::Unknown, Reading::Unknown)
    }
}

impl Handling {
    /// Nothing happened, and nothing comes due.
    #[must_use]
    pub fn nothing() -> Self {
        Self::all(|| Reading::Exact(0), Reading::Exact(None))
    }

    /// Nothing of it may be read.
    #[must_use]
    pub fn denied() -> Self {
        Self::all(|| Reading::Denied, Reading::Denied)
    }

    fn all(count: fn() -> Reading<u64>, wave: Reading<Option<Wave>>) -> Self {
        Self { durations: count().map(|_| Vec::new()), claimed: count(), claims: count(), wave }
    }

    /// How long handlers took; `None` when nothing was completed.
    #[must_use]
    pub fn quantiles(&self) -> Reading<Option<Quantiles>> {
        about(self.durations.clone().map(|buckets| Quantiles::of(&buckets)))
    }

    /// Jobs that one claim got, on average; `None` when nothing was claimed.
    #[must_use]
    pub fn batch(&self) -> Reading<Option<f64>> {
        let (claimed, claims) = (self.claimed.get().unwrap_or(0), self.claims.get().unwrap_or(0));
        let mean = self.claims.combine(self.claimed, |a, _| a);
        let mean = mean.map(|_| (claims > 0 && claimed > 0).then(|| claimed as f64 / claims as f64));
        // The mean of a part may be above that of the whole.
        if let Reading::AtLeast(part) = mean { Reading::About(part) } else { mean }
    }

    /// Both together: sums, and the larger wave, which is that of both where they come in the same minute; other queues may add to
    /// it, so there are at least so many. What is missing in one is missing in the sum's being known.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let add = |a: u64, b: u64| a.saturating_add(b);
        Self {
            durations: join(self.durations, other.durations, |mut a, b| {
                a.resize(a.len().max(b.len()), 0);
                for (sum, more) in a.iter_mut().zip(b) {
                    *sum = sum.saturating_add(more);
                }
                a
            }),
            claimed: join(self.claimed, other.claimed, add),
            claims: join(self.claims, other.claims, add),
            wave: join_waves(self.wave, other.wave),
        }
    }
}

fn join_waves(one: Reading<Option<Wave>>, other: Reading<Option<Wave>>) -> Reading<Option<Wave>> {
    let both = one.get().flatten().is_some() && other.get().flatten().is_some();
    let joined = join(one, other, |a, b| match (a, b) {
        (Some(a), Some(b)) if a.at == b.at => Some(Wave { at: a.at, jobs: a.jobs.saturating_add(b.jobs) }),
        (Some(a), Some(b)) => Some(if b.jobs > a.jobs { b } else { a }),
        (one, none) => one.or(none),
    });
    // The smaller waves of the same minute are not known here.
    match joined {
        Reading::Exact(wave) if both => Reading::AtLeast(wave),
        other => other,
    }
}

/// A value made from buckets is never exact, and that of a part is no bound of the whole's.
fn about<T>(reading: Reading<T>) -> Reading<T> {
    match reading {
        Reading::Exact(value) | Reading::AtLeast(value) => Reading::About(value),
        other => other,
    }
}

/// What is not known of one leaves the other as what there is at least.
fn join<T>(one: Reading<T>, other: Reading<T>, both: impl FnOnce(T, T) -> T) -> Reading<T> {
    match (one, other) {
        (Reading::Exact(a), Reading::Exact(b)) => Reading::Exact(both(a, b)),
        (Reading::NotApplicable, reading) | (reading, Reading::NotApplicable) => reading,
        (Reading::Denied, Reading::Denied) => Reading::Denied,
        (one, other) => match (value(one), value(other)) {
            (Some(a), Some(b)) => Reading::AtLeast(both(a, b)),
            (Some(only), None) | (None, Some(only)) => Reading::AtLeast(only),
            (None, None) => Reading::Unknown,
        },
    }
}

fn value<T>(reading: Reading<T>) -> Option<T> {
    match reading {
        Reading::Exact(value) | Reading::AtLeast(value) | Reading::About(value) | Reading::Stale(value) => Some(value),
        Reading::Denied | Reading::Unknown | Reading::NotApplicable => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `duration_bucket` in the database has it.
    fn bucket(seconds: f64) -> usize {
        let bucket = (2.885_390_081_777_927 * seconds.max(0.001).ln() + 19.931_568_569_324_174).floor();
        (0..BUCKETS).rev().find(|b| *b as f64 <= bucket).unwrap_or(0)
    }

    #[test]
    fn quantiles_are_as_near_as_the_buckets_allow() {
        // 1 ms to 10 s, evenly: the true quantiles are known.
        let mut buckets = vec![0; BUCKETS];
        for ms in 1..=10_000_u32 {
            buckets[bucket(f64::from(ms) / 1000.0)] += 1;
        }
        let found = Quantiles::of(&buckets).expect("durations");
        for (found, truth) in [(found.p50, 5.0), (found.p95, 9.5), (found.p99, 9.9)] {
            assert!((found / truth - 1.0).abs() <= 0.2, "{found} for {truth}");
        }
    }

    #[test]
    fn quantiles_of_skewed_and_single_durations_are_as_near() {
        // Of 1,000 jobs 900 take 20 ms, 80 take 400 ms and 20 take 30 s.
        let mut skewed = vec![0; BUCKETS];
        for (seconds, jobs) in [(0.02, 900), (0.4, 80), (30.0, 20)] {
            skewed[bucket(seconds)] += jobs;
        }
        let found = Quantiles::of(&skewed).expect("durations");
        // Exponential with a mean of one second: a quantile is -ln(1 - p).
        let mut falling = vec![0; BUCKETS];
        for i in 0..10_000_u32 {
            falling[bucket(-(1.0 - (f64::from(i) + 0.5) / 10_000.0).ln())] += 1;
        }
        let fell = Quantiles::of(&falling).expect("durations");
        for (found, truth) in [
            (found.p50, 0.02),
            (found.p95, 0.4),
            (found.p99, 30.0),
            (fell.p50, 0.5_f64.ln().abs()),
            (fell.p95, 0.05_f64.ln().abs()),
            (fell.p99, 0.01_f64.ln().abs()),
        ] {
            assert!((found / truth).ln().abs() <= 0.25_f64 * 2.0_f64.ln() + 1e-9, "{found} for {truth}");
        }
        let one = |b: usize| Quantiles::of(&(0..BUCKETS).map(|i| u64::from(i == b)).collect::<Vec<_>>()).expect("one");
        for seconds in [0.001, 0.7, 3_600.0] {
            let found = one(bucket(seconds));
            assert!((found.p50 / seconds).ln().abs() <= 0.18 && found.p50.total_cmp(&found.p99).is_eq(), "{found:?}");
        }
    }

    #[test]
    fn nothing_is_not_zero_and_odd_counts_do_not_overflow() {
        assert_eq!(Quantiles::of(&[]), None);
        assert_eq!(Quantiles::of(&[0; 64]), None);
        let one = Quantiles::of(&[0, 0, u64::MAX, u64::MAX]).expect("durations");
        assert!(one.p50 > 0.0 && one.p99 >= one.p50);
        assert!(Quantiles::of(&[1; 500]).is_some());
        assert_eq!(Handling::default().quantiles(), Reading::Unknown);
        assert_eq!(Handling::denied().batch(), Reading::Denied);
    }

    #[test]
    fn joined_handling_adds_up_and_says_when_a_part_is_missing() {
        let some = |wave| Handling {
            durations: Reading::Exact(vec![1, 2]),
            claimed: Reading::Exact(10),
            claims: Reading::Exact(4),
            wave: Reading::Exact(wave),
        };
        let wave = |jobs| Some(Wave { at: Time::At(0), jobs });
        let both = some(wave(3)).join(some(wave(7)));
        assert_eq!((both.durations.clone(), both.wave), (Reading::Exact(vec![2, 4]), Reading::AtLeast(wave(10))));
        assert_eq!(some(wave(3)).join(some(None)).wave, Reading::Exact(wave(3)));
        let later = Some(Wave { at: Time::At(60_000_000), jobs: 5 });
        assert_eq!(some(wave(3)).join(some(later)).wave, Reading::AtLeast(later));
        assert_eq!(both.batch(), Reading::Exact(Some(2.5)));
        let part = both.join(Handling::default());
        assert_eq!((part.claims, part.batch()), (Reading::AtLeast(8), Reading::About(Some(2.5))));
        assert!(matches!(part.quantiles(), Reading::About(Some(_))));
    }
}
