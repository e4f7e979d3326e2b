//! Whether the books balance.

use std::collections::HashSet;
use std::fs;

use queuetop::private_pg::PrivatePg;
use tokio_postgres::Client;
use uuid::Uuid;

use super::World;
use crate::support::queue::one;

/// True at any moment in which nobody works.
pub(super) async fn balance(client: &Client, world: &World, server: &PrivatePg) {
    let (enqueued, completed) = {
        let books = world.books.lock().unwrap();
        eprintln!("{} jobs, {:?}", books.enqueued.len(), books.happened);
        assert_eq!(books.errors, [] as [&str; 0]);
        for what in
            ["worker killed", "worker completed", "sloppy refused", "reaped", "requeue", "dead-letter", "replay"]
        {
            assert!(books.happened.contains_key(what), "{what} never happened: this was no chaos");
        }
        (books.enqueued.values().copied().collect::<Vec<Uuid>>(), books.completed.clone())
    };

    // Every job is in exactly one place, replayed ones too.
    let lost = "select count(*) from unnest($1::uuid[]) as put (id)
                where (select count(*) from jobs j where j.id = put.id)
                    + (select count(*) from dead_letter_jobs d where d.id = put.id) <> 1";
    assert_eq!(one::<i64>(client, lost, &[&enqueued]).await, 0, "lost or twice");
    let both = "select count(*) from jobs join dead_letter_jobs using (id)";
    assert_eq!(one::<i64>(client, both, &[]).await, 0, "in two places");
    let replays = "select count(*) from dead_letter_jobs d where d.replayed_job_id is not null
                   and not exists (select from jobs j where j.id = d.replayed_job_id)
                   and not exists (select from dead_letter_jobs e where e.id = d.replayed_job_id)";
    assert_eq!(one::<i64>(client, replays, &[]).await, 0, "a replayed job is lost");

    // Who was told that a job is completed was told the truth, and nobody else was told so.
    let told: HashSet<Uuid> = completed.iter().map(|(id, _)| *id).collect();
    assert_eq!(told.len(), completed.len(), "two attempts of one job were both told that they completed it");
    let told: Vec<Uuid> = told.into_iter().collect();
    let untrue = "select count(*) from unnest($1::uuid[]) as told (id)
                  where not exists (select from jobs j where j.id = told.id and j.status = 'completed')";
    assert_eq!(one::<i64>(client, untrue, &[&told]).await, 0, "completed, and then not");

    let above = "select (select count(*) from jobs where attempts > max_attempts)
                      + (select count(*) from dead_letter_jobs where attempts > max_attempts)";
    assert_eq!(one::<i64>(client, above, &[]).await, 0, "attempts above the limit");

    // Each attempt that began has ended once: completed, or in the history, or it still runs.
    let history = "select count(*) from (
          select id, attempts, (status in ('completed', 'running'))::integer as open from jobs
          union all select id, attempts, 0 from dead_letter_jobs
        ) as every
        where attempts - open <> (select count(*) from job_failures f where f.job_id = every.id)
           or attempts - open <> (select count(distinct f.attempt) from job_failures f where f.job_id = every.id)";
    assert_eq!(one::<i64>(client, history, &[]).await, 0, "the history does not add up");
    let drift = "select count(*) from counter_drift('chaos')";
    assert_eq!(one::<i64>(client, drift, &[]).await, 0, "the counters do not add up");

    let log = fs::read_to_string(server.socket_dir().join("log")).expect("the server's log");
    let deadlocks: Vec<&str> = log.lines().filter(|line| line.contains("deadlock detected")).collect();
    assert_eq!(deadlocks, [] as [&str; 0]);
}

/// After everything was left to a quiet worker.
pub(super) async fn ended(client: &Client) {
    let left =
        "select count(*) from jobs where status <> 'completed' or locked_by is not null or lease_until is not null";
    assert_eq!(one::<i64>(client, left, &[]).await, 0);
}
