//! Google's generateContent API, from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, content_text, count_tokens, read_messages};
use crate::mock::incoming::MockRequest;
use crate::mock::reply::MockToken;

const METHOD: &str = ":generateContent";

pub(super) struct MockGemini;

impl MockWireFormat for MockGemini {
    fn claims(&self, path: &str) -> bool {
        path.ends_with(METHOD)
    }

    fn read(&self, incoming: &mut MockRequest) {
        let last = incoming.path.rsplit('/').next().unwrap_or_default();
        incoming.model = last.trim_end_matches(METHOD).to_owned();
        read_messages(incoming, "contents", "parts");
        incoming.system_text = content_text(&incoming.body["systemInstruction"]["parts"]);
    }

    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let (input, output) = count_tokens(incoming, reply);
        // The format has no place for the text of a refusal.
        let reason = match reply.finish.as_deref() {
            _ if reply.refusal.is_some() => "PROHIBITED_CONTENT",
            None | Some("stop") => "STOP",
            Some("length") => "MAX_TOKENS",
            Some("content_filter") => "SAFETY",
            Some(other) => other,
        };

        let mut candidate = json!({"finishReason": reason, "index": 0});
        if reply.refusal.is_none() && !reply.text.is_empty() {
            candidate["content"] = json!({"role": "model", "parts": [{"text": reply.text}]});
        }

        let wants_logprobs = incoming.body["generationConfig"]["responseLogprobs"] == true;
        if wants_logprobs && !reply.tokens.is_empty() {
            candidate["logprobsResult"] = logprobs(&reply.tokens);
        }

        json!({
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": input,
                "candidatesTokenCount": output,
                "totalTokenCount": input + output,
            },
            "modelVersion": incoming.model,
            "responseId": format!("mock-{}", incoming.index),
        })
    }

    fn error(&self, code: &str, message: &str) -> Value {
        let (code, status) = match code {
            "rate_limit_exceeded" => (429, "RESOURCE_EXHAUSTED"),
            other => (400, other),
        };
        json!({"error": {"code": code, "message": message, "status": status}})
    }
}

/// Formats the chosen tokens and the candidates for each position, in two lists of equal length.
fn logprobs(tokens: &[MockToken]) -> Value {
    let entry = |text: &str, logprob: f64| json!({"token": text, "tokenId": 1, "logProbability": logprob});
    let chosen: Vec<Value> = tokens.iter().map(|token| entry(&token.text, token.logprob)).collect();
    let tops: Vec<Value> = tokens
        .iter()
        .map(|token| {
            let candidates: Vec<Value> =
                token.alternatives.iter().map(|(text, logprob)| entry(text, *logprob)).collect();
            json!({ "candidates": candidates })
        })
        .collect();
    json!({"chosenCandidates": chosen, "topCandidates": tops})
}
