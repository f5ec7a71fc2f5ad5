//! Decoder of test cases of a scorecard.

use super::draft::{CaseDraft, Draft};
use super::words::{codes_of, needed};
use crate::decode::common::{tags, usable_id};
use crate::decode::{Context, Object};
use crate::tree::Node;

/// Decodes one case.
pub(super) fn case(cx: &mut Context, node: &Node, draft: &mut Draft) {
    let what = "a case";
    let Some(mut object) = Object::new(node, what, &mut cx.problems) else { return };
    let id = needed(cx, &mut object, what, "id", "id: refusal-07").and_then(|id| usable_id(cx, id, "an id"));
    let tags = tags(cx, &mut object);
    let benchmarks = object.value("benchmarks").map(|node| codes_of(cx, node, "benchmarks"));
    let mut value = |cx: &mut Context, keys: &[&'static str]| {
        object
            .one_of(keys, &mut cx.problems)
            .map(|entry| entry.value.to_json())
            .filter(|value| !value.is_null())
    };
    let ground_truth = value(cx, &["ground_truth"]);
    let source_narrative = value(cx, &["source_narrative", "source"]);
    let candidate_output = value(cx, &["candidate_output", "candidate", "output"]);
    object.entry("metadata");
    object.finish(&mut cx.problems);
    let Some(id) = id else { return };
    draft.cases.push(CaseDraft { id, tags, benchmarks, ground_truth, source_narrative, candidate_output });
}
