//! Every way out gives the terminal back, and the sessions end.

use rustix::process::Signal;

use super::{dashboard, sessions};
use crate::support::LIMIT;

async fn until_no_session(client: &tokio_postgres::Client) {
    let limit = std::time::Instant::now() + LIMIT;
    while sessions(client).await > 0 {
        assert!(std::time::Instant::now() < limit, "sessions stay");
        tokio::task::yield_now().await;
    }
}

/// What sessions that listened were last told.
async fn listeners(client: &tokio_postgres::Client) -> Vec<String> {
    let sql = "select query from pg_stat_activity
               where datname = current_database() and pid <> pg_backend_pid() and query like '%listen%'";
    client.query(sql, &[]).await.expect("sessions").iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quit_key_leaves_the_terminal_as_it_was() {
    let (_database, client, mut pty) = dashboard(80, 24).await;
    pty.wait_for_text("emails");
    pty.send_keys("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
    until_no_session(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_leave_the_terminal_as_it_was() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let (_database, client, pty) = dashboard(80, 24).await;
        pty.wait_for_text("emails");
        pty.signal(signal);
        assert_eq!(pty.wait_exit(), status, "{signal:?}");
        pty.assert_restored();
        until_no_session(&client).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn suspending_gives_the_shell_its_terminal_and_fg_repaints() {
    let (_database, client, mut pty) = dashboard(80, 24).await;
    pty.wait_for_text("push");
    pty.send_keys("\x1a");
    pty.wait_status(1);
    pty.assert_restored();
    assert_eq!(listeners(&client).await, ["unlisten *"], "nobody reads: nothing may listen");
    pty.foreground();
    pty.wait_for_text("push");
    pty.send_keys("q");
    assert_eq!(pty.wait_status(2), 0);
    pty.assert_restored();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_size_is_survived() {
    let (_database, _client, mut pty) = dashboard(120, 40).await;
    pty.wait_for_text("emails");
    for (cols, rows) in [(1, 1), (20, 5), (10, 3), (300, 2), (200, 60), (80, 24)] {
        pty.resize(cols, rows);
    }
    pty.wait_for(|screen| screen.contains("emails") && screen.contains("quit"), LIMIT);
    pty.send_keys("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mouse_is_given_back_with_the_terminal() {
    let (_database, _client, mut pty) = dashboard(80, 24).await;
    pty.wait_for_text("emails");
    assert!(!pty.raw_bytes().windows(6).any(|w| w.starts_with(b"\x1b[?100")), "off unless asked for");
    pty.send_keys("m");
    pty.wait_for_text("the mouse points here");
    // A click on the first tab after the leases, in the form that the terminal was asked for.
    pty.send_keys("\x1b[<0;12;2M\x1b[<0;12;2m");
    pty.send_keys("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
    let bytes = pty.raw_bytes();
    let last = |what: &[u8]| bytes.windows(what.len()).rposition(|w| w == what);
    assert!(last(b"\x1b[?1000h") < last(b"\x1b[?1000l") && last(b"\x1b[?1006h") < last(b"\x1b[?1006l"));
}
