//! Golden pairs for Anthropic's Messages, after the public API reference.

use serde_json::json;

use super::super::golden_tests::{SCHEMA, answer, decoded, encoded, full_request, named, read};
use super::*;
use crate::error::ErrorKind;

#[test]
fn a_full_request_is_these_bytes() {
    assert_eq!(
        encoded(&AnthropicMessages, &full_request("claude-x"), ServerQuirks::default()),
        [
            r#"{"model":"claude-x","system":"Be fair.","#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"\"Hi\"\n"}]}],"#,
            r#""max_tokens":500,"temperature":0.0,"output_config":{"format":{"type":"json_schema","schema":"#,
            SCHEMA,
            "}}}",
        ]
        .concat()
    );
    let call = AnthropicMessages.encode(&full_request("claude-x"), ServerQuirks::default()).unwrap();
    assert_eq!(call.path, "/v1/messages");
    assert!(call.headers.contains(&("anthropic-version", "2023-06-01".into())));
    assert_eq!(AnthropicMessages.key_header(), KeyHeader { name: "x-api-key", prefix: "" });
}

#[test]
fn without_an_output_format_a_tool_must_be_called() {
    let quirks =
        ServerQuirks { schema: SchemaSupport::JsonObject, no_temperature: true, ..ServerQuirks::default() };
    let sent = encoded(&AnthropicMessages, &full_request("claude-x"), quirks);
    let end = [
        r#""max_tokens":500,"tools":[{"name":"reply","description":"Takes the reply.","input_schema":"#,
        SCHEMA,
        r#"}],"tool_choice":{"type":"tool","name":"reply"}}"#,
    ]
    .concat();
    assert!(sent.ends_with(&end), "{sent}");
    let least = ServerQuirks { schema: SchemaSupport::None, ..quirks };
    assert!(encoded(&AnthropicMessages, &full_request("claude-x"), least).ends_with(r#""max_tokens":500}"#));
    let reply = decoded(
        &AnthropicMessages,
        r#"{"content":[{"type":"text","text":"Let me reply."},{"type":"tool_use","id":"t","name":"reply",
        "input":{"reason":"r","met":true}}],"stop_reason":"tool_use"}"#,
    )
    .unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), (r#"{"reason":"r","met":true}"#, FinishReason::Stop));
    let cut = decoded(&AnthropicMessages,
        r#"{"content":[{"type":"tool_use","name":"reply","input":{"reason":"r"}}],"stop_reason":"max_tokens"}"#,
    )
    .unwrap();
    assert_eq!(cut.finish, FinishReason::Length);
    let other = decoded(
        &AnthropicMessages,
        r#"{"content":[{"type":"tool_use","name":"x","input":{}}],"stop_reason":"tool_use"}"#,
    );
    assert_eq!(other.unwrap().finish, FinishReason::ToolCall);
}

