//! The yardsticks: programs that only send recorded requests again. `assize-bench load WAY PORT FILE
//! IN_FLIGHT`.
//!
//! `client` is built like a load generator: hyper's HTTP/1.1 client with one connection for each request in flight,
//! headers and body as recorded, and every reply read completely. `pool` is hyper-util's client with a connection pool,
//! which reqwest and most Rust programs use. `sockets` even skips HTTP: it writes the recorded bytes and only searches
//! for the end of each reply, which is the minimum for any program.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::wire::HttpMessages;

/// Attempts to open a connection, and the pause between them.
const CONNECT_TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
/// Number of senders of the client that knows the limit.
const PACED_SENDERS: usize = 128;
/// Its intervals, relative to the intervals of the limit, because clocks differ a little.
const PACED_MARGIN: f64 = 1.001;
/// How long its first requests take to reach the server: the limit counts from their arrival.
const PACED_CONNECTING: Duration = Duration::from_millis(100);

/// Sends every request in the file, `in_flight` at a time, one after another on each connection. Prints the
/// seconds it took.
pub(crate) fn run(way: &str, port: &str, file: &str, in_flight: &str) -> Result<(), String> {
    let port: u16 = port.parse().map_err(|_| "the port is a number")?;
    let in_flight: usize = in_flight.parse().map_err(|_| "the number in flight is a number")?;
    let requests = read(file)?;
    match way {
        "client" => {
            let requests = requests.iter().map(|bytes| parsed(bytes)).collect::<Result<Vec<_>, _>>()?;
            measured(requests, in_flight, move |requests, next| ask(port, requests, next, |_| Instant::now()))
        }
        "pool" => {
            let client = legacy::Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(usize::MAX)
                .build_http::<Full<Bytes>>();
            let requests =
                requests.iter().map(|bytes| addressed(bytes, port)).collect::<Result<Vec<_>, _>>()?;
            measured(requests, in_flight, move |requests, next| ask_pool(client.clone(), requests, next))
        }
        "sockets" => measured(requests, in_flight, move |requests, next| send(port, requests, next)),
        _ => Err("the way is `client`, `pool` or `sockets`".to_owned()),
    }
}

/// Sends every request in the file as soon as a server with this token bucket would admit it: a client that knows the
/// limit. Prints the seconds it took.
pub(crate) fn run_paced(port: &str, file: &str, rate: &str, burst: &str) -> Result<(), String> {
    let port: u16 = port.parse().map_err(|_| "the port is a number")?;
    let [rate, burst] = [rate, burst].map(|number| number.parse::<f64>().unwrap_or(f64::NAN));
    if !(rate > 0.0 && burst >= 1.0) {
        return Err("rate and burst are numbers".to_owned());
    }

    let requests = read(file)?.iter().map(|bytes| parsed(bytes)).collect::<Result<Vec<_>, _>>()?;
    let begun = Instant::now();
    measured(requests, PACED_SENDERS, move |requests, next| {
        let due = move |index: usize| {
            let beyond = (index as f64 + 1.0 - burst).max(0.0) / rate * PACED_MARGIN;
            let connected = if beyond > 0.0 { PACED_CONNECTING } else { Duration::ZERO };
            begun + connected + Duration::from_secs_f64(beyond)
        };
        ask(port, requests, next, due)
    })
}

/// A client with a pool of connections.
type PooledClient = legacy::Client<HttpConnector, Full<Bytes>>;

/// Any error while sending.
type SendError = Box<dyn std::error::Error + Send + Sync>;

/// Runs `in_flight` senders, and prints the seconds from the first connection to the last reply.
fn measured<R, F>(
    requests: Vec<R>,
    in_flight: usize,
    sender: impl Fn(Arc<Vec<R>>, Arc<AtomicUsize>) -> F,
) -> Result<(), String>
where
    R: Send + Sync + 'static,
    F: Future<Output = Result<(), SendError>> + Send + 'static,
{
    let requests = Arc::new(requests);
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let next = Arc::new(AtomicUsize::new(0));
        let begun = Instant::now();
        let senders: Vec<_> =
            (0..in_flight).map(|_| tokio::spawn(sender(Arc::clone(&requests), Arc::clone(&next)))).collect();
        for sender in senders {
            sender.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        }

        println!("{}", begun.elapsed().as_secs_f64());
        Ok(())
    })
}

