//! Helpers that several formats share: reading documents and JSON lines, messages, and references of several
//! texts.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use assize_limits::{ARCHIVE_VALUE_BYTES, json_memory};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::error::{describe, describe_syntax, read_object};
use crate::{MAX_RECORD_BYTES, RecordError, RecordProblem};

pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, RecordError> {
    Ok(assize_files::read_bytes(path, MAX_RECORD_BYTES)?)
}

/// Prepares a document for parsing. Removes its byte order mark. `NaN` and infinities, which Python writes although
/// JSON does not have them, become null. A truncated document is closed after the last complete member of a list at
/// `depth`, and this is added to `problems`.
///
/// # Errors
/// If it is not JSON, or is cut off before there is such a member.
pub(crate) fn document<'b>(
    bytes: &'b [u8],
    depth: usize,
    problems: &mut Vec<RecordProblem>,
) -> Result<Cow<'b, [u8]>, RecordError> {
    let bytes = without_mark(bytes);
    let Err(error) = check_syntax(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let error = match without_nan(bytes) {
        Some(text) => match check_syntax(&text) {
            Ok(()) => return Ok(Cow::Owned(text)),
            Err(error) => error,
        },
        None => error,
    };

    if error.classify() == Category::Eof
        && let Some(closed) = close_truncated(bytes, depth)
    {
        let text = without_nan(&closed).unwrap_or(closed);
        if check_syntax(&text).is_ok() {
            problems.push(RecordProblem::at_line(
                error.line(),
                "the file ends too early here; the rest is unknown".to_owned(),
            ));
            return Ok(Cow::Owned(text));
        }
    }

    Err(RecordError::Invalid(RecordProblem::at_line(error.line(), describe_syntax(&error))))
}

fn check_syntax(bytes: &[u8]) -> Result<(), serde_json::Error> {
    serde_json::from_slice::<IgnoredAny>(bytes).map(drop)
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Returns a truncated document, up to the last object that is a complete member of a list at `depth`, and closes the
/// brackets that are open there. `None` if there is no such object.
fn close_truncated(bytes: &[u8], depth: usize) -> Option<Vec<u8>> {
    let (mut open, mut is_text, mut at) = (Vec::new(), false, 0);
    let mut end = None;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => open.push(*byte),
            b'}' | b']' if !is_text => {
                open.pop();
                if *byte == b'}' && open.len() == depth && open.last() == Some(&b'[') {
                    end = Some((at + 1, open.clone()));
                }
            }
            _ => {}
        }
        at += 1;
    }

    let (end, open) = end?;
    let closing = open.iter().rev().map(|byte| if *byte == b'{' { b'}' } else { b']' });
    Some(bytes[..end].iter().copied().chain(closing).collect())
}

/// Reads a document without its records.
pub(crate) fn read_frame<'b, T: Deserialize<'b>>(text: &'b [u8]) -> Result<T, RecordError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (line, why) = (error.inner().line(), describe(error.path(), error.inner()));
        RecordError::Invalid(RecordProblem::at_line(line, why))
    })
}

/// Reads the members of a list in `text` one at a time. An unreadable member is added to `problems`.
pub(crate) fn read_members<T: DeserializeOwned>(
    text: &[u8],
    members: &[&RawValue],
    problems: &mut Vec<RecordProblem>,
) -> Vec<T> {
    let (mut counted, mut line) = (0, 1);
    let mut read = Vec::with_capacity(members.len());
    for member in members {
        let member = member.get().as_bytes();
        // Every member is a slice of the text, after the member before it.
        let start = member.as_ptr().addr() - text.as_ptr().addr();
        line += text[counted..start].split(|byte| *byte == b'\n').count() - 1;
        counted = start;
        match read_object(member) {
            Ok(record) => read.push(record),
            Err((below, why)) => problems.push(RecordProblem::at_line(line + below - 1, why)),
        }
    }

    read
}

