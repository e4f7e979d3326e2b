//! A way to the server that is cut on purpose: at the n-th piece that a client sends, before or after it reaches the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// Where a piece is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The question never arrives.
    Question,
    /// The question arrives, the answer does not come back.
    Answer,
}

/// The way.
pub(crate) struct Cutter {
    port: u16,
    /// Pieces left until the cut; 0: no cut.
    left: Arc<AtomicUsize>,
    /// Pieces seen.
    seen: Arc<AtomicUsize>,
}

impl Cutter {
    /// To the server with this DSN (`postgresql:///name?host=folder&port=…`).
    pub(crate) async fn new(dsn: &str, cut: Cut) -> Self {
        let value = |key: &str| {
            let found = dsn.split(['?', '&']).find_map(|part| part.strip_prefix(&format!("{key}=")));
            found.unwrap_or_else(|| panic!("no {key} in {dsn}")).to_owned()
        };
        let socket = format!("{}/.s.PGSQL.{}", value("host"), value("port"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (left, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (left_there, seen_there) = (Arc::clone(&left), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.expect("the server");
                tokio::spawn(pass(client, server, cut, Arc::clone(&left_there), Arc::clone(&seen_there)));
            }
        });
        Self { port, left, seen }
    }

    /// The DSN of the way, for a server's own.
    pub(crate) fn dsn(&self, direct: &str) -> String {
        let name = direct.strip_prefix("postgresql:///").and_then(|rest| rest.split('?').next());
        let name = name.unwrap_or_else(|| panic!("no database in {direct}"));
        format!("postgresql://postgres@127.0.0.1:{}/{name}?sslmode=disable", self.port)
    }

    /// Cuts at the n-th piece from now on, once.
    pub(crate) fn cut_at(&self, piece: usize) {
        self.left.store(piece, Ordering::SeqCst);
    }

    /// How many pieces were sent so far.
    pub(crate) fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }
}

async fn pass(client: TcpStream, server: UnixStream, cut: Cut, left: Arc<AtomicUsize>, seen: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut piece = vec![0; 1 << 20];
    while let Ok(bytes) = from_client.read(&mut piece).await {
        if bytes == 0 {
            break;
        }
        seen.fetch_add(1, Ordering::SeqCst);
        let now = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)) == Ok(1);
        if now && cut == Cut::Question {
            break;
        }
        if now {
            // Nothing comes back any more; the server still gets the question.
            back.abort();
        }
        if to_server.write_all(&piece[..bytes]).await.is_err() || now {
            break;
        }
    }
    back.abort();
}
