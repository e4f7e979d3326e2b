//! Cancelling the running statement of a session, in the way that every pooler survives: PgBouncer 1.18 ignores a
//! cancel request whose socket is closed at once, and ends itself when it is closed at the wrong moment. So the socket
//! stays open until the other side closes it.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf},
    time::timeout,
};
use tokio_postgres::CancelToken;

use super::{
    conninfo::KeepAlive,
    socket::{Peer, Socket},
    tls::Tls,
};

/// How long a cancel request may take altogether.
const LIMIT: Duration = Duration::from_secs(2);

/// All that is needed to cancel what one session runs.
#[derive(Clone)]
pub(super) struct Canceller {
    pub(super) token: CancelToken,
    pub(super) peer: Peer,
    pub(super) host: String,
    pub(super) tls: Tls,
    pub(super) keep_alive: KeepAlive,
}

impl Canceller {
    /// Asks the server to cancel what the session runs; returns when the server has taken the request, at the latest
    /// after two seconds. Whether there was something to cancel is not known.
    pub(super) async fn cancel(&self) {
        match timeout(LIMIT, self.request()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "cancel request failed"),
            Err(_) => tracing::debug!("cancel request timed out"),
        }
    }

    async fn request(&self) -> io::Result<()> {
        let socket = Socket::open(&self.peer, &self.keep_alive).await?;
        let mut shared = Shared(Arc::new(Mutex::new(socket)));
        self.token
            .cancel_query_raw(shared.clone(), self.tls.plug::<Shared>(&self.host))
            .await
            .map_err(io::Error::other)?;
        let mut rest = [0; 16];
        while shared.read(&mut rest).await? > 0 {}
        Ok(())
    }
}

/// A socket that outlives its use by the driver and that the driver cannot close.
#[derive(Clone)]
struct Shared(Arc<Mutex<Socket>>);

impl Shared {
    fn with<T>(&self, act: impl FnOnce(Pin<&mut Socket>) -> T) -> T {
        act(Pin::new(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl AsyncRead for Shared {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.with(|socket| socket.poll_read(cx, buf))
    }
}

impl AsyncWrite for Shared {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|socket| socket.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|socket| socket.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
