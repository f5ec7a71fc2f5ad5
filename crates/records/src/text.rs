//! Parts that several formats share: files as bytes, lines of JSON, messages, references of several texts.

use std::collections::BTreeSet;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{MAX_RECORD_BYTES, RecordError};

pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, RecordError> {
    Ok(assize_files::read_bytes(path, MAX_RECORD_BYTES)?)
}

/// Reads a document. Programs in Python write numbers that JSON does not have; they are read as null.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8], part: &str) -> Result<T, RecordError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).or_else(|error| match without_nan(bytes) {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| RecordError::json(part, error)),
        None => Err(RecordError::json(part, error)),
    })
}

/// Returns the document with `null` for `NaN`, `Infinity` and `-Infinity`; `None` if it has none of them.
fn without_nan(bytes: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

    let mut text = Vec::new();
    let (mut at, mut copied, mut is_text) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'N' | b'I' | b'-' if !is_text => {
                if let Some(word) = WORDS.into_iter().find(|word| bytes[at..].starts_with(word)) {
                    text.extend_from_slice(&bytes[copied..at]);
                    text.extend_from_slice(b"null");
                    copied = at + word.len();
                    at = copied - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }

    (copied > 0).then(|| {
        text.extend_from_slice(&bytes[copied..]);
        text
    })
}

/// Iterates over the JSON values of a file, one on each line that is not blank, with the line numbers.
pub(crate) fn read_lines<T: DeserializeOwned>(
    bytes: &[u8],
) -> impl Iterator<Item = Result<(usize, T), RecordError>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).map(|(index, line)| {
        let value = serde_json::from_slice(line);
        let value = value.map_err(|error| RecordError::json(format!("line {}", index + 1), error))?;
        Ok((index + 1, value))
    })
}

/// Returns true if the first value of a file fills its first line, so that the file may be JSON lines.
pub(crate) fn is_lines(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first.trim_ascii_end().ends_with(b"}") && first.len() < bytes.len()
}

/// Returns the text of several reference answers, each of which would do.
pub(crate) fn any_of(texts: &[String]) -> Option<String> {
    match texts {
        [] => None,
        [only] => Some(only.clone()).filter(|text| !text.trim().is_empty()),
        several => Some(format!("Any of these:\n- {}", several.join("\n- "))),
    }
}

/// Returns the texts of a value that is one text or a list of texts.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        other => vec![other.to_string()],
    }
}

/// Returns a question of several messages as a list, and one of a single user message as its text. Texts that are such a
/// list in JSON are read as one; any other text stays as it is.
pub(crate) fn question(value: Value) -> Option<Value> {
    let list = match value {
        Value::Null => return None,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) if !items.is_empty() && items.iter().all(is_message) => items,
            _ => {
                return Some(Value::String(text))
                    .filter(|text| text.as_str().is_some_and(|t| !t.trim().is_empty()));
            }
        },
        Value::Array(items) if items.iter().all(is_message) => items,
        other => return Some(Value::String(other.to_string())),
    };

    let messages: Vec<Value> = list.into_iter().map(|message| plain_message(&message)).collect();
    match messages.as_slice() {
        [] => None,
        [only] if only["role"] == "user" && only["content"].is_string() => Some(only["content"].clone()),
        _ => Some(Value::Array(messages)),
    }
}

fn is_message(value: &Value) -> bool {
    value.get("role").is_some_and(Value::is_string)
}

/// Returns the role and the text of a message.
fn plain_message(message: &Value) -> Value {
    let role = match message["role"].as_str().unwrap_or_default() {
        "developer" => "system",
        "model" => "assistant",
        other => other,
    };

    json!({ "role": role, "content": content_text(&message["content"]) })
}

/// Returns the types of the parts of messages that are no text, such as `image`.
pub(crate) fn parts_without_text<'m>(messages: impl IntoIterator<Item = &'m Value>) -> BTreeSet<String> {
    let parts = messages.into_iter().filter_map(|message| message["content"].as_array()).flatten();
    parts
        .filter(|part| !part.is_string() && !part["text"].is_string() && part["type"] != "reasoning")
        .map(|part| part["type"].as_str().unwrap_or("part without text").to_owned())
        .collect()
}

/// Returns the text of a message's content: a text, or a list of parts. Parts without a text are named by their type.
pub(crate) fn content_text(content: &Value) -> String {
    let part_text = |part: &Value| match (part.as_str(), part.get("text").and_then(Value::as_str)) {
        (Some(text), _) | (None, Some(text)) => Some(text.to_owned()),
        // What a model thought is no part of what it said.
        _ if part["type"] == "reasoning" => None,
        _ => Some(format!("[{}]", part["type"].as_str().unwrap_or("part without text"))),
    };

    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(part_text).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_lacks_are_null() {
        let text = br#"{"a": NaN, "b": [-Infinity, Infinity, -1], "c": "NaN \" NaN", "d": NaN}"#;
        let value: Value = read_json(text, "it").expect("readable");
        assert_eq!(value, json!({"a": null, "b": [null, null, -1], "c": "NaN \" NaN", "d": null}));
        assert!(read_json::<Value>(br#"{"a": Nan}"#, "it").is_err());
        assert!(read_json::<Value>(br#"{"a": NaN"#, "it").is_err());
    }

    #[test]
    fn questions_are_texts_where_one_user_asks() {
        let list = json!([{"role": "developer", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Why?"}]}]);
        let read = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]);
        assert_eq!(question(list.clone()), Some(read.clone()));
        assert_eq!(question(json!(list.to_string())), Some(read));
        assert_eq!(question(json!([{"role": "user", "content": "Why?"}])), Some(json!("Why?")));
        assert_eq!(question(json!("[1, 2]")), Some(json!("[1, 2]")));
        assert_eq!(question(json!(" ")), None);
    }
}
