//! Golden pairs for Google's generateContent, after the public API reference.

use std::time::Duration;

use serde_json::json;

use super::super::golden_tests::{answer, decoded, encoded, full_conversation, pictured};
use super::*;
use crate::error::ErrorKind;

#[test]
fn a_full_request_is_these_bytes() {
    assert_eq!(
        encoded(&GeminiGenerate::Api, &full_conversation("gemini-x"), ServerQuirks::default()),
        concat!(
            r#"{"systemInstruction":{"parts":[{"text":"Be fair."}]},"contents":["#,
            r#"{"role":"user","parts":[{"text":"\"Hi\"\n"}]},{"role":"model","parts":[{"text":"Yes?"}]},"#,
            r#"{"role":"user","parts":[{"text":"So?"}]}],"#,
            r#""generationConfig":{"responseMimeType":"application/json","responseJsonSchema":"#,
            r#"{"type":"object","properties":{"reason":{"type":"string"},"met":{"type":"boolean"}}},"#,
            r#""temperature":0.0,"seed":7,"maxOutputTokens":500,"responseLogprobs":true,"logprobs":5}}"#
        )
    );
}

#[test]
fn the_model_is_in_the_path_and_the_key_in_a_header() {
    let path = |model: &str| {
        let request = ChatRequest { model: model.into(), ..full_conversation("gemini-x") };
        GeminiGenerate::Api.encode(&request, ServerQuirks::default()).unwrap().path
    };
    assert_eq!(path("gemini-x"), "/models/gemini-x:generateContent");
    assert_eq!(path("models/gemini-x"), "/models/gemini-x:generateContent");
    assert_eq!(path("tunedModels/mine"), "/tunedModels/mine:generateContent");
    assert_eq!(GeminiGenerate::Api.key_header(), KeyHeader { name: "x-goog-api-key", prefix: "" });
}

#[test]
fn quirks_pictures_and_large_seeds() {
    let mut request = full_conversation("gemini-x");
    request.messages = [pictured()].into();
    request.seed = Some(u64::MAX);
    let quirks = ServerQuirks {
        schema: SchemaSupport::JsonObject,
        no_temperature: true,
        no_logprobs: true,
        ..ServerQuirks::default()
    };
    assert_eq!(
        encoded(&GeminiGenerate::Api, &request, quirks),
        concat!(
            r#"{"contents":[{"role":"user","parts":[{"text":"What?"},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}],"#,
            r#""generationConfig":{"responseMimeType":"application/json","seed":2147483647,"maxOutputTokens":500}}"#
        )
    );
    let least =
        ServerQuirks { schema: SchemaSupport::None, no_seed: true, limit: LimitField::Other, ..quirks };
    assert!(encoded(&GeminiGenerate::Api, &request, least).ends_with(r#""generationConfig":{}}"#));
}

#[test]
fn a_full_reply_is_read_completely() {
    let raw = r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"{\"met\":"},{"text":"true}"}],
        "role":"model"},"finishReason":"STOP","index":0,"avgLogprobs":-0.1,"logprobsResult":{"chosenCandidates":
        [{"token":"{","tokenId":1,"logProbability":-0.5}]}}],"usageMetadata":{"promptTokenCount":1117,
        "cachedContentTokenCount":1024,"candidatesTokenCount":6,"thoughtsTokenCount":40,"totalTokenCount":1163},
        "modelVersion":"gemini-x-001","responseId":"r-1"}"#;
    let reply = decoded(&GeminiGenerate::Api, raw).unwrap();
    assert_eq!((reply.text.as_str(), &reply.finish), (r#"{"met":true}"#, &FinishReason::Stop));
    assert_eq!(reply.usage, TokenCounts { input: Some(1117), cached: Some(1024), output: Some(46) });
    assert_eq!(reply.model.as_deref(), Some("gemini-x-001"));
    assert_eq!(reply.request_id.as_deref(), Some("r-1"));
    assert_eq!((reply.raw.as_str(), reply.logprobs().unwrap().len()), (raw, 1));
}

#[test]
fn ends_of_every_kind() {
    let read = |reason: &str| {
        let body = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"w"}}]}},"finishReason":"{reason}"}}]}}"#
        );
        decoded(&GeminiGenerate::Api, &body).unwrap().finish
    };
    assert_eq!(read("MAX_TOKENS"), FinishReason::Length);
    for filtered in
        ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"]
    {
        assert_eq!(read(filtered), FinishReason::ContentFilter);
    }
    assert_eq!(read("MALFORMED_RESPONSE"), FinishReason::Other("malformed_response".into()));
    let blocked = decoded(&GeminiGenerate::Api,
        r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}"#,
    )
    .unwrap();
    assert_eq!(
        (blocked.finish, blocked.text.as_str(), blocked.usage.input),
        (FinishReason::ContentFilter, "", Some(9))
    );
    let silent =
        decoded(&GeminiGenerate::Api, r#"{"candidates":[{"finishReason":"MAX_TOKENS","index":0}]}"#).unwrap();
    assert_eq!((silent.finish, silent.text.as_str()), (FinishReason::Length, ""));
}

#[test]
fn errors_in_googles_words() {
    let error = |status, body: &str| GeminiGenerate::Api.decode(&answer(status, body)).unwrap_err();
    let key = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT",
        "details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
    assert_eq!(error(400, key).kind, ErrorKind::Authentication);
    let quota = r#"{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#;
    let limited = error(429, quota);
    assert_eq!((limited.kind, limited.retry_after), (ErrorKind::RateLimited, Some(Duration::from_secs(37))));
    let overloaded = r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    assert_eq!(error(503, overloaded).kind, ErrorKind::Overloaded);
    let long = r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (4).","status":"INVALID_ARGUMENT"}}"#;
    assert_eq!(error(400, long).kind, ErrorKind::ContextLength);
    assert_eq!(error(404, r#"{"error":{"code":404,"status":"NOT_FOUND"}}"#).kind, ErrorKind::NotFound);
    for body in ["{}", "[1]", "7", r#"{"choices":[{"message":{"content":"x"}}]}"#, r#"{"candidates":[]}"#] {
        assert_eq!(
            decoded(&GeminiGenerate::Api, body).unwrap_err().kind,
            ErrorKind::MalformedReply,
            "{body}"
        );
    }
}

#[test]
fn refusals_teach() {
    let learned = |message: &str| {
        let body = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
        GeminiGenerate::Api.learn(
            &full_conversation("gemini-x"),
            &answer(400, &body.to_string()),
            ServerQuirks::default(),
        )
    };
    let none = ServerQuirks::default();
    let object = Some(ServerQuirks { schema: SchemaSupport::JsonObject, ..none });
    let unknown = r#"Invalid JSON payload received. Unknown name "responseJsonSchema" at 'generation_config': Cannot find field."#;
    assert_eq!(learned(unknown), object);
    assert_eq!(learned("JSON mode is not enabled for this model"), object);
    assert_eq!(
        learned("The specified schema produces a constraint that has too many states for serving."),
        object
    );
    assert_eq!(
        learned("Logprobs is not enabled for models/gemini-x"),
        Some(ServerQuirks { no_logprobs: true, ..none })
    );
    assert_eq!(learned("The value of temperature is out of range"), None);
}
