//! Plain HTTP to a server on this machine, with exactly one connection for each request in flight.
//!
//! reqwest's pool connects anew whenever a connection is not back in the pool yet: 24 requests in flight took up to 36
//! connections to a server that answers at once. A process with a low limit of open files can't afford that. Here the
//! caller also drives the connection itself, so that no separate task has to be woken.
//!
//! Design: `docs/design/performance.md`.

use std::collections::HashMap;
use std::error::Error as _;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::Body as _;
use hyper::body::Bytes;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper::header::{ACCEPT_ENCODING, HOST, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Uri};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use reqwest::Url;
use tokio::net::TcpStream;

use crate::answer_body::BodyLimits;
use crate::transport::{FILES_PAUSE, HttpAnswer, HttpRequest, TransportError, innermost, out_of_files};

/// The longest time that an unused connection is kept.
const IDLE_LIMIT: Duration = Duration::from_secs(90);

type RequestBody = Full<Bytes>;

/// A client for servers on this machine. Each request in flight has its own connection.
#[derive(Debug)]
pub(crate) struct LoopbackClient {
    /// Unused connections by host and port, the most recently used last.
    idle: Mutex<HashMap<String, Vec<IdleConnection>>>,
    connect_timeout: Duration,
    bodies: BodyLimits,
}

/// A connection between two requests.
#[derive(Debug)]
struct IdleConnection {
    link: DrivenConnection,
    since: Instant,
}

/// A connection, and the handle that sends requests through it.
#[derive(Debug)]
struct DrivenConnection {
    requests: SendRequest<RequestBody>,
    /// `None` once it has ended. Boxed, because a link is moved several times for each request.
    connection: Option<Box<Connection<TokioIo<TcpStream>, RequestBody>>>,
}

/// Why an exchange failed.
enum ExchangeError {
    /// Nothing was sent, because the connection had ended before. Holds the request.
    Unsent(Box<Request<RequestBody>>),
    Broken(TransportError),
}

impl LoopbackClient {
    /// Whether this client can send to a URL. Only reqwest turns credentials in a URL into a header.
    pub(crate) fn takes(url: &Url) -> bool {
        url.scheme() == "http" && url.username().is_empty() && url.password().is_none()
    }

    pub(crate) fn new(connect_timeout: Duration, bodies: BodyLimits) -> Self {
        Self { idle: Mutex::default(), connect_timeout, bodies }
    }

    pub(crate) async fn send(&self, call: HttpRequest) -> Result<HttpAnswer, TransportError> {
        let timeout = call.timeout;
        tokio::time::timeout(timeout, self.exchange(call))
            .await
            .unwrap_or(Err(TransportError::Timeout(timeout)))
    }

    async fn exchange(&self, call: HttpRequest) -> Result<HttpAnswer, TransportError> {
        let HttpRequest { method, url, headers, body, .. } = call;
        let target = RequestTarget::new(&url).map_err(|error| TransportError::Unusable(error.to_string()))?;
        let mut request = request(method, target, headers, body);
        loop {
            let unused = self.idle_link(url.authority());
            let is_new = unused.is_none();
            let mut link = match unused {
                Some(link) => link,
                // Boxed, because it is rarely needed and would enlarge every request.
                None => Box::pin(self.connect(&url)).await?,
            };
            match link.exchange(request, &self.bodies).await {
                Ok(answer) => {
                    self.keep(url.authority(), link);
                    return Ok(answer);
                }
                // The server closed the connection at this very moment.
                Err(ExchangeError::Unsent(unsent)) if !is_new => request = *unsent,
                Err(ExchangeError::Unsent(_)) => {
                    return Err(TransportError::Broken(
                        "the server closed the connection at once".to_owned(),
                    ));
                }
                Err(ExchangeError::Broken(error)) => return Err(error),
            }
        }
    }

    async fn connect(&self, url: &Url) -> Result<DrivenConnection, TransportError> {
        let unreachable = |reason: String| TransportError::Connect(reason);
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap_or(80);
        let stream = tokio::time::timeout(self.connect_timeout, self.open(host, port))
            .await
            .map_err(|_| {
                unreachable(format!("no connection within {} s", self.connect_timeout.as_secs_f64()))
            })?
            .map_err(|error| unreachable(error.to_string()))?;

        // Without this, small requests may wait for an acknowledgement. If it fails, they are only slower.
        let _ = stream.set_nodelay(true);
        let (requests, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(reason(&error)))?;
        Ok(DrivenConnection { requests, connection: Some(Box::new(connection)) })
    }

    /// Opens a connection. While this process may not open one more file, it closes unused ones and waits.
    async fn open(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        loop {
            match TcpStream::connect((host, port)).await {
                Err(error) if out_of_files(&error) => {
                    self.idle.lock().clear();
                    tokio::time::sleep(FILES_PAUSE).await;
                }
                made => return made,
            }
        }
    }

