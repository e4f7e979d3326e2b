//! A server that goes away and comes back under the running dashboard.

use queuetop::private_pg::Shutdown;

use super::on_own_server;
use crate::support::LIMIT;
use crate::support::pg;
use crate::support::pty::Pty;

#[tokio::test(flavor = "multi_thread")]
async fn it_says_so_keeps_the_numbers_and_comes_back() {
    let mut server = pg::own_server();
    let client = on_own_server(&server).await;
    drop(client);
    let mut pty = Pty::spawn(&[&server.dsn("postgres")], 120, 40, &[]);
    pty.wait_for_text("emails");
    for how in [Shutdown::Fast, Shutdown::Kill] {
        server.shut_down(how).unwrap();
        let screen = pty.wait_for_text("not connected");
        assert!(screen.contains("emails") && screen.contains("old"), "the last numbers stay, dated:\n{screen}");
        pty.send_keys("?");
        pty.wait_for_text("Keys and signs");
        pty.send_keys("\x1b");
        pty.wait_for(|screen| !screen.contains("Keys and signs"), LIMIT);
        server.start_again().unwrap();
        pty.wait_for(|screen| screen.contains("emails") && !screen.contains("not connected"), LIMIT);
    }
    pty.send_keys("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_answer_while_the_server_hangs_and_quitting_does_not_wait_for_it() {
    let server = pg::own_server();
    let client = on_own_server(&server).await;
    drop(client);
    let mut pty = Pty::spawn(&[&server.dsn("postgres")], 120, 40, &[]);
    pty.wait_for_text("emails");
    server.halt().unwrap();
    pty.wait_for_text("old");
    pty.send_keys("?");
    pty.wait_for_text("Keys and signs");
    pty.send_keys("\x03");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
    server.resume().unwrap();
}
