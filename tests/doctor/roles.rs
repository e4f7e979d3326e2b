//! Who may do what, and what is missing, with real roles on servers of their own.

use queuetop::diagnose::checks::Checked;
use queuetop::diagnose::checks::Status::{self, Critical, Info, Warning};
use queuetop::engine::doctor::Look;

use super::{Patient, assert_fine, assert_found, follow, say};
use crate::support::roles::Place;

async fn say_of(place: &Place, role: &str, check: &str) -> Checked {
    let wanted = Look { role: Some(role.into()), ..Look::default() };
    Patient::read(&place.dsn("postgres"), &wanted).await.say(check)
}

#[tokio::test]
async fn a_role_is_told_what_it_may_and_what_it_lacks() {
    let place = Place::new("public").await;
    let admin = place.as_role("postgres").await;
    for role in ["viewer", "worker", "operator", "nobody"] {
        let (own, asked) = (say(&place.dsn(role), "role").await, say_of(&place, role, "role").await);
        match role {
            "viewer" => assert_found(&own, Info, "viewer may read and not act"),
            "worker" => assert_found(&own, Info, "worker may work and not read"),
            "nobody" => assert_found(&own, Warning, "nobody may not see everything; it lacks SELECT ON"),
            _ => assert_fine(&own),
        }
        assert_eq!(own, asked, "what it sees of itself is what is seen of it");
    }
    let nobody = say(&place.dsn("nobody"), "role").await;
    assert!(nobody.findings[0].next_step.starts_with("GRANT queue_viewer TO nobody\n"), "{nobody:#?}");
    let reaper = say(&place.dsn("nobody"), "reaper").await;
    let why = reaper.unseen.expect("it cannot be read");
    assert!(why.contains("permission denied") && why.ends_with("run: GRANT queue_viewer TO nobody"), "{why}");
    follow(&admin, &nobody).await;
    assert_found(&say(&place.dsn("nobody"), "role").await, Info, "nobody may read and not act");
    // A role that is still to be made.
    let new = say_of(&place, "Zoë's", "role").await;
    assert_found(&new, Info, "there is no role \"Zoë's\" yet");
    follow(&admin, &new).await;
    assert_found(&say_of(&place, "Zoë's", "role").await, Info, "\"Zoë's\" may read and not act");
    assert_fine(&say(&place.dsn("viewer"), "superuser").await);
    assert_found(&say(&place.dsn("postgres"), "superuser").await, Info, "a superuser's");
}

#[tokio::test]
async fn outsiders_and_hidden_rows_are_found_and_mended() {
    let place = Place::new("public").await;
    let admin = place.as_role("postgres").await;
    let scenes: [(&str, Status, &str); 4] = [
        ("grant execute on function public.claim_jobs to anon", Critical, "anon may use 1 object: function"),
        (
            "grant truncate on public.jobs to authenticated",
            Critical,
            "authenticated may use 1 object: table public.jobs",
        ),
        ("grant select on public.jobs to anon, authenticated", Warning, "anon and authenticated may use 2 objects"),
        ("grant queue_operator to authenticated", Critical, "authenticated may use 1 object: group queue_operator"),
    ];
    for (trouble, status, says) in scenes {
        assert_fine(&say(&place.dsn("viewer"), "outsiders").await);
        admin.batch_execute(trouble).await.expect("trouble");
        let checked = say(&place.dsn("viewer"), "outsiders").await;
        assert_found(&checked, status, says);
        follow(&admin, &checked).await;
    }
    assert_fine(&say(&place.dsn("viewer"), "outsiders").await);
    // A table granted past the groups: row security shows nothing of it.
    assert_fine(&say(&place.dsn("nobody"), "row-security").await);
    admin.batch_execute("grant select on public.jobs to nobody").await.expect("granted");
    let hidden = say(&place.dsn("nobody"), "row-security").await;
    assert_found(&hidden, Warning, "limited view: row security hides rows from nobody in jobs");
    admin
        .batch_execute("create policy all_rows on public.jobs for select to nobody using (true)")
        .await
        .expect("a policy");
    assert_fine(&say(&place.dsn("nobody"), "row-security").await);
    let restrictive = "create policy few on public.jobs as restrictive for select to nobody using (queue = 'a')";
    admin.batch_execute(restrictive).await.expect("a policy");
    assert_found(&say(&place.dsn("nobody"), "row-security").await, Warning, "limited view");
    admin.batch_execute("drop policy few on public.jobs; drop policy all_rows on public.jobs").await.expect("none");
    follow(&admin, &hidden).await;
    assert_fine(&say(&place.dsn("nobody"), "row-security").await);
}