/// A recorded request as a hyper request.
fn parsed(bytes: &[u8]) -> Result<Request<Full<Bytes>>, String> {
    let end =
        bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or("a recorded request has no end")?;
    let head = std::str::from_utf8(&bytes[..end]).map_err(|error| error.to_string())?;
    let mut lines = head.split("\r\n");
    let path =
        lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("a recorded request has no path")?;
    let mut request = Request::post(path);
    for line in lines {
        let (name, value) = line.split_once(':').ok_or("a recorded header has no value")?;
        request = request.header(name, value.trim());
    }

    request.body(Full::new(Bytes::copy_from_slice(&bytes[end + 4..]))).map_err(|error| error.to_string())
}

/// A recorded request for a client that resolves the server itself.
pub(super) fn addressed(bytes: &[u8], port: u16) -> Result<Request<Full<Bytes>>, String> {
    let mut request = parsed(bytes)?;
    let address = format!("http://127.0.0.1:{port}{}", request.uri());
    *request.uri_mut() = address.parse().map_err(|_| format!("no address: {address}"))?;
    Ok(request)
}

/// A connection to the mock server. When hundreds are opened at once on a busy machine, the system may refuse
/// or reset some before the server accepts them; those are retried.
pub(super) async fn connected(port: u16) -> std::io::Result<TcpStream> {
    let mut left = CONNECT_TRIES;
    loop {
        match TcpStream::connect(("127.0.0.1", port)).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(_) if left > 0 => {
                left -= 1;
                tokio::time::sleep(BETWEEN_TRIES).await;
            }
            Err(error) => return Err(error),
        }
    }
}

async fn ask(
    port: u16,
    requests: Arc<Vec<Request<Full<Bytes>>>>,
    next: Arc<AtomicUsize>,
    due: impl Fn(usize) -> Instant,
) -> Result<(), SendError> {
    let stream = connected(port).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);

    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(request) = requests.get(index) else { break };
        let due = due(index);
        if due > Instant::now() {
            tokio::time::sleep_until(due.into()).await;
        }

        let answer = sender.send_request(request.clone()).await?;
        if answer.status() != 200 {
            return Err("an answer is a refusal".into());
        }
        answer.into_body().collect().await?;
    }

    drop(sender);
    connection.await??;

    Ok(())
}

async fn ask_pool(
    client: PooledClient,
    requests: Arc<Vec<Request<Full<Bytes>>>>,
    next: Arc<AtomicUsize>,
) -> Result<(), SendError> {
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        let answer = client.request(request.clone()).await?;
        if answer.status() != 200 {
            return Err("an answer is a refusal".into());
        }
        answer.into_body().collect().await?;
    }
    Ok(())
}

async fn send(port: u16, requests: Arc<Vec<Vec<u8>>>, next: Arc<AtomicUsize>) -> Result<(), SendError> {
    let stream = connected(port).await?;
    let (from, mut to) = stream.into_split();
    let mut answers = HttpMessages::new(from);
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        to.write_all(request).await?;
        let answer = answers.next().await?.unwrap_or_default();
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err("an answer is missing or refused".into());
        }
    }

    Ok(())
}

/// The recorded requests. Each is preceded by its length in 8 bytes.
pub(super) fn read(file: &str) -> Result<Vec<Vec<u8>>, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let mut rest = &bytes[..];
    let mut requests = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<8>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((request, after)) = after.split_at_checked(length) else {
            return Err(format!("{file}: the record is cut off"));
        };
        requests.push(request.to_vec());

        rest = after;
    }

    Ok(requests)
}
