//! Decodes JSON bodies and reports every problem with its JSON pointer.

use assize_diagnostic::did_you_mean;
use assize_llm::{UnambiguousJson, replace_lone_surrogates};
use axum::http::StatusCode;
use serde_json::{Map, Value};

use crate::options::RequestLimits;
use crate::problem::{ApiError, MAX_PROBLEMS, RequestProblem};

/// Problems found so far.
#[derive(Debug, Default)]
pub(crate) struct ProblemList(Vec<RequestProblem>);

impl ProblemList {
    pub(crate) fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(RequestProblem::new(path, message));
    }

    /// True once further problems are only counted and not listed.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MAX_PROBLEMS
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = RequestProblem>) {
        self.0.extend(problems);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The error with all problems, if there are any.
    pub(crate) fn check(self) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.0)) }
    }
}

/// Parses a body.
///
/// # Errors
/// When it is not JSON, has a key twice in an object, or is nested too deeply. A lone surrogate, which programs
/// leave behind when they cut a text, becomes U+FFFD: one answer must not make the whole request fail.
pub(crate) fn parse_body(body: &[u8], limits: &RequestLimits) -> Result<Value, ApiError> {
    check_nesting(body, limits.nesting)?;
    let whole = std::str::from_utf8(body).map(replace_lone_surrogates);
    match serde_json::from_slice(whole.as_deref().map_or(body, str::as_bytes)) {
        Ok(UnambiguousJson(value)) => Ok(value),
        Err(error) if error.is_data() => Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "invalid_json",
            format!("the body is ambiguous: {error}"),
        )),
        Err(error) => {
            let problems = quote_numbers(body).no_numbers;
            let problem = ApiError::new(
                StatusCode::BAD_REQUEST,
                "invalid_json",
                format!("the body is not JSON: {error}"),
            );
            Err(if problems.is_empty() { problem } else { ApiError::invalid(problems) })
        }
    }
}

/// A body in which numbers that JSON lacks are texts.
#[derive(Debug)]
pub(crate) struct UsableBody {
    pub(crate) value: Value,
    /// A problem for each such number.
    pub(crate) no_numbers: Vec<RequestProblem>,
}

/// Parses a body that may hold numbers that JSON lacks, each at its own place.
///
/// # Errors
/// As [`parse_body`].
pub(crate) fn parse_usable(body: &[u8], limits: &RequestLimits) -> Result<UsableBody, ApiError> {
    let error = match parse_body(body, limits) {
        Ok(value) => return Ok(UsableBody { value, no_numbers: Vec::new() }),
        Err(error) => error,
    };
    let QuotedBody { quoted, no_numbers } = quote_numbers(body);
    if no_numbers.is_empty() {
        return Err(error);
    }
    let value = parse_body(&quoted, limits).map_err(|_| error)?;

    Ok(UsableBody { value, no_numbers })
}

/// A body with quotes around words for numbers that JSON lacks.
struct QuotedBody {
    quoted: Vec<u8>,
    /// A problem for each of the first such words, and for at least one of each sample.
    no_numbers: Vec<RequestProblem>,
}

/// Words that Python and JavaScript write for numbers that JSON does not have.
const NO_NUMBERS: [&str; 3] = ["NaN", "-Infinity", "Infinity"];

/// Finds such words outside of texts.
fn quote_numbers(body: &[u8]) -> QuotedBody {
    let (mut quoted, mut no_numbers) = (Vec::new(), Vec::new());
    let (mut copied, mut last_place) = (0, None);
    // For each open list the index, and for each open object the key.
    let mut open: Vec<(bool, usize, String)> = Vec::new();
    let (mut last_text, mut at) = (0..0, 0);
    while let Some(&byte) = body.get(at) {
        let rest = &body[at..];
        match byte {
            b'"' => {
                let begin = at + 1;
                at += 1;
                while body.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if body[at] == b'\\' { 2 } else { 1 };
                }
                last_text = begin..at.min(body.len());
            }
            b'[' | b'{' => open.push((byte == b'[', 0, String::new())),
            b']' | b'}' => drop(open.pop()),
            b':' => {
                if let Some((_, _, key)) = open.last_mut() {
                    *key = String::from_utf8_lossy(&body[last_text.clone()]).into_owned();
                }
            }
            b',' => {
                if let Some((_, index, _)) = open.last_mut() {
                    *index += 1;
                }
            }
            _ => {
                if let Some(word) = NO_NUMBERS.iter().find(|word| rest.starts_with(word.as_bytes())) {
                    quoted.extend_from_slice(&body[copied..at]);
                    quoted.extend([b"\"", word.as_bytes(), b"\""].concat());
                    copied = at + word.len();
                    // A body may contain millions of them.
                    let place = open.get(1).map(|(_, index, _)| *index);
                    if no_numbers.len() < MAX_PROBLEMS || place != last_place {
                        let path =
                            open.iter().fold(String::new(), |path, (is_list, index, key)| match is_list {
                                true => child(&path, &index.to_string()),
                                false => child(&path, key),
                            });
                        let message = format!("`{word}` is not a JSON number; omit the value, or send null");
                        no_numbers.push(RequestProblem::new(path, message));
                        last_place = place;
                    }
                    at += word.len() - 1;
                }
            }
        }
        at += 1;
    }
    quoted.extend_from_slice(&body[copied..]);

    QuotedBody { quoted, no_numbers }
}

/// Checks brackets outside of texts, before anything is parsed.
fn check_nesting(body: &[u8], most: usize) -> Result<(), ApiError> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for &byte in body {
        if in_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }

        match byte {
            b'"' => in_text = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    let message = format!("the body is nested more than {most} levels deep");
                    return Err(ApiError::invalid_at("", message));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }

    Ok(())
}

