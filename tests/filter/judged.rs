//! Random filters: what the server lists is what the client's own judgement of each job says, as far as it can tell.

use queuetop::model::{Job, Sort};

use super::{Lists, filter, run};
use crate::support::pg::database;

/// Jobs in every state with every odd value, far enough from the limits that the filters name.
const JOBS: &str = "
    insert into jobs (queue, payload, priority, run_at, created_at, attempts, last_error, idempotency_key)
    select 'q' || i % 3, '{}', i % 4 - 1, now() + (i % 7 - 3) * interval '100 s', now() - (i % 5) * interval '100 s', i % 9,
           case when i % 2 = 0 then 'Timeout ' || i || E' 100%\\nat _x' end, case when i % 3 = 0 then 'k' || i end
    from generate_series(1, 40) as i;
    insert into jobs (queue, payload, run_at, max_attempts) values
      ('Q 2', '{}', 'infinity', 1), ('Q 2', '{}', '-infinity', 2147483647), ('', '{}', now(), 3);
    insert into jobs (queue, payload, status, attempts, lease_until, locked_by, updated_at)
    select 'q' || i % 3, '{}', 'running', 1 + i % 8,
           case when i % 5 > 0 then now() + (i - 8) * interval '100 s' end,
           case when i % 4 > 0 then ('7f3a000' || i % 2 || '-0000-4000-8000-000000000001')::uuid end, now() - i * interval '100 s'
    from generate_series(1, 16) as i;
    insert into jobs (queue, payload, status, attempts, lease_until) values ('q1', '{}', 'running', 1, 'infinity');
    insert into jobs (queue, payload, status, attempts, completed_at, updated_at)
    select 'q0', '{}', 'completed', 1, case when i > 2 then now() - i * interval '100 s' end, now() from generate_series(1, 9) as i;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, failed_at, original_created_at, priority)
    select gen_random_uuid(), 'q' || i % 2, '{}', 8, 8, 'boom ' || i, now() - i * interval '100 s', now() - interval '1 h',
           case when i % 2 = 0 then 3 end
    from generate_series(1, 12) as i;";

const TERMS: [&str; 46] = [
    "state:any",
    "state:live",
    "state:queued",
    "state:ready",
    "state:scheduled",
    "state:exhausted",
    "state:running",
    "state:expired",
    "state:completed",
    "state:dead",
    "state:ready,dead",
    "state:running,completed",
    "queue:q1",
    "queue:q0,q2",
    "queue~Q",
    "queue:\"\"",
    "queue~\" \"",
    "priority>=2",
    "priority:-1..0",
    "priority:3",
    "attempts:1,8",
    "attempts>7",
    "attempts<=0",
    "max:8",
    "max<2",
    "left<=0",
    "left:1..3",
    "left>100",
    "age>350s",
    "age<150s",
    "lease<50s",
    "lease>150s",
    "lease:-150s..150s",
    "due<50s",
    "due>150s",
    "overdue>150s",
    "run_at<-150s",
    "run_at=infinity",
    "created>-150s",
    "failed>-550s",
    "completed<-550s",
    "worker:7f3a0001",
    "worker~8000",
    "has:worker",
    "has:lease",
    "beat>550s",
];

fn pick(random: &mut fastrand::Rng) -> String {
    let terms: Vec<String> = (0..random.usize(1..4))
        .map(|_| {
            let minus = if random.u8(..4) == 0 { "-" } else { "" };
            format!("{minus}{}", TERMS[random.usize(..TERMS.len())])
        })
        .collect();
    terms.join(" ")
}

#[tokio::test]
async fn lists_hold_what_the_filter_says() {
    let database = database().await;
    run(&database, JOBS).await;
    let lists = Lists::new(&database.dsn()).await;
    let everything: Vec<Job> = lists.all("state:any", Sort::Natural, 1000).await;
    assert_eq!(everything.len(), 40 + 3 + 17 + 9 + 12);
    let mut random = fastrand::Rng::with_seed(1);
    let (mut shown, mut hidden) = (0, 0);
    for text in TERMS.iter().map(|term| (*term).to_owned()).chain((0..400).map(|_| pick(&mut random))) {
        let filter = filter(&text);
        let ids = lists.ids(&text).await;
        assert!(ids.is_sorted_by(|a, b| a < b), "{text}: a row came twice");
        let now = lists.page(&super::request("", Sort::Natural, 1)).await.taken_at;
        for job in &everything {
            let listed = ids.contains(&job.at.id);
            let judged = filter.matches(job, now);
            assert!(
                judged.is_none_or(|judged| judged == listed),
                "`{text}`: judged {judged:?}, listed {listed}: {job:?}"
            );
            shown += usize::from(judged == Some(true));
            hidden += usize::from(judged == Some(false));
        }
    }
    assert!(shown > 500 && hidden > 500, "{shown} {hidden}");
}
