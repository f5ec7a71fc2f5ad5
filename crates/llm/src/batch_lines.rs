//! Lines of batch files in OpenAI's JSONL format: each holds one request or one reply.
//!
//! Azure, vLLM's `run-batch`, llm-d and others read and write the same lines. A reply belongs to the request with the
//! same `custom_id`, in any order. Failures may be in a separate file of the same format.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use assize_limits::IMPORTED_LINE_BYTES as LONGEST_LINE;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::excerpt::{MESSAGE_CHARS, cut};

/// Characters that a `custom_id` may have; the same limit as Anthropic's, the smallest known one.
pub const LONGEST_CUSTOM_ID: usize = 64;

/// A line of a file of requests.
#[derive(Debug, Clone)]
pub struct BatchRequestLine {
    /// Name of the request, unique in its file, of at most [`LONGEST_CUSTOM_ID`] characters.
    pub custom_id: String,
    /// Path of the endpoint, such as `/v1/chat/completions`.
    pub url: String,
    /// Body of the request, as it would be sent.
    pub body: Box<RawValue>,
}

/// A line of a file of replies, or of a file of errors.
#[derive(Debug, Clone)]
pub struct BatchReplyLine {
    /// Name of the request.
    pub custom_id: String,
    /// Result of the request.
    pub outcome: BatchOutcome,
}

/// The result of a request in a batch.
#[derive(Debug, Clone)]
pub enum BatchOutcome {
    /// There is an answer with a body, with any status.
    Answered {
        /// HTTP status.
        status: u16,
        /// The server's name for the exchange.
        request_id: Option<String>,
        /// Body of the answer.
        body: Box<RawValue>,
    },
    /// There is no answer: the request was never made, was cancelled, or expired.
    Failed {
        /// HTTP status, where one was given.
        status: Option<u16>,
        /// The server's code for the failure, such as `batch_expired`.
        code: Option<String>,
        /// The server's words, at most about 300 characters. They may hold secrets.
        message: String,
    },
}

/// Why a line of a batch file can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BatchLineError {
    /// The line ends in the middle: the file was cut off.
    #[error("the line is cut off")]
    CutOff,
    /// The line is longer than any reply.
    #[error("the line is longer than {} MiB", LONGEST_LINE >> 20)]
    TooLong,
    /// The line is not a line of a batch file.
    #[error("{0}")]
    Unreadable(String),
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object with `custom_id`, `method`, `url` and `body`")]
struct RequestForm<'a> {
    custom_id: std::borrow::Cow<'a, str>,
    method: std::borrow::Cow<'a, str>,
    url: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    body: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object with `custom_id`, and `response` or `error`")]
struct ReplyForm<'a> {
    custom_id: String,
    #[serde(default, borrow)]
    response: Option<ResponseForm<'a>>,
    #[serde(default)]
    error: Option<Value>,
    /// Only requests have one, so this shows a file of requests.
    #[serde(default, skip_serializing)]
    body: Option<IgnoredAny>,
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object with `status_code` and `body`")]
struct ResponseForm<'a> {
    #[serde(default)]
    status_code: Option<u16>,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default, borrow)]
    body: Option<&'a RawValue>,
}

impl BatchRequestLine {
    /// Appends the line, with its line end.
    pub fn write_to(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let form = RequestForm {
            custom_id: self.custom_id.as_str().into(),
            method: "POST".into(),
            url: self.url.as_str().into(),
            body: &self.body,
        };
        serde_json::to_writer(&mut *text, &form)?;
        text.push(b'\n');

        Ok(())
    }

    /// Reads a line.
    ///
    /// # Errors
    /// When it is not a line of a file of requests.
    pub fn parse(line: &[u8]) -> Result<Self, BatchLineError> {
        let form: RequestForm<'_> = serde_json::from_slice(line).map_err(unreadable)?;
        if form.method != "POST" {
            return Err(BatchLineError::Unreadable("`method` is not POST".to_owned()));
        }

        Ok(Self {
            custom_id: form.custom_id.into_owned(),
            url: form.url.into_owned(),
            body: form.body.to_owned(),
        })
    }
}

