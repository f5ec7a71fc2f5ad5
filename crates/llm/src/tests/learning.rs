//! Parameters that a server refuses are omitted from later requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{ErrorKind, LimitField, SchemaSupport, ServerQuirks};
use assize_testkit::mock::{MockReply, MockRequest, MockServer};

use crate::tests::support::{FORMATS, client, client_of, question};

/// A server that refuses these parameters by name.
fn picky(refused: &'static [&'static str]) -> MockServer {
    MockServer::start(move |incoming: &MockRequest| {
        match refused.iter().find(|name| !incoming.body[**name].is_null()) {
            Some(name) => MockReply::unsupported(name),
            None => MockReply::text("fine"),
        }
    })
}

#[tokio::test]
async fn each_refused_parameter_costs_one_call_and_is_never_sent_again() {
    let server = picky(&["temperature", "seed"]);
    let (client, clock) = client(&server);
    let reply = client.ask(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts, server.count()), ("fine", 3, 3));
    assert!(clock.waits().is_empty(), "asking for less needs no wait");
    assert_eq!(
        client.learned("judge-1"),
        ServerQuirks { no_temperature: true, no_seed: true, ..ServerQuirks::default() }
    );
    assert_eq!(client.ask(&question()).await.unwrap().attempts, 1);
    let last = server.requests().last().unwrap().json();
    assert!(last.get("temperature").is_none() && last.get("seed").is_none());
    assert!(last.get("response_format").is_some(), "what was not refused stays");
}

#[tokio::test]
async fn the_output_limit_is_renamed() {
    let server = picky(&["max_tokens"]);
    let (client, _) = client(&server);
    assert_eq!(client.ask(&question()).await.unwrap().attempts, 2);
    let last = server.requests().last().unwrap().json();
    assert_eq!(last["max_completion_tokens"], 100);
    assert_eq!(client.learned("judge-1").limit, LimitField::Other);
}

#[tokio::test]
async fn schema_falls_back_to_json_object_and_then_to_nothing() {
    let server = picky(&["response_format"]);
    let (client, _) = client(&server);
    assert_eq!(client.ask(&question()).await.unwrap().attempts, 3);
    let formats: Vec<_> =
        server.requests().iter().map(|r| r.json()["response_format"]["type"].clone()).collect();
    assert_eq!(formats, [serde_json::json!("json_schema"), serde_json::json!("json_object"), ().into()]);
    assert_eq!(client.learned("judge-1").schema, SchemaSupport::None);
}

#[tokio::test]
async fn quirks_of_one_model_do_not_affect_another() {
    let server = picky(&["seed"]);
    let (client, _) = client(&server);
    client.ask(&question()).await.unwrap();
    let mut other = question();
    other.model = "judge-2".into();
    assert_eq!(client.ask(&other).await.unwrap().attempts, 2);
}

#[tokio::test]
async fn refusal_that_dropping_parameters_does_not_cure_is_not_learned() {
    let server = MockServer::start(|_: &MockRequest| MockReply::unsupported("temperature"));
    let (client, _) = client(&server);
    let error = client.ask(&question()).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ErrorKind::BadRequest, 2));
    assert_eq!(client.learned("judge-1"), ServerQuirks::default());
}

#[tokio::test]
async fn learning_leaves_all_attempts_for_real_faults() {
    let count = AtomicUsize::new(0);
    let server = MockServer::start(move |incoming: &MockRequest| {
        if !incoming.body["seed"].is_null() {
            return MockReply::unsupported("seed");
        }
        // Three faults use up three of the client's four attempts.
        if count.fetch_add(1, Ordering::Relaxed) < 3 {
            MockReply::status(500, "")
        } else {
            MockReply::text("fine")
        }
    });
    let (client, _) = client(&server);
    assert_eq!(client.ask(&question()).await.unwrap().attempts, 5);
}

#[tokio::test]
async fn system_prompt_is_merged_into_first_user_message() {
    for (format, refusal) in [
        (&FORMATS[0], "System role not supported"),
        (&FORMATS[4], "Developer instruction is not enabled for models/judge-1"),
        (&FORMATS[6], "This model doesn't support system messages. Try again without a system message."),
    ] {
        let server = MockServer::start(move |incoming: &MockRequest| {
            if incoming.system_text.is_empty() {
                MockReply::text("fine")
            } else {
                MockReply::status(400, serde_json::json!({"message": refusal}).to_string())
            }
        });
        let (client, _) = client_of(format, &server, |_| {});
        assert_eq!(client.ask(&question()).await.unwrap().attempts, 2, "{}", format.model);
        assert_eq!(client.ask(&question()).await.unwrap().attempts, 1, "{}", format.model);
        let last = server.requests().last().unwrap().json().to_string();
        assert!(last.contains(r#""Judge.\n\nIs it so?""#), "{last}");
    }
}

/// A Claude of 2026: neither temperature nor a tool that must be called, in the words of its server.
#[tokio::test]
async fn what_a_new_claude_refuses_is_learned_by_one_call_while_the_others_wait() {
    for (format, calls) in [(&FORMATS[3], 42), (&FORMATS[6], 43)] {
        let server = MockServer::start(|incoming: &MockRequest| {
            let refuse = |message: &str| {
                let body = serde_json::json!({"type": "error", "message": message, "error": {"type": "invalid_request_error", "message": message}});
                MockReply::status(400, body.to_string())
            };
            let body = &incoming.body;
            let has = |place: &str| body.pointer(place).is_some_and(|value| !value.is_null());
            if has("/temperature") || has("/inferenceConfig/temperature") {
                return refuse("`temperature` is deprecated for this model.");
            }
            if has("/toolConfig/toolChoice") {
                return refuse(
                    "tool_choice: type \"tool\" and \"any\" are not supported for this model. \"auto\" and \"none\" are supported.",
                );
            }
            MockReply::text("fine").after(std::time::Duration::from_millis(20))
        });
        // The others wait for the first answer, unless it takes long by this clock.
        let (client, _) =
            client_of(format, &server, |setup| setup.clock = std::sync::Arc::new(crate::TokioClock));
        let question = question();
        let asking = (0..41).map(|_| client.ask(&question));
        for reply in futures_util::future::join_all(asking).await {
            assert_eq!(reply.unwrap().text, "fine", "{}", format.model);
        }
        assert_eq!(server.count(), calls, "{}", format.model);
    }
}
