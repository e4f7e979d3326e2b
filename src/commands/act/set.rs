//! Which jobs: found by filter or by id, each with its fence as it is now.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use uuid::Uuid;

use crate::args::CommonArgs;
use crate::db::{Connector, Limits, Statement};
use crate::engine::browse::Sessions;
use crate::engine::bulk::{Freeze, FreezeError, Frozen, freeze};
use crate::engine::{Live, server_facts};
use crate::model::filter::{Match, Term, Test, TextField, Words};
use crate::model::{Ability, Action, BackendKind, Fence, Filter, Job, JobRef, JobState, Time};

use super::super::jobs::pointed_at;
use super::super::{CommandError, nothing_there, target};

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
    /// What is done here is confirmed by typing.
    pub(super) production: bool,
    /// The target's name, where the settings call it production.
    pub(super) called_production: Option<String>,
    /// So is what is done to more jobs than this.
    pub(super) typed_above: usize,
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
    for text in given {
        if text != "-" {
            ids.push(id(text, "ID")?);
            continue;
        }
        for (at, line) in io::stdin().lock().lines().enumerate() {
            let line = line.map_err(|error| CommandError::Failed(format!("standard input cannot be read: {error}")))?;
            if !line.trim().is_empty() {
                ids.push(id(line.trim(), &format!("standard input, line {}", at + 1))?);
            }
        }
    }
    let mut known = HashSet::new();
    ids.retain(|id| known.insert(*id));
    Ok(ids)
}

fn id(text: &str, place: &str) -> Result<Uuid, CommandError> {
    Uuid::parse_str(text).map_err(|_| CommandError::Usage(format!("{place}: `{text}` is no id of a job")))
}

impl Place {
    /// Connects to what was chosen and looks what is there, and whether it may be acted on.
    pub(super) async fn find(common: &CommonArgs) -> Result<Self, CommandError> {
        let (chosen, safety) = target::choose_to_act(common.place.db.as_deref())?;
        let connector = Arc::clone(&chosen.connector);
        let schema = chosen.schema(common.place.schema.clone());
        let (session, backends) = target::queues(&connector, schema.as_deref()).await?;
        let jobs = backends.iter().find(|backend| backend.kind() == BackendKind::Jobs);
        let jobs = jobs.ok_or_else(|| CommandError::Failed(nothing_there(&connector, schema.as_deref())))?;
        let name = format!("{}, schema {}", connector.target(), jobs.schema());
        let clock = session.read_many("clock", &[Statement::new("select 1")], Limits::within(CLOCK)).await;
        let now = clock.map_err(|error| CommandError::Failed(error.to_string()))?.server_time;
        let live = Arc::new(Live { session: Arc::new(session), backends: Arc::new(backends) });
        let server = server_facts(&live);
        let production = server.is_production(chosen.target.production, &safety.not_production);
        if let Ability::No(why) = server.act {
            return Err(CommandError::Failed(why));
        }
        let called_production = chosen.name.filter(|_| chosen.target.production == Some(true));
        Ok(Self { connector, live, name, now, production, called_production, typed_above: safety.typed_above })
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
    pub(super) async fn by_id(&self, ids: &[Uuid]) -> Result<Set, CommandError> {
        let texts: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        if texts.is_empty() {
            return Ok(Set::default());
        }
        let any = Words { how: Match::Whole, any: texts.clone() };
        let frozen = self.frozen(Filter::new(vec![Term::plain(Test::Text(TextField::Id, any))])).await?;
        let place_of: HashMap<&str, usize> = texts.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
        let mut targets = frozen.targets;
        targets.sort_by_key(|(job, _)| place_of.get(job.id.as_str()));
        let found: HashSet<&str> = targets.iter().map(|(job, _)| job.id.as_str()).collect();
        let gone = texts.iter().filter(|id| !found.contains(id.as_str())).cloned().collect();
        Ok(Set { targets, sample: frozen.sample, gone, note: frozen.note })
    }

    async fn frozen(&self, filter: Filter) -> Result<Frozen, CommandError> {
        let wanted = Freeze { filter, most: MOST };
        freeze(&self.sessions(), &wanted, &watch::channel(0).0).await.map_err(|error| match error {
            FreezeError::TooMany(_) => CommandError::Usage(error.to_string()),
            FreezeError::Read(_) | FreezeError::NotKnown(_) => CommandError::Failed(error.to_string()),
        })
    }
}
