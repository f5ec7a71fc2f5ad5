//! Golden pairs for OpenAI's Responses, after the public API reference.

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::json;

use super::*;
use crate::error::ErrorKind;

fn full_request() -> ChatRequest {
    ChatRequest {
        model: "gpt-x".into(),
        schema: Some(JsonSchemaFormat {
            name: "judgement".into(),
            schema: json!({"type": "object", "properties": {"reason": {"type": "string"}, "met": {"type": "boolean"}}}).into(),
            strict: true,
        }),
        temperature: Some(0.0),
        seed: Some(7),
        max_output_tokens: Some(500),
        logprobs: Some(5),
        ..ChatRequest::new(vec![ChatMessage::system("Be fair."), ChatMessage::user("\"Hi\"\n")])
    }
}

fn body(request: &ChatRequest, quirks: Quirks) -> String {
    String::from_utf8(OpenAiResponses.encode(request, quirks).unwrap().body).unwrap()
}

fn answer(status: u16, body: &str) -> HttpAnswer {
    let mut headers = HeaderMap::new();
    headers.insert("x-request-id", HeaderValue::from_static("req_1"));
    HttpAnswer { status, headers, body: body.as_bytes().to_vec() }
}

fn decode(body: &str) -> Result<ChatReply, AskError> {
    OpenAiResponses.decode(&answer(200, body))
}

#[test]
fn a_full_request_is_these_bytes() {
    assert_eq!(
        body(&full_request(), Quirks::default()),
        concat!(
            r#"{"model":"gpt-x","input":[{"role":"system","content":"Be fair."},"#,
            r#"{"role":"user","content":"\"Hi\"\n"}],"#,
            r#""text":{"format":{"type":"json_schema","name":"judgement","strict":true,"#,
            r#""schema":{"type":"object","properties":{"reason":{"type":"string"},"met":{"type":"boolean"}}}}},"#,
            r#""temperature":0.0,"max_output_tokens":500,"#,
            r#""include":["message.output_text.logprobs"],"top_logprobs":5,"store":false}"#
        )
    );
    assert_eq!(OpenAiResponses.encode(&full_request(), Quirks::default()).unwrap().path, "/responses");
}

#[test]
fn pictures_parts_and_what_was_learned() {
    let mut request = full_request();
    request.messages = [ChatMessage {
        role: Role::User,
        content: vec![
            Part::Text("What?".into()),
            Part::Image { media_type: "image/png".into(), data: "aGk=".into() },
        ],
    }]
    .into();
    let quirks = Quirks {
        no_temperature: true,
        no_seed: true,
        no_logprobs: true,
        schema: SchemaSupport::JsonObject,
        limit: LimitField::Other,
        most_output: None,
    };
    assert_eq!(
        body(&request, quirks),
        concat!(
            r#"{"model":"gpt-x","input":[{"role":"user","content":[{"type":"input_text","text":"What?"},"#,
            r#"{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}],"#,
            r#""text":{"format":{"type":"json_object"}},"store":false}"#
        )
    );
    request.messages = [ChatMessage::text(Role::Tool, "42")].into();
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
    let reply = decode(raw).unwrap();
    assert_eq!((reply.text.as_str(), &reply.finish), (r#"{"met":true}"#, &Finish::Stop));
    assert_eq!(reply.usage, Usage { input: Some(1117), cached: Some(1024), output: Some(46) });
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
        let reply = decode(&body).unwrap();
        (reply.finish, reply.text, reply.refusal)
    };
    let half = r#"{"type":"output_text","text":"{\"met\": tr"}"#;
    assert_eq!(read("incomplete", r#"{"reason":"max_output_tokens"}"#, half).0, Finish::Length);
    assert_eq!(read("incomplete", r#"{"reason":"content_filter"}"#, "").0, Finish::ContentFilter);
    assert_eq!(read("in_progress", "null", half).0, Finish::Other("in_progress".into()));
    let refusal = r#"{"type":"refusal","refusal":"I can't."}"#;
    assert_eq!(
        read("completed", "null", refusal),
        (Finish::Stop, String::new(), Some("I can't.".to_owned()))
    );
    let silent =
        decode(r#"{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}"#);
    assert_eq!(silent.unwrap().finish, Finish::Length);
}

#[test]
fn failures_inside_a_good_status() {
    let kind = |code: &str| {
        decode(&format!(
            r#"{{"status":"failed","error":{{"code":"{code}","message":"m"}},"output":[],
            "usage":{{"input_tokens":5,"output_tokens":0}}}}"#
        ))
        .unwrap_err()
    };
    assert_eq!(kind("rate_limit_exceeded").kind, ErrorKind::RateLimited);
    assert_eq!(kind("server_error").kind, ErrorKind::Server);
    assert_eq!(kind("invalid_prompt").kind, ErrorKind::BadRequest);
    assert_eq!(kind("image_content_policy_violation").kind, ErrorKind::ContentRefused);
    assert_eq!(kind("server_error").usage.unwrap().input, Some(5));
    for body in ["{}", "[1]", "7", r#"{"choices":[{"message":{"content":"x"}}]}"#] {
        assert_eq!(decode(body).unwrap_err().kind, ErrorKind::MalformedReply, "{body}");
    }
}

#[test]
fn only_sent_parameters_are_learned_from() {
    let refusal = answer(
        400,
        r#"{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.",
            "type":"invalid_request_error","param":"temperature","code":null}}"#,
    );
    let learned = OpenAiResponses.learn(&full_request(), &refusal, Quirks::default()).unwrap();
    assert_eq!(learned, Quirks { no_temperature: true, ..Quirks::default() });
    assert_eq!(OpenAiResponses.learn(&full_request(), &refusal, learned), None);
    let format = answer(
        400,
        r#"{"error":{"message":"Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
            "param":"text.format"}}"#,
    );
    let learned = OpenAiResponses.learn(&full_request(), &format, Quirks::default()).unwrap();
    assert_eq!(learned.schema, SchemaSupport::JsonObject);
}
