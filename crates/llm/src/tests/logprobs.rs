//! Calls that need log-probabilities: as many alternatives as possible are requested, and nothing is paid if the model
//! returns none.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::{ChatRequest, ErrorKind, ModelClient, RetryPolicy};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, MockToken, always};
use futures_util::future::join_all;

use crate::tests::support::{FORMATS, Format, client_of, question, question_in};

fn weighted() -> ChatRequest {
    ChatRequest { logprobs: Some(20), ..question() }
}

fn tokens() -> MockReply {
    MockReply::Tokens(vec![MockToken::chosen(&[("met", 0.75), ("unmet", 0.25)])])
}

fn offering() -> impl Iterator<Item = &'static Format> {
    FORMATS
        .iter()
        .filter(|format| !["anthropic", "bedrock"].iter().any(|name| format.model.starts_with(name)))
}

/// Asks many different questions at the same time. Returns how each ended.
async fn many(client: &ModelClient) -> Vec<Option<ErrorKind>> {
    let questions: Vec<ChatRequest> = (0..20)
        .map(|number| ChatRequest { logprobs: Some(20), ..question_in(&format!("Is {number} so?")) })
        .collect();
    let calls = questions.iter().map(|question| client.ask(question));
    join_all(calls).await.into_iter().map(|answer| answer.err().map(|error| error.kind)).collect()
}

#[tokio::test]
async fn model_that_refuses_logprobs_is_asked_once_for_free() {
    for format in offering() {
        let server = MockServer::start(|incoming: &MockRequest| {
            if incoming.body.to_string().contains("ogprobs") {
                return MockReply::status(
                    403,
                    r#"{"error":{"message":"You are not allowed to request logprobs from this model","type":
                    "invalid_request_error","param":null,"code":null}}"#,
                );
            }
            MockReply::text("fine")
        });
        let (client, clock) = client_of(format, &server, |_| {});
        let ends = many(&client).await;
        assert_eq!(ends, [Some(ErrorKind::NoLogprobs); 20], "{}", format.model);
        assert_eq!(server.count(), 1, "{}", format.model);
        let error = client.ask(&weighted()).await.unwrap_err();
        assert_eq!((error.attempts, server.count()), (0, 1), "{}", format.model);
        assert!(error.message.contains("not allowed to request logprobs"), "{error}");
        assert!(clock.waits().is_empty());
        assert_eq!(client.ask(&question()).await.unwrap().text, "fine", "others are asked as before");
    }
}

#[tokio::test]
async fn model_without_logprobs_in_its_replies_is_paid_for_once() {
    for format in offering() {
        let server = MockServer::start(always(MockReply::text("fine")));
        let (client, _) = client_of(format, &server, |_| {});
        let ends = many(&client).await;
        assert_eq!(ends.iter().filter(|end| end.is_none()).count(), 1, "{}: {ends:?}", format.model);
        assert_eq!(ends.iter().filter(|end| **end == Some(ErrorKind::NoLogprobs)).count(), 19);
        assert_eq!(server.count(), 1, "{}", format.model);
        let other = ChatRequest { model: "judge-2".into(), ..weighted() };
        assert!(client.ask(&other).await.is_ok(), "what one model lacks another may have");
    }
}

#[tokio::test]
async fn one_reply_without_logprobs_proves_nothing_once_another_had_them() {
    let server = MockServer::start(
        |incoming: &MockRequest| {
            if incoming.index == 0 { tokens() } else { MockReply::text("fine") }
        },
    );
    let (client, _) = client_of(&FORMATS[0], &server, |_| {});
    assert!(client.ask(&weighted()).await.unwrap().logprobs().is_some());
    for _ in 0..3 {
        assert_eq!(client.ask(&weighted()).await.unwrap().logprobs(), None);
    }
}

#[tokio::test]
async fn incomplete_replies_are_inconclusive_probes() {
    for reply in [
        MockReply::Refusal("No.".into()),
        MockReply::finish("length", "fi"),
        MockReply::finish("content_filter", "fi"),
        MockReply::text(""),
    ] {
        let server = MockServer::start(
            move |incoming: &MockRequest| {
                if incoming.index == 0 { reply.clone() } else { tokens() }
            },
        );
        let (client, _) = client_of(&FORMATS[0], &server, |_| {});
        assert_eq!(client.ask(&weighted()).await.unwrap().logprobs(), None);
        assert!(client.ask(&weighted()).await.unwrap().logprobs().is_some());
    }
}

