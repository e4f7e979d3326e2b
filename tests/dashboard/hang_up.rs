//! A terminal that goes away: the program ends at once and quietly, also where nobody sends it a hang-up.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portable_pty::{PtySize, native_pty_system};

use super::fill;
use crate::support::LIMIT;
use crate::support::pg;

/// A shell that ignores the hang-up, as `nohup` and some parents do, and then becomes the program.
const IGNORING: &str = "trap '' HUP; exec \"$@\"";
const OBEYING: &str = "exec \"$@\"";

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_with_its_terminal_whether_told_or_not() {
    let database = pg::database().await;
    fill(&database.client().await).await;
    for script in [OBEYING, IGNORING] {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let path = pair.master.tty_name().expect("its name");
        let open = || std::fs::OpenOptions::new().read(true).write(true).open(&path).expect("the terminal");
        let mut child = Command::new("sh")
            .args(["-c", script, "sh", env!("CARGO_BIN_EXE_queuetop"), &database.dsn()])
            .env("TERM", "xterm-256color")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .expect("runs");
        let mut reader = pair.master.try_clone_reader().expect("its output");
        let mut seen = Vec::new();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&seen).contains("emails") {
            let count = std::io::Read::read(&mut reader, &mut buffer).expect("output");
            seen.extend_from_slice(&buffer[..count]);
        }
        drop((reader, pair));
        let limit = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = child.try_wait().expect("a status") {
                break status;
            }
            assert!(Instant::now() < limit, "it outlives its terminal");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(129), "{script}: {status}");
    }
}
