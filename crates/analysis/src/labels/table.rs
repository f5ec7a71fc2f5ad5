//! The lines of a table, before anybody knows what its columns mean.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{LabelProblem, Place};

/// A line with its cells by name. Cells of CSV are texts; an empty one is null.
pub(super) struct Line {
    pub(super) place: Place,
    pub(super) cells: Map<String, Value>,
}

/// The lines of a file, and whether it is JSON; every line that can't be read is a problem.
pub(super) fn lines(file: &Arc<Path>, bytes: &[u8], problems: &mut Vec<LabelProblem>) -> (Vec<Line>, bool) {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match ending.as_deref() {
        Some("csv") => (separated(file, bytes, b',', problems), false),
        Some("tsv") => (separated(file, bytes, b'\t', problems), false),
        Some("jsonl" | "ndjson" | "json") => (json(file, bytes, problems), true),
        _ if first == Some(&b'{') => (json(file, bytes, problems), true),
        _ => (separated(file, bytes, b',', problems), false),
    }
}

fn problem(file: &Arc<Path>, line: u64, message: impl Into<String>) -> LabelProblem {
    LabelProblem { place: Place { file: Arc::clone(file), line }, message: message.into() }
}

fn json(file: &Arc<Path>, bytes: &[u8], problems: &mut Vec<LabelProblem>) -> Vec<Line> {
    let mut found = Vec::new();
    for (number, line) in (1u64..).zip(bytes.split(|&byte| byte == b'\n')) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(cells)) => {
                found.push(Line { place: Place { file: Arc::clone(file), line: number }, cells });
            }
            Ok(_) => problems.push(problem(file, number, "expected a JSON object on each line")),
            Err(error) => problems.push(problem(file, number, format!("not JSON: {error}"))),
        }
    }
    found
}

fn separated(file: &Arc<Path>, bytes: &[u8], by: u8, problems: &mut Vec<LabelProblem>) -> Vec<Line> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(by).flexible(true).from_reader(bytes);
    let header = match reader.headers() {
        Ok(header) => header.clone(),
        Err(error) => {
            problems.push(problem(file, 1, format!("the header can't be read: {error}")));
            return Vec::new();
        }
    };
    for (at, name) in header.iter().enumerate() {
        if header.iter().take(at).any(|other| other == name) {
            problems.push(problem(file, 1, format!("two columns are called `{name}`")));
        }
    }
    let mut found = Vec::new();
    for record in reader.records() {
        match record {
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                if record.len() != header.len() {
                    let (cells, columns) = (record.len(), header.len());
                    problems.push(problem(
                        file,
                        line,
                        format!("{cells} cells under {columns} columns; a comma in a text needs quotes"),
                    ));
                    continue;
                }
                let cell = |text: &str| match text.trim() {
                    "" => Value::Null,
                    text => Value::String(text.to_owned()),
                };
                let cells = header.iter().zip(&record).map(|(name, text)| (name.to_owned(), cell(text)));
                found.push(Line { place: Place { file: Arc::clone(file), line }, cells: cells.collect() });
            }
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                problems.push(problem(file, line, error.to_string()));
            }
        }
    }
    found
}
