//! Opens and closes a proxy.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use super::handler::{ProxyHandler, ProxyUsage};
use super::routes::{HEADER_TIMEOUT, ProxyAuth, answer};
use super::setup::ProxySetup;

/// The most connections at a time. More wait to be accepted.
const MAX_CONNECTIONS: usize = 64;

/// A server that answers a program's questions to a model. It listens on 127.0.0.1 only, at a port that the
/// system chooses, accepts nothing without its token, and ends when this is closed or dropped.
pub struct ModelProxy {
    url: String,
    token: String,
    handler: Arc<ProxyHandler>,
    server: JoinHandle<()>,
}

impl ModelProxy {
    /// Opens a server for one program.
    ///
    /// # Errors
    /// If this machine has no free port.
    pub async fn open(setup: ProxySetup) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://127.0.0.1:{}", listener.local_addr()?.port());
        let token = token();
        let handler = Arc::new(ProxyHandler::new(setup));
        let auth = Arc::new(ProxyAuth::new(&token, Arc::clone(&handler)));

        Ok(Self { url, token, handler, server: tokio::spawn(serve(listener, auth)) })
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The token that a caller must send, as `Authorization: Bearer TOKEN`.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Closes the server, abandons calls in flight, and returns the usage.
    pub async fn close(mut self) -> ProxyUsage {
        self.server.abort();
        // The task was aborted, so this returns an error. Its connections end with it.
        let _ = (&mut self.server).await;
        self.handler.usage()
    }
}

impl fmt::Debug for ModelProxy {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelProxy").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Drop for ModelProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// 256 random bits, in hexadecimal.
fn token() -> String {
    blake3::Hash::from_bytes(rand::random()).to_hex().to_string()
}

async fn serve(listener: TcpListener, auth: Arc<ProxyAuth>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // The semaphore is never closed. If it were, one connection too many would be accepted.
        let permit = Arc::clone(&permits).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // For example too many open files. Connections will end and free some.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };

        while connections.try_join_next().is_some() {}
        let auth = Arc::clone(&auth);
        connections.spawn(async move {
            let _place = permit;
            serve_connection(stream, auth).await;
        });
    }
}

async fn serve_connection(stream: TcpStream, auth: Arc<ProxyAuth>) {
    // Without this, small answers wait for acknowledgements.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let auth = Arc::clone(&auth);
        async move { Ok::<_, std::convert::Infallible>(answer(&auth, request).await) }
    });

    // The caller broke off or does not speak HTTP, so an error can't be reported to it.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
