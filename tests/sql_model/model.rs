//! The queue in memory, as simple as the rules allow: what each function has to answer and to leave behind.
//!
//! Time is a counter: a job is due or not, a lease has run out or not, and every change has a number of its own.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::operator::Done;

/// Where a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Queued,
    Running {
        worker: usize,
        expired: bool,
    },
    Completed,
    /// In the dead letters: by which change it died, how often it was replayed.
    Dead {
        died: u64,
        replays: u32,
        replay: Option<Uuid>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) place: Place,
    pub(super) attempts: i32,
    pub(super) max: i32,
    pub(super) priority: i32,
    /// Since which change it is due; none: scheduled.
    pub(super) due: Option<u64>,
    pub(super) key: Option<String>,
    /// Number of the change that made it.
    pub(super) created: u64,
    /// Number of the last change.
    pub(super) changed: u64,
}

/// How an attempt ended that did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) job: Uuid,
    pub(super) attempt: i32,
    pub(super) worker: usize,
    /// The worker said so itself.
    pub(super) said: bool,
    /// Its worker came back too late.
    pub(super) fenced: bool,
    pub(super) at: u64,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) jobs: BTreeMap<Uuid, Job>,
    pub(super) failures: Vec<Failure>,
    pub(super) paused: bool,
    pub(super) actions: BTreeMap<i64, (u64, Vec<Done>)>,
    now: u64,
}

impl Model {
    pub(super) fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// Who holds a key.
    pub(super) fn holder(&self, key: Option<&str>) -> Option<Uuid> {
        let live = |job: &Job| !matches!(job.place, Place::Dead { .. });
        let mut holders =
            self.jobs.iter().filter(|(_, job)| live(job) && job.key.is_some() && job.key.as_deref() == key);
        holders.next().map(|(id, _)| *id)
    }

    pub(super) fn enqueue(&mut self, id: Uuid, max: i32, priority: i32, due: bool, key: Option<String>) {
        let now = self.tick();
        let due = due.then_some(now);
        self.jobs
            .insert(id, Job { place: Place::Queued, attempts: 0, max, priority, due, key, created: now, changed: now });
    }

    pub(super) fn claim(&mut self, worker: usize, batch: usize) -> Vec<Uuid> {
        let now = self.tick();
        let mut ready = Vec::new();
        for (id, job) in &self.jobs {
            if let (Place::Queued, Some(due), false) = (&job.place, job.due, self.paused)
                && job.attempts < job.max
            {
                ready.push((-job.priority, due, job.created, *id));
            }
        }
        ready.sort_unstable();
        let claimed: Vec<Uuid> = ready.into_iter().take(batch).map(|(.., id)| id).collect();
        for id in &claimed {
            let job = self.jobs.get_mut(id).expect("a job");
            job.place = Place::Running { worker, expired: false };
            job.attempts += 1;
            job.changed = now;
        }
        claimed
    }

    /// Whether a worker's call for an attempt (none: whichever) reaches its job.
    pub(super) fn owns(&self, id: Uuid, worker: usize, attempt: Option<i32>) -> bool {
        self.jobs.get(&id).is_some_and(|job| {
            matches!(job.place, Place::Running { worker: owner, .. } if owner == worker)
                && attempt.is_none_or(|attempt| attempt == job.attempts)
        })
    }

    /// A worker's last word was refused.
    fn fence(&mut self, id: Uuid, worker: usize, attempt: Option<i32>) {
        let theirs = |failure: &&mut Failure| {
            failure.job == id
                && failure.worker == worker
                && !failure.said
                && !failure.fenced
                && attempt.is_none_or(|attempt| attempt == failure.attempt)
        };
        if let Some(failure) =
            self.failures.iter_mut().filter(theirs).max_by_key(|failure| (failure.attempt, failure.at))
        {
            failure.fenced = true;
        }
    }

