//! Tests in tables: one per row, with variables in the columns, and expectations in columns that begin with
//! `__`.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::{MapEntry, ValueSize, codes};
use assize_evalfile::reading::{DecodeContext, SourceRow, SourceTable, load_table};
use assize_limits::MATRIX_CASES;
use assize_table::parse_number;
use serde_json::{Value, json};

use super::assertion_types::{ASSERTION_TYPES, find_assertion_type};
use super::made_size::{exceeds_allowance, too_large};
use super::matrix_test::MatrixTest;
use super::nodes::{json_node, text_node};

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

/// Adds the tests of a table whose path is written at `from`. `made` is what the tests of all tables take. If that is more than
/// may be made of the files, none are left, after a diagnostic.
pub(super) fn add_tests_of_table(
    cx: &mut DecodeContext,
    path: &Path,
    from: Span,
    made: &mut ValueSize,
    found: &mut Vec<MatrixTest>,
) {
    let Some(SourceTable { header, rows }) = load_table(cx, path, from) else { return };
    let headers: Vec<String> = header.cells.iter().map(|(name, _)| name.trim().to_owned()).collect();
    for (name, (_, at)) in headers.iter().zip(&header.cells) {
        warn_of_single_underscore(cx, name, *at);
    }

    // Further ones are too many cases.
    found.reserve(rows.len().min(MATRIX_CASES));
    for row in rows {
        let test = test_of_row(cx, &headers, &row);
        *made += test.size();
        if exceeds_allowance(cx, *made) {
            cx.problems.add(too_large(row.span));
            *found = Vec::new();
            return;
        }
        found.push(test);
    }
}

/// Returns the test in a row.
fn test_of_row(cx: &mut DecodeContext, headers: &[String], row: &SourceRow) -> MatrixTest {
    let place = row.span;
    let mut test = MatrixTest { head: Some(place), assert_span: Some(place), ..MatrixTest::default() };
    let mut expectations: Vec<(Value, Span)> = Vec::new();
    let mut metric = None;
    let mut thresholds: Vec<RowThreshold<'_>> = Vec::new();

    // If AgentV's columns mark variables with `vars.`, the others describe the test.
    let names_variables = headers.iter().any(|header| header.starts_with("vars."));
    for (header, (cell, span)) in headers.iter().zip(&row.cells).filter(|(header, _)| !header.is_empty()) {
        let (cell, span) = (cell.as_str(), *span);
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
            match config_index(setting) {
                Some(index) => {
                    let value = threshold_of_cell(cx, header, cell, span);
                    thresholds.extend(value.map(|value| RowThreshold { header, index, value, span }));
                }
                None => cx.problems.add(bad_column(header, span)),
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
                "__threshold" => {
                    let threshold = threshold_of_cell(cx, header, cell, span);
                    test.threshold = threshold.map(|threshold| SpannedValue::new(threshold, span));
                }
                other if other.starts_with("__") => cx.problems.add(bad_column(header, span)),
                "id" if names_variables => {
                    test.id =
                        Some(SpannedValue::new(cell.to_owned(), span)).filter(|id| !id.value.is_empty());
                }
                other => test.vars.push(entry(other.strip_prefix("vars.").unwrap_or(other))),
            }
        }
    }

    if let Some(metric) = &metric {
        for (expectation, _) in &mut expectations {
            expectation["metric"] = json!(metric);
        }
    }
    let count = expectations.len();
    // Of several columns for one expectation, the first counts.
    for threshold in thresholds.iter().rev() {
        match expectations.get_mut(threshold.index) {
            Some((expectation, _)) => expectation["threshold"] = json!(threshold.value),
            None => cx.problems.add(threshold_of_nothing(threshold, count)),
        }
    }
    test.assertions = expectations.iter().map(|(value, span)| json_node(*span, value)).collect();

    test
}

/// Threshold that a row sets for one of its expectations.
struct RowThreshold<'h> {
    header: &'h str,
    /// Index of the expectation.
    index: usize,
    value: f64,
    span: Span,
}

/// Returns the threshold in a cell; `None` for an empty one, and after adding a diagnostic.
fn threshold_of_cell(cx: &mut DecodeContext, header: &str, cell: &str, span: Span) -> Option<f64> {
    if cell.trim().is_empty() {
        return None;
    }
    parse_number(cell)
        .map_err(|why| {
            Diagnostic::error(codes::BAD_MATRIX_PART, format!("`{}` is no threshold", cell.trim()))
                .at(span, format!("in the column `{header}`: {why}"))
                .with_help("write a number such as `0.8`, or leave the cell empty")
                .add_to(&mut cx.problems);
        })
        .ok()
}

