//! Golden pairs for OpenAI's chat completions, after the public API reference.

use serde_json::json;

use super::super::golden_tests::{self, answer, encoded, named, read};
use super::*;
use crate::error::ErrorKind;
use crate::request::{ChatMessage, MessageRole};

/// Without log-probabilities, which few callers ask for.
fn full_request() -> ChatRequest {
    ChatRequest { logprobs: None, ..golden_tests::full_request("gpt-x") }
}

fn body(dialect: ChatDialect, request: &ChatRequest, quirks: ServerQuirks) -> String {
    encoded(&OpenAiChat::new(dialect), request, quirks)
}

fn decode(status: u16, body: &str) -> Result<ChatReply, AskError> {
    read(&OpenAiChat::new(ChatDialect::OPENAI), named("x-request-id", "req_1", answer(status, body)))
}

#[test]
fn a_full_request_is_these_bytes() {
    assert_eq!(
        body(ChatDialect::OPENAI, &full_request(), ServerQuirks::default()),
        concat!(
            r#"{"model":"gpt-x","messages":[{"role":"system","content":"Be fair."},"#,
            r#"{"role":"user","content":"\"Hi\"\n"}],"#,
            r#""response_format":{"type":"json_schema","json_schema":{"name":"judgement","strict":true,"#,
            r#""schema":{"type":"object","properties":{"reason":{"type":"string"},"met":{"type":"boolean"}}}}},"#,
            r#""temperature":0.0,"seed":7,"max_completion_tokens":500}"#
        )
    );
    let call = OpenAiChat::new(ChatDialect::OPENAI).encode(&full_request(), ServerQuirks::default()).unwrap();
    assert_eq!(call.path, "/chat/completions");
    assert!(call.headers.contains(&("content-type", "application/json".into())));
}

#[test]
fn a_bare_request_and_a_picture() {
    let mut request = ChatRequest::new(vec![ChatMessage {
        role: MessageRole::User,
        content: [
            Part::Text("What is it?".into()),
            Part::Image { media_type: "image/png".into(), data: "aGk=".into() },
        ]
        .into(),
    }]);
    request.model = "m".into();
    assert_eq!(
        body(ChatDialect::COMPATIBLE, &request, ServerQuirks::default()),
        concat!(
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]}"#
        )
    );
    let content = vec![Part::Text("a".into()), Part::Text("b".into())];
    request.messages = [ChatMessage { role: MessageRole::User, content: content.into() }].into();
    assert!(
        body(ChatDialect::COMPATIBLE, &request, ServerQuirks::default())
            .contains(r#"{"role":"user","content":"ab"}"#)
    );
}

