//! Between a client and the shared server: counts what the server sends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{UnixListener, UnixStream};

use super::pg::server;

/// A socket in a folder of its own; gone with this value.
pub(crate) struct Relay {
    folder: TempDir,
    sent: Arc<AtomicU64>,
}

impl Relay {
    /// Takes connections from now on.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let name = ".s.PGSQL.5432";
        let listener = UnixListener::bind(folder.path().join(name)).expect("a socket");
        let target = server().socket_dir().join(name);
        let sent = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&sent);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&target).await.expect("the server");
                tokio::spawn(relay(client, server, Arc::clone(&counter)));
            }
        });
        Self { folder, sent }
    }

    /// The same address through the relay.
    pub(crate) fn dsn(&self, direct: &str) -> String {
        let folder = |path: &Path| path.display().to_string();
        let through = direct.replace(&folder(server().socket_dir()), &folder(self.folder.path()));
        assert_ne!(through, direct, "the server's socket is named in its address");
        through
    }

    /// How many bytes the server has sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }
}

async fn relay(client: UnixStream, server: UnixStream, sent: Arc<AtomicU64>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::spawn(async move { copy(&mut from_client, &mut to_server).await });
    let mut buffer = vec![0; 65_536];
    while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
        sent.fetch_add(count as u64, Ordering::SeqCst);
        if to_client.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
