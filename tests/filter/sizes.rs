//! What a page moves, whatever the rows hold, and that slow rows stop it in time.

use queuetop::model::{PageRequest, Sort, SortKey};

use super::{Lists, request, rows, run};
use crate::support::pg::database;
use crate::support::relay::Relay;

/// A thousand jobs with payloads of 5 MB and errors of 1 MB. Each is a copy of one stored value, which is not packed again.
const HUGE: &str = "
    create table huge as select jsonb_build_object('v', repeat('0123456789', 500000)) as payload,
      repeat('timeout connecting to smtp.example.org after 30 s, giving up now and trying again a little later on today; ', 10000)
        as error;
    set session_replication_role = replica;
    insert into jobs (queue, payload, status, attempts, lease_until, locked_by, last_error)
    select 'emails', payload, 'running', 1, now() + interval '1 h' + i * interval '1 s', gen_random_uuid(), error
    from huge, generate_series(1, 1000) as i;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
    select id, queue, payload, 8, 8, last_error, now() from jobs;";

#[tokio::test]
async fn a_page_of_huge_jobs_is_small() {
    let database = database().await;
    run(&database, HUGE).await;
    let relay = Relay::new();
    let lists = Lists::new(&relay.dsn(&database.dsn())).await;
    for text in ["state:running", "state:dead", "error:\"giving up\"", "state:running payload.x:1 -payload.x:1"] {
        for sort in [Sort::Natural, Sort::by(SortKey::Attempts)] {
            let before = relay.sent();
            let page = lists.page(&request(text, sort, 1000)).await;
            let bytes = relay.sent() - before;
            let shown = rows(&page).len();
            assert!(bytes < 300_000, "{text} by {sort}: {bytes} bytes for {shown} rows");
            if !text.contains("payload") {
                assert_eq!(shown, 1000, "{text} by {sort}: {:?}", page.note);
                assert!(bytes > 1000 * 200, "{text}: {bytes} bytes are too few to be the whole");
            }
        }
    }
}

/// Looking at a row takes this role most of a second: the server's `lower` is not the one it finds first.
const SLOW: &str = "
    create schema slow; grant usage on schema slow to public;
    create function slow.lower(text) returns text language plpgsql as
      $$ begin perform pg_sleep(0.1); return pg_catalog.lower($1); end $$;
    drop role if exists filter_slow; create role filter_slow login in role queue_viewer;
    alter role filter_slow set search_path = slow, pg_catalog, public;
    insert into jobs (queue, payload, last_error, run_at)
    select 'a', '{}', case when i = 7 then 'needle' end, now() - interval '1 h' + i * interval '1 s' from generate_series(1, 7) as i;";

#[tokio::test]
async fn slow_rows_stop_a_page_and_the_next_goes_on_there() {
    let database = database().await;
    run(&database, SLOW).await;
    let lists = Lists::new(&database.dsn_as("filter_slow")).await;
    let mut asked = request("needle", Sort::Natural, 5);
    let (mut pages, mut found) = (0, 0);
    loop {
        let page = lists.page(&asked).await;
        (pages, found) = (pages + 1, found + rows(&page).len());
        let Some(next) = page.next else { break };
        assert_eq!(page.note.as_deref(), Some("looked at rows for 2 s; the next page goes on behind them"));
        asked = PageRequest { after: Some(next), ..asked };
    }
    assert_eq!(found, 1);
    assert!(pages > 1, "the rows were not slow");
    let sorted = lists.page(&request("needle", Sort::by(SortKey::Created), 5)).await;
    let note = sorted.note.expect("a note");
    assert!(note.starts_with("sorted the first ") && note.ends_with(" rows: time was over"), "{note}");
}
