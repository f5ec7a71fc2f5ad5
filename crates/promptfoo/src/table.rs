//! Tests in tables: one per row, with variables in the columns, and expectations in columns that begin with
//! `__`.

use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceId, Span, SpannedValue, did_you_mean};
use assize_document::{MapEntry, TreeNode, codes, file_extension};
use assize_evalfile::reading::{DecodeContext, divider_of_header, load_sheet, row_text};
use assize_table::SheetPath;
use serde_json::{Value, json};

use super::assertion_types::{ASSERTION_TYPES, find_assertion_type};
use super::matrix_test::MatrixTest;
use super::nodes::{MapNode, json_node, text_node};

/// Default threshold of `similar` in tables.
const TABLE_SIMILARITY: f64 = 0.8;
/// Default threshold of other types in tables.
const TABLE_THRESHOLD: f64 = 0.75;
/// Types that always have a threshold in tables.
const WITH_THRESHOLD: [&str; 8] = [
    "answer-relevance", "classifier", "context-faithfulness", "context-recall", "context-relevance",
    "levenshtein", "rouge-n", "similar",
];

/// Minimum length of a type for misspellings of it to be suspected: `host: ...` is probably not a misspelt
/// `cost`.
const SHORTEST_TYPE: usize = 5;

/// Returns the tests of a CSV or TSV file.
pub(super) fn tests_of_table(cx: &mut DecodeContext, source: SourceId) -> Vec<MatrixTest> {
    let text = cx.sources.file(source).shared_text();
    let body = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let offset = text.len() - body.len();
    let is_tsv = ["tsv", "tab"].contains(&file_extension(cx.sources.file(source).path()).as_str());
    let header = body.lines().next().unwrap_or_default();
    let divider = if is_tsv { b'\t' } else { divider_of_header(header.as_bytes(), b',') };
    let mut table = csv::ReaderBuilder::new().flexible(true).delimiter(divider).from_reader(body.as_bytes());

    let Ok(headers) = table.headers().cloned() else { return Vec::new() };
    let headers: Vec<String> = headers.iter().map(|header| header.trim().to_owned()).collect();
    warn_of_single_underscores(cx, &headers, Span::new(source, offset, offset));

    let mut tests = Vec::new();
    let mut row = csv::StringRecord::new();
    loop {
        let start = table.position().byte() as usize + offset;
        match table.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let at = Span::new(source, start.min(text.len()), start.min(text.len()));
                cx.problems.add(
                    Diagnostic::error(codes::BAD_TABLE, "this row can't be read", at, error.to_string())
                        .with_help("quote cells that hold the separator, quotes or line breaks"),
                );
                break;
            }
        }

        let end = (table.position().byte() as usize + offset).min(text.len());
        let line = text.get(start..end).unwrap_or_default();
        let blank = line.len() - line.trim_start().len();
        let span = Span::new(source, start + blank, start + blank + line.trim().len());
        let cells: Vec<(&str, Span)> = row.iter().map(|cell| (cell, span)).collect();
        tests.push(test_of_row(cx, &headers, &cells, span));
    }

    tests
}

/// Returns the tests in a sheet of a spreadsheet. `from` is the reference to it.
pub(super) fn tests_of_sheet(cx: &mut DecodeContext, path: &SheetPath, from: Span) -> Vec<MatrixTest> {
    let Some(sheet) = load_sheet(cx, path, Some(from)) else { return Vec::new() };
    let Some(header) = &sheet.header else { return Vec::new() };

    let file: Arc<Path> = Arc::from(path.file.as_path());
    let name: Arc<str> = Arc::from(sheet.name.as_str());
    let headers: Vec<String> = header.cells.iter().map(|cell| cell.trim().to_owned()).collect();
    let (place, _) = row_text(&sheet, &name, header).add(cx, &file, header.number);
    warn_of_single_underscores(cx, &headers, place);

    let mut tests = Vec::with_capacity(sheet.rows.len());
    for row in &sheet.rows {
        let (place, spans) = row_text(&sheet, &name, row).add(cx, &file, row.number);
        let cells: Vec<(&str, Span)> = row.cells.iter().map(String::as_str).zip(spans).collect();
        tests.push(test_of_row(cx, &headers, &cells, place));
    }

    tests
}

