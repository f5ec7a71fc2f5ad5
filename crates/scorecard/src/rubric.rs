//! Decoder of a scorecard rubric and its children, by code or inline.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::reading::{DecodeContext, decode_required_text, missing_key};
use assize_model::{Guidelines, RubricChildren, ScorecardRubric};
use assize_rubric::{UnitInterval, Weight, composed_name};

use super::benchmark::decode_benchmark;
use super::draft::{PartsDraft, RubricDraft, ScorecardDraft};
use super::shared::{
    decode_aggregation, decode_code, decode_enum_word, decode_node_weight, decode_texts, decode_threshold,
    node_marks, warn_of_default,
};

/// Default passing threshold of a rubric.
pub(super) const DEFAULT_THRESHOLD: f64 = 0.8;

/// Decodes a rubric, with everything inside of it. Its code is returned even if other fields are invalid, so
/// that references to it still resolve. The recursion is bounded, because the parsers limit the depth of the
/// tree.
pub(super) fn decode_scorecard_rubric(
    cx: &mut DecodeContext,
    node: &TreeNode,
    draft: &mut ScorecardDraft,
) -> Option<SpannedValue<String>> {
    let what = "a rubric";
    let mut object = MapReader::new(node, what, &mut cx.problems)?;
    object.entry("$schema");

    let code = decode_code(cx, &mut object, what);
    let label = decode_required_text(cx, &mut object, what, "label", "label: Refusal Documentation");
    let description = object.string("description", &mut cx.problems);
    let weight = if let Some(node) = object.value("weight") {
        decode_node_weight(cx, node, "weight")
    } else {
        warn_of_default(cx, object.head(), what, "weight", "1.0");
        Some(Weight::ONE)
    };

    let method = if object.value("aggregation_method").is_some() {
        decode_aggregation(cx, &mut object)
    } else {
        let example = "aggregation_method: WEIGHTED_AVERAGE";
        cx.problems.reject(missing_key(object.head(), what, "aggregation_method", example))
    };

    if object.value("passing_threshold").is_none() {
        warn_of_default(cx, object.head(), what, "passing_threshold", "0.80");
    }

    let line = decode_threshold(cx, &mut object, "passing_threshold");
    let hard_gate = object.boolean("hard_gate", &mut cx.problems).is_some_and(|gate| gate.value);
    let guidelines = object.value("evaluation_guidelines").and_then(|node| decode_guidelines(cx, node));
    let at = code.as_ref().map_or_else(|| object.head(), |code| code.span);
    let marks = node_marks(cx, &mut object, at, "passing_threshold", "hard_gate");

    let parts = decode_parts(cx, &mut object, draft);
    object.finish(&mut cx.problems);

    let code = code?;
    draft.rubrics.push(RubricDraft {
        code: code.clone(),
        weight,
        parts,
        decoded: ScorecardRubric {
            code: Arc::from(code.value.as_str()),
            label: label.map(|label| label.value).unwrap_or_default(),
            description: description.map(|text| text.value),
            weight: weight.unwrap_or(Weight::ONE),
            aggregation: method.unwrap_or_default(),
            threshold: line
                .map(|line| line.value)
                .or(UnitInterval::new(DEFAULT_THRESHOLD).ok())
                .unwrap_or(UnitInterval::ONE),
            hard_gate,
            guidelines,
            parts: RubricChildren::Benchmarks(Vec::new()),
            parent: None,
            place: cx.position(code.span),
            marks,
        },
    });

    Some(code)
}

