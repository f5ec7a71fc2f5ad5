//! Golden pairs for Amazon Bedrock's Converse, after the public API reference.

use serde_json::json;

use super::super::golden_tests::{answer, decoded, encoded, full_conversation, named};
use super::*;
use crate::error::ErrorKind;

#[test]
fn a_full_request_is_these_bytes() {
    let call = BedrockConverse
        .encode(&full_conversation("eu.anthropic.claude-x-v1:0"), ServerQuirks::default())
        .unwrap();
    assert_eq!(call.path, "/model/eu.anthropic.claude-x-v1%3A0/converse");
    assert_eq!(
        encoded(&BedrockConverse, &full_conversation("eu.anthropic.claude-x-v1:0"), ServerQuirks::default()),
        concat!(
            r#"{"messages":[{"role":"user","content":[{"text":"\"Hi\"\n"}]},"#,
            r#"{"role":"assistant","content":[{"text":"Yes?"}]},{"role":"user","content":[{"text":"So?"}]}],"#,
            r#""system":[{"text":"Be fair."}],"inferenceConfig":{"maxTokens":500,"temperature":0.0},"#,
            r#""toolConfig":{"tools":[{"toolSpec":{"name":"reply","description":"Takes the reply.","#,
            r#""inputSchema":{"json":{"type":"object","properties":{"reason":{"type":"string"},"met":{"type":"boolean"}}}}}}],"#,
            r#""toolChoice":{"tool":{"name":"reply"}}}}"#,
        )
    );
}

#[test]
fn a_bare_request_has_nothing_that_was_not_asked_for() {
    let request = ChatRequest { model: "m".into(), ..ChatRequest::new(vec![ChatMessage::user("q")]) };
    assert_eq!(
        encoded(&BedrockConverse, &request, ServerQuirks::default()),
        r#"{"messages":[{"role":"user","content":[{"text":"q"}]}]}"#
    );
    let arn = ChatRequest { model: "arn:aws:bedrock:eu-west-1:1:inference-profile/x".into(), ..request };
    let path = BedrockConverse.encode(&arn, ServerQuirks::default()).unwrap().path;
    assert_eq!(path, "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse");
}

#[test]
fn pictures_are_sent_in_the_formats_there_are() {
    let picture = |media_type: &str| ChatMessage {
        role: MessageRole::User,
        content: [Part::Image { media_type: media_type.into(), data: "AAAA".into() }].into(),
    };
    let request =
        |media_type| ChatRequest { model: "m".into(), ..ChatRequest::new(vec![picture(media_type)]) };
    assert!(
        encoded(&BedrockConverse, &request("image/png"), ServerQuirks::default())
            .contains(r#"{"image":{"format":"png","source":{"bytes":"AAAA"}}}"#)
    );
    let refused = BedrockConverse.encode(&request("image/svg+xml"), ServerQuirks::default()).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
}

#[test]
fn answers_are_read_and_tools_are_replies() {
    let reply = decoded(&BedrockConverse,
        r#"{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm"}}},
           {"text":"Hello"}]}},"stopReason":"end_turn","usage":{"inputTokens":10,"outputTokens":3,"totalTokens":13,
           "cacheReadInputTokens":5,"cacheWriteInputTokens":2},"metrics":{"latencyMs":7}}"#,
    )
    .unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("Hello", FinishReason::Stop));
    assert_eq!(reply.usage, TokenCounts { input: Some(17), cached: Some(5), output: Some(3) });

    let silent = named("x-amzn-requestid", "r-1", answer(200, r#"{"output":{"message":{"content":[]}}}"#));
    assert_eq!(BedrockConverse.decode(&silent).unwrap().request_id.as_deref(), Some("r-1"));

    let filled = decoded(
        &BedrockConverse,
        r#"{"output":{"message":{"role":"assistant","content":[{"text":"I call"},
           {"toolUse":{"toolUseId":"t","name":"reply","input":{"met":true}}}]}},"stopReason":"tool_use"}"#,
    )
    .unwrap();
    assert_eq!((filled.text.as_str(), filled.finish), (r#"{"met":true}"#, FinishReason::Stop));

    for (reason, finish) in [
        ("max_tokens", FinishReason::Length),
        ("guardrail_intervened", FinishReason::ContentFilter),
        ("content_filtered", FinishReason::ContentFilter),
        ("malformed_tool_use", FinishReason::Other("malformed_tool_use".into())),
    ] {
        let body = format!(r#"{{"output":{{"message":{{"content":[]}}}},"stopReason":"{reason}"}}"#);
        assert_eq!(decoded(&BedrockConverse, &body).unwrap().finish, finish, "{reason}");
    }
}

#[test]
fn refusals_and_broken_answers_are_errors() {
    let refused = |status, message: &str| {
        BedrockConverse.decode(&answer(status, &json!({ "message": message }).to_string())).unwrap_err()
    };
    let limited = refused(429, "Too many requests, please wait before trying again.");
    assert_eq!(limited.kind, ErrorKind::RateLimited);
    let denied = refused(403, "You don't have access to the model with the specified model ID.");
    assert!(!matches!(denied.kind, ErrorKind::RateLimited | ErrorKind::MalformedReply), "{denied:?}");
    assert!(denied.message.contains("access to the model"));
    assert_eq!(decoded(&BedrockConverse, "<html>").unwrap_err().kind, ErrorKind::MalformedReply);
    assert_eq!(decoded(&BedrockConverse, "{}").unwrap_err().kind, ErrorKind::MalformedReply);
}

#[test]
fn model_without_forced_tools_gets_the_schema_as_output_format() {
    let request = full_conversation("eu.anthropic.claude-x-v1:0");
    let refused = |message: &str, quirks| {
        let learned =
            BedrockConverse.learn(&request, &answer(400, &json!({ "message": message }).to_string()), quirks);
        learned.unwrap_or_else(|| panic!("{message} teaches something"))
    };
    for message in [
        "This model doesn't support tool use.",
        "This model doesn't support the toolConfig.toolChoice.tool field. Remove toolConfig.toolChoice.tool and try again.",
    ] {
        let once = refused(message, ServerQuirks::default());
        let sent = encoded(&BedrockConverse, &request, once);
        assert!(!sent.contains("toolConfig"), "{sent}");
        assert!(
            sent.ends_with(concat!(
                r#""outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"name":"judgement","#,
                r#""schema":"{\"type\":\"object\",\"properties\":{\"reason\":{\"type\":\"string\"},\"met\":{\"type\":\"boolean\"}}}"}}}}}"#
            )),
            "{sent}"
        );
        let twice = refused("This model doesn't support the outputConfig.textFormat field.", once);
        let sent = encoded(&BedrockConverse, &request, twice);
        assert!(!sent.contains("outputConfig") && !sent.contains("toolConfig"), "{sent}");
        assert!(
            BedrockConverse
                .learn(&request, &answer(400, r#"{"message":"Malformed input"}"#), twice)
                .is_none()
        );
    }
}