/// Returns the test in a row. `place` is the span of the row; each cell has its own span.
fn test_of_row(cx: &mut DecodeContext, headers: &[String], row: &[(&str, Span)], place: Span) -> MatrixTest {
    let mut test = MatrixTest { head: Some(place), assert_span: Some(place), ..MatrixTest::default() };
    let mut expectations: Vec<(Value, Span)> = Vec::new();
    let mut metric = None;
    let mut thresholds: Vec<(usize, f64)> = Vec::new();

    // If AgentV's columns mark variables with `vars.`, the others describe the test.
    let names_variables = headers.iter().any(|header| header.starts_with("vars."));
    for (header, &(cell, span)) in headers.iter().zip(row).filter(|(header, _)| !header.is_empty()) {
        let entry =
            |name: &str| MapEntry { key: name.to_owned(), key_span: span, value: text_node(span, cell) };
        if header.starts_with("__expected") {
            if !cell.trim().is_empty() {
                expectations.push((expectation(cx, cell.trim(), span), span));
            }
        } else if let Some(name) = header.strip_prefix("__metadata:") {
            if !cell.trim().is_empty() {
                test.metadata.push(entry(name.trim_end_matches("[]")));
            }
        } else if let Some(setting) = header.strip_prefix("__config:") {
            match (config_index(setting), cell.trim().parse::<f64>()) {
                (Some(index), Ok(threshold)) => thresholds.push((index, threshold)),
                _ => cx.problems.add(bad_column(header, span)),
            }
        } else {
            match header.as_str() {
                "__prefix" => test.options.prefix = Some(cell.to_owned()),
                "__suffix" => test.options.suffix = Some(cell.to_owned()),
                "__description" => test.description = Some(cell.to_owned()).filter(|text| !text.is_empty()),
                "__providerOutput" => {
                    test.output = Some(text_node(span, cell)).filter(|_| !cell.is_empty());
                }
                "__metric" => metric = Some(cell.to_owned()).filter(|text| !text.is_empty()),
                "__threshold" => match cell.trim().parse::<f64>() {
                    Ok(threshold) => test.threshold = Some(SpannedValue::new(threshold, span)),
                    Err(_) if cell.trim().is_empty() => {}
                    Err(_) => cx.problems.add(bad_column(header, span)),
                },
                other if other.starts_with("__") => cx.problems.add(bad_column(header, span)),
                "id" if names_variables => {
                    test.id =
                        Some(SpannedValue::new(cell.to_owned(), span)).filter(|id| !id.value.is_empty());
                }
                other => test.vars.push(entry(other.strip_prefix("vars.").unwrap_or(other))),
            }
        }
    }

    for (index, (expectation, _)) in expectations.iter_mut().enumerate() {
        if let Some(metric) = &metric {
            expectation["metric"] = json!(metric);
        }
        if let Some((_, threshold)) = thresholds.iter().find(|(at, _)| *at == index) {
            expectation["threshold"] = json!(threshold);
        }
    }
    test.assertions = expectations.iter().map(|(value, span)| assertion_node(*span, value)).collect();

    test
}

