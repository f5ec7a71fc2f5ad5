//! The mock server: its thread, its record of requests, its shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::Request;
use axum::response::Response;
use parking_lot::{Condvar, Mutex};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::batches::{BatchAnswer, BatchCall, MockBatches};
use super::connection::{BreakableListener, ConnectionBreaker};
use super::incoming::{MockRequest, RecordedRequest};
use super::script::ReplyScript;
use super::send::{MockTokenTotals, answer_text, complete_response, respond};
use super::wire;

/// Settings of a mock server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MockOptions {
    /// True to keep every request. Turn it off for tests with thousands of requests.
    pub record: bool,
}

impl Default for MockOptions {
    fn default() -> Self {
        Self { record: true }
    }
}

/// Model server on a free local port. It runs in its own thread with its own clock, so it works under any
/// test, blocking, async, or async with paused time. Dropping it closes every connection.
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    shared: Arc<MockServerState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct MockServerState {
    script: Box<dyn ReplyScript>,
    options: MockOptions,
    count: Mutex<usize>,
    arrived: Condvar,
    in_flight: AtomicUsize,
    peak: AtomicUsize,
    bill: MockTokenTotals,
    requests: Mutex<Vec<RecordedRequest>>,
    batches: MockBatches,
}

impl std::fmt::Debug for MockServerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("count", &self.count).finish_non_exhaustive()
    }
}

impl MockServer {
    /// Starts a server with a script.
    ///
    /// # Panics
    /// If no port can be opened, which fails the test.
    pub fn start(script: impl ReplyScript) -> Self {
        Self::start_with(script, MockOptions::default())
    }

    /// Starts a server with settings.
    ///
    /// # Panics
    /// If no port can be opened, which fails the test.
    pub fn start_with(script: impl ReplyScript, options: MockOptions) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port on this machine");
        listener.set_nonblocking(true).expect("a socket can be made non-blocking");

        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(MockServerState {
            script: Box::new(script),
            options,
            count: Mutex::new(0),
            arrived: Condvar::new(),
            in_flight: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            bill: MockTokenTotals::default(),
            requests: Mutex::new(Vec::new()),
            batches: MockBatches::default(),
        });

