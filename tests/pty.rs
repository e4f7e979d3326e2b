//! The test terminal itself, mostly with small shell programs: a harness that misses a broken terminal proves nothing.

use rustix::process::Signal;

use crate::support::pty::Pty;

fn shell(script: &str) -> Pty {
    Pty::spawn_program("/bin/sh", &["-c", script], (80, 24), &[("GREETING", "hello")])
}

#[test]
fn help_leaves_the_terminal_alone() {
    let pty = Pty::spawn(&["--help"], 80, 24, &[]);
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

#[test]
fn keys_go_in_and_text_comes_out() {
    let mut pty = shell("echo $GREETING; read -r line; echo got $line; exit 3");
    pty.wait_for_text("hello");
    pty.send_keys("a key\r");
    pty.wait_for_text("got a key");
    assert_eq!(pty.wait_exit(), 3);
    assert!(pty.raw_bytes().ends_with(b"got a key\r\n"));
    pty.assert_restored();
}

#[test]
fn the_program_is_told_of_a_new_size() {
    let mut pty = shell("trap 'stty size' WINCH; echo ready; while :; do read -r line; done");
    pty.wait_for_text("ready");
    pty.resize(100, 30);
    // Some shells run the trap only when the read returns.
    pty.send_keys("\r");
    pty.wait_for_text("30 100");
    pty.signal(Signal::KILL);
    assert_eq!(pty.wait_exit(), 137);
}

#[test]
fn a_terminal_left_broken_is_seen() {
    for broken in ["stty -echo", "printf '\\033[?1049h'", "printf '\\033[?25l'"] {
        let pty = shell(broken);
        assert_eq!(pty.wait_exit(), 0);
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pty.assert_restored()));
        assert!(seen.is_err(), "{broken} went unnoticed");
    }
}

#[test]
fn a_stopped_program_goes_on_in_the_foreground() {
    let mut pty = shell("echo ready; kill -STOP $$; echo back; read -r line; exit 4");
    pty.wait_for_text("ready");
    assert!(pty.wait_status(1) > 128);
    pty.foreground();
    pty.wait_for_text("back");
    pty.send_keys("\r");
    assert_eq!(pty.wait_status(2), 4);
}