/// Returns the assertion that a cell means.
fn expectation(cx: &mut DecodeContext, text: &str, span: Span) -> Value {
    for (prefix, kind) in [
        ("javascript:", "javascript"),
        ("fn:", "javascript"),
        ("eval:", "javascript"),
        ("grade:", "llm-rubric"),
        ("llm-rubric:", "llm-rubric"),
        ("python:", "python"),
    ] {
        if let Some(value) = text.strip_prefix(prefix) {
            return json!({"type": kind, "value": value.trim()});
        }
    }
    if let Some(path) = text.strip_prefix("file://") {
        let kind = if format!("{path}:").contains(".py:") { "python" } else { "javascript" };
        return json!({"type": kind, "value": text});
    }

    let (head, value) = match text.split_once(':') {
        Some((head, value)) => (head, Some(value)),
        None => (text, None),
    };
    // `type(threshold): value`. The type may contain a colon.
    let (name, threshold) = match head.strip_suffix(')').and_then(|head| head.split_once('(')) {
        Some((name, number)) => (name, number.parse::<f64>().ok()),
        None => (head, None),
    };
    let base = name.strip_prefix("not-").unwrap_or(name);
    if find_assertion_type(base).is_none() {
        if let Some(near) = similar_type(base, value.is_some()) {
            cx.problems.add(misspelt_type(name, base, near, span));
        }
        return json!({"type": "equals", "value": text});
    }

    let mut assertion = json!({"type": name});
    if let Some(value) = value {
        let value = value.trim();
        let is_list = base.ends_with("contains-any") || base.ends_with("contains-all");
        assertion["value"] =
            if is_list { value.split(',').map(|part| json!(part.trim())).collect() } else { json!(value) };
    }
    let default = WITH_THRESHOLD.contains(&base).then_some(if base == "similar" {
        TABLE_SIMILARITY
    } else {
        TABLE_THRESHOLD
    });
    if let Some(threshold) = threshold.or(default) {
        assertion["threshold"] = json!(threshold);
    }

    assertion
}

/// Returns the type that the first word of a cell probably means. If no value follows, only a word with a
/// hyphen looks like a type.
fn similar_type(word: &str, has_value: bool) -> Option<&'static str> {
    let is_name = word.chars().all(|c| c.is_ascii_alphabetic() || "-_".contains(c));
    if !is_name || !(has_value || word.contains('-')) {
        return None;
    }

    let names = ASSERTION_TYPES.iter().map(|row| row.name).filter(|name| name.len() >= SHORTEST_TYPE);
    did_you_mean(word, names)
}

/// Returns the warning for a cell that looks like an assertion but is compared as a whole.
fn misspelt_type(name: &str, base: &str, near: &str, span: Span) -> Diagnostic {
    let meant = name.replacen(base, near, 1);
    Diagnostic::warning(
        codes::TYPE_LOOKS_MISSPELT,
        format!("`{name}` is not an assertion type, so the answer must equal the whole text"),
        span,
        "expected in this row",
    )
    .with_help(format!("did you mean `{meant}`?"))
    .with_help("if the answer must equal this text, begin it with `equals:`")
}

fn assertion_node(span: Span, value: &Value) -> TreeNode {
    let mut map = MapNode::new(span);
    for (key, value) in value.as_object().into_iter().flatten() {
        map.add(key, span, json_node(span, value));
    }
    map.finish()
}

/// Returns the number of the expectation whose threshold a column sets.
fn config_index(setting: &str) -> Option<usize> {
    let (expected, key) = setting.split_once(':')?;
    if key != "threshold" {
        return None;
    }
    match expected.strip_prefix("__expected")? {
        "" => Some(0),
        number => number.parse::<usize>().ok()?.checked_sub(1),
    }
}

fn bad_column(header: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        codes::BAD_MATRIX_PART,
        format!("the column `{header}` can't be read"),
        span,
        "in this row",
    )
    .with_help("columns that begin with `__` are settings: `__expected`, `__metric`, `__threshold`, `__description`, `__prefix`, `__suffix`, `__providerOutput`, `__metadata:NAME`, `__config:__expected1:threshold`")
}

fn warn_of_single_underscores(cx: &mut DecodeContext, headers: &[String], span: Span) {
    for header in headers {
        let word = header.strip_prefix('_').filter(|rest| !rest.starts_with('_'));
        if word
            .is_some_and(|word| word.starts_with("expected") || word == "description" || word == "threshold")
        {
            cx.problems.add(
                Diagnostic::warning(
                    codes::NO_EFFECT,
                    format!("the column `{header}` is a variable, not a setting"),
                    span,
                    "in the header",
                )
                .with_help(format!("for the setting write `_{header}`")),
            );
        }
    }
}