fn decode_parts(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    draft: &mut ScorecardDraft,
) -> PartsDraft {
    let head = object.head();
    let given = |entry: Option<&'_ MapEntry>| entry.is_some_and(|entry| !entry.value.is_null());
    let benchmarks = object.entry("benchmarks");
    let rubrics = object.entry("sub_rubrics");
    match (benchmarks, rubrics) {
        (Some(benchmarks), Some(rubrics)) if given(Some(benchmarks)) && given(Some(rubrics)) => {
            Diagnostic::error(codes::BOTH_OR_NEITHER, "a rubric has both benchmarks and sub-rubrics")
                .at(rubrics.key_span, "this makes it composite")
                .with_secondary(benchmarks.key_span, "this makes it a leaf")
                .with_help("put the benchmarks into a sub-rubric of their own")
                .add_to(&mut cx.problems);
            PartsDraft::Invalid
        }
        (benchmarks, _) if given(benchmarks) => decode_children(cx, benchmarks, draft, decode_benchmark)
            .map_or(PartsDraft::Invalid, PartsDraft::Benchmarks),
        (_, rubrics) if given(rubrics) => decode_children(cx, rubrics, draft, decode_scorecard_rubric)
            .map_or(PartsDraft::Invalid, PartsDraft::Rubrics),
        (empty, other) => {
            let at = empty.or(other).map_or(head, |entry| entry.key_span);
            report_no_parts(cx, at);
            PartsDraft::Invalid
        }
    }
}

fn report_no_parts(cx: &mut DecodeContext, at: assize_diagnostic::Span) {
    Diagnostic::error(codes::BOTH_OR_NEITHER, "a rubric has neither benchmarks nor sub-rubrics")
        .at(at, "nothing to score")
        .with_help(
            "list the codes of its benchmarks under `benchmarks:`, or of other rubrics under `sub_rubrics:`",
        )
        .add_to(&mut cx.problems);
}

/// Decodes a list that may contain codes and inline objects.
pub(super) fn decode_children(
    cx: &mut DecodeContext,
    entry: Option<&MapEntry>,
    draft: &mut ScorecardDraft,
    read: fn(&mut DecodeContext, &TreeNode, &mut ScorecardDraft) -> Option<SpannedValue<String>>,
) -> Option<Vec<SpannedValue<String>>> {
    let entry = entry?;
    let NodeValue::Seq(items) = &entry.value.data else {
        return cx.problems.reject(wrong_type(&entry.value, &format!("`{}`", entry.key), "a list"));
    };
    if items.is_empty() {
        report_no_parts(cx, entry.key_span);
        return None;
    }

    let mut found = Vec::new();
    for item in items {
        match &item.data {
            NodeValue::Str(text) => {
                found.push(SpannedValue::new(composed_name(text.trim().to_owned()), item.use_span()));
            }
            NodeValue::Map(_) => found.extend(read(cx, item, draft)),
            _ => wrong_type(item, &format!("an entry of `{}`", entry.key), "a code or a map")
                .with_help("a code that looks like a number needs quotes")
                .add_to(&mut cx.problems),
        }
    }

    Some(found)
}

fn decode_guidelines(cx: &mut DecodeContext, node: &TreeNode) -> Option<Guidelines> {
    let mut object = MapReader::new(node, "the evaluation guidelines", &mut cx.problems)?;
    let evidence_requirements = object.string("evidence_requirements", &mut cx.problems);
    // Without requirements, `evidence` would have no effect, and is refused as an unknown key.
    let policy = evidence_requirements.as_ref().and_then(|_| object.value("evidence"));
    let policies = [("required", false), ("advisory", true)];
    let evidence_is_advisory = policy.and_then(|node| decode_enum_word(cx, node, "evidence", &policies));
    let guidelines = Guidelines {
        focus_areas: decode_texts(cx, &mut object, "focus_areas"),
        acceptable_deviations: decode_texts(cx, &mut object, "acceptable_deviations"),
        critical_requirements: decode_texts(cx, &mut object, "critical_requirements"),
        evidence_requirements: evidence_requirements.map(|text| text.value),
        evidence_is_advisory: evidence_is_advisory.unwrap_or_default(),
        special_instructions: object.string("special_instructions", &mut cx.problems).map(|text| text.value),
    };

    object.finish(&mut cx.problems);
    Some(guidelines)
}