    /// Takes an unused connection. The server may have closed it in the meantime; the caller notices before anything is
    /// sent.
    fn idle_link(&self, authority: &str) -> Option<DrivenConnection> {
        let mut idle = self.idle.lock();
        let links = idle.get_mut(authority)?;
        let IdleConnection { link, since } = links.pop()?;
        if since.elapsed() < IDLE_LIMIT {
            return Some(link);
        }

        // The others have been unused for longer.
        links.clear();
        None
    }

    /// Keeps a connection for the next request, if it can still be used.
    fn keep(&self, authority: &str, mut link: DrivenConnection) {
        if !link.is_ready() {
            return;
        }

        let unused = IdleConnection { link, since: Instant::now() };
        let mut idle = self.idle.lock();
        match idle.get_mut(authority) {
            Some(links) => links.push(unused),
            None => drop(idle.insert(authority.to_owned(), vec![unused])),
        }
    }
}

impl DrivenConnection {
    /// Sends a request and reads the whole answer.
    async fn exchange(
        &mut self,
        request: Request<RequestBody>,
        bodies: &BodyLimits,
    ) -> Result<HttpAnswer, ExchangeError> {
        let Self { requests, connection } = self;
        let answer = driving(connection, requests.try_send_request(request)).await;
        let answer = answer.map_err(|mut failure| match failure.take_message() {
            Some(unsent) => ExchangeError::Unsent(Box::new(unsent)),
            None => ExchangeError::Broken(TransportError::Broken(reason(failure.error()))),
        })?;
        let (head, mut rest) = answer.into_parts();
        let mut body = bodies.begin(rest.size_hint().exact()).map_err(ExchangeError::Broken)?;
        while let Some(frame) = driving(connection, rest.frame()).await {
            let frame =
                frame.map_err(|error| ExchangeError::Broken(TransportError::Broken(reason(&error))))?;
            let Ok(chunk) = frame.into_data() else { continue };
            body.push(&chunk).await.map_err(ExchangeError::Broken)?;
        }

        Ok(HttpAnswer { status: head.status.as_u16(), headers: head.headers, body: body.bytes })
    }

    /// Whether it is open and done with the previous request. The no-op waker is enough, because no task waits
    /// for a change.
    fn is_ready(&mut self) -> bool {
        drive(&mut self.connection, &mut Context::from_waker(Waker::noop()));
        self.connection.is_some() && self.requests.is_ready()
    }
}

/// Polls the connection and `work` together, and returns the output of `work`. Only the connection makes progress of
/// `work` possible, so nothing else has to wake it.
async fn driving<F: Future>(
    connection: &mut Option<Box<Connection<TokioIo<TcpStream>, RequestBody>>>,
    work: F,
) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|cx| {
        let unwoken = &mut Context::from_waker(Waker::noop());
        if let Poll::Ready(done) = work.as_mut().poll(unwoken) {
            return Poll::Ready(done);
        }

        drive(connection, cx);
        work.as_mut().poll(unwoken)
    })
    .await
}

/// Reads and writes as much as possible. A connection that has ended is dropped, which is how its users notice.
fn drive(connection: &mut Option<Box<Connection<TokioIo<TcpStream>, RequestBody>>>, cx: &mut Context<'_>) {
    if let Some(open) = connection
        && Pin::new(open).poll(cx).is_ready()
    {
        *connection = None;
    }
}

/// An address in the form that a request names it (RFC 9110, section 7.1).
#[derive(Debug, Clone)]
struct RequestTarget {
    /// Path and query.
    uri: Uri,
    host: HeaderValue,
}

impl RequestTarget {
    fn new(url: &Url) -> Result<Self, hyper::http::Error> {
        let uri = match url.query() {
            None => url.path().parse(),
            Some(query) => format!("{}?{query}", url.path()).parse(),
        };
        Ok(Self { uri: uri?, host: HeaderValue::from_str(url.authority())? })
    }
}

/// The request with its path, host and this client's own headers.
fn request(
    method: Method,
    RequestTarget { uri, host }: RequestTarget,
    headers: HeaderMap,
    body: Vec<u8>,
) -> Request<RequestBody> {
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    *request.uri_mut() = uri;

    let sent = request.headers_mut();
    *sent = headers;
    sent.entry(HOST).or_insert(host);
    sent.entry(USER_AGENT).or_insert(HeaderValue::from_static(concat!("assize/", env!("CARGO_PKG_VERSION"))));
    sent.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));

    request
}

/// The reason of a failure, in the words of its innermost cause.
fn reason(error: &hyper::Error) -> String {
    match error.source() {
        Some(_) => innermost(error),
        None => error.to_string(),
    }
}
