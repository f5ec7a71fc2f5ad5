//! Plain HTTP to a server on this machine, where neither proxies, certificates nor compression have a part.
//!
//! What reqwest does for those at every call is a good part of what a call costs once the server answers at once, and
//! here all of it would be for nothing. The one who asks also drives the connection: handing a request to a task of the
//! connection and its answer back costs more than sending it.

use std::collections::HashMap;
use std::error::Error as _;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper::header::{ACCEPT_ENCODING, HOST, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Uri};
use hyper_util::rt::TokioIo;
use reqwest::Url;
use tokio::net::TcpStream;

use crate::transport::{FILES_PAUSE, HttpAnswer, Outgoing, TransportError, innermost, out_of_files};

/// How long a connection that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(90);

type Body = Full<Bytes>;

/// A client for the servers of this machine. Each request in flight has a connection of its own.
#[derive(Debug)]
pub(crate) struct LocalClient {
    /// The connections that nobody uses, by host and port, the one used last at the end.
    idle: Mutex<HashMap<String, Vec<Idle>>>,
    /// The first address that was asked, as requests name it: most often there is no other.
    first: OnceLock<(Arc<Url>, RequestTarget)>,
    connect_timeout: Duration,
    max_answer_bytes: usize,
}

/// A connection between two requests.
#[derive(Debug)]
struct Idle {
    link: Link,
    since: Instant,
}

/// A connection and the end by which requests go into it.
#[derive(Debug)]
struct Link {
    requests: SendRequest<Body>,
    /// `None` once it has ended. In a box, since a link is moved several times for each request.
    connection: Option<Box<Connection<TokioIo<TcpStream>, Body>>>,
}

/// Why an exchange failed.
enum Failed {
    /// Nothing of the request was sent: the connection had ended before. Holds the request.
    Unsent(Box<Request<Body>>),
    Broken(TransportError),
}

impl LocalClient {
    /// Whether a URL may be used here: credentials in it become a header, which is left to reqwest.
    pub(crate) fn takes(url: &Url) -> bool {
        url.scheme() == "http" && url.username().is_empty() && url.password().is_none()
    }

    pub(crate) fn new(connect_timeout: Duration, max_answer_bytes: usize) -> Self {
        Self { idle: Mutex::default(), first: OnceLock::new(), connect_timeout, max_answer_bytes }
    }

    pub(crate) async fn send(&self, call: Outgoing) -> Result<HttpAnswer, TransportError> {
        let timeout = call.timeout;
        tokio::time::timeout(timeout, self.exchange(call))
            .await
            .unwrap_or(Err(TransportError::Timeout(timeout)))
    }

    async fn exchange(&self, call: Outgoing) -> Result<HttpAnswer, TransportError> {
        let Outgoing { url, headers, body, .. } = call;
        let mut request = request(self.target(&url)?, headers, body);
        loop {
            let unused = self.idle_link(url.authority());
            let is_new = unused.is_none();
            let mut link = match unused {
                Some(link) => link,
                // In a box, as it is seldom made and would be a part of every request.
                None => Box::pin(self.connect(&url)).await?,
            };
            match link.exchange(request, self.max_answer_bytes).await {
                Ok(answer) => {
                    self.keep(url.authority(), link);
                    return Ok(answer);
                }
                // The server had closed it in this very moment.
                Err(Failed::Unsent(unsent)) if !is_new => request = *unsent,
                Err(Failed::Unsent(_)) => {
                    return Err(TransportError::Broken(
                        "the server closed the connection at once".to_owned(),
                    ));
                }
                Err(Failed::Broken(error)) => return Err(error),
            }
        }
    }

    fn target(&self, url: &Arc<Url>) -> Result<RequestTarget, TransportError> {
        if let Some((first, target)) = self.first.get()
            && Arc::ptr_eq(first, url)
        {
            return Ok(target.clone());
        }
        let target = RequestTarget::of(url).map_err(|error| TransportError::Unusable(error.to_string()))?;
        // Whoever came first stays there.
        let _ = self.first.set((Arc::clone(url), target.clone()));
        Ok(target)
    }

    async fn connect(&self, url: &Url) -> Result<Link, TransportError> {
        let unreachable = |reason: String| TransportError::Connect(reason);
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap_or(80);
        let stream = tokio::time::timeout(self.connect_timeout, self.open(host, port))
            .await
            .map_err(|_| {
                unreachable(format!("no connection within {} s", self.connect_timeout.as_secs_f64()))
            })?
            .map_err(|error| unreachable(error.to_string()))?;
        // Without it, small requests may wait for an acknowledgement. Nothing else hangs on it.
        let _ = stream.set_nodelay(true);
        let (requests, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(reason(&error)))?;
        Ok(Link { requests, connection: Some(Box::new(connection)) })
    }

