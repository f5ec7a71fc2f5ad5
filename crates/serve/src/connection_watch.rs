//! Finds connections that are open without use: the client sends no request, or reads nothing of a reply.
//!
//! An HTTP/2 client that grants a stream no window can keep a finished reply alive while the connection itself stays
//! busy, so that no write to the connection waits. So each reply is watched.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use assize_limits::IDLE_HTTP2_TIME as IDLE_TIME;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response, Version};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper_util::service::TowerToHyperService;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::options::RequestLimits;

/// Size of the pieces of a reply, in bytes: a slow client holds only one of them.
const REPLY_CHUNK_BYTES: usize = 16 << 10;
/// Shortest pause between two checks of a connection.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// How a connection is used.
pub(crate) struct ConnectionWatch {
    state: Mutex<ConnectionUse>,
    /// Notified when the connection has to close so that others can be accepted.
    dismissed: Notify,
}

struct ConnectionUse {
    /// Number of requests that are not fully answered.
    active: usize,
    has_asked: bool,
    /// Since when no request is open.
    idle_since: Instant,
    /// Replies that the client has stopped reading, by number, with the time since when.
    held: BTreeMap<u64, Instant>,
    next: u64,
}

impl ConnectionWatch {
    /// Starts to watch a connection.
    pub(crate) fn new() -> Self {
        let state = Mutex::new(ConnectionUse {
            active: 0,
            has_asked: false,
            idle_since: Instant::now(),
            held: BTreeMap::new(),
            next: 0,
        });
        Self { state, dismissed: Notify::new() }
    }

    /// Waits until the connection has to close so that others can be accepted.
    pub(crate) async fn is_dismissed(&self) {
        self.dismissed.notified().await;
    }

    /// Since when no request is open; `None` while one is.
    fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.active == 0).then_some(state.idle_since)
    }

    /// Waits until the connection has been open without use for longer than the limits allow.
    pub(crate) async fn is_held(&self, limits: &RequestLimits) {
        let pause = (limits.header_time.min(limits.stall_time) / 4).max(SHORTEST_PAUSE);
        while !self.state().is_over(limits) {
            tokio::time::sleep(pause).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionUse> {
        self.state.lock()
    }
}

impl ConnectionUse {
    fn is_over(&self, limits: &RequestLimits) -> bool {
        if self.held.values().any(|since| since.elapsed() >= limits.stall_time) {
            return true;
        }

        let longest = if self.has_asked { IDLE_TIME } else { limits.header_time };
        self.active == 0 && self.idle_since.elapsed() >= longest
    }
}

/// The connections of a server, to find one that can be closed for others.
#[derive(Default)]
pub(crate) struct OpenConnections(Mutex<Vec<(IpAddr, Weak<ConnectionWatch>)>>);

impl OpenConnections {
    /// Adds a connection from this address.
    pub(crate) fn add(&self, address: IpAddr, watch: &Arc<ConnectionWatch>) {
        let mut all = self.0.lock();
        // Ended connections are removed before the list grows.
        if all.len() == all.capacity() {
            all.retain(|(_, watch)| watch.strong_count() > 0);
        }
        all.push((address, Arc::downgrade(watch)));
    }

    /// Closes a connection without a request: the one that has been idle for the longest time at the address that has
    /// the most of them. So an address that holds many connections loses them before others do.
    pub(crate) fn dismiss_one(&self) {
        let mut all = self.0.lock();
        all.retain(|(_, watch)| watch.strong_count() > 0);
        let idle = || {
            all.iter().filter_map(|(address, watch)| {
                let watch = watch.upgrade()?;
                Some((*address, watch.idle_since()?, watch))
            })
        };
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (address, ..) in idle() {
            *counts.entry(address).or_default() += 1;
        }
        let Some(most) = counts.into_iter().max_by_key(|(_, count)| *count) else { return };
        let oldest = idle().filter(|(address, ..)| *address == most.0).min_by_key(|(_, since, _)| *since);
        if let Some((.., watch)) = oldest {
            watch.dismissed.notify_one();
        }
    }
}

/// A request, from its headers to the end of its reply.
struct ActiveRequest {
    watch: Arc<ConnectionWatch>,
    number: u64,
}

impl ActiveRequest {
    fn new(watch: &Arc<ConnectionWatch>) -> Self {
        let mut state = watch.state();
        state.active += 1;
        state.has_asked = true;
        state.next += 1;
        let number = state.next;
        drop(state);

        Self { watch: Arc::clone(watch), number }
    }

    fn set_held(&self, is_held: bool) {
        let mut state = self.watch.state();
        if is_held {
            state.held.insert(self.number, Instant::now());
        } else {
            state.held.remove(&self.number);
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut state = self.watch.state();
        state.held.remove(&self.number);
        state.active -= 1;
        state.idle_since = Instant::now();
    }
}

/// The service of one connection.
#[derive(Clone)]
pub(crate) struct WatchedService {
    app: TowerToHyperService<Router>,
    watch: Arc<ConnectionWatch>,
}

impl WatchedService {
    pub(crate) fn new(app: Router, watch: Arc<ConnectionWatch>) -> Self {
        Self { app: TowerToHyperService::new(app), watch }
    }
}

impl hyper::service::Service<Request<Incoming>> for WatchedService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let active = ActiveRequest::new(&self.watch);
        let has_streams = request.version() == Version::HTTP_2;
        let answer = hyper::service::Service::call(&self.app, request);
        Box::pin(async move {
            let response = answer.await?;
            let watched = |inner| Body::new(WatchedBody { inner, rest: None, active, has_streams });
            Ok(response.map(watched))
        })
    }
}

