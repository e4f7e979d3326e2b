//! What is installed: its version, functions, triggers, indexes, rights and settings.

use queuetop::diagnose::checks::Status::{self, Critical, Info, Warning};
use queuetop::engine::migrate::latest_version;

use super::{assert_fine, assert_found, follow, say};
use crate::support::pg;
use crate::support::table_queue;

/// A check, what makes it speak, what it then says, and what is nearby and all right.
struct Scene {
    check: &'static str,
    trouble: &'static str,
    status: Status,
    says: &'static str,
    nearby: &'static str,
    /// Its next step is SQL that mends it.
    mends: bool,
}

const SCENES: &[Scene] = &[
    Scene {
        check: "functions",
        trouble: "create or replace function check_age(p_name text, p_age interval) returns void language plpgsql
                  immutable as 'begin end'",
        status: Warning,
        says: "1 function was changed: public.check_age",
        nearby: "alter function check_age cost 50; create function somebody() returns int language sql as 'select 1'",
        mends: false,
    },
    Scene {
        check: "functions",
        trouble: "drop function prune_history",
        status: Critical,
        says: "1 function is missing: prune_history",
        nearby: "alter function prune_history rename to x; alter function x rename to prune_history",
        mends: false,
    },
    Scene {
        check: "functions",
        trouble: "create function claim_jobs(p_queue text) returns int language sql as 'select 1'",
        status: Warning,
        says: "1 function bears the name of one of ours: public.claim_jobs(p_queue text)",
        nearby: "create function claim_job(p_queue text) returns int language sql as 'select 1'",
        mends: true,
    },
    Scene {
        check: "functions",
        trouble: "alter function complete_job security invoker",
        status: Critical,
        says: "complete_job runs with the rights of its caller",
        nearby: "alter function complete_job parallel restricted",
        mends: true,
    },
    Scene {
        check: "functions",
        trouble: "alter function complete_job reset search_path",
        status: Critical,
        says: "complete_job takes its caller's search path",
        nearby: "alter function complete_job set work_mem = '8MB'",
        mends: true,
    },
    Scene {
        check: "triggers",
        trouble: "alter table jobs disable trigger jobs_count_inserted",
        status: Critical,
        says: "changes are not counted: 1 trigger is off: jobs_count_inserted on jobs",
        nearby: "alter table jobs enable always trigger jobs_count_inserted",
        mends: true,
    },
    Scene {
        check: "triggers",
        trouble: "alter table dead_letter_jobs enable replica trigger dead_letter_jobs_count_deleted",
        status: Critical,
        says: "1 trigger is off",
        nearby: "create trigger somebody after insert on jobs for each statement execute function count_truncated('x');
                 alter table jobs disable trigger somebody",
        mends: true,
    },
    Scene {
        check: "triggers",
        trouble: "drop trigger jobs_count_updated on jobs",
        status: Critical,
        says: "1 trigger is off",
        nearby: "select 1",
        mends: true,
    },
    Scene {
        check: "triggers",
        trouble: "alter table jobs disable trigger jobs_record_removal",
        status: Warning,
        says: "what happens is not all recorded",
        nearby: "alter table jobs disable trigger jobs_record_removal; alter table jobs enable trigger jobs_record_removal",
        mends: true,
    },
    Scene {
        check: "indexes",
        trouble: "drop index jobs_claimable_idx; drop index jobs_queue_idempotency_key_uq",
        status: Critical,
        says: "2 indexes are missing: jobs_claimable_idx, jobs_queue_idempotency_key_uq",
        nearby: "create index jobs_more_idx on jobs (created_at); drop index jobs_more_idx",
        mends: true,
    },
    Scene {
        check: "indexes",
        trouble: "drop index jobs_completed_idx",
        status: Warning,
        says: "1 index is missing: jobs_completed_idx",
        nearby: "reindex index jobs_completed_idx",
        mends: true,
    },
    Scene {
        check: "indexes",
        trouble: "update pg_index set indisvalid = false where indexrelid = 'jobs_expired_lease_idx'::regclass",
        status: Critical,
        says: "1 index is half built",
        nearby: "create index mine on jobs (updated_at); update pg_index set indisvalid = false where indexrelid = 'mine'::regclass",
        mends: true,
    },
    Scene {
        check: "groups",
        trouble: "revoke execute on function claim_jobs from queue_worker",
        status: Critical,
        says: "queue_worker: 1 right is missing, so workers fail: EXECUTE ON FUNCTION public.claim_jobs",
        nearby: "revoke execute on function claim_jobs from queue_operator",
        mends: true,
    },
    Scene {
        check: "groups",
        trouble: "revoke select on job_slots, jobs from queue_viewer; revoke execute on function operator_undo from queue_operator",
        status: Warning,
        says: "queue_viewer: 2 rights are missing",
        nearby: "grant insert on jobs to queue_operator",
        mends: true,
    },
    Scene {
        check: "outsiders",
        trouble: "grant execute on function reap_expired_jobs to public",
        status: Critical,
        says: "PUBLIC may use 1 object: function public.reap_expired_jobs",
        nearby: "create table mine (id int); grant all on mine to public",
        mends: true,
    },
    Scene {
        check: "outsiders",
        trouble: "grant select (queue, status) on jobs to public",
        status: Warning,
        says: "PUBLIC may use 1 object: columns of public.jobs",
        nearby: "grant select on jobs to queue_worker",
        mends: true,
    },
    Scene {
        check: "outsiders",
        trouble: "grant create on schema public to public",
        status: Info,
        says: "PUBLIC may create objects in the schema of the queue",
        nearby: "create schema other; grant create on schema other to public",
        mends: true,
    },
    Scene {
        check: "row-security",
        trouble: "alter table jobs force row level security",
        status: Critical,
        says: "row security is forced, and unless their owner is exempt our functions see no rows in jobs",
        nearby: "create table mine (id int); alter table mine force row level security",
        mends: true,
    },
    Scene {
        check: "row-security",
        trouble: "alter table job_slots disable row level security",
        status: Warning,
        says: "row security is off for job_slots",
        nearby: "create table mine (id int)",
        mends: true,
    },
    Scene {
        check: "settings",
        trouble: "insert into queue_settings (name, value) values ('history_days', '2 weeks')",
        status: Warning,
        says: "history_days is '2 weeks', which is no number: 7 holds",
        nearby: "insert into queue_settings (name, value) values ('history_days', '14')",
        mends: false,
    },
    Scene {
        check: "settings",
        trouble: "insert into queue_settings (name, value) values ('fold_every_ms', '10')",
        status: Warning,
        says: "fold_every_ms is 10: 100 holds",
        nearby: "insert into queue_settings (name, value) values ('fold_every_ms', '100')",
        mends: false,
    },
    Scene {
        check: "settings",
        trouble: "insert into queue_settings (name, value) values ('fold_evry_ms', '100')",
        status: Info,
        says: "a setting 'fold_evry_ms' is known to nobody",
        nearby: "insert into queue_settings (name, value) values ('notify', 'off')",
        mends: true,
    },
    Scene {
        check: "notify",
        trouble: "insert into queue_settings (name, value) values ('notify', 'off')",
        status: Info,
        says: "notifications are switched off",
        nearby: "insert into queue_settings (name, value) values ('notify', 'on')",
        mends: true,
    },
    Scene {
        check: "dead-rows",
        trouble: "alter table jobs set (autovacuum_enabled = off)",
        status: Critical,
        says: "autovacuum is off for jobs",
        nearby: "alter table jobs set (autovacuum_vacuum_threshold = 5000)",
        mends: true,
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn each_check_speaks_of_its_trouble_and_is_silent_nearby() {
    for Scene { check, trouble, status, says, nearby, mends } in SCENES {
        let (sick, well) = (pg::database().await, pg::database().await);
        let (client, other) = (sick.client().await, well.client().await);
        assert_fine(&say(&sick.dsn(), check).await);
        client.batch_execute(trouble).await.unwrap_or_else(|error| panic!("{trouble}: {error:?}"));
        let checked = say(&sick.dsn(), check).await;
        assert_found(&checked, *status, says);
        follow(&client, &checked).await;
        if *mends {
            assert_fine(&say(&sick.dsn(), check).await);
        }
        other.batch_execute(nearby).await.unwrap_or_else(|error| panic!("{nearby}: {error:?}"));
        assert_fine(&say(&well.dsn(), check).await);
    }
}

/// A setting that the SQL reads and the check does not know would be called unknown.
#[tokio::test]
async fn every_setting_that_the_sql_reads_is_known() {
    let database = pg::database().await;
    let client = database.client().await;
    let mut names = Vec::new();
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).expect("migrations") {
        let sql = std::fs::read_to_string(file.expect("a file").path()).expect("its text");
        let asked = sql.split("setting_number('").skip(1).chain(sql.split("s.name = '").skip(1));
        names.extend(asked.filter_map(|rest| rest.split('\'').next()).map(str::to_owned));
    }
    assert!(names.iter().any(|name| name == "history_days") && names.iter().any(|name| name == "notify"), "{names:?}");
    for name in names {
        let sql = "insert into queue_settings (name, value) values ($1, '1000') on conflict do nothing";
        client.execute(sql, &[&name]).await.expect("a setting");
    }
    let checked = say(&database.dsn(), "settings").await;
    let unknown = checked.findings.iter().filter(|finding| finding.sentence.contains("known to nobody")).count();
    assert_eq!(unknown, 0, "{checked:#?}");
}

#[tokio::test]
async fn versions_are_compared_and_bare_tables_are_told_from_none() {
    let database = pg::database().await;
    let client = database.client().await;
    let newest = latest_version();
    assert_fine(&say(&database.dsn(), "installed").await);
    let forget = format!("delete from queuetop_migrations where version = {newest}");
    client.batch_execute(&forget).await.expect("an older version");
    assert_found(&say(&database.dsn(), "installed").await, Warning, &format!("this program brings {newest}"));
    client
        .batch_execute("insert into queuetop_migrations values (999, 'x', '2030-01-01T00:00:00Z', '1')")
        .await
        .expect("a newer version");
    assert_found(&say(&database.dsn(), "installed").await, Warning, "version 999, newer than this program");
    let bare = pg::bare_database().await;
    assert_found(&say(&bare.dsn(), "installed").await, Critical, "no jobs table");
    bare.client().await.batch_execute(&table_queue::tables()).await.expect("tables alone");
    assert_found(&say(&bare.dsn(), "installed").await, Warning, "the tables alone");
    let functions = say(&bare.dsn(), "functions").await;
    assert_eq!(functions.unseen.as_deref(), Some("queuetop's SQL is not installed in schema public"));
}

#[tokio::test]
async fn the_schema_may_bear_any_name() {
    let database = pg::bare_database().await;
    let options = queuetop::engine::migrate::Options {
        schema: "Job \"Queue\"".into(),
        role_prefix: None,
        replace_functions: false,
    };
    let mut client = database.client().await;
    queuetop::engine::migrate::run(&mut client, &options).await.expect("installed");
    client
        .batch_execute("set search_path = 'Job \"Queue\"'; drop index jobs_completed_idx; select reap_expired_jobs()")
        .await
        .expect("trouble");
    for check in [
        "installed",
        "functions",
        "triggers",
        "groups",
        "outsiders",
        "drift",
        "folding",
        "reaper",
        "housekeeping",
        "history",
        "settings",
    ] {
        assert_fine(&say(&database.dsn(), check).await);
    }
    let checked = say(&database.dsn(), "indexes").await;
    assert_found(&checked, Warning, "jobs_completed_idx");
    follow(&client, &checked).await;
    assert_fine(&say(&database.dsn(), "indexes").await);
}
