//! Every way in which an answer can be bad.

use std::time::Duration;

use crate::{ChatRequest, ErrorKind, FinishReason, HttpOptions, HttpTransport};
use assize_testkit::mock::{MockReply, MockServer, always, sequence};

use crate::tests::support::{client, client_with, question};

/// The fault once and then an answer: the answer must arrive. Then the fault forever: the kind must be right.
async fn recovers_from(fault: MockReply, kind: ErrorKind) {
    // The time limit may be short only if it is the fault; otherwise a busy machine must not reach it.
    let timeout = Duration::from_millis(if kind == ErrorKind::Timeout { 300 } else { 60_000 });
    let server = MockServer::start(sequence(vec![fault.clone(), MockReply::text("fine")]));
    let (client, _) = client_with(&server, |setup| setup.timeout = timeout);
    let reply = client.ask(&question()).await.unwrap();
    assert_eq!(reply.text, "fine");
    assert_eq!(reply.failed[0].kind, kind);
    assert!(reply.attempts >= 2);

    let server = MockServer::start(always(fault));
    let (client, _) = client_with(&server, |setup| setup.timeout = timeout);
    let error = client.ask(&question()).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (kind, 4), "{error}");
}

#[tokio::test]
async fn a_reset_connection() {
    recovers_from(MockReply::Reset, ErrorKind::Connection).await;
}

#[tokio::test]
async fn a_truncated_body() {
    recovers_from(MockReply::Truncated("x".repeat(5000)), ErrorKind::Connection).await;
}

#[tokio::test]
async fn a_body_that_is_not_json() {
    recovers_from(
        MockReply::Raw("<html><body>Welcome to the hotel</body></html>".into()),
        ErrorKind::MalformedReply,
    )
    .await;
}

#[tokio::test]
async fn an_empty_body() {
    recovers_from(MockReply::Raw(String::new()), ErrorKind::MalformedReply).await;
}

#[tokio::test]
async fn no_answer_at_all() {
    recovers_from(MockReply::Hang, ErrorKind::Timeout).await;
}

#[tokio::test]
async fn a_body_too_slow_to_wait_for() {
    let pause = Duration::from_secs(1);
    recovers_from(MockReply::Drip { text: "slow".into(), pieces: 100, pause }, ErrorKind::Timeout).await;
}

#[tokio::test]
async fn a_slow_body_within_the_limit_is_read_whole() {
    let pause = Duration::from_millis(1);
    let text = "a long answer ".repeat(100);
    let server = MockServer::start(always(MockReply::Drip { text: text.clone(), pieces: 10, pause }));
    let (client, _) = client(&server);
    let question = ChatRequest { max_output_tokens: None, ..question() };
    assert_eq!(client.ask(&question).await.unwrap().text, text);
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let server = MockServer::start(always(MockReply::Hang));
    let (client, _) = client(&server);
    drop(server);
    let error = client.ask(&question()).await.unwrap_err();
    assert_eq!((error.kind, error.status), (ErrorKind::Connection, None));
    assert!(error.to_string().contains("OPENAI_BASE_URL"), "{error}");
}

#[tokio::test]
async fn an_answer_beyond_the_size_limit() {
    let server = MockServer::start(always(MockReply::text("x".repeat(100_000))));
    let options = HttpOptions { max_answer_bytes: 50_000, ..HttpOptions::default() };
    let (client, _) =
        client_with(&server, |setup| setup.transport = std::sync::Arc::new(HttpTransport::new(options)));
    let question = ChatRequest { max_output_tokens: None, ..question() };
    assert_eq!(client.ask(&question).await.unwrap_err().kind, ErrorKind::MalformedReply);
}

#[tokio::test]
async fn a_redirect_is_reported_not_followed() {
    let target = MockServer::start(always(MockReply::text("stolen")));
    let location = format!("{}/chat/completions", target.base_url());
    let server = MockServer::start(always(MockReply::Status {
        code: 307,
        headers: vec![("location".into(), location)],
        body: String::new(),
    }));
    let (client, _) = client(&server);
    let error = client.ask(&question()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest);
    assert!(error.to_string().contains("redirects to"), "{error}");
    assert_eq!(target.count(), 0);
}

#[tokio::test]
async fn refusals_and_early_ends_are_replies_with_a_reason() {
    let server = MockServer::start(sequence(vec![
        MockReply::Refusal("I would rather not.".into()),
        MockReply::finish("length", "{\"met\": tr"),
        MockReply::finish("content_filter", ""),
        MockReply::Json(serde_json::json!({"met": true})),
    ]));
    let (client, _) = client(&server);
    let refusal = client.ask(&question()).await.unwrap();
    assert_eq!((refusal.refusal.as_deref(), refusal.text.as_str()), (Some("I would rather not."), ""));
    let cut = client.ask(&question()).await.unwrap();
    assert_eq!((cut.finish, cut.text.as_str()), (FinishReason::Length, "{\"met\": tr"));
    assert_eq!(client.ask(&question()).await.unwrap().finish, FinishReason::ContentFilter);
    let good = client.ask(&question()).await.unwrap();
    assert_eq!((good.text.as_str(), good.finish), (r#"{"met":true}"#, FinishReason::Stop));
    assert_eq!(good.model.as_deref(), Some("judge-1"));
    assert!(good.usage.input.is_some() && good.raw.contains("chatcmpl-mock-3"));
}

#[tokio::test]
async fn a_long_error_page_becomes_a_short_message() {
    let page = format!("<!doctype html><html><h1>Bad Gateway</h1>{}</html>", "<p>words</p>".repeat(10_000));
    let server = MockServer::start(always(MockReply::status(400, page)));
    let (client, _) = client(&server);
    let error = client.ask(&question()).await.unwrap_err();
    assert!(error.message.starts_with("an HTML page: Bad Gateway words"), "{error}");
    assert!(error.message.chars().count() <= 301);
}
