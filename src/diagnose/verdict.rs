//! The one line that can be read aloud: what is wrong, worst first, or that nothing is, or that it is not known.

use crate::model::{Finding, QueueId, Reading, Severity, Snapshot};
use crate::text::{truncate, width};

use super::words::{counted, exactly, name};
use super::{NOT_CHECKED, RIGHTS};

/// The line, and how loud it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The worst in it; `None`: all is well.
    pub severity: Option<Severity>,
    /// Safe to print, at most as wide as was asked for.
    pub text: String,
}

/// Between two findings of different queues.
const BETWEEN: &str = " · ";

/// The verdict in at most `columns` columns. What does not fit is counted: `(+2)`.
#[must_use]
pub fn verdict(findings: &[Finding], snapshot: &Snapshot, columns: usize) -> Verdict {
    let wrong: Vec<&Finding> = findings.iter().filter(|f| f.severity >= Severity::Look).collect();
    let Some(worst) = wrong.first() else {
        return nothing_wrong(findings, snapshot, columns);
    };
    // The worst of each queue first: a second thing about the same queue says less than the first about another.
    let first_of =
        |f: &Finding| wrong.iter().find(|other| other.queue == f.queue).is_some_and(|other| other.id == f.id);
    let (mut told, more): (Vec<&Finding>, Vec<&Finding>) = wrong.iter().partition(|f| f.queue.is_none() || first_of(f));
    told.extend(more);
    Verdict { severity: Some(worst.severity), text: fill(&told, columns) }
}

/// As many findings as fit in short words, then whole sentences for as many of those as there is room, from the worst on.
fn fill(findings: &[&Finding], columns: usize) -> String {
    let line = |shown: usize, whole: usize| {
        let words = findings.iter().take(shown).enumerate();
        join(words.map(|(at, f)| (f.queue.as_ref(), if at < whole { &f.sentence } else { &f.brief })))
            + &rest(findings.len() - shown)
    };
    let fits = |text: &String| width(text) <= columns;
    // No screen shows more than a few; the others are counted.
    let most = findings.len().min(columns / 8);
    let Some(shown) = (1..=most).take_while(|shown| fits(&line(*shown, 0))).last() else {
        // Not even the first fits: it is cut, and the count of the others stays.
        let others = rest(findings.len().saturating_sub(1));
        let first = findings.first().map_or_else(String::new, |f| join([(f.queue.as_ref(), &f.brief)].into_iter()));
        let cut = format!("{}{others}", truncate(&first, columns.saturating_sub(width(&others))));
        return truncate(&cut, columns).into_owned();
    };
    (0..=shown).rev().map(|whole| line(shown, whole)).find(fits).unwrap_or_default()
}

/// `(+2)`
fn rest(left: usize) -> String {
    if left == 0 { String::new() } else { format!(" (+{left})") }
}

/// Each queue with what is wrong with it; a queue that is named already is not named again.
fn join<'a>(parts: impl Iterator<Item = (Option<&'a QueueId>, &'a String)>) -> String {
    let mut line = String::new();
    let mut before: Option<&QueueId> = None;
    for (queue, words) in parts {
        let same = queue.is_some() && queue == before;
        line += if line.is_empty() {
            ""
        } else if same {
            ", "
        } else {
            BETWEEN
        };
        if let Some(queue) = queue.filter(|_| !same) {
            line += &name(queue);
            line += ": ";
        }
        line += words;
        before = queue;
    }
    line
}

fn nothing_wrong(findings: &[Finding], snapshot: &Snapshot, columns: usize) -> Verdict {
    let unknown = findings.iter().find(|f| f.id == NOT_CHECKED);
    let (severity, text) = match (unknown, snapshot.queues.len()) {
        (Some(unknown), _) if knows_something(snapshot) => {
            let seen = expired_now(snapshot).map_or("no trouble seen, but".to_owned(), |expired| format!("{expired};"));
            (Some(Severity::Info), format!("{seen} {}", unknown.sentence))
        }
        (Some(unknown), _) => (Some(Severity::Info), format!("cannot tell: {}", unknown.sentence)),
        (None, 0) => (None, "no queues yet".to_owned()),
        (None, count) => (None, all_well(snapshot, count)),
    };
    let rights = findings.iter().find(|f| f.id == RIGHTS).map(|f| format!("{text}{BETWEEN}{}", f.brief));
    let text = rights.filter(|longer| width(longer) <= columns).unwrap_or(text);
    Verdict { severity, text: truncate(&text, columns).into_owned() }
}

/// Whether the two numbers that matter most are known of any queue.
fn knows_something(snapshot: &Snapshot) -> bool {
    snapshot.queues.iter().any(|q| q.ready.value().is_some() || q.expired.value().is_some())
}

