//! Opening and closing a proxy.

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

use super::desk::{Desk, ProxyUsage};
use super::routes::{Door, HEADER_TIMEOUT, answer};
use crate::ask::Ask;

/// Connections at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 64;

/// The model that is lent, and how often.
#[derive(Clone)]
pub struct ProxySetup {
    /// The model.
    pub ask: Arc<dyn Ask>,
    /// The name it goes by here.
    pub name: String,
    /// Questions that are answered; those beyond are refused.
    pub max_calls: u32,
    /// Which repeat of the work this is, from 1: each repeat draws anew, the same one may be answered from memory.
    pub repeat: u32,
}

impl fmt::Debug for ProxySetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ask, name, max_calls, repeat } = self;
        let model = ask.describe().to_string();
        f.debug_struct("ProxySetup")
            .field("model", &model)
            .field("name", name)
            .field("max_calls", max_calls)
            .field("repeat", repeat)
            .finish()
    }
}

/// A server that answers a program's questions to a model. It listens on 127.0.0.1 alone, at a port that the system
/// chooses, takes nothing without its token, and is gone when this is closed or dropped.
pub struct ModelProxy {
    url: String,
    token: String,
    desk: Arc<Desk>,
    server: JoinHandle<()>,
}

impl ModelProxy {
    /// Opens a server for one program.
    ///
    /// # Errors
    /// When this machine has no free port.
    pub async fn open(setup: ProxySetup) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://127.0.0.1:{}", listener.local_addr()?.port());
        let token = token();
        let desk = Arc::new(Desk::new(setup));
        let door = Arc::new(Door::new(&token, Arc::clone(&desk)));
        Ok(Self { url, token, desk, server: tokio::spawn(serve(listener, door)) })
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What a caller must show, as `Authorization: Bearer TOKEN`.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Closes the server, gives up what is in flight, and tells what was asked.
    pub async fn close(mut self) -> ProxyUsage {
        self.server.abort();
        // It ends by being aborted, and takes its connections with it.
        let _ = (&mut self.server).await;
        self.desk.usage()
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

async fn serve(listener: TcpListener, door: Arc<Door>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // Never closed; without a permit it would only be one too many.
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, say: those that are open will end.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let door = Arc::clone(&door);
        connections.spawn(async move {
            let _place = place;
            converse(stream, door).await;
        });
    }
}

async fn converse(stream: TcpStream, door: Arc<Door>) {
    // Without it small answers wait for acknowledgements.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, std::convert::Infallible>(answer(&door, request).await) }
    });
    // A caller that breaks off or speaks no HTTP has nobody to be told.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