impl BatchReplyLine {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is not a line of a file of replies or errors.
    pub fn parse(line: &[u8]) -> Result<Self, BatchLineError> {
        let form: ReplyForm<'_> = serde_json::from_slice(line).map_err(unreadable)?;
        if form.body.is_some() {
            return Err(BatchLineError::Unreadable("it is a request, not a reply".to_owned()));
        }

        let error = form.error.filter(|error| !error.is_null());
        let (status, request_id, body) = form.response.map_or((None, None, None), |response| {
            (response.status_code, response.request_id, response.body)
        });

        let outcome = match (body, error) {
            // Without a status, only the body shows whether the request failed, and its reader needs an answer.
            (Some(body), None) if body.get() != "null" => {
                BatchOutcome::Answered { status: status.unwrap_or(200), request_id, body: body.to_owned() }
            }
            (_, Some(error)) => failure(status, &error),
            (_, None) => BatchOutcome::Failed {
                status,
                code: None,
                message: "neither an answer nor an error".to_owned(),
            },
        };

        Ok(Self { custom_id: form.custom_id, outcome })
    }

    /// Appends the line, with its line end.
    pub fn write_to(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let (response, error) = match &self.outcome {
            BatchOutcome::Answered { status, request_id, body } => {
                let request_id = request_id.clone();
                (Some(ResponseForm { status_code: Some(*status), request_id, body: Some(&**body) }), None)
            }
            BatchOutcome::Failed { code, message, .. } => {
                (None, Some(serde_json::json!({ "code": code, "message": message })))
            }
        };
        let form = ReplyForm { custom_id: self.custom_id.clone(), response, error, body: None };
        serde_json::to_writer(&mut *text, &form)?;
        text.push(b'\n');

        Ok(())
    }
}

/// Reads a failure in any of the forms that servers use: OpenAI's object, one nested in another, or a text.
fn failure(status: Option<u16>, error: &Value) -> BatchOutcome {
    let error = error.get("error").filter(|inner| !inner.is_null()).unwrap_or(error);
    let code = ["code", "type"].into_iter().find_map(|name| match error.get(name)? {
        Value::String(code) => Some(cut(code, MESSAGE_CHARS)),
        Value::Number(code) => Some(code.to_string()),
        _ => None,
    });
    let message = error.get("message").unwrap_or(error);
    let message = message.as_str().map_or_else(|| message.to_string(), str::to_owned);

    BatchOutcome::Failed { status, code, message: cut(&message, MESSAGE_CHARS) }
}

pub(crate) fn unreadable(error: serde_json::Error) -> BatchLineError {
    let message = error.to_string();
    // The position in a line of JSONL is its column; its line is always the first.
    BatchLineError::Unreadable(cut(&message.replace(" at line 1 column ", " at column "), MESSAGE_CHARS))
}

/// Reads the replies of a batch file line by line, in constant memory. Empty lines are skipped.
pub struct BatchReplyLines<R> {
    source: R,
    text: Vec<u8>,
    line: u64,
    /// Offsets of the last line: its first byte, and the one after it.
    start: u64,
    end: u64,
}

impl<R: BufRead> BatchReplyLines<R> {
    /// Reads the replies of a file.
    pub fn new(source: R) -> Self {
        Self { source, text: Vec::new(), line: 0, start: 0, end: 0 }
    }

    /// Byte range of the last line, so that [`BatchReplyLine::parse`] can read it again.
    pub const fn last_range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Reads the next line; false at the end of the file.
    fn read_line(&mut self) -> io::Result<(bool, Result<(), BatchLineError>)> {
        self.text.clear();
        let limit = LONGEST_LINE as u64 + 1;
        if self.source.by_ref().take(limit).read_until(b'\n', &mut self.text)? == 0 {
            return Ok((false, Ok(())));
        }
        self.line += 1;
        self.start = self.end;
        self.end += self.text.len() as u64;

        if self.text.len() > LONGEST_LINE && self.text.last() != Some(&b'\n') {
            self.text.clear();
            self.end += self.source.skip_until(b'\n')? as u64;
            return Ok((true, Err(BatchLineError::TooLong)));
        }
        if self.line == 1 && self.text.starts_with(b"\xEF\xBB\xBF") {
            self.text.drain(..3);
            self.start += 3;
        }

        Ok((true, Ok(())))
    }
}

