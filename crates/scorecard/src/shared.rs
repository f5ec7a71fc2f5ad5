//! Helpers shared by several scorecard decoders.

use assize_diagnostic::{Diagnostic, DiagnosticCode, Span, SpannedValue};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::reading::{DecodeContext, check_id, decode_required_text};
use assize_model::ScorecardMarks;
use assize_rubric::{ScorecardAggregation, UnitInterval, Weight, composed_name};

const AGGREGATIONS: [(&str, ScorecardAggregation); 3] = [
    ("WEIGHTED_AVERAGE", ScorecardAggregation::WeightedAverage),
    ("MINIMUM", ScorecardAggregation::Minimum),
    ("MAXIMUM", ScorecardAggregation::Maximum),
];

/// Returns the span of an entry, key and value.
fn entry_span(object: &mut MapReader<'_>, key: &'static str) -> Option<Span> {
    let entry = object.entry(key).filter(|entry| !entry.value.is_null())?;
    Some(entry.key_span.to(entry.value.use_span()))
}

/// Returns the ranges of the code of a rubric or benchmark, of its weight, and of the two keys.
pub(super) fn node_marks(
    cx: &DecodeContext,
    object: &mut MapReader<'_>,
    code: Span,
    threshold: &'static str,
    gate: &'static str,
) -> ScorecardMarks {
    let mut mark = |key| entry_span(object, key).map(|span| cx.mark(span));
    ScorecardMarks {
        code: cx.mark(code),
        weight: mark("weight"),
        threshold: mark(threshold),
        gate: mark(gate),
    }
}

/// Decodes `code`. Unlike other ids, a code may not contain blanks, because it is used in lists.
pub(super) fn decode_code(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    what: &str,
) -> Option<SpannedValue<String>> {
    let code = decode_required_text(cx, object, what, "code", "code: A-REF")?;
    let code = check_id(cx, code, "a code")?;
    if code.value.contains(char::is_whitespace) {
        return Diagnostic::error(codes::BAD_ID, "a code contains a space")
            .at(code.span, "not one word")
            .with_help("write letters, digits and hyphens, such as `A-REF1`")
            .reject_in(&mut cx.problems);
    }

    Some(code)
}

/// Decodes one of several words, ignoring case. A class name before it (`Tier.WORD`) is ignored too.
pub(super) fn decode_enum_word<T: Copy>(
    cx: &mut DecodeContext,
    node: &TreeNode,
    key: &str,
    choices: &[(&'static str, T)],
) -> Option<T> {
    let mut node = node.clone();
    if let NodeValue::Str(text) = &mut node.data
        && let Some((class, word)) = text.rsplit_once('.')
        && !class.is_empty()
        && class.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        *text = word.to_owned();
    }

    assize_evalfile::reading::decode_keyword(cx, &node, key, choices)
}

/// Decodes the optional `aggregation_method`.
pub(super) fn decode_aggregation(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<ScorecardAggregation> {
    let node = object.value("aggregation_method")?;
    decode_enum_word(cx, node, "aggregation_method", &AGGREGATIONS)
}

/// Decodes a number from 0 to 1. `code` is the code of its errors.
fn decode_share(cx: &mut DecodeContext, node: &TreeNode, key: &str, code: DiagnosticCode) -> Option<f64> {
    let value = assize_document::number(node, key, &mut cx.problems)?;
    if (0.0..=1.0).contains(&value.value) {
        return Some(value.value);
    }

    let mut diagnostic = Diagnostic::error(code, format!("`{key}` is not from 0 to 1"))
        .at(value.span, format!("found {}", value.value));
    if value.value >= 2.0 && value.value <= 100.0 {
        diagnostic = diagnostic.with_suggestion(
            format!("if {}% was meant", value.value),
            value.span,
            format!("{}", value.value / 100.0),
        );
    }

    cx.problems.reject(diagnostic.with_help("write a share: 0.20 is 20%"))
}

/// Decodes a weight from 0 to 1.
pub(super) fn decode_node_weight(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Option<Weight> {
    decode_share(cx, node, key, codes::SHARE_RANGE).and_then(|value| Weight::new(value).ok())
}

/// Decodes an optional threshold from 0 to 1.
pub(super) fn decode_threshold(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    key: &'static str,
) -> Option<SpannedValue<UnitInterval>> {
    let node = object.value(key)?;
    let value = decode_share(cx, node, key, codes::LINE_RANGE)?;
    UnitInterval::new(value).ok().map(|unit| SpannedValue::new(unit, node.use_span()))
}

/// Warns that a setting is not written, so that its default applies.
pub(super) fn warn_of_default(cx: &mut DecodeContext, at: Span, what: &str, key: &str, value: &str) {
    Diagnostic::warning(codes::DEFAULT_TAKEN, format!("{what} has no `{key}`"))
        .at(at, format!("{value} is assumed"))
        .with_help(format!("write `{key}: {value}`"))
        .add_to(&mut cx.problems);
}

/// Decodes a list of plain texts.
pub(super) fn decode_texts(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    key: &'static str,
) -> Vec<String> {
    object.strings(key, &mut cx.problems).into_iter().map(|text| text.value).collect()
}

/// Decodes a list of codes.
pub(super) fn decode_codes(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Vec<SpannedValue<String>> {
    if let Some(items) = node.as_seq() {
        return items
            .iter()
            .filter_map(|item| Some(assize_document::string(item, key, &mut cx.problems)?.map(composed_name)))
            .collect();
    }

    cx.problems.add(wrong_type(node, &format!("`{key}`"), "a list of codes"));
    Vec::new()
}