    pub(super) fn heartbeat(&mut self, id: Uuid, worker: usize, attempt: Option<i32>) -> bool {
        let (owns, now) = (self.owns(id, worker, attempt), self.tick());
        if owns && let Some(job) = self.jobs.get_mut(&id) {
            job.place = Place::Running { worker, expired: false };
            job.changed = now;
        }
        owns
    }

    pub(super) fn complete(&mut self, id: Uuid, worker: usize, attempt: Option<i32>) -> bool {
        let now = self.tick();
        if !self.owns(id, worker, attempt) {
            self.fence(id, worker, attempt);
            return false;
        }
        let job = self.jobs.get_mut(&id).expect("a job");
        job.place = Place::Completed;
        job.changed = now;
        true
    }

    /// Retry (with a long back-off) or straight to the dead letters.
    pub(super) fn fail(&mut self, id: Uuid, worker: usize, attempt: Option<i32>, for_good: bool) -> &'static str {
        let now = self.tick();
        if !self.owns(id, worker, attempt) {
            self.fence(id, worker, attempt);
            return "lost";
        }
        self.end_attempt(id, now, true);
        let job = self.jobs.get_mut(&id).expect("a job");
        job.changed = now;
        if for_good || job.attempts >= job.max {
            job.place = Place::Dead { died: now, replays: 0, replay: None };
            return "dead";
        }
        job.place = Place::Queued;
        job.due = None;
        "queued"
    }

    /// Writes the history when an attempt is under way.
    pub(super) fn end_attempt(&mut self, id: Uuid, at: u64, said: bool) {
        let job = &self.jobs[&id];
        if let Place::Running { worker, .. } = job.place {
            self.failures.push(Failure { job: id, attempt: job.attempts, worker, said, fenced: false, at });
        }
    }

    /// The lease runs out, or the time of a scheduled job comes.
    pub(super) fn pass_time(&mut self, id: Uuid) {
        let now = self.tick();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match &mut job.place {
            Place::Running { expired, .. } => *expired = true,
            Place::Queued if job.due.is_none() => job.due = Some(now),
            _ => return,
        }
        job.changed = now;
    }

    /// A hand's edit uses the attempts of a queued job up.
    pub(super) fn use_up(&mut self, id: Uuid) {
        let now = self.tick();
        if let Some(job) = self.jobs.get_mut(&id).filter(|job| job.place == Place::Queued) {
            job.attempts = job.attempts.max(job.max);
            job.changed = now;
        }
    }

    pub(super) fn reap(&mut self) -> (i64, i64) {
        let now = self.tick();
        let expired = |job: &Job| matches!(job.place, Place::Running { expired: true, .. });
        let stuck = |job: &Job| job.place == Place::Queued && job.attempts >= job.max;
        let ids: Vec<Uuid> =
            self.jobs.iter().filter(|(_, job)| expired(job) || stuck(job)).map(|(id, _)| *id).collect();
        let mut counts = (0, 0);
        for id in ids {
            let dead = self.reap_one(id, now);
            counts = (counts.0 + i64::from(!dead), counts.1 + i64::from(dead));
        }
        counts
    }

    pub(super) fn reap_one(&mut self, id: Uuid, now: u64) -> bool {
        self.end_attempt(id, now, false);
        let job = self.jobs.get_mut(&id).expect("a job");
        let dead = job.attempts >= job.max;
        job.place = if dead { Place::Dead { died: now, replays: 0, replay: None } } else { Place::Queued };
        job.due = if dead { job.due } else { Some(now) };
        job.changed = now;
        dead
    }

    /// A job's state in the dashboard's words.
    pub(super) fn state(&self, id: Uuid) -> &'static str {
        match self.jobs.get(&id) {
            None => "gone",
            Some(job) => match job.place {
                Place::Queued if job.attempts >= job.max => "exhausted",
                Place::Queued if job.due.is_none() => "scheduled",
                Place::Queued => "ready",
                Place::Running { expired: true, .. } => "expired",
                Place::Running { .. } => "running",
                Place::Completed => "completed",
                Place::Dead { .. } => "dead",
            },
        }
    }
}
