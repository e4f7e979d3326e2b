//! Pure rules: readings in, findings out, worst first. The verdict line, the diagnose view and `doctor` read the same list.
//!
//! A rule is one entry of the list `RULES`. It reports what is wrong, or that it could not tell because a reading is missing;
//! "all is well" is said only when every rule could tell. A false alarm is a defect: each rule has a floor, and its test
//! shows a case nearby where it stays silent. No IO and no clock: now is when the readings were taken.

mod backlog;
pub mod checks;
mod failures;
mod leases;
mod recent;
mod verdict;
mod words;

#[cfg(test)]
mod fixture;

use crate::model::{Finding, History, QueueId, QueueStats, Reading, ServerFacts, Severity, Snapshot, Time};

pub use verdict::{Verdict, verdict};

/// What the rules look at.
struct Input<'a> {
    snapshot: &'a Snapshot,
    history: &'a History,
    now: Time,
}

/// What one rule says: a finding, or which reading it is missing. Nothing wrong is neither.
struct Report<'a> {
    rule: usize,
    findings: &'a mut Vec<(usize, Finding)>,
    missing: &'a mut Vec<Missing>,
}

/// A reading that a rule needed and did not have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Missing {
    /// In words: "when the reaper last ran".
    what: &'static str,
    queue: Option<QueueId>,
    denied: bool,
}

impl Report<'_> {
    fn find(&mut self, finding: Finding) {
        self.findings.push((self.rule, finding));
    }

    /// The value of a reading; notes that it is missing where it should be there.
    fn need<T>(&mut self, reading: &Reading<T>, what: &'static str, queue: Option<&QueueId>) -> Option<T>
    where
        T: Clone,
    {
        if matches!(reading, Reading::Denied | Reading::Unknown) {
            self.miss(what, queue, matches!(reading, Reading::Denied));
        }
        reading.value().cloned()
    }

    fn miss(&mut self, what: &'static str, queue: Option<&QueueId>, denied: bool) {
        let missing = Missing { what, queue: queue.cloned(), denied };
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }
}

/// A rule about one queue.
type Rule = fn(&QueueStats, &Input<'_>, &mut Report<'_>);

/// Every rule, the most harmful kind of trouble first: among findings of one severity this order decides.
const RULES: &[Rule] = &[
    leases::expired,
    backlog::nobody_works,
    failures::storm,
    backlog::grows,
    failures::rising,
    failures::one_signature,
    backlog::paused,
    failures::exhausted,
    backlog::old,
    leases::silent,
];

/// The name of the finding that lists what could not be checked.
pub const NOT_CHECKED: &str = "not-checked";
/// The name of the finding that says what this role may not do.
pub const RIGHTS: &str = "rights";

/// What is wrong, worst first. Ages are by the server's clock at reading.
#[must_use]
pub fn findings(snapshot: &Snapshot, history: &History, server: Option<&ServerFacts>) -> Vec<Finding> {
    let input = Input { snapshot, history, now: snapshot.taken_at };
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for (rule, check) in RULES.iter().enumerate() {
        for queue in &snapshot.queues {
            check(queue, &input, &mut Report { rule, findings: &mut found, missing: &mut missing });
        }
    }
    found.extend(words::rights(server).map(|finding| (RULES.len(), finding)));
    found.extend(words::not_checked(&missing).map(|finding| (RULES.len() + 1, finding)));
    // By order of magnitude only: the list must not change its order with every job that comes or goes.
    found.sort_by(|(a_rule, a), (b_rule, b)| {
        let magnitude = |f: &Finding| f.weight.checked_ilog2();
        b.severity
            .cmp(&a.severity)
            .then(a_rule.cmp(b_rule))
            .then(magnitude(b).cmp(&magnitude(a)))
            .then_with(|| a.queue.cmp(&b.queue))
    });
    found.into_iter().map(|(_, finding)| finding).collect()
}

/// The worst severity found for each queue, for the mark beside its row.
#[must_use]
pub fn worst_of(findings: &[Finding], queue: &QueueId) -> Option<Severity> {
    findings.iter().filter(|f| f.queue.as_ref() == Some(queue)).map(|f| f.severity).max()
}

#[cfg(test)]
mod tests {
    use super::fixture::{Scene, queue};
    use super::*;

    #[test]
    fn the_worst_comes_first_and_the_order_is_calm() {
        let mut scene = Scene::calm(&["a", "b", "c"]);
        for (name, expired) in [("a", 3), ("b", 40), ("c", 2)] {
            scene.queue(name).expired = Reading::Exact(expired);
        }
        scene.snapshot.reaper_last = Reading::Exact(None);
        let order = |scene: &Scene| -> Vec<String> {
            scene.findings().iter().filter_map(|f| f.queue.as_ref().map(|q| q.name.clone())).collect()
        };
        assert_eq!(order(&scene), ["b", "a", "c"]);
        scene.queue("c").expired = Reading::Exact(3);
        scene.queue("a").expired = Reading::Exact(2);
        assert_eq!(order(&scene), ["b", "a", "c"], "one job more or less moves nothing");
        assert_eq!(worst_of(&scene.findings(), &queue("b")), Some(Severity::Act));
        assert_eq!(worst_of(&scene.findings(), &queue("x")), None);
    }

    #[test]
    fn a_calm_scene_has_no_findings_and_an_unknown_one_says_so() {
        assert_eq!(Scene::calm(&["a", "b"]).findings(), []);
        let mut scene = Scene::calm(&["a", "b"]);
        scene.snapshot.queues = vec![QueueStats::unknown(queue("a"))];
        scene.snapshot.reaper_last = Reading::Denied;
        let ids: Vec<&str> = scene.findings().iter().map(|f| f.id).collect();
        assert_eq!(ids, [NOT_CHECKED]);
    }
}