#[test]
fn a_bare_request_gets_a_limit_and_pictures_are_sent_inline() {
    let mut request = ChatRequest::new(vec![ChatMessage {
        role: MessageRole::User,
        content: [
            Part::Image { media_type: "image/png".into(), data: "aGk=".into() },
            Part::Text("".into()),
            Part::Text("What?".into()),
        ]
        .into(),
    }]);
    request.model = "m".into();
    assert_eq!(
        encoded(&AnthropicMessages, &request, ServerQuirks::default()),
        concat!(
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","#,
            r#""media_type":"image/png","data":"aGk="}},{"type":"text","text":"What?"}]}],"max_tokens":8192}"#
        )
    );
    let small = ServerQuirks { limit: LimitField::Other, ..ServerQuirks::default() };
    assert!(encoded(&AnthropicMessages, &request, small).ends_with(r#""max_tokens":4096}"#));
    request.messages = [ChatMessage::user("")].into();
    assert_eq!(AnthropicMessages.encode(&request, small).unwrap_err().kind, ErrorKind::BadRequest);
}

#[test]
fn only_long_shared_prefixes_get_a_cache_mark() {
    let request = |parts: &[&str]| {
        let content = parts.iter().map(|part| Part::Text((*part).into())).collect();
        ChatRequest::new(vec![
            ChatMessage::system("Judge."),
            ChatMessage { role: MessageRole::User, content },
        ])
    };
    let marks = |parts: &[&str]| {
        encoded(&AnthropicMessages, &request(parts), ServerQuirks::default()).matches("cache_control").count()
    };
    let long = "x".repeat(5000);
    let sent = encoded(&AnthropicMessages, &request(&[&long, "question"]), ServerQuirks::default());
    let marked = r#"xx","cache_control":{"type":"ephemeral"}},{"type":"text","text":"question"}]}]"#;
    assert!(sent.contains(marked), "{sent}");
    assert_eq!(marks(&[&long, "question", "repair"]), 1);
    assert_eq!(marks(&[&long]), 0, "nothing is shared where nothing follows");
    assert_eq!(marks(&["short", &long]), 0);
    let last = ChatRequest { cache_prefix: false, ..request(&[&long, "question"]) };
    assert!(
        !encoded(&AnthropicMessages, &last, ServerQuirks::default()).contains("cache_control"),
        "nothing will follow"
    );
}

#[test]
fn a_full_reply_is_read_completely() {
    let raw = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-x-2026","content":[
        {"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"{\"met\":"},{"type":"text","text":"true}"}],
        "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":93,"cache_creation_input_tokens":10,
        "cache_read_input_tokens":1024,"output_tokens":46,"service_tier":"standard"}}"#;
    let reply = read(&AnthropicMessages, named("request-id", "req_1", answer(200, raw))).unwrap();
    assert_eq!((reply.text.as_str(), &reply.finish), (r#"{"met":true}"#, &FinishReason::Stop));
    assert_eq!(reply.usage, TokenCounts { input: Some(1127), cached: Some(1024), output: Some(46) });
    assert_eq!(reply.model.as_deref(), Some("claude-x-2026"));
    assert_eq!(reply.request_id.as_deref(), Some("req_1"));
    assert_eq!((reply.raw.as_str(), reply.cache_written()), (raw, Some(10)));
}

#[test]
fn ends_of_every_kind() {
    let read = |reason: &str| {
        let reply = decoded(
            &AnthropicMessages,
            &format!(r#"{{"content":[{{"type":"text","text":"words"}}],"stop_reason":"{reason}"}}"#),
        )
        .unwrap();
        (reply.finish, reply.text, reply.refusal)
    };
    let words = || "words".to_owned();
    assert_eq!(read("stop_sequence"), (FinishReason::Stop, words(), None));
    assert_eq!(read("max_tokens"), (FinishReason::Length, words(), None));
    assert_eq!(read("model_context_window_exceeded"), (FinishReason::Length, words(), None));
    assert_eq!(read("refusal"), (FinishReason::ContentFilter, String::new(), Some(words())));
    assert_eq!(read("pause_turn").0, FinishReason::Other("pause_turn".into()));
    let silent =
        decoded(&AnthropicMessages, r#"{"content":[],"stop_reason":"end_turn","usage":{"output_tokens":2}}"#)
            .unwrap();
    assert_eq!((silent.text.as_str(), silent.usage.input), ("", None));
    let unsaid = decoded(
        &AnthropicMessages,
        r#"{"content":[],"stop_reason":"refusal","stop_details":{"explanation":"no"}}"#,
    )
    .unwrap();
    assert_eq!(unsaid.refusal.as_deref(), Some("no"));
    let bare = decoded(
        &AnthropicMessages,
        r#"{"content":[],"stop_reason":"refusal","stop_details":{"category":"cyber"}}"#,
    )
    .unwrap();
    assert_eq!((bare.refusal.as_deref(), bare.finish), (Some("cyber"), FinishReason::ContentFilter));
}

#[test]
fn errors_in_anthropics_words() {
    let kind = |status, kind: &str, message: &str| {
        let body = format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_2"}}"#
        );
        AnthropicMessages.decode(&answer(status, &body)).unwrap_err().kind
    };
    assert_eq!(kind(429, "rate_limit_error", "slow down"), ErrorKind::RateLimited);
    assert_eq!(kind(529, "overloaded_error", "Overloaded"), ErrorKind::Overloaded);
    assert_eq!(kind(500, "api_error", "Internal server error"), ErrorKind::Server);
    assert_eq!(kind(504, "timeout_error", "too slow"), ErrorKind::Server);
    assert_eq!(kind(401, "authentication_error", "invalid x-api-key"), ErrorKind::Authentication);
    assert_eq!(kind(403, "permission_error", "no"), ErrorKind::PermissionDenied);
    assert_eq!(kind(402, "billing_error", "no"), ErrorKind::PermissionDenied);
    assert_eq!(kind(404, "not_found_error", "model: x"), ErrorKind::NotFound);
    assert_eq!(kind(413, "request_too_large", "too large"), ErrorKind::ContextLength);
    let long = "prompt is too long: 210000 tokens > 200000 maximum";
    assert_eq!(kind(400, "invalid_request_error", long), ErrorKind::ContextLength);
    let filtered = "Output blocked by content filtering policy";
    assert_eq!(kind(400, "invalid_request_error", filtered), ErrorKind::ContentRefused);
    assert_eq!(kind(200, "overloaded_error", "Overloaded"), ErrorKind::Overloaded);
    for body in ["{}", "[1]", "7", r#"{"choices":[{"message":{"content":"x"}}]}"#] {
        assert_eq!(decoded(&AnthropicMessages, body).unwrap_err().kind, ErrorKind::MalformedReply, "{body}");
    }
}

#[test]
fn refusals_teach() {
    let learned = |request: &ChatRequest, message: &str, quirks| {
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        AnthropicMessages.learn(request, &answer(400, &body.to_string()), quirks)
    };
    let none = ServerQuirks::default();
    let tool = ServerQuirks { schema: SchemaSupport::JsonObject, ..none };
    let full = full_request("claude-x");
    assert_eq!(
        learned(&full, "`temperature` is deprecated for this model.", none),
        Some(ServerQuirks { no_temperature: true, ..none })
    );
    assert_eq!(learned(&full, "output_config.format: Extra inputs are not permitted", none), Some(tool));
    assert_eq!(
        learned(&full, "Thinking is not allowed when tool_choice forces tool use.", tool),
        Some(ServerQuirks { schema: SchemaSupport::None, ..none })
    );
    assert_eq!(learned(&full, "temperature: range: 0..1", none), None);
    let too_many =
        "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-x";
    assert_eq!(learned(&full, too_many, none), None, "the caller's own limit is the caller's mistake");
    let bare = ChatRequest::new(vec![ChatMessage::user("x")]);
    let small = ServerQuirks { limit: LimitField::Other, ..none };
    assert_eq!(learned(&bare, too_many, none), Some(small));
    assert_eq!(learned(&bare, too_many, small), None);
}