/// Object of a body. Keys are taken out one by one, so that the remaining keys can be reported.
pub(crate) struct ObjectReader<'a> {
    path: String,
    entries: Map<String, Value>,
    known: Vec<&'static str>,
    pub(crate) problems: &'a mut ProblemList,
}

impl<'a> ObjectReader<'a> {
    /// A reader of an object; adds a problem and returns `None` for any other value.
    pub(crate) fn new(value: Value, path: impl Into<String>, problems: &'a mut ProblemList) -> Option<Self> {
        let path = path.into();
        match value {
            Value::Object(entries) => Some(Self { path, entries, known: Vec::new(), problems }),
            other => {
                problems.add(path, format!("expected an object, found {}", type_name(&other)));
                None
            }
        }
    }

    /// JSON pointer to a key.
    pub(crate) fn at(&self, key: &str) -> String {
        child(&self.path, key)
    }

    /// Adds a problem about a key, or about the object if the key is missing.
    pub(crate) fn problem(&mut self, key: &str, message: impl Into<String>) {
        let path = self.at(key);
        self.problems.add(path, message);
    }

    /// Adds a problem about the object.
    pub(crate) fn own_problem(&mut self, message: impl Into<String>) {
        self.problems.add(self.path.clone(), message);
    }

    /// Value of a key; null counts as absent.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.entries.remove(key).filter(|value| !value.is_null())
    }

    /// Text of a key.
    pub(crate) fn text(&mut self, key: &'static str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            other => {
                self.problem(key, format!("expected a text, found {}", type_name(&other)));
                None
            }
        }
    }

    /// List of a key.
    pub(crate) fn list(&mut self, key: &'static str) -> Option<Vec<Value>> {
        match self.take(key)? {
            Value::Array(list) => Some(list),
            other => {
                self.problem(key, format!("expected a list, found {}", type_name(&other)));
                None
            }
        }
    }

    /// Reads one of several words and returns the value for it.
    pub(crate) fn word<T: Copy>(&mut self, key: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(key)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.problem(key, format!("expected one of {}", names.join(", ")));
        }

        found
    }

    /// Refuses keys that were not read.
    pub(crate) fn finish(self) {
        for key in self.entries.keys() {
            // Searching for a suggestion takes time for each unknown key, and a body may contain a million of them.
            if self.problems.is_full() {
                self.problems.add("", "");
                continue;
            }

            let hint = match did_you_mean(key, self.known.iter().copied()) {
                Some(near) => format!("unknown key; did you mean `{near}`?"),
                None => format!("unknown key; known are {}", self.known.join(", ")),
            };
            self.problems.add(child(&self.path, key), hint);
        }
    }
}

/// JSON pointer to a key or index below another pointer.
pub(crate) fn child(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Name of the type of a value, for messages.
pub(crate) const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_counted_outside_of_texts_only() {
        let limits = RequestLimits { nesting: 3, ..RequestLimits::default() };
        assert!(parse_body(br#"{"a": [["[[[[[\"[["]]}"#, &limits).is_ok());
        let error = parse_body(br#"{"a": [[[1]]]}"#, &limits).unwrap_err();
        assert_eq!(error.body.message, "the body is nested more than 3 levels deep");

        let twice = parse_body(br#"{"a": {"b": 1, "b": 2}}"#, &limits).unwrap_err();
        assert!(twice.body.message.contains("the member \"b\" occurs twice"), "{}", twice.body.message);

        let bomb = "[".repeat(10_000_000);
        assert_eq!(
            parse_body(bomb.as_bytes(), &limits).unwrap_err().status,
            StatusCode::UNPROCESSABLE_ENTITY
        );
        assert_eq!(parse_body(b"{", &limits).unwrap_err().status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn numbers_that_json_lacks_are_named_with_their_places() {
        let body = br#"{"samples": [{"output": "NaN"}, {"vars": {"a\"b": [1, NaN], "c": -Infinity}}], "x": Infinity}"#;
        let error = parse_body(body, &RequestLimits::default()).unwrap_err();
        let paths: Vec<&str> = error.body.problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, [r#"/samples/1/vars/a\"b/1"#, "/samples/1/vars/c", "/x"]);
        assert!(error.body.problems[1].message.starts_with("`-Infinity` is not a JSON number"));
        assert_eq!(parse_body(b"[NaN", &RequestLimits::default()).unwrap_err().body.problems[0].path, "/0");
    }

    #[test]
    fn numbers_that_json_lacks_become_texts_and_are_not_all_listed() {
        let body = br#"{"samples": [{"output": "NaN"}, {"vars": {"a": [-Infinity]}}], "x": 1}"#;
        let usable = parse_usable(body, &RequestLimits::default()).unwrap();
        let expected =
            serde_json::json!({"samples": [{"output": "NaN"}, {"vars": {"a": ["-Infinity"]}}], "x": 1});
        assert_eq!((usable.value, usable.no_numbers.len()), (expected, 1));

        let many = format!("[{}NaN]", "NaN,".repeat(100_000));
        assert!(
            parse_usable(many.as_bytes(), &RequestLimits::default()).unwrap().no_numbers.len()
                <= MAX_PROBLEMS
        );
        assert!(parse_usable(b"[NaN, nul]", &RequestLimits::default()).is_err());
    }

    #[test]
    fn pointers_escape_what_would_be_read_as_another_place() {
        assert_eq!(child("/a", "b/c~d"), "/a/b~1c~0d");
    }
}
