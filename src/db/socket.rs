//! The socket below a session: TCP or unix, opened by ourselves so that keep-alives, dead-link limits and zones of IPv6
//! addresses are really in force, and so that a cancel request can go to the very same server.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};

use super::{
    conninfo::{Host, HostEntry, KeepAlive},
    startup::Startup,
};

/// One address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Peer {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// All addresses of a server, looked up anew at each call: after a fail-over the name may point elsewhere.
pub(super) async fn addresses(entry: &HostEntry) -> io::Result<Vec<Peer>> {
    let name = match (&entry.host, &entry.address) {
        (Host::Socket(folder), _) => return Ok(vec![Peer::Unix(socket_path(folder, entry.port))]),
        (_, Some(address)) => address,
        (Host::Name(name), None) => name,
    };
    let found: Vec<Peer> = tokio::net::lookup_host((name.as_str(), entry.port)).await?.map(Peer::Tcp).collect();
    if found.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    }
    Ok(found)
}

fn socket_path(folder: &std::path::Path, port: u16) -> PathBuf {
    let path = folder.join(format!(".s.PGSQL.{port}"));
    match path.to_str().and_then(|path| path.strip_prefix('@')) {
        Some(name) => PathBuf::from(format!("\0{name}")),
        None => path,
    }
}

/// An open socket.
pub(super) struct Socket {
    stream: Stream,
    /// What the server said at the start, as long as it is read without TLS in between.
    startup: Startup,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(super) async fn open(peer: &Peer, keep_alive: &KeepAlive) -> io::Result<Self> {
        let stream = match peer {
            Peer::Unix(path) => Stream::Unix(UnixStream::connect(path).await?),
            Peer::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                watch_link(&stream, keep_alive)?;
                Stream::Tcp(stream)
            }
        };
        Ok(Self { stream, startup: Startup::default() })
    }

    /// Our own TCP port; the server sees the same unless something stands in between.
    pub(super) fn local_port(&self) -> Option<u16> {
        match &self.stream {
            Stream::Tcp(stream) => stream.local_addr().ok().map(|address| address.port()),
            Stream::Unix(_) => None,
        }
    }

    /// A view of what the server says at the start.
    pub(super) fn startup(&self) -> Startup {
        self.startup.clone()
    }
}

/// Keep-alives find dead idle links, the user timeout finds dead busy ones.
fn watch_link(stream: &TcpStream, keep_alive: &KeepAlive) -> io::Result<()> {
    let socket = socket2::SockRef::from(stream);
    if keep_alive.on {
        let mut probes = socket2::TcpKeepalive::new();
        if let Some(idle) = keep_alive.idle {
            probes = probes.with_time(idle);
        }
        if let Some(interval) = keep_alive.interval {
            probes = probes.with_interval(interval);
        }
        if let Some(count) = keep_alive.count {
            probes = probes.with_retries(count);
        }
        socket.set_tcp_keepalive(&probes)?;
    }
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(keep_alive.user_timeout)?;
    Ok(())
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let done = match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        };
        self.startup.see(buf.filled().get(before..).unwrap_or_default());
        done
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