#[test]
fn quirks_and_dialects_leave_out_what_is_refused() {
    let quirks = ServerQuirks {
        no_temperature: true,
        no_seed: true,
        no_logprobs: true,
        schema: SchemaSupport::JsonObject,
        limit: LimitField::Other,
        ..ServerQuirks::default()
    };
    let sent = body(ChatDialect::OPENAI, &full_request(), quirks);
    assert!(sent.ends_with(r#""response_format":{"type":"json_object"},"max_tokens":500}"#), "{sent}");
    let least = ServerQuirks { schema: SchemaSupport::None, limit: LimitField::Dropped, ..quirks };
    let sent = body(ChatDialect::OPENAI, &full_request(), least);
    assert!(sent.ends_with(r#""content":"\"Hi\"\n"}]}"#), "{sent}");
    assert!(
        body(ChatDialect::COMPATIBLE, &full_request(), ServerQuirks::default())
            .ends_with(r#""seed":7,"max_tokens":500}"#)
    );
}

#[test]
fn log_probabilities_and_the_seeds_of_other_dialects() {
    let request = ChatRequest { logprobs: Some(5), schema: None, ..full_request() };
    assert!(
        body(ChatDialect::OPENAI, &request, ServerQuirks::default())
            .ends_with(r#""seed":7,"max_completion_tokens":500,"logprobs":true,"top_logprobs":5}"#)
    );
    assert!(
        body(ChatDialect::MISTRAL, &full_request(), ServerQuirks::default())
            .ends_with(r#""temperature":0.0,"random_seed":7,"max_tokens":500}"#)
    );
    assert!(
        body(ChatDialect::OBJECT_ONLY, &full_request(), ServerQuirks::default())
            .contains(r#""response_format":{"type":"json_object"}"#)
    );
    let extra = answer(
        422,
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","random_seed"],"msg":"Extra inputs are not permitted"}]}"#,
    );
    let learned =
        OpenAiChat::new(ChatDialect::MISTRAL).learn(&full_request(), &extra, ServerQuirks::default());
    assert_eq!(learned, Some(ServerQuirks { no_seed: true, ..ServerQuirks::default() }));
    let refused = answer(
        403,
        r#"{"error":{"message":"You are not allowed to request logprobs from this model","type":"invalid_request_error"}}"#,
    );
    let learned = OpenAiChat::new(ChatDialect::OPENAI).learn(&request, &refused, ServerQuirks::default());
    assert_eq!(learned, Some(ServerQuirks { no_logprobs: true, ..ServerQuirks::default() }));
}

#[test]
fn unsendable_requests_are_refused_here() {
    let wire = OpenAiChat::new(ChatDialect::OPENAI);
    for request in [
        ChatRequest::new(vec![]),
        ChatRequest { temperature: Some(f64::NAN), ..full_request() },
        ChatRequest { temperature: Some(f64::INFINITY), ..full_request() },
    ] {
        assert_eq!(wire.encode(&request, ServerQuirks::default()).unwrap_err().kind, ErrorKind::BadRequest);
    }
}

#[test]
fn a_full_reply_is_read_completely() {
    let raw = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-x-2026","choices":[{"index":0,
        "message":{"role":"assistant","content":"{\"met\":true}","refusal":null,"annotations":[]},
        "logprobs":null,"finish_reason":"stop"}],
        "usage":{"prompt_tokens":1117,"completion_tokens":46,"total_tokens":1163,
        "prompt_tokens_details":{"cached_tokens":1024},"completion_tokens_details":{"reasoning_tokens":0}}}"#;
    let reply = decode(200, raw).unwrap();
    assert_eq!(reply.text, r#"{"met":true}"#);
    assert_eq!(reply.finish, FinishReason::Stop);
    assert_eq!(reply.refusal, None);
    assert_eq!(reply.usage, TokenCounts { input: Some(1117), cached: Some(1024), output: Some(46) });
    assert_eq!(reply.model.as_deref(), Some("gpt-x-2026"));
    assert_eq!(reply.request_id.as_deref(), Some("req_1"));
    assert_eq!(reply.raw, raw);
}

#[test]
fn hidden_reasoning_counts_as_output_wherever_a_server_puts_it() {
    let output = |usage: &str, content: &str| {
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":{content}}},"finish_reason":"stop"}}],"usage":{usage}}}"#
        );
        decode(200, &body).unwrap().usage.output
    };
    for (usage, expected) in [
        // OpenAI: reasoning is part of the completion tokens.
        (
            r#"{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":40}}"#,
            Some(50),
        ),
        // xAI: reasoning is separate, and in the total.
        (
            r#"{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}"#,
            Some(103),
        ),
        // Google's compatible server: reasoning is in the total only.
        (r#"{"prompt_tokens":5,"completion_tokens":10,"total_tokens":100}"#, Some(95)),
        (r#"{"prompt_tokens":5,"completion_tokens":10}"#, Some(10)),
        (r#"{"completion_tokens":10,"total_tokens":3}"#, Some(10)),
        (r#"{"prompt_tokens":5,"total_tokens":5}"#, None),
    ] {
        // The usual form, and one that needs the tolerant reading.
        assert_eq!(output(usage, r#""x""#), expected, "{usage}");
        assert_eq!(output(usage, r#"[{"type":"text","text":"x"}]"#), expected, "{usage}");
    }
}

#[test]
fn log_probabilities_are_asked_for_as_each_server_wants_it() {
    let request = ChatRequest { logprobs: Some(20), ..full_request() };
    for (dialect, expected) in [
        (ChatDialect::OPENAI, r#""logprobs":true,"top_logprobs":20}"#),
        (ChatDialect::COMPATIBLE, r#""logprobs":true,"top_logprobs":20}"#),
        (ChatDialect::TOGETHER, r#""logprobs":20}"#),
        (
            ChatDialect::OPENROUTER,
            r#""logprobs":true,"top_logprobs":20,"provider":{"require_parameters":true}}"#,
        ),
    ] {
        let sent = body(dialect, &request, ServerQuirks::default());
        assert!(sent.ends_with(expected), "{sent}");
        let fewer = ServerQuirks { most_alternatives: Some(5), ..ServerQuirks::default() };
        assert!(body(dialect, &request, fewer).ends_with(&expected.replace("20", "5")));
        assert!(!body(dialect, &full_request(), ServerQuirks::default()).contains("provider"));
    }
}

#[test]
fn a_minimal_reply_leaves_the_rest_unknown() {
    let reply = decode(200, r#"{"choices":[{"message":{"content":"hi"}}]}"#).unwrap();
    assert_eq!(reply.text, "hi");
    assert_eq!(reply.finish, FinishReason::Other("unknown".into()));
    assert!(reply.usage.is_unknown());
    assert_eq!(reply.model, None);
}

#[test]
fn contents_of_every_shape() {
    let text = |message: &str| {
        let reply =
            decode(200, &format!(r#"{{"choices":[{{"message":{message},"finish_reason":"stop"}}]}}"#));
        let reply = reply.unwrap();
        (reply.text, reply.refusal)
    };
    assert_eq!(text(r#"{"content":null}"#), (String::new(), None));
    assert_eq!(text(r#"{"content":"a","reasoning_content":"long thoughts"}"#), ("a".into(), None));
    assert_eq!(
        text(
            r#"{"content":[{"type":"thinking","text":"no"},{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#
        ),
        ("ab".into(), None)
    );
    assert_eq!(text(r#"{"content":null,"refusal":"I can't."}"#), (String::new(), Some("I can't.".into())));
    assert_eq!(
        text(r#"{"content":[{"type":"refusal","refusal":"No."}]}"#),
        (String::new(), Some("No.".into()))
    );
    assert_eq!(text(r#"{"content":"a","refusal":""}"#), ("a".into(), None));
}

#[test]
fn finish_reasons() {
    for (reason, expected) in [
        (json!("length"), FinishReason::Length),
        (json!("content_filter"), FinishReason::ContentFilter),
        (json!("tool_calls"), FinishReason::ToolCall),
        (json!("weird"), FinishReason::Other("weird".into())),
        (json!(null), FinishReason::Other("unknown".into())),
    ] {
        assert_eq!(FinishReason::from_json(Some(&reason)), expected);
    }
}

#[test]
fn errors_of_every_shape_become_kinds_with_words() {
    let error = |status, body: &str| {
        let error = decode(status, body).unwrap_err();
        assert_eq!(error.request_id.as_deref(), Some("req_1"));
        (error.kind, error.message)
    };
    let full =
        r#"{"error":{"message":"Slow down","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#;
    assert_eq!(error(429, full), (ErrorKind::RateLimited, "Slow down".into()));
    assert_eq!(error(400, r#"{"error":"bad field"}"#), (ErrorKind::BadRequest, "bad field".into()));
    assert_eq!(error(502, "<html><head><title>Bad Gateway</title></head></html>").0, ErrorKind::Server);
    assert_eq!(
        error(200, r#"{"error":{"message":"later","code":429}}"#),
        (ErrorKind::RateLimited, "later".into())
    );
    assert_eq!(
        error(200, r#"{"choices":[{"error":{"message":"upstream","code":502},"finish_reason":"error"}]}"#),
        (ErrorKind::Server, "upstream".into())
    );
    assert_eq!(error(200, "not json").0, ErrorKind::MalformedReply);
    assert_eq!(error(200, "").1, "the answer is empty");
    assert_eq!(error(200, r#"{"choices":[]}"#).0, ErrorKind::MalformedReply);
    assert_eq!(error(200, "[1,2]").0, ErrorKind::MalformedReply);
    assert_eq!(error(301, "").0, ErrorKind::BadRequest);
}

#[test]
fn an_unusable_reply_still_tells_its_cost() {
    let error = decode(200, r#"{"choices":[],"usage":{"prompt_tokens":5}}"#).unwrap_err();
    assert_eq!(error.usage.unwrap().input, Some(5));
}

#[test]
fn only_sent_parameters_are_learned_from() {
    let wire = OpenAiChat::new(ChatDialect::OPENAI);
    let refusal = answer(
        400,
        r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.","param":"temperature",
            "type":"invalid_request_error","code":"unsupported_value"}}"#,
    );
    let learned = wire.learn(&full_request(), &refusal, ServerQuirks::default()).unwrap();
    assert_eq!(learned, ServerQuirks { no_temperature: true, ..ServerQuirks::default() });
    assert_eq!(wire.learn(&full_request(), &refusal, learned), None);
    let bare = ChatRequest::new(vec![ChatMessage::user("x")]);
    assert_eq!(wire.learn(&bare, &refusal, ServerQuirks::default()), None);
    assert_eq!(
        wire.learn(&full_request(), &HttpAnswer { status: 500, ..refusal }, ServerQuirks::default()),
        None
    );
}

#[test]
fn lone_surrogates_and_a_byte_order_mark_spoil_no_answer() {
    let body =
        "\u{feff}{\"choices\":[{\"message\":{\"content\":\"cut \\ud83d\"},\"finish_reason\":\"stop\"}]}";
    assert_eq!(decode(200, body).unwrap().text, "cut \u{fffd}");
}

#[test]
fn compressed_bodies_are_called_so() {
    let gzip = HttpAnswer { body: vec![0x1f, 0x8b, 8, 0], ..answer(200, "") };
    for compressed in [named("content-encoding", "gzip", answer(200, "x")), gzip] {
        let error = read(&OpenAiChat::new(ChatDialect::OPENAI), compressed).unwrap_err();
        assert!(error.message.contains("compressed (`gzip`)"), "{error}");
    }
}

#[test]
fn an_error_beside_a_choice_is_an_error() {
    for error in [r#"{"message":"boom","code":500}"#, r#""boom""#] {
        let choice = r#"{"message":{"content":"hello"},"finish_reason":"stop"}"#;
        let body = format!(r#"{{"choices":[{choice}],"error":{error}}}"#);
        let failed = decode(200, &body).unwrap_err();
        assert!(failed.message.contains("boom"), "{failed}");
    }
    let fine = r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"error":{}}"#;
    assert_eq!(decode(200, fine).unwrap().text, "hello");
}

#[test]
fn every_kind_of_refusal_is_read() {
    for (refusal, words) in [(r#""no""#, Some("no")), (r#"{"why":1}"#, Some(r#"{"why":1}"#)), (r#""""#, None)]
    {
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":null,"refusal":{refusal}}},"finish_reason":"stop"}}]}}"#
        );
        assert_eq!(decode(200, &body).unwrap().refusal.as_deref(), words);
    }
}
