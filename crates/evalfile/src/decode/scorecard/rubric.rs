//! Decoder of a scorecard rubric and its children, by code or inline.

use assize_diagnostic::{Diagnostic, Spanned};
use assize_rubric::{Unit, Weight};

use super::benchmark::benchmark;
use super::draft::{Draft, NodeSpans, PartsDraft, RubricDraft};
use super::words::{aggregation, code, default_taken, missing, needed, texts, threshold, weight_of, whole};
use crate::codes;
use crate::decode::object::wrong_type;
use crate::decode::{Context, Object};
use crate::model::Guidelines;
use crate::tree::{Data, Entry, Node};

/// Default passing threshold of a rubric.
pub(super) const DEFAULT_LINE: f64 = 0.8;

/// Decodes a rubric, including everything inside it. Its code is returned even if other fields are invalid,
/// so that references to it resolve. The tree parsers limit the depth.
pub(super) fn rubric(cx: &mut Context, node: &Node, draft: &mut Draft) -> Option<Spanned<String>> {
    let what = "a rubric";
    let mut object = Object::new(node, what, &mut cx.problems)?;
    object.entry("$schema");
    let code = code(cx, &mut object, what);
    let label = needed(cx, &mut object, what, "label", "label: Refusal Documentation");
    let description = object.string("description", &mut cx.problems);
    let weight = if let Some(node) = object.value("weight") {
        weight_of(cx, node, "weight")
    } else {
        default_taken(cx, object.head(), what, "weight", "1.0");
        Some(Weight::ONE)
    };
    let method = if object.value("aggregation_method").is_some() {
        aggregation(cx, &mut object)
    } else {
        let example = "aggregation_method: WEIGHTED_AVERAGE";
        cx.problems.add(missing(object.head(), what, "aggregation_method", example));
        None
    };
    if object.value("passing_threshold").is_none() {
        default_taken(cx, object.head(), what, "passing_threshold", "0.80");
    }
    let line = threshold(cx, &mut object, "passing_threshold");
    let hard_gate = object.boolean("hard_gate", &mut cx.problems).is_some_and(|gate| gate.value);
    let guidelines = object.value("evaluation_guidelines").and_then(|node| guidelines(cx, node));
    let spans = NodeSpans {
        weight: whole(&mut object, "weight"),
        threshold: whole(&mut object, "passing_threshold"),
        gate: whole(&mut object, "hard_gate"),
    };
    let parts = parts(cx, &mut object, draft);
    object.finish(&mut cx.problems);
    let code = code?;
    draft.rubrics.push(RubricDraft {
        code: code.clone(),
        label: label.map(|label| label.value).unwrap_or_default(),
        description: description.map(|text| text.value),
        weight,
        aggregation: method.unwrap_or_default(),
        threshold: line.map(|line| line.value).or(Unit::new(DEFAULT_LINE).ok()).unwrap_or(Unit::ONE),
        hard_gate,
        guidelines,
        parts,
        spans,
    });
    Some(code)
}

fn parts(cx: &mut Context, object: &mut Object<'_>, draft: &mut Draft) -> PartsDraft {
    let head = object.head();
    let given = |entry: Option<&'_ Entry>| entry.is_some_and(|entry| !entry.value.is_null());
    let benchmarks = object.entry("benchmarks");
    let rubrics = object.entry("sub_rubrics");
    match (benchmarks, rubrics) {
        (Some(benchmarks), Some(rubrics)) if given(Some(benchmarks)) && given(Some(rubrics)) => {
            cx.problems.add(
                Diagnostic::error(
                    codes::BOTH_OR_NEITHER,
                    "a rubric has benchmarks and sub-rubrics at once",
                    rubrics.key_span,
                    "this makes it composite",
                )
                .with_secondary(benchmarks.key_span, "this makes it a leaf")
                .with_help("put the benchmarks into a sub-rubric of their own"),
            );
            PartsDraft::Unclear
        }
        (benchmarks, _) if given(benchmarks) => {
            list(cx, benchmarks, draft, benchmark).map_or(PartsDraft::Unclear, PartsDraft::Benchmarks)
        }
        (_, rubrics) if given(rubrics) => {
            list(cx, rubrics, draft, rubric).map_or(PartsDraft::Unclear, PartsDraft::Rubrics)
        }
        (empty, other) => {
            let at = empty.or(other).map_or(head, |entry| entry.key_span);
            neither(cx, at);
            PartsDraft::Unclear
        }
    }
}

fn neither(cx: &mut Context, at: assize_diagnostic::Span) {
    cx.problems.add(
        Diagnostic::error(
            codes::BOTH_OR_NEITHER,
            "a rubric has neither benchmarks nor sub-rubrics",
            at,
            "nothing to score",
        )
        .with_help(
            "list the codes of its benchmarks under `benchmarks:`, or of other rubrics under `sub_rubrics:`",
        ),
    );
}

/// Decodes a list of codes and of inline objects.
pub(super) fn list(
    cx: &mut Context,
    entry: Option<&Entry>,
    draft: &mut Draft,
    read: fn(&mut Context, &Node, &mut Draft) -> Option<Spanned<String>>,
) -> Option<Vec<Spanned<String>>> {
    let entry = entry?;
    let Data::Seq(items) = &entry.value.data else {
        cx.problems.add(wrong_type(&entry.value, &format!("`{}`", entry.key), "a list"));
        return None;
    };
    if items.is_empty() {
        neither(cx, entry.key_span);
        return None;
    }
    let mut found = Vec::new();
    for item in items {
        match &item.data {
            Data::Str(text) => found.push(Spanned::new(text.trim().to_owned(), item.place())),
            Data::Map(_) => found.extend(read(cx, item, draft)),
            _ => cx.problems.add(
                wrong_type(item, &format!("an entry of `{}`", entry.key), "a code or a map")
                    .with_help("a code that looks like a number needs quotes"),
            ),
        }
    }
    Some(found)
}

fn guidelines(cx: &mut Context, node: &Node) -> Option<Guidelines> {
    let mut object = Object::new(node, "the evaluation guidelines", &mut cx.problems)?;
    let guidelines = Guidelines {
        focus_areas: texts(cx, &mut object, "focus_areas"),
        acceptable_deviations: texts(cx, &mut object, "acceptable_deviations"),
        critical_requirements: texts(cx, &mut object, "critical_requirements"),
        evidence_requirements: object
            .string("evidence_requirements", &mut cx.problems)
            .map(|text| text.value),
        special_instructions: object.string("special_instructions", &mut cx.problems).map(|text| text.value),
    };
    object.finish(&mut cx.problems);
    Some(guidelines)
}