#[tokio::test]
async fn a_group_that_was_dropped_comes_back_by_the_next_steps() {
    let place = Place::new("Job \"Queue\"").await;
    let admin = place.as_role("postgres").await;
    let see = || async { (say(&place.dsn("hosted"), "groups").await, say(&place.dsn("hosted"), "row-security").await) };
    let (groups, rows) = see().await;
    assert_fine(&groups);
    assert_fine(&rows);
    admin.batch_execute("drop owned by queue_viewer; drop role queue_viewer").await.expect("dropped");
    let (groups, _) = see().await;
    assert_found(&groups, Warning, "the group queue_viewer does not exist");
    follow(&admin, &groups).await;
    let (groups, rows) = see().await;
    assert_fine(&groups);
    // The policies that named it are left without it.
    assert_found(&rows, Warning, "limited view: row security hides rows from the groups that read, in counter_deltas");
    follow(&admin, &rows).await;
    assert_fine(&see().await.1);
    admin.batch_execute("grant queue_viewer to viewer").await.expect("a member");
    assert_fine(&say(&place.dsn("viewer"), "row-security").await);
}

#[tokio::test]
async fn settings_that_break_workers_are_found_wherever_they_were_made() {
    let place = Place::new("public").await;
    let admin = place.as_role("postgres").await;
    // worker, operator, and hosted by way of service_role.
    let scenes: [(&str, Status, &str); 8] = [
        ("alter role worker set statement_timeout = '500ms'", Warning, "statement_timeout is 500ms for role worker"),
        ("alter role worker in database postgres set lock_timeout = 50", Warning, "lock_timeout is 50 for role worker"),
        ("alter database postgres set lock_timeout = '0.5s'", Warning, "lock_timeout is 0.5s for 3 roles that work"),
        ("alter role all set idle_session_timeout = '10min'", Info, "idle_session_timeout is 10min for 3 roles"),
        ("alter role operator set default_transaction_read_only = on", Critical, "nobody can claim or complete"),
        ("alter role worker set default_transaction_isolation = 'repeatable read'", Warning, "can fail with 40001"),
        ("alter role worker set session_replication_role = replica", Critical, "no trigger fires"),
        ("alter system set statement_timeout = '2s'", Warning, "statement_timeout is 2000 for whoever has no setting"),
    ];
    for (trouble, status, says) in scenes {
        assert_fine(&say(&place.dsn("viewer"), "role-settings").await);
        admin.batch_execute(trouble).await.expect("a setting");
        reloaded(&place, trouble, "2s").await;
        let checked = say(&place.dsn("viewer"), "role-settings").await;
        assert_found(&checked, status, says);
        follow(&admin, &checked).await;
        reloaded(&place, trouble, "0").await;
    }
    for nearby in [
        "alter role worker set statement_timeout = '30s'",
        "alter role viewer set statement_timeout = '100ms'",
        "alter role worker set lock_timeout = '5s'",
        "alter role viewer set default_transaction_read_only = on",
        "alter role worker set default_transaction_isolation = 'read committed'",
        "alter database postgres set statement_timeout = 0",
    ] {
        admin.batch_execute(nearby).await.expect("a setting");
        assert_fine(&say(&place.dsn("viewer"), "role-settings").await);
    }
}

/// After a change of the server's own settings: until new sessions have it.
async fn reloaded(place: &Place, statement: &str, value: &str) {
    if !statement.starts_with("alter system") {
        return;
    }
    let admin = place.as_role("postgres").await;
    admin.batch_execute("select pg_catalog.pg_reload_conf()").await.expect("reloaded");
    crate::support::wait_until_async("the new setting", async || {
        let fresh = place.as_role("viewer").await;
        let row = fresh.query_one("select pg_catalog.current_setting('statement_timeout')", &[]).await.expect("asked");
        row.get::<_, String>(0) == value
    })
    .await;
}
