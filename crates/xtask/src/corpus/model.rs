//! A model that answers questions with one sentence, and requests with a schema with the first thing that fits it.

use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::bench::wire::Messages;

/// What it says to everything that has no schema.
const ANSWER: &str = "The refund takes 30 days, and 15 + 27 is 42.";

/// The server, which ends with this value.
pub(super) struct ModelServer {
    port: u16,
    /// Ends the server when it is dropped.
    runtime: Option<tokio::runtime::Runtime>,
}

impl ModelServer {
    /// Starts it on a free port of this machine.
    pub(super) fn start() -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let listener =
            runtime.block_on(TcpListener::bind("127.0.0.1:0")).map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        runtime.spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                // A connection that breaks is the other side's to notice.
                tokio::spawn(async move { serve(stream).await });
            }
        });
        Ok(Self { port, runtime: Some(runtime) })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(stream: TcpStream) -> std::io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut messages = Messages::new(from);
    while let Some(request) = messages.next().await? {
        let head = request.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
        let asked: Value = serde_json::from_slice(&request[head..]).unwrap_or_default();
        let body = reply(&asked).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
        to.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await?;
    }
    Ok(())
}

fn reply(asked: &Value) -> Value {
    let schema = asked.pointer("/response_format/json_schema/schema");
    let content = schema.map_or_else(|| ANSWER.to_owned(), |schema| instance(schema, schema).to_string());
    let (read, written) = (tokens(&asked["messages"]), tokens(&Value::from(content.as_str())));
    json!({
        "id": "scripted", "object": "chat.completion", "created": 1_700_000_000, "model": "scripted",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } }],
        "usage": { "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written },
    })
}

/// A token for every four bytes of the texts in a message, or in a list of them.
fn tokens(said: &Value) -> usize {
    fn bytes(said: &Value) -> usize {
        match said {
            Value::String(text) => text.len(),
            Value::Array(parts) => parts.iter().map(bytes).sum(),
            Value::Object(part) => {
                ["content", "text"].into_iter().filter_map(|key| part.get(key)).map(bytes).sum()
            }
            _ => 0,
        }
    }
    bytes(said).div_ceil(4)
}

/// The first value that fits a schema: the first of what is listed, the highest number, the fewest entries.
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
        let asked = json!({ "response_format": { "json_schema": { "schema": schema } } });
        let said = reply(&asked);
        let content = said.pointer("/choices/0/message/content").and_then(Value::as_str);
        assert_eq!(content.and_then(|text| serde_json::from_str(text).ok()), Some(expected));
    }
}
