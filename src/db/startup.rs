//! Reads the server process's number out of the first bytes of a session, which the driver keeps to itself. A pooler
//! sends a number of its own there, so comparing it with `pg_backend_pid()` tells whether the server itself answers:
//! only then may a session setting be made, for through a pooler it would leak into other programs' sessions.

use std::sync::{Arc, Mutex, PoisonError};

/// What was seen; clones share it. Sees nothing behind TLS, where the bytes are not readable here.
#[derive(Debug, Clone, Default)]
pub(super) struct Startup {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    done: bool,
    pid: Option<i32>,
}

/// More than any server says before it is ready; beyond it we stop looking.
const MOST: usize = 64 * 1024;

impl Startup {
    /// The process number from `BackendKeyData`.
    pub(super) fn pid(&self) -> Option<i32> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).pid
    }

    /// Takes what was read. Messages are a letter and a length that counts itself; see the protocol's "Message Formats".
    pub(super) fn see(&self, read: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.done || read.is_empty() {
            return;
        }
        // A lone byte is the answer to the question for TLS: what follows S cannot be read here.
        if state.bytes.is_empty() && read.len() == 1 {
            state.done = read == b"S";
            return;
        }
        state.bytes.extend_from_slice(read);
        let mut at = 0;
        while let Some((kind, body, next)) = message(&state.bytes, at) {
            match kind {
                b'K' => state.pid = body.first_chunk().map(|pid| i32::from_be_bytes(*pid)),
                b'Z' | b'E' => state.done = true,
                _ => {}
            }
            if state.done {
                break;
            }
            at = next;
        }
        state.done |= state.bytes.len() > MOST;
        if state.done {
            state.bytes = Vec::new();
        }
    }
}

/// The message that begins at `at`, if it is complete: its letter, its body, where the next one begins.
fn message(bytes: &[u8], at: usize) -> Option<(u8, &[u8], usize)> {
    let kind = *bytes.get(at)?;
    let length = u32::from_be_bytes(*bytes.get(at + 1..)?.first_chunk()?);
    let next = at.checked_add(1)?.checked_add(usize::try_from(length).ok()?)?;
    Some((kind, bytes.get(at + 5..next)?, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said() -> Vec<u8> {
        let mut bytes = vec![b'R', 0, 0, 0, 8, 0, 0, 0, 0];
        bytes.extend([b'K', 0, 0, 0, 12, 0, 0, 1, 2, 9, 9, 9, 9]);
        bytes.extend([b'Z', 0, 0, 0, 5, b'I']);
        bytes
    }

    #[test]
    fn finds_the_number_however_the_bytes_are_cut() {
        for size in 2..said().len() {
            let startup = Startup::default();
            said().chunks(size).for_each(|chunk| startup.see(chunk));
            assert_eq!(startup.pid(), Some(258), "{size}");
        }
    }

    #[test]
    fn nonsense_and_tls_give_nothing() {
        let startup = Startup::default();
        startup.see(b"S");
        startup.see(&said());
        assert_eq!(startup.pid(), None);
        let startup = Startup::default();
        startup.see(&[b'K', 0, 0, 0, 0, 0, 0, 0, 0]);
        startup.see(&[b'K', 255, 255, 255, 255]);
        assert_eq!(startup.pid(), None);
    }
}