fn all_well(snapshot: &Snapshot, count: usize) -> String {
    let falls = |q: &&crate::model::QueueStats| {
        let drains = q.ready.get() == Some(0) || q.drain_seconds().get().flatten().is_some();
        !drains && q.paused != Some(true)
    };
    let queues = exactly(u64::try_from(count).unwrap_or(u64::MAX), "queue", "queues");
    let drain = match (snapshot.queues.iter().find(falls), count) {
        (None, 1) => "the one queue drains".to_owned(),
        (None, _) => format!("all {queues} drain"),
        // In and out balance, with a few jobs waiting for a moment.
        (Some(_), 1) => "the one queue keeps up".to_owned(),
        (Some(_), _) => format!("all {queues} keep up"),
    };
    match expired_now(snapshot) {
        None => format!("{drain}, no expired leases"),
        Some(expired) => format!("{drain}, {expired}"),
    }
}

/// Leases that ran out too short a time ago to be a finding.
fn expired_now(snapshot: &Snapshot) -> Option<String> {
    let all = snapshot.queues.iter().map(|q| q.expired).filter(|expired| expired.value().is_some());
    let expired = all.fold(Reading::NotApplicable, |a, b| a.combine(b, u64::saturating_add));
    let some = expired.get().is_some_and(|n| n > 0);
    some.then(|| format!("{} just now", counted(&expired, "lease expired", "leases expired")))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, ago, queue};
    use super::*;
    use crate::model::QueueStats;

    fn say(scene: &Scene, columns: usize) -> Verdict {
        let verdict = verdict(&scene.findings(), &scene.snapshot, columns);
        assert!(width(&verdict.text) <= columns, "{:?} in {columns}", verdict.text);
        verdict
    }

    fn troubled() -> Scene {
        let mut scene = Scene::calm(&["webhooks", "emails", "invoices", "reports"]);
        scene.queue("webhooks").expired = Reading::Exact(3);
        scene.snapshot.reaper_last = Reading::Exact(Some(ago(240)));
        scene.lease("webhooks", Some(ago(252)), ago(552));
        let emails = scene.queue("emails");
        emails.ready = Reading::Exact(12_403);
        emails.oldest_ready = Reading::Exact(Some(ago(133)));
        emails.rates.enqueued = Reading::Exact(52.1);
        scene.minutes("emails", &[Some((3_126, 2_988)); 5]);
        let invoices = scene.queue("invoices");
        invoices.paused = Some(true);
        invoices.ready = Reading::Exact(220);
        scene.queue("reports").exhausted = Reading::Exact(1);
        scene
    }

    #[test]
    fn worst_first_and_what_does_not_fit_is_counted() {
        let scene = troubled();
        let wide = say(&scene, 118);
        assert_eq!(wide.severity, Some(Severity::Act));
        assert_eq!(
            wide.text,
            "webhooks: 3 leases expired, no reaper for 4m · emails: will not drain · invoices: paused, 220 waiting (+1)"
        );
        assert_eq!(say(&scene, 77).text, "webhooks: 3 leases expired, no reaper for 4m · emails: will not drain (+2)");
        assert_eq!(say(&scene, 60).text, "webhooks: 3 leases expired, no reaper for 4m (+3)");
        assert_eq!(say(&scene, 30).text, "webhooks: 3 leases expir… (+3)");
        assert!(
            say(&scene, 300).text.starts_with("webhooks: 3 leases expired, oldest 4m12s ago, no reaper seen for 4m")
        );
    }

    #[test]
    fn any_width_will_do() {
        let scene = troubled();
        for columns in 0..130 {
            say(&scene, columns);
        }
    }

    #[test]
    fn two_findings_of_one_queue_name_it_once() {
        let mut scene = Scene::calm(&["a"]);
        scene.snapshot.reaper_last = Reading::Exact(None);
        scene.queue("a").expired = Reading::Exact(2);
        scene.queue("a").exhausted = Reading::Exact(1);
        assert_eq!(say(&scene, 80).text, "a: 2 leases expired, no reaper has ever run, 1 exhausted");
    }

    #[test]
    fn all_is_well_only_when_it_is_known() {
        let mut scene = Scene::calm(&["a", "b", "c"]);
        assert_eq!(say(&scene, 80), Verdict { severity: None, text: "all 3 queues drain, no expired leases".into() });
        scene.queue("a").ready = Reading::Exact(3);
        scene.queue("a").oldest_ready = Reading::Exact(Some(ago(2)));
        assert_eq!(say(&scene, 80).text, "all 3 queues keep up, no expired leases");
        scene.queue("b").expired = Reading::Exact(1);
        scene.lease("b", Some(ago(4)), ago(300));
        assert_eq!(say(&scene, 80).text, "all 3 queues keep up, 1 lease expired just now");
        scene.queue("c").expired = Reading::Unknown;
        assert_eq!(say(&scene, 80).text, "1 lease expired just now; not known: expired leases");
        scene.queue("b").expired = Reading::Exact(0);
        let verdict = say(&scene, 80);
        assert_eq!(verdict.text, "no trouble seen, but not known: expired leases");
        assert_eq!(verdict.severity, Some(Severity::Info));
        scene.snapshot.queues = vec![QueueStats::unknown(queue("x"))];
        assert!(say(&scene, 80).text.starts_with("cannot tell: not known: expired leases, "));
        scene.snapshot.queues.clear();
        assert_eq!(say(&scene, 80).text, "no queues yet");
    }
}
