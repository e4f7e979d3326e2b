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

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use socket2::SockRef;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn dead_links_are_watched_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = Peer::Tcp(listener.local_addr().unwrap());
        let second = Duration::from_secs(1);
        let keep_alive = KeepAlive {
            on: true,
            idle: Some(15 * second),
            interval: Some(5 * second),
            count: Some(3),
            user_timeout: Some(20 * second),
        };
        let socket = Socket::open(&peer, &keep_alive).await.unwrap();
        let Stream::Tcp(stream) = &socket.stream else {
            panic!("not TCP");
        };
        let options = SockRef::from(stream);
        assert!(options.keepalive().unwrap() && options.tcp_nodelay().unwrap());
        assert_eq!(options.tcp_keepalive_time().unwrap(), 15 * second);
        assert_eq!(options.tcp_keepalive_interval().unwrap(), 5 * second);
        assert_eq!(options.tcp_keepalive_retries().unwrap(), 3);
        #[cfg(target_os = "linux")]
        assert_eq!(options.tcp_user_timeout().unwrap(), Some(20 * second));
        assert_eq!(socket.local_port(), Some(stream.local_addr().unwrap().port()));
    }

    #[tokio::test]
    async fn addresses_of_every_kind() {
        let at = |host: Host, address: Option<&str>| HostEntry {
            host,
            address: address.map(str::to_owned),
            port: 5433,
            password: None,
        };
        let found = addresses(&at(Host::Name("::1".into()), None)).await.unwrap();
        assert_eq!(found, [Peer::Tcp("[::1]:5433".parse().unwrap())]);
        let found = addresses(&at(Host::Name("nowhere.invalid".into()), Some("127.0.0.1"))).await.unwrap();
        assert_eq!(found, [Peer::Tcp("127.0.0.1:5433".parse().unwrap())]);
        let Peer::Tcp(SocketAddr::V6(zoned)) = &addresses(&at(Host::Name("fe80::1%1".into()), None)).await.unwrap()[0]
        else {
            panic!("not IPv6");
        };
        assert_eq!(zoned.scope_id(), 1);
        assert_eq!(socket_path(Path::new("/tmp"), 5432), Path::new("/tmp/.s.PGSQL.5432"));
        assert_eq!(socket_path(Path::new("@pg"), 5432), Path::new("\0pg/.s.PGSQL.5432"));
    }
}