    /// A new connection. While this process may not open one more file, those that nobody uses are closed, and it waits.
    async fn open(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        loop {
            match TcpStream::connect((host, port)).await {
                Err(error) if out_of_files(&error) => {
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    tokio::time::sleep(FILES_PAUSE).await;
                }
                made => return made,
            }
        }
    }

    /// A connection that nobody uses. The server may have closed it since, which is found out before anything is sent.
    fn idle_link(&self, authority: &str) -> Option<Link> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let links = idle.get_mut(authority)?;
        let Idle { link, since } = links.pop()?;
        if since.elapsed() < IDLE {
            return Some(link);
        }
        // All that were used before it have waited for longer.
        links.clear();
        None
    }

    /// Keeps a connection for the next request, if it can take one.
    fn keep(&self, authority: &str, mut link: Link) {
        if !link.is_ready() {
            return;
        }
        let unused = Idle { link, since: Instant::now() };
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.get_mut(authority) {
            Some(links) => links.push(unused),
            None => drop(idle.insert(authority.to_owned(), vec![unused])),
        }
    }
}

impl Link {
    /// Sends a request and reads its whole answer.
    async fn exchange(&mut self, request: Request<Body>, max_bytes: usize) -> Result<HttpAnswer, Failed> {
        let Self { requests, connection } = self;
        let answer = driving(connection, requests.try_send_request(request)).await;
        let answer = answer.map_err(|mut failure| match failure.take_message() {
            Some(unsent) => Failed::Unsent(Box::new(unsent)),
            None => Failed::Broken(TransportError::Broken(reason(failure.error()))),
        })?;
        let (head, mut rest) = answer.into_parts();
        let mut body = Vec::new();
        while let Some(frame) = driving(connection, rest.frame()).await {
            let frame = frame.map_err(|error| Failed::Broken(TransportError::Broken(reason(&error))))?;
            let Ok(chunk) = frame.into_data() else { continue };
            if body.len() + chunk.len() > max_bytes {
                return Err(Failed::Broken(TransportError::TooLarge(max_bytes)));
            }
            if body.is_empty() {
                body = Vec::from(chunk);
            } else {
                body.extend_from_slice(&chunk);
            }
        }
        Ok(HttpAnswer { status: head.status.as_u16(), headers: head.headers, body })
    }

    /// Whether it is open and done with whatever was sent before. Nobody is woken when that changes.
    fn is_ready(&mut self) -> bool {
        drive(&mut self.connection, &mut Context::from_waker(Waker::noop()));
        self.connection.is_some() && self.requests.is_ready()
    }
}

