//! Decoder of one grader written as a map.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, TreeNode, check_not_blank, codes, string, wrong_type};
use assize_model::{Grader, GraderKind, TransformedGrader};

use super::assertion_context::AssertionContext;
use super::common_keys::decode_common_keys;
use super::resolve_type::{ResolvedType, resolve_type};
use super::{custom, script, selection};
use crate::decode::DecodeContext;
use crate::decode::rubric::detect_text_as_map;

/// Decodes one grader. Returns `None` after adding a diagnostic.
pub(super) fn decode_grader(
    cx: &mut DecodeContext,
    node: &TreeNode,
    at: &AssertionContext,
) -> Option<Grader> {
    if let Some(mistaken) = detect_text_as_map(cx, node) {
        return cx.problems.reject(mistaken);
    }

    let errors = cx.problems.error_count();
    let Some(written) = node.get("type") else {
        return cx.problems.reject(missing_type(node));
    };
    if written.as_str().is_none() {
        return wrong_type(written, "`type`", "a word")
            .with_help("write a type such as `rubrics` or `contains`")
            .reject_in(&mut cx.problems);
    }

    let written = string(written, "type", &mut cx.problems)?;
    let written = check_not_blank(written, "type", &mut cx.problems)?;
    let has_criteria = node.get("rubrics").is_some() || node.get("criteria").is_some();
    let found = resolve_type(cx, &written, has_criteria)?;
    let (name, label) = match &found {
        ResolvedType::BuiltIn(kind) => (kind.name, kind.label),
        ResolvedType::Custom { name, .. } => (name.as_str(), "a grader"),
    };

    let mut object = MapReader::new(node, label, &mut cx.problems)?;
    object.entry("type");

    let common = decode_common_keys(cx, &mut object, name);
    let transform = match name {
        _ if matches!(found, ResolvedType::Custom { .. }) => None,
        "select-best" | "max-score" => selection::refuse_transform(cx, &mut object),
        _ => script::decode_transform(cx, &mut object),
    };
    let place = cx.position(object.head());
    let decoded = match &found {
        ResolvedType::BuiltIn(kind) => (kind.decode)(cx, &mut object, at),
        ResolvedType::Custom { name, path } => Some(custom::decode_custom(cx, &mut object, name, path)),
    };

    object.finish(&mut cx.problems);
    let grader = Grader {
        name: common.name.unwrap_or_else(|| name.to_owned()),
        type_name: name.to_owned(),
        weighting: common.weighting,
        place,
        kind: decoded?,
    };
    (cx.problems.error_count() == errors).then(|| match transform {
        None => grader,
        Some(transform) => Grader {
            kind: GraderKind::Transformed(TransformedGrader { inner: Arc::new(grader.clone()), transform }),
            ..grader
        },
    })
}

fn missing_type(node: &TreeNode) -> Diagnostic {
    let at: Span =
        node.as_map().and_then(|entries| entries.first()).map_or(node.use_span(), |entry| entry.key_span);
    let has = |keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    let diagnostic =
        Diagnostic::error(codes::MISSING_TYPE, "this entry does not say its type").at(at, "no `type` here");
    if has(&["outcome", "expected_outcome", "score_ranges"]) {
        diagnostic
            .with_help("criteria with details belong in a grader: `type: rubrics` with this under `criteria`")
    } else if has(&["criteria", "rubrics"]) {
        diagnostic.with_help("add `type: rubrics`")
    } else if has(&["command", "script"]) {
        diagnostic.with_help("add `type: code-grader`")
    } else if has(&["baseline"]) {
        diagnostic.with_help("add `type: pairwise`")
    } else if has(&["prompt"]) {
        diagnostic.with_help("add `type: llm-grader`")
    } else if has(&["value"]) {
        diagnostic.with_help("add `type: contains`, or another text check")
    } else {
        diagnostic.with_help("add a `type`, such as `rubrics` or `contains`; a criterion is a plain text")
    }
}