#[tokio::test]
async fn failed_probe_does_not_hold_up_later_requests() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.last_user_text.contains("Is 0 so?") { MockReply::Hang } else { tokens() }
    });
    let timeout = Duration::from_millis(300);
    let (client, _) = client_of(&FORMATS[0], &server, |setup| {
        setup.timeout = timeout;
        setup.policy = RetryPolicy { max_attempts: 20, ..setup.policy };
    });
    let others = async {
        // After the first of twenty attempts of the question that hangs.
        let questions: Vec<_> = (1..10)
            .map(|number| ChatRequest { logprobs: Some(20), ..question_in(&format!("Is {number} so?")) })
            .collect();
        join_all(questions.iter().map(|question| client.ask(question))).await
    };
    let hanging = ChatRequest { logprobs: Some(20), ..question_in("Is 0 so?") };
    tokio::select! {
        biased;
        _ = client.ask(&hanging) => panic!("the others waited for all attempts"),
        answers = others => assert!(answers.iter().all(Result::is_ok)),
    }
}

#[tokio::test]
async fn as_many_alternatives_are_asked_for_as_there_are() {
    for (format, pointer, refusal) in [
        (
            "openai:judge-1",
            "/top_logprobs",
            "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 5, but got 20 instead.",
        ),
        (
            "vllm:judge-1",
            "/top_logprobs",
            "Requested sample logprobs of 20, which is greater than max allowed: 5",
        ),
        (
            "fireworks:judge-1",
            "/top_logprobs",
            "[{'type': 'less_than_equal', 'loc': ('body', 'top_logprobs'), 'msg': 'Input should be less than or equal \
             to 5', 'input': 20, 'ctx': {'le': 5}}]",
        ),
        ("gemini:judge-1", "/generationConfig/logprobs", "logprobs must be in the range [1, 5]."),
        (
            "gemini:judge-1",
            "/generationConfig/logprobs",
            "Unable to submit request because it has a logprobs value of 20 but the supported range is from 1 \
             (inclusive) to 6 (exclusive). Update the value and try again.",
        ),
        ("ollama:judge-1", "/top_logprobs", "top_logprobs must be between 0 and 5"),
    ] {
        let refused = AtomicUsize::new(0);
        let server = MockServer::start(move |incoming: &MockRequest| {
            if incoming.body.pointer(pointer).and_then(serde_json::Value::as_u64) == Some(5) {
                return tokens();
            }
            refused.fetch_add(1, Ordering::Relaxed);
            MockReply::status(400, serde_json::json!({"error": {"message": refusal}}).to_string())
        });
        let base_url = server.base_url();
        let env = |name: &str| {
            if name.ends_with("_KEY") {
                Some("sk-test-0123456789abcdef".to_owned())
            } else {
                (name.ends_with("_BASE_URL") || name == "OLLAMA_HOST").then(|| base_url.clone())
            }
        };
        let client =
            ModelClient::from_name(&format.parse().unwrap(), &env, crate::ClientSetup::default()).unwrap();
        let reply = client.ask(&weighted()).await.unwrap_or_else(|error| panic!("{refusal}: {error}"));
        assert_eq!((reply.attempts, server.count()), (2, 2), "{refusal}");
        assert_eq!(client.ask(&weighted()).await.unwrap().attempts, 1, "learned once: {refusal}");
    }
}

#[tokio::test]
async fn openrouter_routes_logprobs_requests_to_servers_that_support_them() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.body["provider"]["require_parameters"] == true {
            return MockReply::status(
                404,
                r#"{"error":{"message":"No endpoints found that can handle the requested parameters.","code":404}}"#,
            );
        }
        MockReply::text("fine")
    });
    let (client, _) = client_of(FORMATS.last().unwrap(), &server, |_| {});
    let error = client.ask(&weighted()).await.unwrap_err();
    assert_eq!((error.kind, server.count()), (ErrorKind::NoLogprobs, 1));
    assert!(client.ask(&question()).await.is_ok());
}
