//! Notifications wake the poll; the listener comes back and never misses what happened in between.

use std::collections::BTreeSet;

use queuetop::db::Class;
use queuetop::engine::Event;

use super::{CALM, start, tiny};
use crate::support::{pg, queue};

const NOTIFY: &str = "notify \"Tiny changes\"";

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_wakes_the_poll() {
    assert!(NOTIFY.contains(tiny::CHANNEL));
    let database = pg::bare_database().await;
    let admin = database.client().await;
    tiny::install(&admin).await;
    let mut engine = start(&database.dsn(), CALM, true);
    assert_eq!(engine.push_state().await, (true, None));
    for number in 1..4 {
        admin.batch_execute(&format!("update tiny set n = {number}; {NOTIFY}")).await.unwrap();
        engine.number(number).await;
    }
    // A change that was told to nobody is seen by the look 150 ms after the last notification.
    admin.batch_execute(NOTIFY).await.unwrap();
    engine.reading("the look at once").await;
    admin.batch_execute("update tiny set n = 9").await.unwrap();
    engine.number(9).await;
    // A burst is folded, whatever is in it.
    let burst = format!(
        "do $$ begin for i in 1..10000 loop perform pg_notify('{}', repeat('x', i % 7000) || i); end loop; \
        end $$; update tiny set n = 10; {NOTIFY}",
        tiny::CHANNEL
    );
    admin.batch_execute(&burst).await.unwrap();
    engine.number(10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_listener_is_replaced_each_time() {
    let database = pg::bare_database().await;
    let admin = database.client().await;
    tiny::install(&admin).await;
    let mut engine = start(&database.dsn(), CALM, true);
    assert_eq!(engine.push_state().await, (true, None));
    let mut pids = BTreeSet::new();
    for number in 1..=5 {
        let live = engine.pushed.borrow().clone().expect("a live listener");
        pids.insert(live.session.facts().pid);
        // Told to nobody: seen because the poll is woken after each new LISTEN.
        let kill = format!("select pg_terminate_backend({})", live.session.facts().pid);
        admin.batch_execute(&format!("{kill}; update tiny set n = {number}")).await.unwrap();
        assert_eq!(live.session.end().await.class, Class::Shutdown);
        let (mut back, mut seen) = (false, false);
        let both = |event| {
            match event {
                Event::PushState { live, .. } => back |= live,
                Event::Polled(snapshot) => seen |= tiny::number(&snapshot) == Some(number),
                _ => {}
            }
            (back && seen).then_some(())
        };
        engine.until("the listener and the number", both).await;
    }
    assert_eq!(pids.len(), 5);
    admin.batch_execute(&format!("update tiny set n = 77; {NOTIFY}")).await.unwrap();
    engine.number(77).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_listens_while_the_program_sleeps_and_what_it_missed_is_seen_after() {
    let database = pg::bare_database().await;
    let admin = database.client().await;
    tiny::install(&admin).await;
    let mut engine = start(&database.dsn(), CALM, true);
    assert_eq!(engine.push_state().await, (true, None));
    let mut listens = engine.listens.subscribe();
    engine.asleep.send_replace(true);
    listens.wait_for(|listens| !*listens).await.expect("push is running");
    let sql = "select count(*) from pg_stat_activity where datname = current_database() and query = 'unlisten *'";
    assert_eq!(queue::one::<i64>(&admin, sql, &[]).await, 1);
    admin.batch_execute(&format!("update tiny set n = 5; {NOTIFY}")).await.unwrap();
    engine.asleep.send_replace(false);
    engine.number(5).await;
    listens.wait_for(|listens| *listens).await.expect("push is running");
    admin.batch_execute(&format!("update tiny set n = 6; {NOTIFY}")).await.unwrap();
    engine.number(6).await;
}
