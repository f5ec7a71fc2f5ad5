//! Golden pairs for Ollama's chat, after the public API reference.

use serde_json::json;

use super::super::golden_tests::{answer, decoded, encoded, full_request, pictured};
use super::*;
use crate::error::ErrorKind;

#[test]
fn a_full_request_is_these_bytes() {
    assert_eq!(
        encoded(&OllamaChat, &full_request("llama-x:8b"), ServerQuirks::default()),
        concat!(
            r#"{"model":"llama-x:8b","messages":[{"role":"system","content":"Be fair."},"#,
            r#"{"role":"user","content":"\"Hi\"\n"}],"stream":false,"truncate":false,"shift":false,"#,
            r#""format":{"type":"object","properties":{"reason":{"type":"string"},"met":{"type":"boolean"}}},"#,
            r#""options":{"temperature":0.0,"seed":7,"num_predict":500},"logprobs":true,"top_logprobs":5}"#
        )
    );
    assert_eq!(
        OllamaChat.encode(&full_request("llama-x:8b"), ServerQuirks::default()).unwrap().path,
        "/api/chat"
    );
}

#[test]
fn quirks_and_pictures() {
    let mut request = full_request("llama-x:8b");
    request.messages = [pictured()].into();
    let quirks = ServerQuirks {
        schema: SchemaSupport::JsonObject,
        no_seed: true,
        no_logprobs: true,
        ..ServerQuirks::default()
    };
    assert_eq!(
        encoded(&OllamaChat, &request, quirks),
        concat!(
            r#"{"model":"llama-x:8b","messages":[{"role":"user","content":"What?","images":["aGk="]}],"#,
            r#""stream":false,"truncate":false,"shift":false,"format":"json","#,
            r#""options":{"temperature":0.0,"num_predict":500}}"#
        )
    );
}

#[test]
fn the_loaded_window_stays_unless_the_user_set_another() {
    for context_tokens in [None, Some(16_384)] {
        for bytes in [3000, 60_000, 3_000_000] {
            let messages = vec![ChatMessage::user("x".repeat(bytes))];
            let request = ChatRequest { context_tokens, ..ChatRequest::new(messages) };
            let sent: Value =
                serde_json::from_str(&encoded(&OllamaChat, &request, ServerQuirks::default())).unwrap();
            assert_eq!(sent["options"]["num_ctx"].as_u64(), context_tokens);
            assert_eq!((&sent["truncate"], sent.get("keep_alive")), (&Value::Bool(false), None));
        }
    }
}

#[test]
fn a_full_reply_is_read_completely() {
    let raw = r#"{"model":"llama-x:8b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",
        "content":"{\"met\":true}","thinking":"hm"},"done":true,"done_reason":"stop","total_duration":5,"load_duration":1,
        "prompt_eval_count":117,"prompt_eval_duration":1,"eval_count":46,"eval_duration":3,
        "logprobs":[{"token":"{","logprob":-0.5,"bytes":[123]}]}"#;
    let reply = decoded(&OllamaChat, raw).unwrap();
    assert_eq!((reply.text.as_str(), &reply.finish), (r#"{"met":true}"#, &FinishReason::Stop));
    assert_eq!(reply.usage, TokenCounts { input: Some(117), cached: None, output: Some(46) });
    assert_eq!((reply.model.as_deref(), reply.request_id.as_deref()), (Some("llama-x:8b"), None));
    assert_eq!((reply.raw.as_str(), reply.logprobs().unwrap().len()), (raw, 1));
}

#[test]
fn ends_of_every_kind() {
    let finish = |rest: &str| {
        decoded(&OllamaChat, &format!(r#"{{"message":{{"content":"w"}}{rest}}}"#)).map(|reply| reply.finish)
    };
    assert_eq!(finish(r#","done":true,"done_reason":"length""#).unwrap(), FinishReason::Length);
    assert_eq!(finish(r#","done":true,"done_reason":"load""#).unwrap(), FinishReason::Other("load".into()));
    assert_eq!(finish("").unwrap(), FinishReason::Other("unknown".into()));
    assert_eq!(finish(r#","done":false"#).unwrap_err().kind, ErrorKind::MalformedReply);
    let called = decoded(
        &OllamaChat,
        r#"{"message":{"content":"","tool_calls":[{"function":{"name":"x"}}]},"done":true,"done_reason":"stop"}"#,
    );
    assert_eq!(called.unwrap().finish, FinishReason::ToolCall);
}

#[test]
fn errors_in_ollamas_words() {
    let error = |status, body: &str| OllamaChat.decode(&answer(status, body)).unwrap_err().kind;
    assert_eq!(error(404, r#"{"error":"model 'x' not found"}"#), ErrorKind::NotFound);
    assert_eq!(
        error(503, r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#),
        ErrorKind::Overloaded
    );
    assert_eq!(error(500, r#"{"error":"llama runner process has terminated"}"#), ErrorKind::Server);
    assert_eq!(
        error(400, r#"{"error":"the input length exceeds the context length"}"#),
        ErrorKind::ContextLength
    );
    assert_eq!(error(200, r#"{"error":"unexpected EOF"}"#), ErrorKind::Server);
    for body in ["{}", "[1]", "7", r#"{"choices":[{"message":{"content":"x"}}]}"#, r#"{"message":"x"}"#] {
        assert_eq!(decoded(&OllamaChat, body).unwrap_err().kind, ErrorKind::MalformedReply, "{body}");
    }
}

#[test]
fn refusals_teach() {
    let learned = |message: &str| {
        let body = json!({ "error": message });
        OllamaChat.learn(
            &full_request("llama-x:8b"),
            &answer(400, &body.to_string()),
            ServerQuirks::default(),
        )
    };
    assert_eq!(
        learned("this model does not support structured outputs").unwrap().schema,
        SchemaSupport::JsonObject
    );
    assert_eq!(learned("model is required"), None);
}