impl<R: BufRead> Iterator for BatchReplyLines<R> {
    /// The line's number, from 1, and its content. An error means that the file can't be read any further.
    type Item = io::Result<(u64, Result<BatchReplyLine, BatchLineError>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read_line() {
                Err(error) => return Some(Err(error)),
                Ok((false, _)) => return None,
                Ok((true, Err(error))) => return Some(Ok((self.line, Err(error)))),
                Ok((true, Ok(()))) => {}
            }
            if self.text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }

            let is_ended = self.text.last() == Some(&b'\n');
            let reply = BatchReplyLine::parse(&self.text);
            // Some tools do not end the last line.
            let reply = if is_ended { reply } else { reply.map_err(|_| BatchLineError::CutOff) };
            return Some(Ok((self.line, reply)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn outcome(line: &str) -> BatchOutcome {
        BatchReplyLine::parse(line.as_bytes()).unwrap().outcome
    }

    #[test]
    fn a_request_is_one_line_that_is_read_back() {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"a\nb"}]}"#;
        let line = BatchRequestLine {
            custom_id: "k".repeat(64),
            url: "/v1/chat/completions".into(),
            body: raw(body),
        };
        let mut text = Vec::new();
        line.write_to(&mut text).unwrap();

        let expected = format!(
            "{{\"custom_id\":\"{}\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{body}}}\n",
            "k".repeat(64)
        );
        assert_eq!(String::from_utf8(text.clone()).unwrap(), expected);
        let back = BatchRequestLine::parse(&text).unwrap();
        assert_eq!((back.custom_id, back.url, back.body.get()), (line.custom_id, line.url, body));
    }

    #[test]
    fn answers_and_failures_are_told_apart_in_every_form_servers_give_them() {
        let answered = outcome(
            r#"{"id":"batch_req_1","custom_id":"a","response":{"status_code":200,"request_id":"r","body":{"choices":[]}},"error":null}"#,
        );
        let BatchOutcome::Answered { status: 200, request_id: Some(request_id), body } = answered else {
            panic!("{answered:?}")
        };
        assert_eq!((request_id.as_str(), body.get()), ("r", r#"{"choices":[]}"#));

        for (line, expected) in [
            (
                r#"{"custom_id":"a","response":null,"error":{"code":"batch_expired","message":"late"}}"#,
                (None, Some("batch_expired"), "late"),
            ),
            (
                r#"{"custom_id":"a","response":{"status_code":400,"request_id":"r"},"error":{"error":{"message":"bad","type":"BadRequestError","code":400}}}"#,
                (Some(400), Some("400"), "bad"),
            ),
            (
                r#"{"custom_id":"a","response":{"status_code":400},"error":{"object":"error","message":"bad","type":"T"}}"#,
                (Some(400), Some("T"), "bad"),
            ),
            (r#"{"custom_id":"a","error":"no room"}"#, (None, None, "no room")),
            (
                r#"{"custom_id":"a","response":{"status_code":200,"body":null},"error":null}"#,
                (Some(200), None, "neither an answer nor an error"),
            ),
            (r#"{"custom_id":"a"}"#, (None, None, "neither an answer nor an error")),
        ] {
            let BatchOutcome::Failed { status, code, message } = outcome(line) else { panic!("{line}") };
            assert_eq!((status, code.as_deref(), message.as_str()), expected, "{line}");
        }

        assert!(matches!(
            outcome(
                r#"{"custom_id":"a","response":{"status_code":500,"body":{"error":{"message":"x"}}},"error":null}"#
            ),
            BatchOutcome::Answered { status: 500, .. }
        ));
    }

    #[test]
    fn lines_that_are_none_are_refused_with_a_reason() {
        for line in [
            "",
            "{",
            "[]",
            "null",
            r#"{"custom_id":7,"response":null}"#,
            r#"{"response":null}"#,
            r#"{"custom_id":"a","custom_id":"b"}"#,
            r#"{"custom_id":"a","response":{"status_code":70000}}"#,
            r#"{"custom_id":"a","response":{"status_code":-1}}"#,
            r#"{"custom_id":"a"} {"custom_id":"b"}"#,
        ] {
            let error = BatchReplyLine::parse(line.as_bytes()).expect_err(line);
            let error = error.to_string();
            assert!(!error.is_empty() && !error.contains("struct "), "{line}: {error}");
        }
        assert!(BatchRequestLine::parse(br#"{"custom_id":"a","method":"GET","url":"/","body":{}}"#).is_err());
        let request = br#"{"custom_id":"a","method":"POST","url":"/","body":{}}"#;
        assert!(BatchRequestLine::parse(request).is_ok() && BatchReplyLine::parse(request).is_err());
        assert!(BatchReplyLine::parse(b"\xff\xfe").is_err());
    }

    #[test]
    fn a_file_is_read_to_its_end_whatever_single_lines_are_like() {
        let good = r#"{"custom_id":"a","response":{"status_code":200,"body":{}}}"#;
        let long = "x".repeat(LONGEST_LINE + 10);
        let file = format!("\u{feff}{good}\n\n  \r\nnonsense\n{long}\n{good}\r\n{good}");
        let mut lines = BatchReplyLines::new(file.as_bytes());
        while let Some(line) = lines.next() {
            let range = lines.last_range();
            let bytes = &file.as_bytes()[range.start as usize..range.end as usize];
            assert_eq!(line.unwrap().1.is_ok(), BatchReplyLine::parse(bytes).is_ok());
        }

        let read: Vec<(u64, Option<BatchLineError>)> = BatchReplyLines::new(file.as_bytes())
            .map(|line| line.map(|(at, reply)| (at, reply.err())).unwrap())
            .collect();

        assert_eq!(read.len(), 5);
        assert_eq!(read[0], (1, None));
        assert!(matches!(read[1], (4, Some(BatchLineError::Unreadable(_)))));
        assert_eq!(read[2], (5, Some(BatchLineError::TooLong)));
        assert_eq!((&read[3], &read[4]), (&(6, None), &(7, None)));

        let torn = format!("{good}\n{}", &good[..30]);
        let last = BatchReplyLines::new(torn.as_bytes()).last().unwrap().unwrap();
        assert_eq!((last.0, last.1.unwrap_err()), (2, BatchLineError::CutOff));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic_or_stop_early(
            lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..8),
        ) {
            let file = lines.join(&b'\n');
            let wanted = file.split(|byte| *byte == b'\n')
                .filter(|line| !line.iter().all(u8::is_ascii_whitespace)).count();
            let count = BatchReplyLines::new(&file[..]).flatten().count();
            // A byte order mark alone is not a line.
            prop_assert!(count == wanted || count + 1 == wanted && file.starts_with(b"\xEF\xBB\xBF"));
        }

        #[test]
        fn a_reply_line_survives_being_written_and_read(id in ".{0,70}", status in 0u16..1000, text in ".*") {
            let body = raw(&serde_json::json!({ "text": text }).to_string());
            let outcome = BatchOutcome::Answered { status, request_id: None, body };
            let mut line = Vec::new();
            BatchReplyLine { custom_id: id.clone(), outcome }.write_to(&mut line).unwrap();
            prop_assert_eq!(line.split(|byte| *byte == b'\n').count(), 2);

            let back = BatchReplyLine::parse(&line).unwrap();
            prop_assert_eq!(back.custom_id, id);
            let BatchOutcome::Answered { status: found, body, .. } = back.outcome else { panic!("an answer") };
            prop_assert_eq!(found, status);
            let body: Value = serde_json::from_str(body.get()).unwrap();
            prop_assert_eq!(body["text"].as_str(), Some(text.as_str()));
        }
    }
}
