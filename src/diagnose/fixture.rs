//! A calm server for the tests of the rules; each test disturbs one thing. Not part of the program.

use std::time::Duration;

use crate::model::{
    BackendKind, Failures, Fence, Finding, History, Job, JobRef, JobState, Lease, Point, QueueId, QueueStats, Rates,
    Reading, Snapshot, Time, Totals,
};

pub(super) const NOW: Time = Time::At(1_800_000_000_000_000);

/// So many seconds before [`NOW`].
pub(super) fn ago(seconds: i64) -> Time {
    Time::At(NOW.micros().unwrap() - seconds * 1_000_000)
}

pub(super) fn queue(name: &str) -> QueueId {
    QueueId { backend: BackendKind::Jobs, name: name.into() }
}

/// Readings and history of a moment.
pub(super) struct Scene {
    pub(super) snapshot: Snapshot,
    pub(super) history: History,
}

impl Scene {
    /// Queues that drain, a living reaper, five quiet minutes of history.
    pub(super) fn calm(names: &[&str]) -> Self {
        let mut scene = Self {
            snapshot: Snapshot {
                taken_at: NOW,
                queues: names.iter().map(|name| calm_queue(queue(name))).collect(),
                leases: Reading::Exact(vec![]),
                failures: Failures {
                    failed_15m: Reading::Exact(0),
                    dead_1h: Reading::Exact(0),
                    signatures: Reading::Exact(vec![]),
                    taken_at: Some(NOW),
                },
                reaper_last: Reading::Exact(Some(ago(5))),
                cost: Duration::ZERO,
            },
            history: History::default(),
        };
        for name in names {
            scene.minutes(name, &[Some((60, 60)); 5]);
        }
        scene
    }

    pub(super) fn queue(&mut self, name: &str) -> &mut QueueStats {
        self.snapshot.queues.iter_mut().find(|q| q.id.name == name).unwrap()
    }

    /// Replaces a queue's history: minutes up to now, oldest first, as (came, completed); `None` is a gap.
    pub(super) fn minutes(&mut self, name: &str, minutes: &[Option<(u64, u64)>]) {
        let totals = minutes.iter().map(|minute| {
            minute.map(|(enqueued, completed)| Totals { enqueued, claimed: completed, completed, ..Totals::default() })
        });
        self.history_of(name, totals.collect());
    }

    /// The same with all counts.
    pub(super) fn history_of(&mut self, name: &str, minutes: Vec<Option<Totals>>) {
        let minute = Duration::from_mins(1);
        let count = minutes.len();
        let points = minutes.into_iter().enumerate().map(|(at, delta)| {
            let after = u32::try_from(count - 1 - at).unwrap();
            Point { at: NOW.minus(minute * after), span: minute, delta, depth: None }
        });
        let points: Vec<Point> = points.collect();
        let mut history = History::default();
        for other in self.history.queues().filter(|q| q.name != name) {
            history.preload(other, self.history.series(other).unwrap().iter().copied().collect());
        }
        history.preload(&queue(name), points);
        self.history = history;
    }

    /// Adds a lease that ends at `until`, last renewed at `updated`.
    pub(super) fn lease(&mut self, name: &str, until: Option<Time>, updated: Time) {
        let job = Job {
            at: JobRef { queue: queue(name), id: "8c1fd0a4-1111-4222-8333-4444444444e2".into(), dead: false },
            state: JobState::of("running", updated, (1, 8), until, NOW),
            priority: Some(0),
            attempts: 1,
            max_attempts: Some(8),
            run_at: updated,
            created_at: Some(updated),
            worker: Some("7f3a0000-0000-4000-8000-000000000001".into()),
            lease_until: until,
            updated_at: Some(updated),
            error: None,
            fence: Fence(serde_json::Value::Null),
        };
        let mut leases = self.snapshot.leases.value().cloned().unwrap_or_default();
        leases.push(Lease { job });
        self.snapshot.leases = Reading::Exact(leases);
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        super::findings(&self.snapshot, &self.history, None)
    }

    /// The one finding there is, which must be of this rule.
    pub(super) fn only(&self, id: &str) -> Finding {
        let found = self.findings();
        assert_eq!(found.iter().map(|f| f.id).collect::<Vec<_>>(), [id], "{found:#?}");
        found.into_iter().next().unwrap()
    }
}

fn calm_queue(id: QueueId) -> QueueStats {
    QueueStats {
        paused: Some(false),
        ready: Reading::Exact(0),
        scheduled: Reading::Exact(0),
        running: Reading::Exact(4),
        expired: Reading::Exact(0),
        exhausted: Reading::Exact(0),
        oldest_ready: Reading::Exact(None),
        dead_total: Reading::Exact(0),
        totals: Reading::Exact(Totals::default()),
        rates: Rates {
            enqueued: Reading::Exact(1.0),
            claimed: Reading::Exact(1.0),
            completed: Reading::Exact(1.0),
            retried: Reading::Exact(0.0),
            dead: Reading::Exact(0.0),
        },
        attempts: Reading::Exact(vec![]),
        last_attempt: Reading::Exact(0),
        max_attempts: Some(8),
        ..QueueStats::unknown(id)
    }
}
