//! Reads logs: bytes to traces.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use assize_limits::excess_of_values;
use serde_json::Value;

use crate::reader::{TraceRecordReader, TraceRecordStatus, reader_for};
use crate::{AgentTrace, LogFormat};

/// Maximum length of a line. Longer ones contain images or similar data; they are reported.
const MAX_LINE: usize = 64 << 20;
/// Maximum number of problems that are listed.
const MAX_PROBLEMS: usize = 20;

/// Result of reading a log.
#[derive(Debug, Default)]
pub struct TraceLog {
    /// Sessions, ordered by their start.
    pub traces: Vec<AgentTrace>,
    /// Number of records read.
    pub records: usize,
    /// Number of records of unknown kinds, by kind. They were skipped.
    pub unknown: BTreeMap<String, usize>,
    /// The first unreadable lines.
    pub problems: Vec<TraceLogProblem>,
    /// Number of further unreadable lines.
    pub more_problems: usize,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLogProblem {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

/// Why a log can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum TraceLogError {
    /// The bytes can't be read.
    #[error("the log can't be read: {0}")]
    Io(#[from] io::Error),
    /// The format can't be detected.
    #[error(
        "unknown log format; expected JSON lines of Claude Code, Codex, Copilot, Gemini or OpenCode, or OpenTelemetry spans as JSON. Name one with `--format`"
    )]
    UnknownFormat,
    /// The format can't be detected, because a record has too many values.
    #[error("line {}: {}", .0.line, .0.message)]
    TooManyValues(TraceLogProblem),
    /// The log has no records.
    #[error("the log holds no records")]
    Empty,
}

/// Reads a log, detecting the format unless it is given. A log is lines of JSON, or one JSON value over
/// several lines.
pub fn read_log(log: impl BufRead, format: Option<LogFormat>) -> Result<TraceLog, TraceLogError> {
    let mut state = TraceLogReader { reader: format.map(reader_for), ..TraceLogReader::default() };

    let mut whole = String::new();
    let mut lines = TraceLineReader { log, number: 0 };
    while let Some(line) = lines.next()? {
        let TraceLogLine { number, text } = line;
        let text = match text {
            Ok(text) => text,
            Err(message) => {
                state.add_problem(number, message);
                continue;
            }
        };

        let trimmed = text.trim_start_matches('\u{feff}').trim();
        if trimmed.is_empty() {
            continue;
        }

        // A value over several lines starts with a line that is not a value by itself.
        let is_start = state.read.records == 0 && state.read.problems.is_empty();
        if is_start && (trimmed == "{" || trimmed.starts_with('[') || !whole.is_empty()) {
            whole.push_str(&text);
            whole.push('\n');
            continue;
        }

        if state.has_too_many_values(number, trimmed) {
            continue;
        }
        match serde_json::from_str(trimmed) {
            Ok(record) => state.take_record(record),
            Err(_) if is_start && trimmed.starts_with('{') => {
                whole.push_str(&text);
                whole.push('\n');
            }
            Err(error) => state.add_problem(number, describe_json_error(&error)),
        }
    }

    if !whole.is_empty() {
        state.read_whole(&whole);
    }

    state.finish()
}

#[derive(Default)]
struct TraceLogReader {
    reader: Option<Box<dyn TraceRecordReader>>,
    /// Records read before the format was known.
    waiting: Vec<Value>,
    /// The first record with too many values.
    excess: Option<TraceLogProblem>,
    read: TraceLog,
}

impl TraceLogReader {
    /// Reads one JSON value over several lines. If it is not valid, reads it as lines of JSON whose first line is
    /// broken.
    fn read_whole(&mut self, text: &str) {
        if self.has_too_many_values(1, text) {
            return;
        }
        let error = match serde_json::from_str(text) {
            Ok(Value::Array(records)) => {
                return records.into_iter().for_each(|record| self.take_record(record));
            }
            Ok(record) => return self.take_record(record),
            Err(error) => error,
        };

        let lines: Vec<Result<Value, serde_json::Error>> = text.lines().map(serde_json::from_str).collect();
        if !lines.iter().flatten().any(Value::is_object) {
            return self.add_problem(error.line(), format!("not JSON: {error}"));
        }

        for (index, (line, text)) in lines.into_iter().zip(text.lines()).enumerate() {
            match line {
                Ok(record) => self.take_record(record),
                Err(_) if text.trim().is_empty() => {}
                Err(error) => self.add_problem(index + 1, describe_json_error(&error)),
            }
        }
    }

    /// Whether a record has too many values to be parsed. Adds the problem if it has.
    fn has_too_many_values(&mut self, line: usize, text: &str) -> bool {
        let Some(message) = excess_of_values(text) else { return false };
        self.excess.get_or_insert_with(|| TraceLogProblem { line, message: message.clone() });
        self.add_problem(line, message);
        true
    }

    fn take_record(&mut self, record: Value) {
        self.read.records += 1;

        if self.reader.is_none() {
            match LogFormat::detect(&record) {
                None => {
                    self.waiting.push(record);
                    return;
                }
                Some(format) => {
                    self.reader = Some(reader_for(format));
                    for earlier in std::mem::take(&mut self.waiting) {
                        self.read_record(&earlier);
                    }
                }
            }
        }

        self.read_record(&record);
    }

    fn read_record(&mut self, record: &Value) {
        let Some(reader) = &mut self.reader else { return };
        if let TraceRecordStatus::Unknown(kind) = reader.record(record) {
            *self.read.unknown.entry(kind).or_default() += 1;
        }
    }

    fn add_problem(&mut self, line: usize, message: String) {
        if self.read.problems.len() < MAX_PROBLEMS {
            self.read.problems.push(TraceLogProblem { line, message });
        } else {
            self.read.more_problems += 1;
        }
    }

    fn finish(mut self) -> Result<TraceLog, TraceLogError> {
        if self.read.records == 0 && self.read.problems.is_empty() {
            return Err(TraceLogError::Empty);
        }

        match self.reader {
            Some(reader) => self.read.traces = reader.finish(),
            None => {
                return Err(self.excess.map_or(TraceLogError::UnknownFormat, TraceLogError::TooManyValues));
            }
        }

        Ok(self.read)
    }
}

/// Describes a JSON error by its column only: the line number of a one-line parse is always 1.
fn describe_json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("not JSON: {what} at column {}", error.column())
}

struct TraceLineReader<R> {
    log: R,
    number: usize,
}

struct TraceLogLine {
    number: usize,
    text: Result<String, String>,
}

impl<R: BufRead> TraceLineReader<R> {
    fn next(&mut self) -> io::Result<Option<TraceLogLine>> {
        let mut bytes = Vec::new();
        let mut too_long = false;
        loop {
            let available = self.log.fill_buf()?;
            if available.is_empty() {
                break;
            }

            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if bytes.len() + taken > MAX_LINE {
                too_long = true;
                bytes.clear();
            } else if !too_long {
                bytes.extend_from_slice(&available[..taken]);
            }

            self.log.consume(taken);

            if end.is_some() {
                self.number += 1;
                return Ok(Some(self.line(bytes, too_long)));
            }
        }

        if bytes.is_empty() && !too_long {
            return Ok(None);
        }

        self.number += 1;
        Ok(Some(self.line(bytes, too_long)))
    }

    fn line(&self, bytes: Vec<u8>, too_long: bool) -> TraceLogLine {
        let text = if too_long {
            Err(format!("the line is longer than {} MiB", MAX_LINE >> 20))
        } else {
            String::from_utf8(bytes).map_err(|error| format!("the line is not UTF-8: {error}"))
        };
        TraceLogLine { number: self.number, text }
    }
}
