//! A metric value that says how it is known. A value that is not known is never a zero.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// How a value is known, as written to JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Known {
    /// Counted.
    Exact,
    /// Counting stopped at a limit: the true value is this or more.
    AtLeast,
    /// Estimated.
    About,
    /// Was true once; what it is now is not known.
    Stale,
    /// The role may not read it.
    Denied,
    /// Not known.
    Unknown,
}

impl Known {
    /// The stable name used in JSON output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::AtLeast => "at_least",
            Self::About => "about",
            Self::Stale => "stale",
            Self::Denied => "denied",
            Self::Unknown => "unknown",
        }
    }
}

/// A value together with how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reading<T> {
    /// Counted.
    Exact(T),
    /// The true value is this or more.
    AtLeast(T),
    /// Estimated.
    About(T),
    /// Was true at the last good poll.
    Stale(T),
    /// The role may not read it.
    Denied,
    /// Not known (yet).
    #[default]
    Unknown,
    /// Has no meaning here (say, exhausted jobs in a queue without a limit of attempts).
    NotApplicable,
}

impl<T> Reading<T> {
    /// The value, where there is one.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Exact(v) | Self::AtLeast(v) | Self::About(v) | Self::Stale(v) => Some(v),
            Self::Denied | Self::Unknown | Self::NotApplicable => None,
        }
    }

    /// The value, to be changed, however it is known.
    pub fn value_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Exact(value) | Self::AtLeast(value) | Self::About(value) | Self::Stale(value) => Some(value),
            _ => None,
        }
    }

    /// How it is known. What does not apply is reported as unknown.
    #[must_use]
    pub fn known(&self) -> Known {
        match self {
            Self::Exact(_) => Known::Exact,
            Self::AtLeast(_) => Known::AtLeast,
            Self::About(_) => Known::About,
            Self::Stale(_) => Known::Stale,
            Self::Denied => Known::Denied,
            Self::Unknown | Self::NotApplicable => Known::Unknown,
        }
    }

    /// The same knowledge about another value.
    #[must_use]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Exact(v) => Reading::Exact(f(v)),
            Self::AtLeast(v) => Reading::AtLeast(f(v)),
            Self::About(v) => Reading::About(f(v)),
            Self::Stale(v) => Reading::Stale(f(v)),
            Self::Denied => Reading::Denied,
            Self::Unknown => Reading::Unknown,
            Self::NotApplicable => Reading::NotApplicable,
        }
    }
}

impl<T: Copy> Reading<T> {
    /// The value by copy, where there is one.
    #[must_use]
    pub fn get(&self) -> Option<T> {
        self.value().copied()
    }

    /// Combines two readings; the result is only as good as the worse of both. A part that does not apply adds nothing.
    #[must_use]
    pub fn combine(self, other: Self, join: impl FnOnce(T, T) -> T) -> Self {
        let (left, right) = match (self, other) {
            (Self::NotApplicable, only) | (only, Self::NotApplicable) => return only,
            (Self::Denied, _) | (_, Self::Denied) => return Self::Denied,
            (mine, theirs) => match (mine.get(), theirs.get()) {
                (Some(left), Some(right)) => (left, right),
                _ => return Self::Unknown,
            },
        };
        let value = join(left, right);
        let has = |known: Known| self.known() == known || other.known() == known;
        if has(Known::Stale) {
            Self::Stale(value)
        } else if has(Known::About) {
            Self::About(value)
        } else if has(Known::AtLeast) {
            Self::AtLeast(value)
        } else {
            Self::Exact(value)
        }
    }
}

impl<T: Serialize> Serialize for Reading<T> {
    /// `{"value": number or null, "known": "exact|at_least|about|stale|denied|unknown"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("Reading", 2)?;
        s.serialize_field("value", &self.value())?;
        s.serialize_field("known", self.known().as_str())?;
        s.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_only_as_good_as_its_worst_part() {
        let add = |a, b| a + b;
        assert_eq!(Reading::Exact(1).combine(Reading::Exact(2), add), Reading::Exact(3));
        assert_eq!(Reading::Exact(1).combine(Reading::AtLeast(2), add), Reading::AtLeast(3));
        assert_eq!(Reading::About(1).combine(Reading::AtLeast(2), add), Reading::About(3));
        assert_eq!(Reading::Stale(1).combine(Reading::About(2), add), Reading::Stale(3));
        assert_eq!(Reading::Exact(1).combine(Reading::Unknown, add), Reading::Unknown);
        assert_eq!(Reading::Unknown.combine(Reading::<i32>::Denied, add), Reading::Denied);
        assert_eq!(Reading::Exact(1).combine(Reading::NotApplicable, add), Reading::Exact(1));
    }

    #[test]
    fn json_never_turns_the_unknown_into_a_zero() {
        let json = |r: Reading<u64>| serde_json::to_string(&r).unwrap();
        assert_eq!(json(Reading::Exact(0)), r#"{"value":0,"known":"exact"}"#);
        assert_eq!(json(Reading::AtLeast(10_000)), r#"{"value":10000,"known":"at_least"}"#);
        assert_eq!(json(Reading::Unknown), r#"{"value":null,"known":"unknown"}"#);
        assert_eq!(json(Reading::Denied), r#"{"value":null,"known":"denied"}"#);
    }
}
