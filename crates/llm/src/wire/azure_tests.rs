//! Golden pairs for Azure OpenAI, after the public API reference. The bodies are chat completions.

use super::super::golden_tests::{answer, encoded, named};
use super::*;
use crate::error::ErrorKind;
use crate::reply::FinishReason;
use crate::request::ChatMessage;

fn request() -> ChatRequest {
    ChatRequest {
        model: "my judge/1".into(),
        max_output_tokens: Some(5),
        ..ChatRequest::new(vec![ChatMessage::user("Hi")])
    }
}

fn decode(status: u16, body: &str) -> Result<ChatReply, AskError> {
    OpenAiChat::azure(true).decode(&named("apim-request-id", "apim-1", answer(status, body)))
}

#[test]
fn the_deployment_stands_in_the_path_of_the_older_api_only() {
    let call = OpenAiChat::azure(true).encode(&request(), ServerQuirks::default()).unwrap();
    assert_eq!(call.path, "/deployments/my%20judge%2F1/chat/completions");
    assert_eq!(
        encoded(&OpenAiChat::azure(true), &request(), ServerQuirks::default()),
        r#"{"model":"my judge/1","messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":5}"#
    );
    let call = OpenAiChat::azure(false).encode(&request(), ServerQuirks::default()).unwrap();
    assert_eq!(call.path, "/chat/completions");
    assert_eq!(OpenAiChat::azure(true).key_header(), KeyHeader { name: "api-key", prefix: "" });
}

#[test]
fn a_filtered_prompt_is_refused_content() {
    let error = decode(
        400,
        r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "type":null,"param":"prompt","code":"content_filter","status":400,
        "innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true}}}}}"#,
    )
    .unwrap_err();
    assert_eq!((error.kind, error.request_id.as_deref()), (ErrorKind::ContentRefused, Some("apim-1")));
}

#[test]
fn a_filtered_reply_ends_for_that_reason() {
    let reply = decode(
        200,
        r#"{"id":"c","model":"gpt-x","choices":[{"index":0,"finish_reason":"content_filter","message":{"role":"assistant"},
        "content_filter_results":{"violence":{"filtered":true,"severity":"high"}}}],
        "prompt_filter_results":[],"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}}"#,
    )
    .unwrap();
    assert_eq!(
        (reply.finish, reply.text.as_str(), reply.usage.input),
        (FinishReason::ContentFilter, "", Some(9))
    );
    assert_eq!(reply.request_id.as_deref(), Some("apim-1"));
}

#[test]
fn errors_in_azures_words() {
    let kind = |status, body: &str| decode(status, body).unwrap_err().kind;
    assert_eq!(
        kind(
            404,
            r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment does not exist."}}"#
        ),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(401, r#"{"statusCode":401,"message":"Access denied due to invalid subscription key."}"#),
        ErrorKind::Authentication
    );
    assert_eq!(
        kind(429, r#"{"error":{"code":"429","message":"Rate limit is exceeded. Try again in 7 seconds."}}"#),
        ErrorKind::RateLimited
    );
}
