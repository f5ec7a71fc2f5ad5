//! Errors of reading a file of records, or a part of it.

use std::fmt;
use std::io;

use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_path_to_error::Path as KeyPath;

/// Error of reading a file of records.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file can't be opened or read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// A document does not conform to its format.
    #[error("{0}")]
    Invalid(RecordProblem),
    /// An archive is damaged, or contains parts that can't be read.
    #[error("{0}")]
    Archive(String),
    /// A part of an archive is damaged.
    #[error("`{part}` in the archive: {why}")]
    DamagedPart {
        /// Name of the part.
        part: String,
        /// The reason, without a full stop.
        why: String,
    },
    /// This kind of file is not read as records.
    #[error("{what} is not read")]
    OtherKind {
        /// Kind of the file, with an article.
        what: &'static str,
        /// Advice.
        help: &'static str,
    },
}

impl RecordError {
    /// Returns advice, if there is any.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::OtherKind { help, .. } => Some(help),
            _ => None,
        }
    }
}

/// A record, or another part of a file, that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordProblem {
    /// Name of the part of an archive; `None` if the problem is in the file itself.
    pub part: Option<String>,
    /// Line, from 1.
    pub line: usize,
    /// The reason, without a full stop.
    pub why: String,
}

impl fmt::Display for RecordProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            Some(part) => write!(f, "`{part}` in the archive: {}", self.why),
            None => write!(f, "line {}: {}", self.line, self.why),
        }
    }
}

impl RecordProblem {
    /// Returns a problem at a line of the file.
    pub(crate) const fn at_line(line: usize, why: String) -> Self {
        Self { part: None, line, why }
    }
}

/// Reads one JSON object. The error consists of its line in the text, from 1, and a message in terms of JSON.
pub(crate) fn read_object<T: DeserializeOwned>(text: &[u8]) -> Result<T, (usize, String)> {
    let first = text.trim_ascii_start().first();
    if let Some(found) = first.filter(|byte| **byte != b'{') {
        // serde would read a list as the fields of an object, in order.
        let line = 1 + text.iter().take_while(|byte| *byte != found).filter(|byte| **byte == b'\n').count();
        if *found == b'[' || serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok() {
            return Err((line, "it is not a JSON object".to_owned()));
        }
    }

    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = serde_path_to_error::deserialize(&mut reader);
    // An error about a missing field has no line.
    let read = read.map_err(|error| (error.inner().line().max(1), describe(error.path(), error.inner())))?;
    reader.end().map_err(|error| (error.line(), describe_syntax(&error)))?;
    Ok(read)
}

/// Returns the message of a deserialization error, without names of Rust types.
pub(crate) fn describe(path: &KeyPath, error: &serde_json::Error) -> String {
    if error.classify() != Category::Data {
        return describe_syntax(error);
    }

    let message = without_place(error);
    let place = match path.to_string().as_str() {
        "." => "it".to_owned(),
        path => format!("`{path}`"),
    };
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("{place} has no {field}");
    }
    if let Some(field) = message.strip_prefix("duplicate field ") {
        return format!("{place} has {field} twice");
    }

    let kinds = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    match kinds.and_then(|kinds| kinds.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            format!("{place} is {}, not {}", found_kind(found), expected_kind(expected))
        }
        None if message.starts_with("invalid length") => format!("{place} is a list, not an object"),
        // A message of this crate's own deserializers, which is a sentence already.
        None => message,
    }
}

/// Returns the message of a JSON syntax error.
pub(crate) fn describe_syntax(error: &serde_json::Error) -> String {
    if error.classify() == Category::Eof {
        return "its JSON ends too early".to_owned();
    }
    format!("it is not valid JSON at column {}: {}", error.column(), without_place(error))
}

/// Returns the message without its position, which may be relative to a part of the file.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].to_owned()
}

fn found_kind(found: &str) -> String {
    /// Maximum number of characters of a string that are repeated in a message.
    const MAX_SHOWN_CHARACTERS: usize = 40;

    let after = |prefix: &str| found.strip_prefix(prefix).map(|rest| rest.trim_matches('`'));
    match found {
        "sequence" => return "a list".to_owned(),
        "map" => return "an object".to_owned(),
        _ => {}
    }
    if let Some(value) = after("boolean ") {
        return format!("`{value}`");
    }
    if let Some(number) = after("integer ").or_else(|| after("floating point ")) {
        return format!("the number {number}");
    }
    if let Some(text) = after("string ") {
        let shown: String = text.chars().take(MAX_SHOWN_CHARACTERS).collect();
        return if shown.len() < text.len() {
            format!("the text {shown}...\"")
        } else {
            format!("the text {text}")
        };
    }

    found.to_owned()
}

fn expected_kind(expected: &str) -> &str {
    match expected {
        "a string" => "a text",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "`true` or `false`",
        "f64" => "a number",
        "u64" => "a whole number",
        other if other.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only how it is refused matters")]
    struct Outer {
        name: String,
        count: Option<u64>,
        inner: Option<Vec<Inner>>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only how it is refused matters")]
    struct Inner {
        text: String,
    }

    #[test]
    fn errors_name_keys_and_kinds_of_json() {
        for (text, line, why) in [
            ("{}", 1, "it has no `name`"),
            ("\n[1]", 2, "it is not a JSON object"),
            ("null", 1, "it is not a JSON object"),
            ("{\"name\":\n 5}", 2, "`name` is the number 5, not a text"),
            ("{\"name\": true}", 1, "`name` is `true`, not a text"),
            ("{\"name\": null}", 1, "`name` is null, not a text"),
            ("{\"name\": [1]}", 1, "`name` is a list, not a text"),
            ("{\"name\": \"a\", \"name\": \"b\"}", 1, "it has `name` twice"),
            ("{\"name\": \"a\", \"count\": -1}", 1, "`count` is the number -1, not a whole number"),
            ("{\"name\": \"a\", \"count\": \"x\"}", 1, "`count` is the text \"x\", not a whole number"),
            ("{\"name\": \"a\", \"inner\": {}}", 1, "`inner` is an object, not a list"),
            ("{\"name\": \"a\", \"inner\": [{}]}", 1, "`inner[0]` has no `text`"),
            ("{\"name\": \"a\", \"inner\": [3]}", 1, "`inner[0]` is the number 3, not an object"),
            ("{\"name\": \"a", 1, "its JSON ends too early"),
            ("{\"name\" \"a\"}", 1, "it is not valid JSON at column 9: expected `:`"),
            ("{\"name\": \"a\"} x", 1, "it is not valid JSON at column 15: trailing characters"),
            ("nope", 1, "it is not valid JSON at column 2: expected ident"),
        ] {
            assert_eq!(read_object::<Outer>(text.as_bytes()).unwrap_err(), (line, why.to_owned()), "{text}");
        }

        let long = format!("{{\"count\": \"{}\"}}", "x".repeat(100));
        let (_, why) = read_object::<Outer>(long.as_bytes()).unwrap_err();
        assert_eq!(why, format!("`count` is the text \"{}...\", not a whole number", "x".repeat(39)));
    }
}
