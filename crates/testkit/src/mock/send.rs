//! Conversion of a scripted reply to an HTTP response, including faults.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::stream;

use super::connection::ConnectionBreaker;
use super::incoming::MockRequest;
use super::reply::MockReply;
use super::wire::{MockModelOutput, MockWireFormat, count_tokens};

/// Token counts of all replies, including lost ones.
#[derive(Debug, Default)]
pub(super) struct MockTokenTotals {
    input: AtomicU64,
    output: AtomicU64,
}

impl MockTokenTotals {
    fn add(&self, (input, output): (u64, u64)) {
        self.input.fetch_add(input, Ordering::AcqRel);
        self.output.fetch_add(output, Ordering::AcqRel);
    }

    /// Returns the input and output tokens.
    pub(super) fn total(&self) -> (u64, u64) {
        (self.input.load(Ordering::Acquire), self.output.load(Ordering::Acquire))
    }
}

/// Builds the response to a request; never completes for [`MockReply::Hang`].
pub(super) async fn respond(
    mut reply: MockReply,
    incoming: &MockRequest,
    wire: &dyn MockWireFormat,
    breaker: &ConnectionBreaker,
    bill: &MockTokenTotals,
) -> Response {
    while let MockReply::After(delay, next) = reply {
        tokio::time::sleep(delay).await;
        reply = *next;
    }

    let answer = |output: MockModelOutput| {
        let output = output.within_limit(incoming);
        bill.add(count_tokens(incoming, &output));
        wire.answer(incoming, &output).to_string()
    };
    let text = |text: String| answer(MockModelOutput { text, ..MockModelOutput::default() });
    match reply {
        MockReply::Text(output) => complete_response(200, &[], text(output)),
        MockReply::Json(value) => complete_response(200, &[], text(value.to_string())),
        MockReply::Tokens(tokens) => {
            let text = tokens.iter().map(|token| token.text.as_str()).collect();
            complete_response(
                200,
                &[],
                answer(MockModelOutput { text, tokens, ..MockModelOutput::default() }),
            )
        }
        MockReply::Refusal(words) => complete_response(
            200,
            &[],
            answer(MockModelOutput { refusal: Some(words), ..MockModelOutput::default() }),
        ),
        MockReply::Finish { reason, text } => complete_response(
            200,
            &[],
            answer(MockModelOutput { text, finish: Some(reason), ..MockModelOutput::default() }),
        ),
        MockReply::Status { code, headers, body } => complete_response(code, &headers, body),
        MockReply::RateLimited { retry_after } => {
            let headers: Vec<_> = retry_after
                .map(|wait| ("retry-after".to_owned(), wait.as_secs().to_string()))
                .into_iter()
                .collect();
            complete_response(
                429,
                &headers,
                wire.error("rate_limit_exceeded", "Too many requests").to_string(),
            )
        }
        MockReply::Reset => {
            breaker.reset();
            complete_response(200, &[], String::new())
        }
        MockReply::Truncated(output) => truncated(&text(output)),
        MockReply::Drip { text: output, pieces, pause } => drip(text(output), pieces.max(1), pause),
        MockReply::Raw(body) => complete_response(200, &[], body),
        MockReply::Hang | MockReply::After(..) => std::future::pending().await,
    }
}

/// Status and body of a reply in a batch, where faults of the connection become server errors.
pub(super) fn answer_text(
    reply: MockReply,
    incoming: &MockRequest,
    wire: &dyn MockWireFormat,
    bill: &MockTokenTotals,
) -> (u16, String) {
    let output = match reply {
        MockReply::After(_, next) => return answer_text(*next, incoming, wire, bill),
        MockReply::Text(text) => MockModelOutput { text, ..MockModelOutput::default() },
        MockReply::Json(value) => MockModelOutput { text: value.to_string(), ..MockModelOutput::default() },
        MockReply::Refusal(words) => MockModelOutput { refusal: Some(words), ..MockModelOutput::default() },
        MockReply::Finish { reason, text } => {
            MockModelOutput { text, finish: Some(reason), ..MockModelOutput::default() }
        }
        MockReply::Status { code, body, .. } => return (code, body),
        MockReply::Raw(body) => return (200, body),
        _ => return (500, wire.error("server_error", "it failed").to_string()),
    };

    let output = output.within_limit(incoming);
    bill.add(count_tokens(incoming, &output));
    (200, wire.answer(incoming, &output).to_string())
}

/// Builds a complete response.
pub(super) fn complete_response(code: u16, headers: &[(String, String)], body: String) -> Response {
    let json = body.starts_with(['{', '[']);
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(code).expect("the script names a valid status code");

    let content_type = if json { "application/json" } else { "text/html" };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));

    for (name, value) in headers {
        let name: HeaderName = name.parse().expect("the script names a valid header");
        let value: HeaderValue = value.parse().expect("the script gives a valid header value");
        response.headers_mut().insert(name, value);
    }

    response
}

fn truncated(body: &str) -> Response {
    let half = body.as_bytes()[..body.len() / 2].to_vec();
    let pieces = stream::unfold(Some(half), |rest| async move {
        if let Some(half) = rest {
            return Some((Ok(half), None));
        }

        // Yielding once makes the server send the first half before the error.
        tokio::task::yield_now().await;
        Some((Err(io::Error::from(io::ErrorKind::ConnectionAborted)), None))
    });
    streamed(Body::from_stream(pieces), body.len())
}

fn drip(body: String, pieces: usize, pause: Duration) -> Response {
    let length = body.len();
    let size = length.div_ceil(pieces).max(1);
    let pieces = stream::unfold(body.into_bytes(), move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }

        tokio::time::sleep(pause).await;
        let later = rest.split_off(size.min(rest.len()));
        Some((Ok::<_, io::Error>(rest), later))
    });
    streamed(Body::from_stream(pieces), length)
}

fn streamed(body: Body, length: usize) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}
