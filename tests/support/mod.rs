//! What the tests share: a PostgreSQL server, the program in a real terminal, and waiting for a condition.
//!
//! It must not make a test depend on another one: what is shared is only ever read or has a unique name.

pub(crate) mod bouncer;
pub(crate) mod cutter;
pub(crate) mod fixtures;
pub(crate) mod hostile;
pub(crate) mod needs;
pub(crate) mod pg;
pub(crate) mod program;
pub(crate) mod pty;
pub(crate) mod queue;
pub(crate) mod relay;
pub(crate) mod roles;
pub(crate) mod screen;
pub(crate) mod source;
pub(crate) mod table_queue;

use std::thread;
use std::time::{Duration, Instant};

/// Far longer than anything takes; a test that waits this long has failed.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Blocks until the condition holds, and fails the test with `what` when it does not come to hold.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "not within {} s: {what}", LIMIT.as_secs());
        thread::sleep(Duration::from_millis(10));
    }
}

/// The same for a condition that has to be asked for.
pub(crate) async fn wait_until_async(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < LIMIT, "not within {} s: {what}", LIMIT.as_secs());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
