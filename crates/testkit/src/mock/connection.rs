//! Connections that a handler can reset on purpose.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Switch for one connection: after [`ConnectionBreaker::reset`], the next write resets the connection.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionBreaker(Arc<AtomicBool>);

impl ConnectionBreaker {
    pub(super) fn reset(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Connected<IncomingStream<'_, BreakableListener>> for ConnectionBreaker {
    fn connect_info(stream: IncomingStream<'_, BreakableListener>) -> Self {
        stream.io().breaker.clone()
    }
}

/// Listener that accepts breakable connections.
pub(super) struct BreakableListener(pub(super) TcpListener);

impl Listener for BreakableListener {
    type Io = BreakableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BreakableStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Without this, small replies wait for acknowledgements, which slows every test down.
        let _ = stream.set_nodelay(true);
        (BreakableStream { stream, breaker: ConnectionBreaker::default() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A TCP stream whose writes a breaker can fail.
pub(super) struct BreakableStream {
    stream: TcpStream,
    breaker: ConnectionBreaker,
}

impl AsyncRead for BreakableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for BreakableStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.breaker.0.load(Ordering::Acquire) {
            // With a linger time of zero, closing sends a reset instead of an orderly end.
            self.stream.set_zero_linger()?;
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
