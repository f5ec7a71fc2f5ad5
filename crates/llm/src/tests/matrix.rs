//! Every fault in every wire format: the right kind of error or end, and never a text that the model did not
//! write.

use std::time::Duration;

use crate::{AskError, ChatReply, ChatRequest, ErrorKind, FinishReason, ModelClient, RetryPolicy};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, MockToken, always, sequence};
use futures_util::future::join_all;

use crate::tests::support::{FORMATS, Format, client_of, question};

/// The text of a good answer; no fault may produce it.
const TRUTH: &str = r#"{"met":true}"#;

/// Short, because some faults last as long as it; long enough for a busy machine to answer everything else.
const SHORT: Duration = Duration::from_millis(400);

const PATIENT: Duration = Duration::from_mins(1);

/// A fault that shows as an error and may be transient.
struct Fault {
    name: String,
    reply: MockReply,
    kind: ErrorKind,
    status: Option<u16>,
    timeout: Duration,
}

fn fault(name: impl Into<String>, reply: MockReply, kind: ErrorKind, status: Option<u16>) -> Fault {
    let timeout = if kind == ErrorKind::Timeout && status.is_none() { SHORT } else { PATIENT };
    Fault { name: name.into(), reply, kind, status, timeout }
}

fn faults() -> Vec<Fault> {
    let limited = |retry_after| MockReply::RateLimited { retry_after };
    let mut all = vec![
        fault("429", limited(None), ErrorKind::RateLimited, Some(429)),
        fault("429 with a wait", limited(Some(Duration::from_secs(3))), ErrorKind::RateLimited, Some(429)),
        fault("reset", MockReply::Reset, ErrorKind::Connection, None),
        fault("truncated", MockReply::Truncated(TRUTH.repeat(200)), ErrorKind::Connection, None),
        fault("hang", MockReply::Hang, ErrorKind::Timeout, None),
        fault(
            "slow body",
            MockReply::Drip { text: TRUTH.repeat(50), pieces: 100, pause: Duration::from_secs(1) },
            ErrorKind::Timeout,
            None,
        ),
    ];
    let statuses = [
        (408, ErrorKind::Timeout),
        (409, ErrorKind::Server),
        (500, ErrorKind::Server),
        (502, ErrorKind::Server),
        (503, ErrorKind::Overloaded),
        (504, ErrorKind::Server),
        (529, ErrorKind::Overloaded),
    ];
    for (code, kind) in statuses {
        // The body looks like an answer of every format, but the status is an error.
        let body = r#"{"choices":[{"message":{"content":"{\"met\":true}"},"finish_reason":"stop"}],
            "content":[{"type":"text","text":"{\"met\":true}"}],"message":{"content":"{\"met\":true}"},
            "candidates":[{"content":{"parts":[{"text":"{\"met\":true}"}]},"finishReason":"STOP"}]}"#;
        all.push(fault(code.to_string(), MockReply::status(code, body), kind, Some(code)));
        all.push(fault(
            format!("{code} page"),
            MockReply::status(code, "<html>down</html>"),
            kind,
            Some(code),
        ));
    }
    for (name, body) in [
        ("prose", "The answer is met."),
        ("a page", "<html><body>Please log in</body></html>"),
        ("nothing", ""),
        ("half of a body", r#"{"choices":[{"message":{"content":"{\"met\":tr"#),
        ("a bare verdict", TRUTH),
        ("a list", r#"[{"met":true}]"#),
        ("null", "null"),
        ("an object of no format", r#"{"result":"met"}"#),
    ] {
        all.push(fault(name, MockReply::Raw(body.to_owned()), ErrorKind::MalformedReply, Some(200)));
    }
    all
}

fn client(format: &Format, server: &MockServer, timeout: Duration, max_attempts: u32) -> ModelClient {
    client_of(format, server, |setup| {
        setup.timeout = timeout;
        setup.policy = RetryPolicy { max_attempts, ..setup.policy };
    })
    .0
}

async fn once(format: &Format, reply: MockReply) -> Result<ChatReply, AskError> {
    let server = MockServer::start(always(reply));
    client(format, &server, PATIENT, 1).ask(&question()).await
}

#[tokio::test]
async fn transient_faults_are_retried_and_lasting_faults_are_reported() {
    // All formats at the same time, because some faults last as long as the time limit.
    join_all(FORMATS.iter().map(all_faults)).await;
}

async fn all_faults(format: &Format) {
    for fault in faults() {
        let context = format!("{} / {}", format.model, fault.name);
        let server = MockServer::start(sequence(vec![fault.reply.clone(), MockReply::text(TRUTH)]));
        let reply = client(format, &server, fault.timeout, 4).ask(&question()).await;
        let reply = reply.unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_eq!((reply.text.as_str(), &reply.finish), (TRUTH, &FinishReason::Stop), "{context}");
        let first = reply.failed.first().unwrap_or_else(|| panic!("{context}: no fault was met"));
        assert_eq!((first.kind, first.status), (fault.kind, fault.status), "{context}");
        assert_eq!(reply.attempts as usize, reply.failed.len() + 1, "{context}");

        let server = MockServer::start(always(fault.reply));
        let error = client(format, &server, fault.timeout, 2).ask(&question()).await.unwrap_err();
        assert_eq!((error.kind, error.status, error.attempts), (fault.kind, fault.status, 2), "{context}");
        assert_eq!(server.count(), 2, "{context}");
    }
}

#[tokio::test]
async fn a_wait_that_is_asked_for_is_kept_in_every_format() {
    for format in &FORMATS {
        let limited = MockReply::RateLimited { retry_after: Some(Duration::from_secs(7)) };
        let reset = MockReply::Status {
            code: 429,
            headers: vec![("x-ratelimit-reset-requests".into(), "2s".into())],
            body: "{}".into(),
        };
        let server = MockServer::start(sequence(vec![limited, reset, MockReply::text(TRUTH)]));
        let (client, clock) = client_of(format, &server, |_| {});
        assert_eq!(client.ask(&question()).await.unwrap().text, TRUTH);
        let waits: Vec<u64> = clock.waits().iter().map(Duration::as_secs).collect();
        assert_eq!(waits, [7, 2], "{}", format.model);
    }
}

#[tokio::test]
async fn an_answer_in_the_words_of_another_format_is_none() {
    let foreign = [
        r#"{"choices":[{"message":{"content":"{\"met\":true}"},"finish_reason":"stop"}]}"#,
        r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{\"met\":true}"}]}]}"#,
        r#"{"content":[{"type":"text","text":"{\"met\":true}"}],"stop_reason":"end_turn"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"{\"met\":true}"}]},"finishReason":"STOP"}]}"#,
        r#"{"message":{"content":"{\"met\":true}"},"done":true,"done_reason":"stop"}"#,
        r#"{"output":{"message":{"content":[{"text":"{\"met\":true}"}]}},"stopReason":"end_turn"}"#,
    ];
    for format in &FORMATS {
        let mut understood = 0;
        for body in foreign {
            match once(format, MockReply::Raw(body.to_owned())).await {
                Ok(reply) => {
                    assert_eq!(
                        (reply.text.as_str(), reply.finish),
                        (TRUTH, FinishReason::Stop),
                        "{}",
                        format.model
                    );
                    understood += 1;
                }
                Err(error) => assert_eq!(error.kind, ErrorKind::MalformedReply, "{}: {error}", format.model),
            }
        }
        assert_eq!(understood, 1, "{} understands its own format alone", format.model);
    }
}