        let (stop, stopped) = oneshot::channel();
        let state = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(listener, state, stopped));
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns the base URL for clients, ending in `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns every request so far in order of arrival; empty if recording is off.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.lock().clone()
    }

    /// Returns the server's batches.
    pub fn batches(&self) -> &MockBatches {
        &self.shared.batches
    }

    /// Returns the number of requests so far.
    pub fn count(&self) -> usize {
        *self.shared.count.lock()
    }

    /// Waits until this many requests have arrived, at most for `limit`. Returns true if they have.
    pub fn wait_for(&self, count: usize, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let mut arrived = self.shared.count.lock();
        while *arrived < count {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.shared.arrived.wait_for(&mut arrived, left);
        }
        true
    }

    /// Returns the input and output tokens that replies have reported so far, including lost replies.
    pub fn usage(&self) -> (u64, u64) {
        self.shared.bill.total()
    }

    /// Returns the maximum number of concurrent requests.
    pub fn peak_in_flight(&self) -> usize {
        self.shared.peak.load(Ordering::Acquire)
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been printed, and has failed the request that caused it.
            let _ = thread.join();
        }
    }
}

fn serve(listener: std::net::TcpListener, shared: Arc<MockServerState>, stopped: oneshot::Receiver<()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    // Dropping the runtime afterwards drops every connection, including hanging ones.
    runtime.block_on(async move {
        let listener = TcpListener::from_std(listener).expect("the socket is non-blocking");
        let app = Router::new()
            .fallback(handle_request)
            .with_state(shared)
            .into_make_service_with_connect_info::<ConnectionBreaker>();
        tokio::select! {
            served = axum::serve(BreakableListener(listener), app) => served.expect("serving does not fail"),
            _ = stopped => {}
        }
    });
}

/// Counts a request as in flight until it is answered or cancelled.
struct InFlight<'a>(&'a MockServerState);

impl<'a> InFlight<'a> {
    fn new(shared: &'a MockServerState) -> Self {
        let now = shared.in_flight.fetch_add(1, Ordering::AcqRel) + 1;
        shared.peak.fetch_max(now, Ordering::AcqRel);
        Self(shared)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn handle_request(
    State(shared): State<Arc<MockServerState>>,
    ConnectInfo(breaker): ConnectInfo<ConnectionBreaker>,
    request: Request<Body>,
) -> Response {
    let _in_flight = InFlight::new(&shared);
    let path = request.uri().path().to_owned();
    let line = format!("{} {}", request.method(), request.uri());
    let query = request.uri().query().unwrap_or_default().to_owned();
    let is_post = request.method() == axum::http::Method::POST;
    let is_put = request.method() == axum::http::Method::PUT;
    let headers: Vec<(String, String)> = request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();

    let Ok(body) = to_bytes(request.into_body(), usize::MAX).await else {
        return complete_response(400, &[], "the request body broke off".to_owned());
    };
    let index = {
        // Numbered and recorded under one lock, so that a request's index is its position in the record.
        let mut requests = shared.requests.lock();
        if shared.options.record {
            requests.push(RecordedRequest {
                path: path.clone(),
                line,
                headers: headers.clone(),
                body: body.to_vec(),
            });
        }

        shared.count_arrival()
    };

    if MockBatches::claims(&path) {
        let BatchAnswer { status, body, delay, is_lost } = {
            let model = |path: &str, body: &Value| shared.answer_in_batch(path, body);
            let call = BatchCall {
                is_post,
                is_put,
                path: &path,
                query: &query,
                headers: &headers,
                body: &body,
                model: &model,
            };
            shared.batches.answer(&call)
        };
        tokio::time::sleep(delay).await;
        if is_lost {
            breaker.reset();
        }
        return complete_response(status, &[], body);
    }

    let Some(wire) = wire::format_for_path(&path) else {
        return complete_response(404, &[], format!(r#"{{"error":{{"message":"no such path: {path}"}}}}"#));
    };
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let mut incoming = MockRequest {
        index,
        in_flight: shared.in_flight.load(Ordering::Acquire),
        path,
        headers,
        body,
        ..MockRequest::default()
    };

    wire.read(&mut incoming);
    let reply = shared.script.reply(&incoming);
    let response = respond(reply, &incoming, wire, &breaker, &shared.bill).await;
    if response.status() == axum::http::StatusCode::OK && is_post {
        shared.batches.count_alone(&incoming.body);
    }
    response
}

impl MockServerState {
    /// Counts a request and returns its index, from 0.
    fn count_arrival(&self) -> usize {
        let mut count = self.count.lock();
        *count += 1;
        self.arrived.notify_all();
        *count - 1
    }

    /// Answers a request of a batch with the script: status and body.
    fn answer_in_batch(&self, path: &str, body: &Value) -> (u16, String) {
        let Some(wire) = wire::format_for_path(path) else {
            return (404, r#"{"error":{"message":"no such path"}}"#.to_owned());
        };
        let mut incoming = MockRequest {
            index: self.count_arrival(),
            in_flight: 1,
            path: path.to_owned(),
            headers: Vec::new(),
            body: body.clone(),
            ..MockRequest::default()
        };
        wire.read(&mut incoming);

        let reply = self.script.reply(&incoming);
        answer_text(reply, &incoming, wire, &self.bill)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;
    use crate::mock::{MockJudgeQuestion, MockReply, always, sequence, truthful};

    /// Sends a question over a plain socket and returns everything that comes back until the connection ends.
    fn ask(server: &MockServer, path: &str, question: &str) -> std::io::Result<String> {
        let body = serde_json::json!({"model": "m", "messages": [
            {"role": "system", "content": "Judge."},
            {"role": "user", "content": "earlier"},
            {"role": "user", "content": [{"type": "text", "text": question}]},
        ]})
        .to_string();
        let mut stream = TcpStream::connect(server.address)?;
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    const CHAT: &str = "/v1/chat/completions";

    #[test]
    fn a_truthful_judge_works_from_a_blocking_test_and_requests_are_kept() {
        let server = MockServer::start(truthful(
            |incoming| {
                vec![MockJudgeQuestion { id: incoming.model.clone(), text: incoming.last_user_text.clone() }]
            },
            |question, incoming| question.text == "true?" && incoming.system_text == "Judge.",
            |answers| serde_json::json!({"id": answers[0].0.id, "met": answers[0].1}),
        ));
        assert!(server.base_url().ends_with("/v1"));
        assert!(ask(&server, CHAT, "true?").unwrap().contains(r#"{\"id\":\"m\",\"met\":true}"#));
        assert!(ask(&server, CHAT, "false?").unwrap().contains(r#"\"met\":false}"#));
        assert!(ask(&server, "/elsewhere", "x").unwrap().starts_with("HTTP/1.1 404"));
        assert_eq!(server.count(), 3);
        assert_eq!(server.requests()[2].path, "/elsewhere");
        assert_eq!(server.requests()[0].json()["model"], "m");
        assert_eq!(server.requests()[0].header("host"), Some("mock"));
    }

    #[test]
    fn a_reply_keeps_to_the_limit_of_its_request_and_is_counted() {
        let server = MockServer::start(always(MockReply::text("x".repeat(100))));
        let body = r#"{"model":"m","messages":[{"role":"user","content":"12345678"}],"max_tokens":5}"#;
        let mut stream = TcpStream::connect(server.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST {CHAT} HTTP/1.1\r\nHost: m\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.contains(&format!("\"{}\"", "x".repeat(20))) && answer.contains(r#""length""#),
            "{answer}"
        );
        assert_eq!(server.usage(), (2, 5));
    }

    #[test]
    fn a_truncated_answer_sends_half_of_what_it_declares() {
        let server = MockServer::start(always(MockReply::Truncated("x".repeat(3000))));
        let answer = ask(&server, CHAT, "?").unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let declared: usize =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        assert!(declared > 3000);
        assert_eq!(body.len(), declared / 2);
    }

    #[test]
    fn a_reset_sends_nothing_and_a_hanging_request_ends_with_the_server() {
        let server = MockServer::start(sequence(vec![MockReply::Reset, MockReply::Hang]));
        assert!(ask(&server, CHAT, "?").is_err());
        let mut hanging = TcpStream::connect(server.address).unwrap();
        let request = "POST /v1/chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: 2\r\n\r\n{}";
        hanging.write_all(request.as_bytes()).unwrap();
        assert!(server.wait_for(2, Duration::from_mins(1)));
        drop(server);
        let mut rest = Vec::new();
        let read = hanging.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{read:?}");
    }
}
