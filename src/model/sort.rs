//! In which order a list stands, and how each order is served.

use std::fmt;

use super::filter::{Filter, StateSet};

/// What a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortKey {
    /// When it was put in.
    Created,
    /// When it may run.
    RunAt,
    /// Attempts begun.
    Attempts,
    /// Higher runs first.
    Priority,
    /// When the lease ends.
    Lease,
    /// When it died.
    Failed,
    /// When it was done.
    Completed,
}

impl SortKey {
    /// Every key.
    pub const ALL: [Self; 7] =
        [Self::Created, Self::RunAt, Self::Attempts, Self::Priority, Self::Lease, Self::Failed, Self::Completed];

    /// Its name, as the filter's fields are called.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::RunAt => "run_at",
            Self::Attempts => "attempts",
            Self::Priority => "priority",
            Self::Lease => "lease",
            Self::Failed => "failed",
            Self::Completed => "completed",
        }
    }

    /// Whether large values usually come first.
    fn falls(self) -> bool {
        matches!(self, Self::Attempts | Self::Priority | Self::Failed | Self::Completed)
    }

    /// The states that have it.
    fn states(self) -> StateSet {
        match self {
            Self::Created | Self::Attempts | Self::Priority => StateSet::ANY,
            Self::RunAt => StateSet::QUEUED,
            Self::Lease => StateSet::CLAIMED,
            Self::Failed => StateSet::DEAD,
            Self::Completed => StateSet::COMPLETED,
        }
    }
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Sort {
    /// Running jobs by the end of their lease, soonest first; then queued ones as claims take them, queue by queue; completed
    /// and dead ones latest first.
    #[default]
    Natural,
    /// By a value; jobs without it come last, equal ones by id.
    By {
        /// Which.
        key: SortKey,
        /// Largest or latest first.
        descending: bool,
    },
}

/// How an order is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// By an index: the whole list is in this order.
    Index,
    /// Only the first rows of the natural order are sorted, [`super::page::WINDOW_ROWS`] at most; the page's note says so where
    /// there are more.
    Window,
}

impl Sort {
    /// By this key, in its usual direction.
    #[must_use]
    pub fn by(key: SortKey) -> Self {
        Self::By { key, descending: key.falls() }
    }

    /// The orders that make sense for a filter, each in its usual direction, the natural one first.
    #[must_use]
    pub fn offered(filter: &Filter) -> Vec<(Self, Served)> {
        let keys = SortKey::ALL.into_iter().filter(|key| key.states().meets(filter.states()));
        let all = [Self::Natural].into_iter().chain(keys.map(Self::by));
        all.map(|sort| (sort, sort.served(filter))).collect()
    }

    /// How this order is served for a filter, on tables with all their indexes.
    #[must_use]
    pub fn served(self, filter: &Filter) -> Served {
        let states = filter.states();
        let Self::By { key, descending } = self else { return Served::Index };
        let led = filter.ids().is_some() || filter.keys().is_some();
        let by_index = match key {
            SortKey::Lease => states.is_within(StateSet::CLAIMED),
            SortKey::Failed => states == StateSet::DEAD,
            SortKey::Completed => states == StateSet::COMPLETED,
            SortKey::Priority => descending && states.is_within(StateSet::QUEUED) && filter.one_queue().is_some(),
            SortKey::Created | SortKey::RunAt | SortKey::Attempts => false,
        };
        if by_index && !led { Served::Index } else { Served::Window }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Natural => f.write_str("natural"),
            Self::By { key, descending } => {
                write!(f, "{}:{}", key.as_str(), if *descending { "desc" } else { "asc" })
            }
        }
    }
}

impl std::str::FromStr for Sort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "natural" {
            return Ok(Self::Natural);
        }
        let (name, direction) = text.split_once(':').unwrap_or((text, ""));
        let key = SortKey::ALL.into_iter().find(|key| key.as_str() == name);
        let descending = match direction {
            "" => key.map(SortKey::falls),
            "asc" => Some(false),
            "desc" => Some(true),
            _ => None,
        };
        key.zip(descending).map(|(key, descending)| Self::By { key, descending }).ok_or_else(|| {
            let names: Vec<&str> = SortKey::ALL.into_iter().map(SortKey::as_str).collect();
            format!("write natural or one of {}, and :asc or :desc behind it", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_read_back_as_they_are_written() {
        for key in SortKey::ALL {
            for descending in [false, true] {
                let sort = Sort::By { key, descending };
                assert_eq!(sort.to_string().parse(), Ok(sort));
            }
            assert_eq!(key.as_str().parse(), Ok(Sort::by(key)));
        }
        assert_eq!("natural".parse(), Ok(Sort::Natural));
        for bad in ["", "age", "created:up", "created:", "Created"] {
            assert_eq!(bad.parse::<Sort>().is_err(), bad != "created:", "{bad}");
        }
    }

    #[test]
    fn what_is_offered_fits_the_filter() {
        let offered = |text: &str| -> Vec<String> {
            let filter = text.parse().expect("a filter");
            let words = |(sort, served): (Sort, Served)| match served {
                Served::Index => sort.to_string(),
                Served::Window => format!("({sort})"),
            };
            Sort::offered(&filter).into_iter().map(words).collect()
        };
        let always = ["natural", "(created:asc)", "(attempts:desc)", "(priority:desc)"];
        assert_eq!(offered("state:dead")[..4], always);
        assert_eq!(offered("state:dead")[4..], ["failed:desc"]);
        assert_eq!(offered("state:running,expired queue:a")[4..], ["lease:asc"]);
        assert_eq!(offered("state:completed")[4..], ["completed:desc"]);
        assert_eq!(
            offered("state:ready queue:a")[1..],
            ["(created:asc)", "(run_at:asc)", "(attempts:desc)", "priority:desc"]
        );
        assert!(offered("").contains(&"(lease:asc)".to_owned()));
    }
}