fn threshold_of_nothing(threshold: &RowThreshold<'_>, expectations: usize) -> Diagnostic {
    let number = threshold.index + 1;
    let has = match expectations {
        0 => "this row expects nothing".to_owned(),
        1 => "this row has one expectation".to_owned(),
        several => format!("this row has {several} expectations"),
    };
    Diagnostic::error(
        codes::BAD_MATRIX_PART,
        format!(
            "the column `{}` sets the threshold of expectation {number}, which is not there",
            threshold.header
        ),
    )
    .at(threshold.span, has)
    .with_help(format!("fill in `__expected{number}`, or leave this cell empty"))
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
        Some((name, number)) => (name, Some(number)),
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
        assertion["value"] = if is_list { json!(split_list(cx, value, span)) } else { json!(value) };
    }
    let default = WITH_THRESHOLD.contains(&base).then_some(if base == "similar" {
        TABLE_SIMILARITY
    } else {
        TABLE_THRESHOLD
    });
    let written = threshold.and_then(|number| threshold_of_cell(cx, head, number, span));
    if let Some(threshold) = written.or(default) {
        assertion["threshold"] = json!(threshold);
    }

    assertion
}

/// Splits the list of a cell at its commas. A part in quotation marks may hold commas, as in
/// `contains-any: "cats, dogs", birds`.
fn split_list(cx: &mut DecodeContext, list: &str, span: Span) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), list);
    loop {
        let part = rest.trim_start();
        let mut is_inside = part.starts_with('"');
        let is_quoted = is_inside;
        let end = part.char_indices().skip(usize::from(is_quoted)).find(|(_, sign)| {
            // Two marks inside of quotes mean one: they close the quotes and open them again.
            is_inside ^= is_quoted && *sign == '"';
            *sign == ',' && !is_inside
        });
        let (text, after) = match end {
            Some((at, _)) => (&part[..at], Some(&part[at + 1..])),
            None => (part, None),
        };
        if is_inside {
            Diagnostic::error(codes::BAD_MATRIX_PART, "a quotation mark in a list is not closed")
                .at(span, format!("`{}`", text.trim_end()))
                .with_help("close it before the next comma, or remove it")
                .add_to(&mut cx.problems);
        }
        let text = text.trim_end();
        let inner = text.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
        parts.push(inner.map_or_else(|| text.to_owned(), |inner| inner.replace("\"\"", "\"")));
        match after {
            Some(after) => rest = after,
            None => return parts,
        }
    }
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
    )
    .at(span, "expected in this row")
    .with_help(format!("did you mean `{meant}`?"))
    .with_help("if the answer must equal this text, begin it with `equals:`")
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
    Diagnostic::error(codes::BAD_MATRIX_PART, format!("the column `{header}` can't be read"))
        .at(span, "in this row")
        .with_help(
            "columns that begin with `__` are settings: `__expected`, `__metric`, `__threshold`, `__description`, \
             `__prefix`, `__suffix`, `__providerOutput`, `__metadata:NAME`, `__config:__expected1:threshold`",
        )
}

fn warn_of_single_underscore(cx: &mut DecodeContext, header: &str, span: Span) {
    let word = header.strip_prefix('_').filter(|rest| !rest.starts_with('_'));
    if word.is_some_and(|word| word.starts_with("expected") || word == "description" || word == "threshold") {
        Diagnostic::warning(codes::NO_EFFECT, format!("the column `{header}` is a variable, not a setting"))
            .at(span, "in the header")
            .with_help(format!("for the setting write `_{header}`"))
            .add_to(&mut cx.problems);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_of_quotes() {
        let mut cx = DecodeContext::new(Arc::new(|_| None), Vec::new(), Vec::new());
        let source = cx.sources.add("t.csv", "");
        let at = Span::new(source, 0, 0);
        for (list, expected) in [
            ("\"cats, dogs\",birds", vec!["cats, dogs", "birds"]),
            ("birds , \"cats, dogs\" ", vec!["birds", "cats, dogs"]),
            ("\"say \"\"hi\"\", now\",b", vec!["say \"hi\", now", "b"]),
            ("6\" pipe,7\" pipe", vec!["6\" pipe", "7\" pipe"]),
            ("a,,b", vec!["a", "", "b"]),
            ("a", vec!["a"]),
        ] {
            assert_eq!(split_list(&mut cx, list, at), expected, "{list}");
        }
        assert_eq!(cx.problems.error_count(), 0);
        split_list(&mut cx, "a,\"b,c", at);
        assert_eq!(cx.problems.error_count(), 1);
    }
}