/// Body of a reply, handed on in pieces.
struct WatchedBody {
    inner: Body,
    /// Bytes taken from the body and not handed on yet.
    rest: Option<Bytes>,
    active: ActiveRequest,
    /// True for HTTP/2. On HTTP/1 nothing but the connection itself can stall.
    has_streams: bool,
}

impl WatchedBody {
    /// The next piece. The last byte is a separate piece, which is requested only after the client has read everything
    /// before it.
    fn next_piece(&mut self, mut bytes: Bytes) -> Frame<Bytes> {
        if bytes.len() > 1 {
            let rest = bytes.split_off(REPLY_CHUNK_BYTES.min(bytes.len() - 1));
            self.rest = Some(rest);
        }
        self.active.set_held(true);

        Frame::data(bytes)
    }
}

impl hyper::body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.has_streams {
            return Pin::new(&mut self.inner).poll_frame(cx);
        }

        // A request for more means that everything before was handed on.
        self.active.set_held(false);
        if let Some(rest) = self.rest.take() {
            return Poll::Ready(Some(Ok(self.next_piece(rest))));
        }

        let frame = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            other => return Poll::Ready(other),
        };
        Poll::Ready(Some(Ok(match frame.into_data() {
            Ok(bytes) => self.next_piece(bytes),
            Err(trailers) => trailers,
        })))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.inner.size_hint(), self.rest.as_ref().map_or(0, Bytes::len) as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }

        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use hyper::body::Body as _;

    use super::*;

    fn limits() -> RequestLimits {
        RequestLimits {
            header_time: Duration::from_secs(30),
            stall_time: Duration::from_mins(1),
            ..RequestLimits::default()
        }
    }

    fn body(watch: &Arc<ConnectionWatch>, length: usize) -> WatchedBody {
        let inner = Body::from(vec![b'x'; length]);
        WatchedBody { inner, rest: None, active: ActiveRequest::new(watch), has_streams: true }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_needs_a_request_and_a_client_that_takes_its_reply() {
        let watch = Arc::new(ConnectionWatch::new());
        let begun = Instant::now();
        watch.is_held(&limits()).await;
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());

        // While a request waits for its judges, its client does not hold the connection without use.
        let request = ActiveRequest::new(&watch);
        let patient = tokio::time::timeout(Duration::from_hours(1), watch.is_held(&limits())).await;
        assert!(patient.is_err());
        drop(request);
        let begun = Instant::now();
        watch.is_held(&limits()).await;
        assert!(begun.elapsed() >= IDLE_TIME, "{:?}", begun.elapsed());

        let mut reply = body(&watch, 100);
        reply.frame().await.unwrap().unwrap();
        let begun = Instant::now();
        watch.is_held(&limits()).await;
        assert!(begun.elapsed() < Duration::from_secs(70), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn the_address_with_the_most_idle_connections_makes_room() {
        let open = OpenConnections::default();
        let address = |last| IpAddr::from([127, 0, 0, last]);
        let add = |last| {
            let watch = Arc::new(ConnectionWatch::new());
            open.add(address(last), &watch);
            watch
        };
        let quiet = add(1);
        let busy = add(2);
        let request = ActiveRequest::new(&busy);
        tokio::time::advance(Duration::from_secs(1)).await;
        let (first, second) = (add(2), add(2));

        let is_dismissed = |watch: &Arc<ConnectionWatch>| {
            let watch = Arc::clone(watch);
            async move { tokio::time::timeout(Duration::from_millis(1), watch.is_dismissed()).await.is_ok() }
        };
        open.dismiss_one();
        assert!(is_dismissed(&first).await && !is_dismissed(&second).await);
        drop(first);
        drop(second);
        open.dismiss_one();
        assert!(is_dismissed(&quiet).await && !is_dismissed(&busy).await);
        drop(quiet);
        open.dismiss_one();
        assert!(!is_dismissed(&busy).await, "it has a request");
        drop(request);
    }

    #[tokio::test]
    async fn a_reply_is_handed_on_in_pieces_and_the_last_byte_by_itself() {
        let watch = Arc::new(ConnectionWatch::new());
        for (length, expected) in [
            (0, vec![]),
            (1, vec![1]),
            (2, vec![1, 1]),
            (REPLY_CHUNK_BYTES + 9, vec![REPLY_CHUNK_BYTES, 8, 1]),
        ] {
            let mut reply = body(&watch, length);
            let mut pieces = Vec::new();
            while let Some(frame) = reply.frame().await {
                pieces.push(frame.unwrap().into_data().unwrap().len());
                let left = (length - pieces.iter().sum::<usize>()) as u64;
                assert_eq!((reply.size_hint().exact(), reply.is_end_stream()), (Some(left), left == 0));
            }
            assert_eq!(pieces, expected);
        }
        assert_eq!(watch.state().active, 0);
    }
}
