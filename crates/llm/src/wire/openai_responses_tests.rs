//! Golden pairs for OpenAI's Responses, after the public API reference.

use super::super::golden_tests::{answer, decoded, encoded, full_request, named, pictured, read};
use super::*;
use crate::error::ErrorKind;

#[test]
fn a_full_request_is_these_bytes() {
    assert_eq!(
        encoded(&OpenAiResponses, &full_request("gpt-x"), ServerQuirks::default()),
        concat!(
            r#"{"model":"gpt-x","input":[{"role":"system","content":"Be fair."},"#,
            r#"{"role":"user","content":"\"Hi\"\n"}],"#,
            r#""text":{"format":{"type":"json_schema","name":"judgement","strict":true,"#,
            r#""schema":{"type":"object","properties":{"reason":{"type":"string"},"met":{"type":"boolean"}}}}},"#,
            r#""temperature":0.0,"max_output_tokens":500,"#,
            r#""include":["message.output_text.logprobs"],"top_logprobs":5,"store":false}"#
        )
    );
    assert_eq!(
        OpenAiResponses.encode(&full_request("gpt-x"), ServerQuirks::default()).unwrap().path,
        "/responses"
    );
}

#[test]
fn pictures_parts_and_what_was_learned() {
    let mut request = full_request("gpt-x");
    request.messages = [pictured()].into();
    let quirks = ServerQuirks {
        no_temperature: true,
        no_seed: true,
        no_logprobs: true,
        schema: SchemaSupport::JsonObject,
        limit: LimitField::Other,
        ..ServerQuirks::default()
    };
    assert_eq!(
        encoded(&OpenAiResponses, &request, quirks),
        concat!(
            r#"{"model":"gpt-x","input":[{"role":"user","content":[{"type":"input_text","text":"What?"},"#,
            r#"{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"}]}],"#,
            r#""text":{"format":{"type":"json_object"}},"store":false}"#
        )
    );
    request.messages = [ChatMessage::text(MessageRole::Tool, "42")].into();
    assert_eq!(OpenAiResponses.encode(&request, quirks).unwrap_err().kind, ErrorKind::BadRequest);
}

#[test]
fn a_full_reply_is_read_completely() {
    let raw = r#"{"id":"resp_1","object":"response","created_at":1,"status":"completed","error":null,
        "incomplete_details":null,"model":"gpt-x-2026","output":[
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"thinking"}]},
        {"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[
        {"type":"output_text","text":"{\"met\":true}","annotations":[],"logprobs":[
        {"token":"{","bytes":[123],"logprob":-0.5,"top_logprobs":[{"token":"{","logprob":-0.5}]}]}]}],
        "usage":{"input_tokens":1117,"input_tokens_details":{"cached_tokens":1024},"output_tokens":46,
        "output_tokens_details":{"reasoning_tokens":40},"total_tokens":1163}}"#;
    let reply = read(&OpenAiResponses, named("x-request-id", "req_1", answer(200, raw))).unwrap();
    assert_eq!((reply.text.as_str(), &reply.finish), (r#"{"met":true}"#, &FinishReason::Stop));
    assert_eq!(reply.usage, TokenCounts { input: Some(1117), cached: Some(1024), output: Some(46) });
    assert_eq!(reply.model.as_deref(), Some("gpt-x-2026"));
    assert_eq!(reply.request_id.as_deref(), Some("req_1"));
    assert_eq!((reply.refusal.as_deref(), reply.raw.as_str()), (None, raw));
    assert_eq!(reply.logprobs().unwrap()[0].logprob, -0.5);
}

#[test]
fn ends_of_every_kind() {
    let read = |status: &str, details: &str, content: &str| {
        let body = format!(
            r#"{{"status":"{status}","incomplete_details":{details},"output":[{{"type":"message","content":[{content}]}}]}}"#
        );
        let reply = decoded(&OpenAiResponses, &body).unwrap();
        (reply.finish, reply.text, reply.refusal)
    };
    let half = r#"{"type":"output_text","text":"{\"met\": tr"}"#;
    assert_eq!(read("incomplete", r#"{"reason":"max_output_tokens"}"#, half).0, FinishReason::Length);
    assert_eq!(read("incomplete", r#"{"reason":"content_filter"}"#, "").0, FinishReason::ContentFilter);
    assert_eq!(read("in_progress", "null", half).0, FinishReason::Other("in_progress".into()));
    let refusal = r#"{"type":"refusal","refusal":"I can't."}"#;
    assert_eq!(
        read("completed", "null", refusal),
        (FinishReason::Stop, String::new(), Some("I can't.".to_owned()))
    );
    let silent = decoded(
        &OpenAiResponses,
        r#"{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}"#,
    );
    assert_eq!(silent.unwrap().finish, FinishReason::Length);
}

#[test]
fn failures_inside_a_good_status() {
    let kind = |code: &str| {
        decoded(
            &OpenAiResponses,
            &format!(
                r#"{{"status":"failed","error":{{"code":"{code}","message":"m"}},"output":[],
            "usage":{{"input_tokens":5,"output_tokens":0}}}}"#
            ),
        )
        .unwrap_err()
    };
    assert_eq!(kind("rate_limit_exceeded").kind, ErrorKind::RateLimited);
    assert_eq!(kind("server_error").kind, ErrorKind::Server);
    assert_eq!(kind("invalid_prompt").kind, ErrorKind::BadRequest);
    assert_eq!(kind("image_content_policy_violation").kind, ErrorKind::ContentRefused);
    assert_eq!(kind("server_error").usage.unwrap().input, Some(5));
    for body in ["{}", "[1]", "7", r#"{"choices":[{"message":{"content":"x"}}]}"#] {
        assert_eq!(decoded(&OpenAiResponses, body).unwrap_err().kind, ErrorKind::MalformedReply, "{body}");
    }
}

#[test]
fn only_sent_parameters_are_learned_from() {
    let refusal = answer(
        400,
        r#"{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.",
            "type":"invalid_request_error","param":"temperature","code":null}}"#,
    );
    let learned = OpenAiResponses.learn(&full_request("gpt-x"), &refusal, ServerQuirks::default()).unwrap();
    assert_eq!(learned, ServerQuirks { no_temperature: true, ..ServerQuirks::default() });
    assert_eq!(OpenAiResponses.learn(&full_request("gpt-x"), &refusal, learned), None);
    let format = answer(
        400,
        r#"{"error":{"message":"Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
            "param":"text.format"}}"#,
    );
    let learned = OpenAiResponses.learn(&full_request("gpt-x"), &format, ServerQuirks::default()).unwrap();
    assert_eq!(learned.schema, SchemaSupport::JsonObject);
}
