//! Reads a target's output messages: the answer's text and the tool calls.
//!
//! The widespread chat formats are supported: `content` as a text, an object or a list of blocks; tool calls as
//! `tool_calls` of a message or as `tool_use` blocks; their results inside the call, in a `tool` message, or as
//! `tool_result` blocks.

use assize_rubric::ToolCall;
use assize_trace::{LoggedCall, millis};
use serde_json::{Map, Value};

/// Contents of a list of output messages.
#[derive(Debug, PartialEq)]
pub(crate) struct OutputMessages {
    /// Text of the last assistant message; `None` if there is none.
    pub(crate) text: Option<String>,
    /// All tool calls, in order.
    pub(crate) tool_calls: Vec<ToolCall>,
}

/// Reads a list of messages.
///
/// `Ok(None)` if the value is not such a list: not a list, an empty one, or one in which no entry has a role.
/// If some entries are messages and others are not, the error names the first wrong entry.
pub(crate) fn parse_messages(value: &Value) -> Result<Option<OutputMessages>, String> {
    let Some(entries) = value.as_array() else { return Ok(None) };
    if !entries.iter().any(|entry| entry.get("role").is_some()) {
        return Ok(None);
    }

    let mut text = None;
    let mut calls = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let role = entry.get("role").and_then(Value::as_str).ok_or_else(|| {
            format!("message {} of the output is not an object with a `role` text", index + 1)
        })?;
        collect_calls(entry, &mut calls);

        if role == "assistant" {
            text = Some(content_text(entry.get("content").unwrap_or(&Value::Null)));
        }
    }

    Ok(Some(OutputMessages { text, tool_calls: calls.into_iter().map(|call| call.call).collect() }))
}

/// Returns the text of an answer value: a text unchanged, anything else as indented JSON.
pub(crate) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => to_pretty_json(other),
    }
}

/// Returns the text of a message's content. Other blocks (images, tool calls) are skipped.
fn content_text(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(block_text).collect();

            // A list without any block of a known form is structured content, not blocks.
            if texts.is_empty()
                && !blocks.iter().any(|block| block.get("type").is_some())
                && !blocks.is_empty()
            {
                return to_pretty_json(content);
            }

            texts.join("\n")
        }
        other => plain_text(other),
    }
}

fn block_text(block: &Value) -> Option<&str> {
    match block {
        Value::String(text) => Some(text),
        Value::Object(object) => {
            let kind = object.get("type")?.as_str()?;
            if !matches!(kind, "text" | "output_text") {
                return None;
            }
            object.get("text").or_else(|| object.get("value"))?.as_str()
        }
        _ => None,
    }
}

fn to_pretty_json(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn collect_calls(message: &Value, calls: &mut Vec<LoggedCall>) {
    let listed = first_key(message, &["tool_calls", "toolCalls"]).and_then(Value::as_array);
    calls.extend(listed.into_iter().flatten().filter_map(read_call));

    if message.get("role").and_then(Value::as_str) == Some("tool")
        && let Some(id) = first_key(message, &["tool_call_id", "toolCallId"]).and_then(Value::as_str)
    {
        attach_result(calls, id, message.get("content"), None);
    }

    for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        match block.get("type").and_then(Value::as_str) {
            Some("tool_use") => calls.extend(read_call(block)),
            Some("tool_result") => {
                if let Some(id) = block.get("tool_use_id").and_then(Value::as_str) {
                    let failed = block.get("is_error").and_then(Value::as_bool);
                    attach_result(calls, id, block.get("content"), failed);
                }
            }
            _ => {}
        }
    }
}

fn read_call(entry: &Value) -> Option<LoggedCall> {
    let function = entry.get("function").and_then(Value::as_object);
    let inner = function.or_else(|| entry.as_object())?;
    let name = first_key_of(inner, &["tool", "name"])?.as_str()?.to_owned();
    let input = match first_key_of(inner, &["input", "arguments", "args"]) {
        // Some formats store the arguments as JSON text.
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Some(value) => value.clone(),
        None => Value::Null,
    };

    let output = first_key(entry, &["output", "result"]).filter(|value| !value.is_null()).cloned();
    let id = entry.get("id").and_then(Value::as_str).map(str::to_owned);
    let duration = millis(entry.get("duration_ms"));
    let failed = first_key(entry, &["failed", "is_error"]).and_then(Value::as_bool);

    Some(LoggedCall { id, call: ToolCall { name, input, output, duration, failed } })
}

fn attach_result(calls: &mut [LoggedCall], id: &str, output: Option<&Value>, failed: Option<bool>) {
    let open =
        calls.iter_mut().rev().find(|call| call.id.as_deref() == Some(id) && call.call.output.is_none());
    if let Some(open) = open {
        open.call.output = output.cloned();
        open.call.failed = failed.or(open.call.failed);
    }
}

fn first_key<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    value.as_object().and_then(|object| first_key_of(object, keys))
}

fn first_key_of<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| object.get(*key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn transcript(value: Value) -> OutputMessages {
        parse_messages(&value).unwrap().unwrap()
    }

    #[test]
    fn the_last_assistant_message_is_the_answer() {
        let read = transcript(json!([
            {"role": "assistant", "content": "draft"},
            {"role": "assistant", "content": [{"type": "text", "text": "final"}, {"type": "text", "value": "word"}]},
            {"role": "user", "content": "thanks"},
        ]));
        assert_eq!(read.text.as_deref(), Some("final\nword"));
        assert_eq!(transcript(json!([{"role": "user", "content": "?"}])).text, None);
        assert_eq!(transcript(json!([{"role": "assistant"}])).text.as_deref(), Some(""));
        let structured = transcript(json!([{"role": "assistant", "content": {"a": 1}}]));
        assert_eq!(structured.text.as_deref(), Some("{\n  \"a\": 1\n}"));
    }

    #[test]
    fn calls_of_tools_are_read_in_every_spelling() {
        let read = transcript(json!([
            {"role": "assistant", "tool_calls": [
                {"tool": "Read", "input": {"path": "a"}, "output": "text"},
                {"id": "1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}},
            ]},
            {"role": "tool", "tool_call_id": "1", "content": "2"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "ls", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "b"}]},
            {"role": "assistant", "content": "done"},
        ]));
        let call = |name: &str, input: Value, output: Value| ToolCall {
            name: name.into(),
            input,
            output: Some(output),
            duration: None,
            failed: None,
        };
        assert_eq!(
            read.tool_calls,
            [
                call("Read", json!({"path": "a"}), json!("text")),
                call("add", json!({"a": 1}), json!("2")),
                call("ls", json!({}), json!("b")),
            ]
        );
        assert_eq!(read.text.as_deref(), Some("done"));
    }

    #[test]
    fn lists_that_are_no_messages_are_told_from_broken_ones() {
        for value in [json!([1, 2]), json!([]), json!("x"), json!({"role": "assistant"})] {
            assert_eq!(parse_messages(&value), Ok(None), "{value}");
        }
        let broken = parse_messages(&json!([{"role": "assistant"}, 5])).unwrap_err();
        assert_eq!(broken, "message 2 of the output is not an object with a `role` text");
    }
}
