//! Retries: their number, their waits, and their records.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{
    BoxFuture, CallEvent, CallObserver, ChatModel, ErrorKind, HeaderMap, HttpAnswer, HttpRequest,
    RetryPolicy, TokioClock, Transport, TransportError,
};
use assize_testkit::mock::{MockReply, MockServer, always, sequence};

use crate::tests::support::{client, client_with, question};

#[tokio::test]
async fn a_rate_limit_is_waited_out_as_long_as_the_server_asks() {
    let limited = MockReply::RateLimited { retry_after: Some(Duration::from_secs(7)) };
    let server = MockServer::start(sequence(vec![limited, MockReply::text("yes")]));
    let (client, clock) = client(&server);
    let reply = client.ask(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("yes", 2));
    assert_eq!(reply.failed[0].kind, ErrorKind::RateLimited);
    assert_eq!(reply.failed[0].status, Some(429));
    let waits = clock.waits();
    assert_eq!(waits, [reply.failed[0].waited]);
    assert!(waits[0] >= Duration::from_secs(7) && waits[0] < Duration::from_secs(8), "{waits:?}");
}

#[tokio::test]
async fn other_spellings_of_the_wait_are_understood() {
    let limited = |name: &str, value: &str| MockReply::Status {
        code: 429,
        headers: vec![(name.to_owned(), value.to_owned())],
        body: String::new(),
    };
    let server = MockServer::start(sequence(vec![
        limited("retry-after-ms", "2500"),
        // The clock of these tests starts at the epoch; the mock's own date header is the real date.
        limited("retry-after", "Thu, 01 Jan 1970 00:00:09 GMT"),
        MockReply::text("yes"),
    ]));
    let (client, clock) = client(&server);
    client.ask(&question()).await.unwrap();
    let waits = clock.waits();
    assert!((2500..3000).contains(&waits[0].as_millis()), "{waits:?}");
    assert!(waits[1] < Duration::from_millis(500), "a date in the past asks for no wait: {waits:?}");
}

#[tokio::test]
async fn a_wait_beyond_the_limit_is_not_begun() {
    let limited = MockReply::RateLimited { retry_after: Some(Duration::from_hours(1)) };
    let server = MockServer::start(always(limited));
    let (client, clock) = client(&server);
    let error = client.ask(&question()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimited);
    assert_eq!(error.retry_after, Some(Duration::from_hours(1)));
    assert!(clock.waits().is_empty());
    assert_eq!((error.attempts, server.count()), (1, 1));
}

#[tokio::test]
async fn server_failures_are_retried_up_to_the_limit() {
    for code in [408, 409, 500, 502, 503, 504, 529] {
        let server = MockServer::start(always(MockReply::status(code, "<html>down</html>")));
        let (client, clock) = client(&server);
        let error = client.ask(&question()).await.unwrap_err();
        assert!(error.kind.is_retryable(), "{code}");
        assert_eq!((error.attempts, error.failed.len(), server.count()), (4, 4, 4), "{code}");
        assert_eq!(clock.waits().len(), 3);
        assert_eq!(error.failed[3].waited, Duration::ZERO);
    }
}

#[tokio::test]
async fn refusals_that_last_are_not_retried() {
    for (code, kind) in [
        (400, ErrorKind::BadRequest),
        (401, ErrorKind::Authentication),
        (403, ErrorKind::PermissionDenied),
        (404, ErrorKind::NotFound),
        (307, ErrorKind::BadRequest),
    ] {
        let server = MockServer::start(always(MockReply::status(code, "{}")));
        let (client, clock) = client(&server);
        let error = client.ask(&question()).await.unwrap_err();
        assert_eq!((error.kind, error.status, error.attempts), (kind, Some(code), 1));
        assert!(clock.waits().is_empty());
    }
}

#[tokio::test]
async fn the_same_seed_waits_the_same() {
    let mut seen = Vec::new();
    for seed in [1, 1, 2] {
        let server = MockServer::start(always(MockReply::status(500, "")));
        let (client, clock) = client_with(&server, |setup| setup.seed = seed);
        client.ask(&question()).await.unwrap_err();
        seen.push(clock.waits());
    }
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0], seen[2]);
}

/// A transport that never leaves the process.
struct Scripted(Mutex<VecDeque<u16>>);

impl Transport for Scripted {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
        let status = self.0.lock().unwrap().pop_front().unwrap_or(200);
        let body = if status == 200 { r#"{"choices":[{"message":{"content":"hi"}}]}"# } else { "" };
        let headers = HeaderMap::default();
        Box::pin(std::future::ready(Ok(HttpAnswer { status, headers, body: body.into() })))
    }
}

