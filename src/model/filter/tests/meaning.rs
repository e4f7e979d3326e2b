//! What filters mean: which states, which ids, which of the jobs that a list shows, and at what cost.

use super::super::*;
use super::filter;
use crate::model::{Fence, Job, JobRef, Time};

#[test]
fn states_follow_from_what_is_asked() {
    for (text, expected) in [
        ("", "live"),
        ("attempts>3", "live"),
        ("state:dead", "dead"),
        ("state:ready,dead", "ready and dead"),
        ("state:live -state:scheduled", "running, expired, ready and exhausted"),
        ("-state:live", "no"),
        ("state:any -state:live", "completed and dead"),
        ("state:any", "any"),
        ("state:queued", "queued"),
        ("worker:7", "running and expired"),
        ("overdue>5m", "ready and scheduled"),
        ("failed>-1h", "dead"),
        ("reason:operator state:ready", "no"),
        ("completed>-1h", "completed"),
        ("key:a", "any"),
        ("key~a", "live"),
        ("id:8c1f", "live"),
        ("id=8c1fd0a4-1111-4222-8333-4444444444e2", "any"),
        ("8c1fd0a4-1111-4222-8333-4444444444e2", "any"),
        ("-worker:7", "live"),
    ] {
        assert_eq!(filter(text).states().words(), expected, "{text}");
    }
}

#[test]
fn panes_build_what_people_could_type() {
    let queue = |backend| QueueId { backend, name: "a b".into() };
    for (built, typed) in [
        (Filter::of_queue(&queue(BackendKind::Jobs)), "queue:\"a b\""),
        (Filter::of_queue(&queue(BackendKind::Pgmq)), "kind:pgmq queue:\"a b\""),
        (filter("state:dead x").with_state(JobState::Ready), "x state:ready"),
        (filter("state:dead x").with_states(vec![]), "x"),
        (filter("a queue:b").with_text("c:d"), "queue:b \"c:d\""),
        (filter("a queue:b").with_text(""), "queue:b"),
        (Filter::default().and(TextField::Worker, "7f"), "worker:7f"),
    ] {
        assert_eq!(built, filter(typed));
        assert_eq!(built.to_string(), typed);
    }
    let pgmq = Filter::of_queue(&queue(BackendKind::Pgmq));
    assert_eq!((pgmq.backend(), pgmq.one_queue()), (BackendKind::Pgmq, Some(queue(BackendKind::Pgmq))));
    for (text, one, more) in [
        ("queue:a,b queue:b state:dead", Some("b"), None),
        ("queue:a queue:b", None, Some("queue:a queue:b")),
        ("queue~a x y", None, Some("queue~a x y")),
        ("-queue:a", None, Some("-queue:a")),
    ] {
        let filter = filter(text);
        assert_eq!(filter.one_queue().map(|queue| queue.name).as_deref(), one, "{text}");
        assert_eq!(filter.more().as_deref(), more, "{text}");
    }
}

#[test]
fn ids_are_ranges() {
    let ids =
        |text: &str| filter(text).ids().map(|ids| ids.iter().map(|(a, b)| format!("{a} {b}")).collect::<Vec<_>>());
    let whole = "8c1fd0a4-1111-4222-8333-4444444444e2";
    assert_eq!(
        ids("id:8C1Fd0a4-1"),
        Some(vec!["8c1fd0a4-1000-0000-0000-000000000000 8c1fd0a4-1fff-ffff-ffff-ffffffffffff".into()])
    );
    assert_eq!(ids(&format!("id={whole}")), Some(vec![format!("{whole} {whole}")]));
    assert_eq!(ids(whole), Some(vec![format!("{whole} {whole}")]));
    assert_eq!(ids("id=8c1f"), Some(vec![]));
    assert_eq!(ids("id:wxyz"), Some(vec![]));
    assert_eq!(ids("id~8c1f"), None);
    assert_eq!(ids("-id:8c1f"), None);
}

fn job(state: JobState) -> Job {
    Job {
        at: JobRef {
            queue: QueueId { backend: BackendKind::Jobs, name: "emails".into() },
            id: "8c1fd0a4-1111-4222-8333-4444444444e2".into(),
            dead: state == JobState::Dead,
        },
        state,
        priority: Some(5),
        attempts: 3,
        max_attempts: Some(8),
        run_at: Time::At(0),
        created_at: Some(Time::At(-60_000_000)),
        worker: Some("7f3a".into()),
        lease_until: Some(Time::At(30_000_000)),
        updated_at: Some(Time::At(-5_000_000)),
        error: Some("Timeout 100%".into()),
        fence: Fence(serde_json::Value::Null),
    }
}

#[test]
fn a_listed_job_is_judged_as_far_as_it_is_shown() {
    let now = Time::At(0);
    for (text, expected) in [
        ("", Some(true)),
        ("state:dead", Some(false)),
        ("queue:emails attempts:3 left:5 priority>4 max<=8", Some(true)),
        ("queue:Emails", Some(false)),
        ("queue~MAIL", Some(true)),
        ("id:8c1f…e2", Some(true)),
        ("id:8c1f…e3", Some(false)),
        ("id:8c20", Some(false)),
        ("id~d0a4-1111", Some(true)),
        ("worker:7f -worker:8", Some(true)),
        ("error:\"timeout 100%\"", Some(true)),
        ("error:refused", None),
        ("error=Timeout", Some(false)),
        ("error=\"Timeout 100% and more\"", None),
        ("timeout", Some(true)),
        ("nowhere", None),
        ("age>59s age<61s beat:5s..5s lease:29s..31s", Some(true)),
        ("lease<30s", Some(false)),
        ("created<-59s created>-61s", Some(true)),
        ("failed<now", Some(false)),
        ("overdue>0s", Some(false)),
        ("payload.a:b", None),
        ("payload.a:b state:dead", Some(false)),
        ("key:a", None),
        ("has:worker has:lease has:error", Some(true)),
        ("-has:worker", Some(false)),
    ] {
        assert_eq!(filter(text).matches(&job(JobState::Running), now), expected, "{text}");
    }
    let mut forgotten = job(JobState::Expired);
    forgotten.lease_until = None;
    assert_eq!(filter("lease<-100d").matches(&forgotten, now), Some(true));
    assert_eq!(filter("failed:now..+1m").matches(&job(JobState::Dead), now), Some(true));
    assert_eq!(filter("due:0s..1s").matches(&job(JobState::Ready), now), Some(true));
}

#[test]
fn what_a_filter_costs_is_known_before() {
    for (text, reach) in [
        ("", Reach::Index),
        ("queue:a state:ready", Reach::Index),
        ("queue:a -queue:b priority>3 overdue>5m state:ready", Reach::Index),
        ("queue:a state:dead failed>-1h", Reach::Index),
        ("lease<30s", Reach::Index),
        ("id:8c1f x payload.a:b", Reach::Index),
        ("key:a", Reach::Index),
        ("queue:a", Reach::Rows),
        ("attempts>3", Reach::Rows),
        ("x attempts>3", Reach::Errors),
        ("error:x", Reach::Errors),
        ("error:x payload.a:b", Reach::Payloads),
    ] {
        let filter = filter(text);
        assert_eq!(filter.reach(), reach, "{text}");
        assert_eq!(filter.cost_note().is_none(), reach == Reach::Index, "{text}");
    }
    let note = filter("payload.a:b").cost_note().expect("a note");
    assert_eq!(note, "payload search reads the payload of each row: at most 10,000 rows or 2 s a page");
}