#[tokio::test]
async fn refusals_filters_truncation_and_empty_replies_are_no_answers() {
    for format in &FORMATS {
        let context = format.model;
        let words = "I would rather not.";
        let refused = once(format, MockReply::Refusal(words.to_owned())).await.unwrap();
        // Ollama has no field for a refusal, so it is the model's text. Gemini has no field for the text of a refusal.
        // Bedrock returns it as text that is not marked as a refusal.
        match context {
            "ollama/judge-1" => assert_eq!((refused.text.as_str(), refused.refusal), (words, None)),
            "gemini/judge-1" | "vertex/judge-1" => {
                assert_eq!((refused.text.as_str(), refused.finish), ("", FinishReason::ContentFilter));
            }
            "bedrock/judge-1" => {
                assert_eq!((refused.text.as_str(), refused.finish), (words, FinishReason::ContentFilter));
            }
            _ => assert_eq!(
                (refused.text.as_str(), refused.refusal.as_deref()),
                ("", Some(words)),
                "{context}"
            ),
        }

        let cut = once(format, MockReply::finish("length", r#"{"met": tr"#)).await.unwrap();
        assert_eq!((cut.finish, cut.text.as_str()), (FinishReason::Length, r#"{"met": tr"#), "{context}");

        let filtered = once(format, MockReply::finish("content_filter", "")).await.unwrap();
        assert_eq!((filtered.finish, filtered.text.as_str()), (FinishReason::ContentFilter, ""), "{context}");

        let odd = once(format, MockReply::finish("odd", TRUTH)).await.unwrap();
        assert_eq!(odd.finish, FinishReason::Other("odd".into()), "{context}");

        let silent = once(format, MockReply::text("")).await.unwrap();
        assert_eq!(
            (silent.text.as_str(), silent.refusal, silent.finish),
            ("", None, FinishReason::Stop),
            "{context}"
        );
    }
}

#[tokio::test]
async fn a_good_answer_brings_everything_the_format_has() {
    for format in &FORMATS {
        let server = MockServer::start(always(MockReply::text(TRUTH)));
        let client = client(format, &server, PATIENT, 1);
        let reply = client.ask(&question()).await.unwrap();
        let named = (format.model != "bedrock/judge-1").then_some("judge-1");
        assert_eq!(reply.model.as_deref(), named, "{}", format.model);
        assert!(reply.usage.input.is_some() && reply.usage.output.is_some(), "{}", format.model);
        // Ollama has no request id, and Bedrock's is in a separate header.
        let silent = ["ollama/judge-1", "bedrock/judge-1"].contains(&format.model);
        assert_eq!(reply.request_id.is_some(), !silent, "{}", format.model);
        let sent = &server.requests()[0];
        assert_eq!(
            (sent.path.as_str(), sent.header("content-type")),
            (format.path, Some("application/json"))
        );
        assert_eq!(sent.body, client.body(&question()).unwrap());
    }
}

#[tokio::test]
async fn refused_parameters_are_learned_once_in_every_format() {
    for format in &FORMATS {
        let server = MockServer::start(|incoming: &MockRequest| {
            let body = incoming.body.to_string();
            let refused = body.contains(r#""temperature""#).then_some("temperature");
            refused.map_or_else(|| MockReply::text(TRUTH), MockReply::unsupported)
        });
        let (client, clock) = client_of(format, &server, |_| {});
        assert_eq!(client.ask(&question()).await.unwrap().attempts, 2, "{}", format.model);
        assert_eq!(client.ask(&question()).await.unwrap().attempts, 1, "{}", format.model);
        assert!(client.learned("judge-1").no_temperature && clock.waits().is_empty());
    }
}

#[tokio::test]
async fn logprobs_come_where_they_are_offered_and_asked_for() {
    for format in &FORMATS {
        let scripted = MockReply::Tokens(vec![
            MockToken::certain("un"),
            MockToken::chosen(&[("met", 0.75), ("known", 0.25)]),
        ]);
        let server = MockServer::start(always(scripted));
        let client = client(format, &server, PATIENT, 1);
        assert_eq!(client.ask(&question()).await.unwrap().logprobs(), None, "{}", format.model);
        let request = ChatRequest { logprobs: Some(5), ..question() };
        let reply = client.ask(&request).await.unwrap();
        assert_eq!(reply.text, "unmet");
        let Some(tokens) = reply.logprobs() else {
            assert!(["anthropic/judge-1", "bedrock/judge-1"].contains(&format.model), "{}", format.model);
            continue;
        };
        let read: Vec<_> = tokens.iter().map(|token| (token.token.as_str(), token.logprob)).collect();
        assert_eq!(read, [("un", 0.0), ("met", 0.75_f64.ln())], "{}", format.model);
        let other = &tokens[1].alternatives[1];
        assert_eq!((other.token.as_str(), other.logprob), ("known", 0.25_f64.ln()), "{}", format.model);
    }
}

#[tokio::test]
async fn a_model_without_an_output_format_fills_in_a_tool() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.body["output_config"].is_null() {
            MockReply::text(TRUTH)
        } else {
            MockReply::status(
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"output_config: Extra inputs are not permitted"}}"#,
            )
        }
    });
    let client = client(&FORMATS[3], &server, PATIENT, 1);
    let reply = client.ask(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish, reply.attempts), (TRUTH, FinishReason::Stop, 2));
    assert!(reply.raw.contains("tool_use"), "{}", reply.raw);
}