#[tokio::test(start_paused = true)]
async fn the_real_clock_waits_on_tokio_time() {
    let server = MockServer::start(always(MockReply::Hang));
    let (client, _) = client_with(&server, |setup| {
        setup.clock = Arc::new(TokioClock);
        setup.transport = Arc::new(Scripted(Mutex::new([500, 500, 500].into())));
        setup.policy = RetryPolicy { base: Duration::from_secs(10), ..setup.policy };
    });
    let begun = tokio::time::Instant::now();
    let client: &dyn ChatModel = &client;
    let reply = client.ask(&question()).await.unwrap();
    let waited: Duration = reply.failed.iter().map(|attempt| attempt.waited).sum();
    assert!(waited > Duration::ZERO && begun.elapsed() >= waited);
    assert!(begun.elapsed() < waited + Duration::from_secs(1));
}

/// Records retries and pauses in words.
#[derive(Default)]
pub(crate) struct NotingObserver(pub(crate) Mutex<Vec<String>>);

impl CallObserver for NotingObserver {
    fn observe(&self, event: &CallEvent<'_>) {
        let text = match event {
            CallEvent::Retrying { model, attempt, reason, .. } => format!("{model} {attempt} {reason}"),
            CallEvent::RateLimited { until, .. } => {
                let pause = until.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
                format!("paused for {} s", pause.as_secs())
            }
            CallEvent::AccountHeld { reason, .. } => format!("held: {reason}"),
            CallEvent::AccountBack { .. } => "back".to_owned(),
            CallEvent::Unanswered { silence, .. } => format!("no answer for {} s", silence.as_secs()),
            CallEvent::GivenUp { reason, .. } => format!("given up: {reason}"),
        };
        self.0.lock().unwrap().push(text);
    }
}

/// A transport whose first answer takes as long as from a server that has lost the request.
struct FirstIsLost(AtomicUsize);

impl Transport for FirstIsLost {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
        let is_first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
        Box::pin(async move {
            if is_first {
                tokio::time::sleep(Duration::from_secs(290)).await;
            }
            let body = r#"{"choices":[{"message":{"content":"hi"}}]}"#;
            Ok(HttpAnswer { status: 200, headers: HeaderMap::default(), body: body.into() })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_is_told_of_once_if_others_are_answered() {
    for (others, events) in [(0, &[][..]), (3, &["no answer for 60 s"])] {
        let server = MockServer::start(always(MockReply::Hang));
        let observer = Arc::new(NotingObserver::default());
        let (client, _) = client_with(&server, |setup| {
            setup.clock = Arc::new(TokioClock);
            setup.transport = Arc::new(FirstIsLost(AtomicUsize::new(0)));
            setup.timeout = Duration::from_mins(5);
            setup.observer = Some(observer.clone());
        });
        let rest = async {
            for _ in 0..others {
                tokio::time::sleep(Duration::from_secs(10)).await;
                client.ask(&question()).await.unwrap();
            }
        };
        let lost = question();
        let (first, ()) = tokio::join!(client.ask(&lost), rest);
        first.unwrap();
        assert_eq!(*observer.0.lock().unwrap(), events);
    }
}

/// A server that answers at once, until it is slow: then it takes one request after another, and 100 s for each.
#[derive(Default)]
struct OneAfterAnother {
    fast: AtomicUsize,
    turn: tokio::sync::Mutex<()>,
}

impl Transport for OneAfterAnother {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
        const FAST: usize = 40;
        let is_fast = self.fast.fetch_add(1, Ordering::Relaxed) < FAST;
        Box::pin(async move {
            if !is_fast {
                let _turn = self.turn.lock().await;
                tokio::time::sleep(Duration::from_secs(100)).await;
            }
            let body = r#"{"choices":[{"message":{"content":"hi"}}]}"#;
            Ok(HttpAnswer { status: 200, headers: HeaderMap::default(), body: body.into() })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_does_not_count_the_wait_behind_other_requests_in_the_server() {
    let server = MockServer::start(always(MockReply::Hang));
    let (client, _) = client_with(&server, |setup| {
        setup.clock = Arc::new(TokioClock);
        setup.transport = Arc::new(OneAfterAnother::default());
        setup.timeout = Duration::from_secs(150);
    });
    for calls in [20, 20, 8] {
        let question = question();
        let asking = (0..calls).map(|_| client.ask(&question));
        for reply in futures_util::future::join_all(asking).await {
            assert_eq!(reply.unwrap().attempts, 1, "of {calls}");
        }
    }
}

#[tokio::test]
async fn an_observer_hears_of_retries_and_of_rate_limits() {
    let limited = MockReply::RateLimited { retry_after: Some(Duration::from_secs(7)) };
    let server = MockServer::start(sequence(vec![limited, MockReply::Reset, MockReply::text("yes")]));
    let observer = Arc::new(NotingObserver::default());
    let (client, _) = client_with(&server, |setup| setup.observer = Some(observer.clone()));
    client.ask(&question()).await.unwrap();
    assert_eq!(
        *observer.0.lock().unwrap(),
        ["judge-1 1 rate_limited", "judge-1 2 connection"],
        "a single refusal is no pause of the account"
    );
}
