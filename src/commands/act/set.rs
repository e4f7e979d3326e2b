//! Which jobs: found by filter or by id, each with its fence as it is now.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use uuid::Uuid;

use crate::backends;
use crate::db::{Connector, DbError, Limits, Purpose, Statement};
use crate::engine::Live;
use crate::engine::browse::Sessions;
use crate::engine::bulk::{Freeze, FreezeError, Frozen, freeze};
use crate::model::filter::{Test, TextField};
use crate::model::{Action, BackendKind, Fence, Filter, Job, JobRef, JobState, Time};

use super::super::jobs::pointed_at;
use super::super::target::{self, Chosen};
use super::super::{CommandError, nothing_there};

/// More are refused: whoever means so many narrows the filter, or says it again.
const MOST: usize = 1_000_000;
const CLOCK: Duration = Duration::from_secs(5);

/// A database and what is on it.
pub(super) struct Place {
    /// Makes the acting session.
    pub(super) connector: Arc<Connector>,
    /// The reading session and the backends.
    pub(super) live: Arc<Live>,
    /// How it is named to people, and in journals.
    pub(super) name: String,
    /// The server's time.
    pub(super) now: Time,
}

/// The jobs that were found.
#[derive(Debug, Default)]
pub(super) struct Set {
    /// Each with its fence.
    pub(super) targets: Vec<(JobRef, Fence)>,
    /// The first of them whole.
    pub(super) sample: Vec<Job>,
    /// Ids that were named and are nowhere.
    pub(super) gone: Vec<String>,
    /// Limits that were met on the way.
    pub(super) note: Option<String>,
}

/// The filter, or where it is wrong.
pub(super) fn filter(text: &str) -> Result<Filter, CommandError> {
    text.parse().map_err(|error| pointed_at(text, &error))
}

/// Where a filter names no state, the one that the action is for.
pub(super) fn of_action(filter: Filter, action: Action) -> Filter {
    if filter.terms().iter().any(|term| matches!(term.test, Test::State(_))) {
        return filter;
    }
    match action {
        Action::Reap => filter.with_state(JobState::Expired),
        Action::Replay { .. } => filter.with_state(JobState::Dead),
        _ => filter,
    }
}

/// The ids as they were given, `-` being standard input; in order, each once.
pub(super) fn ids(given: &[String]) -> Result<Vec<Uuid>, CommandError> {
    let mut ids = Vec::new();
    let mut take = |text: &str, place: &str| match Uuid::parse_str(text) {
        Ok(id) => {
            if !ids.contains(&id) {
                ids.push(id);
            }
            Ok(())
        }
        Err(_) => Err(CommandError::Usage(format!("{place}: `{text}` is no id of a job"))),
    };
    for text in given {
        if text != "-" {
            take(text, "ID")?;
            continue;
        }
        for (at, line) in io::stdin().lock().lines().enumerate() {
            let line = line.map_err(|error| CommandError::Failed(format!("standard input cannot be read: {error}")))?;
            if !line.trim().is_empty() {
                take(line.trim(), &format!("standard input, line {}", at + 1))?;
            }
        }
    }
    Ok(ids)
}

impl Place {
    /// Connects and looks what is there.
    pub(super) async fn find(chosen: &Chosen, schema: Option<&str>) -> Result<Self, CommandError> {
        let failed = |error: DbError| CommandError::Failed(error.to_string());
        let connector = Arc::clone(&chosen.connector);
        let session = target::session(&connector, Purpose::Read).await?;
        if session.is_standby() {
            return Err(CommandError::Failed("the server is a standby: connect to the primary to act".to_owned()));
        }
        let schema = chosen.schema(schema.map(str::to_owned));
        let found = backends::all(&session, schema.as_deref()).await.map_err(failed)?;
        let backend = found.iter().find(|backend| backend.kind() == BackendKind::Jobs);
        let backend = backend.ok_or_else(|| CommandError::Failed(nothing_there(&connector, schema.as_deref())))?;
        backend.may_act().map_err(CommandError::Failed)?;
        let name = format!("{}, schema {}", connector.target(), backend.schema());
        let clock = session.read_many("clock", &[Statement::new("select 1")], Limits::within(CLOCK)).await;
        let now = clock.map_err(failed)?.server_time;
        let live = Arc::new(Live { session: Arc::new(session), backends: Arc::new(found) });
        Ok(Self { connector, live, name, now })
    }

    /// Where lists are read.
    pub(super) fn sessions(&self) -> Sessions {
        let view = watch::channel(Some(Arc::clone(&self.live))).1;
        Sessions { listening: view.clone(), polling: view }
    }

    /// Every job that matches.
    pub(super) async fn matching(&self, filter: Filter) -> Result<Set, CommandError> {
        let Frozen { targets, sample, note } = self.frozen(filter).await?;
        Ok(Set { targets, sample, gone: Vec::new(), note })
    }

    /// The jobs and dead letters with these ids.
    pub(super) async fn by_id(&self, ids: Vec<Uuid>) -> Result<Set, CommandError> {
        let mut set = Set::default();
        for id in ids.iter().map(Uuid::to_string) {
            let frozen = self.frozen(Filter::default().and(TextField::Id, &id)).await?;
            if frozen.targets.is_empty() {
                set.gone.push(id);
            }
            set.targets.extend(frozen.targets);
            if set.sample.len() < super::ask::SAMPLE {
                set.sample.extend(frozen.sample);
            }
        }
        Ok(set)
    }

    async fn frozen(&self, filter: Filter) -> Result<Frozen, CommandError> {
        let wanted = Freeze { filter, most: MOST };
        freeze(&self.sessions(), &wanted, &watch::channel(0).0).await.map_err(|error| match error {
            FreezeError::TooMany(_) => CommandError::Usage(error.to_string()),
            FreezeError::Read(_) | FreezeError::NotKnown(_) => CommandError::Failed(error.to_string()),
        })
    }
}
