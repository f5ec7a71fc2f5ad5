//! A model that answers every question with the same sentence, and requests with a schema with the simplest
//! value that matches.

use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Map, Value, json};

/// Answer to requests without a schema.
const ANSWER: &str = "The refund takes 30 days, and 15 + 27 is 42.";

/// Reply of the mock server. It writes the whole body itself so that `usage` counts the tokens of all messages, which
/// plans estimate, and not only of the last message.
pub(super) fn reply(incoming: &MockRequest) -> MockReply {
    MockReply::Raw(answer(&incoming.body).to_string())
}

fn answer(request: &Value) -> Value {
    let schema = request.pointer("/response_format/json_schema/schema");
    let content = schema.map_or_else(|| ANSWER.to_owned(), |schema| instance(schema, schema).to_string());
    let (read, written) = (tokens(&request["messages"]), tokens(&Value::from(content.as_str())));
    json!({
        "id": "scripted", "object": "chat.completion", "created": 1_700_000_000, "model": "scripted",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } }],
        "usage": { "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written },
    })
}

/// Estimated tokens of a message or a list of messages: one for every four bytes of text.
fn tokens(value: &Value) -> usize {
    fn bytes(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(parts) => parts.iter().map(bytes).sum(),
            Value::Object(part) => {
                ["content", "text"].into_iter().filter_map(|key| part.get(key)).map(bytes).sum()
            }
            _ => 0,
        }
    }
    bytes(value).div_ceil(4)
}

/// A value that matches a schema: the first of several alternatives, the highest number, the fewest entries.
fn instance(schema: &Value, root: &Value) -> Value {
    if let Some(target) = schema["$ref"].as_str().and_then(|path| root.pointer(path.trim_start_matches('#')))
    {
        return instance(target, root);
    }
    if let Some(first) = schema["enum"].get(0).or_else(|| schema.get("const")) {
        return first.clone();
    }

    for either in ["anyOf", "oneOf"] {
        if let Some(first) = schema[either].get(0) {
            return instance(first, root);
        }
    }

    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("object");
    match kind {
        "string" => json!("scripted"),
        "boolean" => json!(true),
        "null" => Value::Null,
        "integer" | "number" => schema.get("maximum").cloned().unwrap_or(json!(1)),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            Value::Array((0..least).map(|_| instance(&schema["items"], root)).collect())
        }
        _ => {
            let properties = schema["properties"].as_object();
            let all: Map<String, Value> = properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), instance(schema, root)))
                .collect();
            Value::Object(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_has_what_the_schema_asks_for() {
        let schema = json!({
            "type": "object",
            "properties": {
                "outcome": { "enum": ["met", "unmet"] },
                "score": { "type": "integer", "minimum": 0, "maximum": 10 },
                "list": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/one" } },
                "evidence": { "type": "array", "items": { "type": "string" } },
            },
            "$defs": { "one": { "type": ["string", "null"] } },
        });
        let expected = json!({ "outcome": "met", "score": 10, "list": ["scripted"], "evidence": [] });
        assert_eq!(instance(&schema, &schema), expected);
        let request = json!({ "response_format": { "json_schema": { "schema": schema } } });
        let reply = answer(&request);
        let content = reply.pointer("/choices/0/message/content").and_then(Value::as_str);
        assert_eq!(content.and_then(|text| serde_json::from_str(text).ok()), Some(expected));
    }
}