/// What `work` comes to, while the connection that it waits for is read and written. Only that makes it go on, so it has
/// nobody to wake.
async fn driving<F: Future>(
    connection: &mut Option<Box<Connection<TokioIo<TcpStream>, Body>>>,
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

/// Reads and writes what can be. A connection that has ended is dropped: that is how those who wait for it hear of it.
fn drive(connection: &mut Option<Box<Connection<TokioIo<TcpStream>, Body>>>, cx: &mut Context<'_>) {
    if let Some(open) = connection
        && Pin::new(open).poll(cx).is_ready()
    {
        *connection = None;
    }
}

/// An address as a request names it (RFC 9110, section 7.1).
#[derive(Debug, Clone)]
struct RequestTarget {
    /// Path and query.
    uri: Uri,
    host: HeaderValue,
}

impl RequestTarget {
    fn of(url: &Url) -> Result<Self, hyper::http::Error> {
        let uri = match url.query() {
            None => url.path().parse(),
            Some(query) => format!("{}?{query}", url.path()).parse(),
        };
        Ok(Self { uri: uri?, host: HeaderValue::from_str(url.authority())? })
    }
}

/// The request as it goes out: a path, a host, and what this client says of itself.
fn request(RequestTarget { uri, host }: RequestTarget, headers: HeaderMap, body: Vec<u8>) -> Request<Body> {
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    let sent = request.headers_mut();
    *sent = headers;
    sent.entry(HOST).or_insert(host);
    sent.entry(USER_AGENT).or_insert(HeaderValue::from_static(concat!("assize/", env!("CARGO_PKG_VERSION"))));
    sent.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    request
}

/// What happened to a connection, in the words of whatever knows best.
fn reason(error: &hyper::Error) -> String {
    match error.source() {
        Some(_) => innermost(error),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::sync::Semaphore;

    use super::*;

    /// The connections that a server was asked for, and those it has closed.
    struct Connections {
        made: AtomicUsize,
        closed: AtomicUsize,
        /// A permit for each that it may close.
        may_close: Semaphore,
    }

    /// A server that answers so many requests on each connection and then closes it without a word. Its port, and its
    /// connections.
    async fn server(answers: usize, answer: &'static str) -> (u16, Arc<Connections>) {
        let (port, connections) = server_that(answers, answer, false).await;
        connections.may_close.add_permits(1000);
        (port, connections)
    }

    /// The same, but it closes connections when it may, and breaks them off if it `resets` them.
    async fn server_that(answers: usize, answer: &'static str, resets: bool) -> (u16, Arc<Connections>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (made, closed, may_close) = (AtomicUsize::new(0), AtomicUsize::new(0), Semaphore::new(0));
        let connections = Arc::new(Connections { made, closed, may_close });
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.made.fetch_add(1, Ordering::Relaxed);
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    for _ in 0..answers {
                        let mut request = Vec::new();
                        while !request.ends_with(b"the question") {
                            if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                                return;
                            }
                        }
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                    counted.may_close.acquire().await.unwrap().forget();
                    if resets {
                        stream.set_zero_linger().unwrap();
                    }
                    drop(stream);
                    counted.closed.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        (port, connections)
    }

    fn question(port: u16) -> Outgoing {
        Outgoing {
            url: Arc::new(Url::parse(&format!("http://localhost:{port}/v1?x=1")).unwrap()),
            headers: hyper::HeaderMap::new(),
            body: b"the question".to_vec(),
            timeout: Duration::from_secs(20),
        }
    }

    fn client() -> LocalClient {
        LocalClient::new(Duration::from_secs(5), 1 << 20)
    }

    const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine";

    #[tokio::test]
    async fn a_connection_is_used_again_and_replaced_when_the_server_closed_it() {
        for (answers, connections) in [(usize::MAX, 1), (2, 3), (1, 6)] {
            let (port, counted) = server(answers, ANSWER).await;
            let client = client();
            for asked in 0..6 {
                let mut answer = client.send(question(port)).await;
                // The server may close it while the question is on its way: that is the client's caller's to repeat.
                if let Err(TransportError::Broken(_)) = answer {
                    answer = client.send(question(port)).await;
                }
                let answer = answer.unwrap();
                assert_eq!((answer.status, &*answer.body), (200, &b"fine"[..]), "{asked}");
            }
            let counted = counted.made.load(Ordering::Relaxed);
            assert!(counted >= connections && (answers < usize::MAX || counted == 1), "{answers}: {counted}");
        }
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_while_nobody_used_it_fails_no_request() {
        for resets in [false, true] {
            let (port, connections) = server_that(1, ANSWER, resets).await;
            let client = client();
            for asked in 1..=20 {
                let answer = client.send(question(port)).await.unwrap();
                assert_eq!(answer.body, b"fine", "{resets}");
                connections.may_close.add_permits(1);
                while connections.closed.load(Ordering::Relaxed) < asked {
                    tokio::task::yield_now().await;
                }
            }
            assert_eq!(connections.made.load(Ordering::Relaxed), 20, "{resets}");
        }
    }

    #[tokio::test]
    async fn broken_answers_and_servers_that_are_not_there_are_told_apart() {
        let (port, _) = server(1, "HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\nfine").await;
        let cut_off = client().send(question(port)).await.unwrap_err();
        assert!(matches!(cut_off, TransportError::Broken(_)), "{cut_off}");
        let small = LocalClient::new(Duration::from_secs(5), 3);
        let (port, _) = server(1, ANSWER).await;
        assert_eq!(small.send(question(port)).await.unwrap_err(), TransportError::TooLarge(3));
        let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let refused = client().send(question(nobody)).await.unwrap_err();
        assert!(matches!(&refused, TransportError::Connect(why) if why.contains("refused")), "{refused}");
    }

    #[test]
    fn only_plain_addresses_without_credentials_are_taken() {
        let takes = |url: &str| LocalClient::takes(&Url::parse(url).unwrap());
        assert!(takes("http://localhost:8080/v1/chat?x=1"));
        assert!(!takes("https://localhost:8080/v1"));
        assert!(!takes("http://user@localhost/v1"));
        assert!(!takes("http://:secret@localhost/v1"));
    }
}