/// Returns the document with `null` instead of `NaN`, `Infinity` and `-Infinity`. `None` if it contains none of
/// them.
fn without_nan(bytes: &[u8]) -> Option<Vec<u8>> {
    const NON_JSON_NUMBERS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

    let mut text = Vec::new();
    let (mut at, mut copied, mut is_text) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'N' | b'I' | b'-' if !is_text => {
                if let Some(word) = NON_JSON_NUMBERS.into_iter().find(|word| bytes[at..].starts_with(word)) {
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

/// Iterates over the JSON objects of a file with one object per line, with their line numbers. Blank lines are
/// skipped. Objects that can't be read are added to `problems`.
pub(crate) fn read_lines<T: DeserializeOwned>(
    bytes: &[u8],
    problems: &mut Vec<RecordProblem>,
) -> impl Iterator<Item = (usize, T)> {
    let lines = without_mark(bytes).split(|byte| *byte == b'\n').enumerate();
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).filter_map(|(index, line)| {
        let read = read_object(line).or_else(|error| match without_nan(line) {
            Some(line) => read_object(&line),
            None => Err(error),
        });
        match read {
            Ok(value) => Some((index + 1, value)),
            Err((_, why)) => {
                problems.push(RecordProblem::at_line(index + 1, why));
                None
            }
        }
    })
}

/// Returns true if the first value of a file ends on its first line. The file may be JSON lines then.
pub(crate) fn is_lines(bytes: &[u8]) -> bool {
    let bytes = without_mark(bytes).trim_ascii();
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first.trim_ascii_end().ends_with(b"}") && first.len() < bytes.len()
}

/// Returns the text of several alternative reference answers.
pub(crate) fn any_of(texts: &[String]) -> Option<String> {
    match texts {
        [] => None,
        [only] => Some(only.clone()).filter(|text| !text.trim().is_empty()),
        several => Some(format!("Any of these:\n- {}", several.join("\n- "))),
    }
}

/// Returns the texts of a value that is a single text or a list of texts.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        other => vec![other.to_string()],
    }
}

/// Returns a question of several messages as a list, and a question that is a single user message as its text. A string
/// that contains such a list in JSON is parsed; any other string is returned unchanged.
pub(crate) fn question(value: Value) -> Option<Value> {
    let list = match value {
        Value::Null => return None,
        Value::String(text) => match messages_in(&text) {
            Some(items) => items,
            None => {
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

/// The messages that a text lists in JSON, if it does. A text that would take too much memory as a list stays a text.
fn messages_in(text: &str) -> Option<Vec<Value>> {
    if json_memory(text.as_bytes()) as u64 > ARCHIVE_VALUE_BYTES {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) if !items.is_empty() && items.iter().all(is_message) => Some(items),
        _ => None,
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

/// Returns a text as it is, and another value as JSON.
pub(crate) fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the beginning of the first line of a text, for a message.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// Returns the types of the parts of messages that are not text, such as `image`.
pub(crate) fn parts_without_text<'m>(messages: impl IntoIterator<Item = &'m Value>) -> BTreeSet<String> {
    let parts = messages.into_iter().filter_map(|message| message["content"].as_array()).flatten();
    parts
        .filter(|part| !part.is_string() && !part["text"].is_string() && part["type"] != "reasoning")
        .map(|part| part["type"].as_str().unwrap_or("part without text").to_owned())
        .collect()
}

/// Returns the text of a message's content, which is a text or a list of parts. For a part without text, its
/// type is inserted.
pub(crate) fn content_text(content: &Value) -> String {
    let part_text = |part: &Value| match (part.as_str(), part.get("text").and_then(Value::as_str)) {
        (Some(text), _) | (None, Some(text)) => Some(text.to_owned()),
        // A model's reasoning is not part of its answer.
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
        let mut problems = Vec::new();
        let text = document(text, 1, &mut problems).expect("readable");
        let value: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(value, json!({"a": null, "b": [null, null, -1], "c": "NaN \" NaN", "d": null}));
        assert!(document(br#"{"a": Nan}"#, 1, &mut problems).is_err());
        assert!(document(br#"{"a": NaN"#, 1, &mut problems).is_err());
        assert_eq!(problems, []);
    }

    #[test]
    fn documents_that_break_off_end_behind_their_last_whole_record() {
        let text = br#"{"x": [], "list": [{"a": NaN, "b": [{"c": "]}"}]},
            {"a": "\"}"},
            {"a": [{"b": 1}, {"#;
        let mut problems = Vec::new();
        let closed = document(text, 2, &mut problems).expect("readable");
        let value: Value = serde_json::from_slice(&closed).expect("JSON");
        assert_eq!(value, json!({"x": [], "list": [{"a": null, "b": [{"c": "]}"}]}, {"a": "\"}"}]}));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, 3);
        assert!(document(br#"{"x": [{"#, 2, &mut problems).is_err());
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
