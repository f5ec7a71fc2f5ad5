//! Decoder of test cases of a scorecard.

use assize_document::{MapReader, TreeNode};
use assize_evalfile::reading::{DecodeContext, check_id, decode_required_text, decode_spanned_tags};

use super::draft::{ScorecardCaseDraft, ScorecardDraft};
use super::shared::decode_codes;

/// Decodes one case.
pub(super) fn decode_scorecard_case(cx: &mut DecodeContext, node: &TreeNode, draft: &mut ScorecardDraft) {
    let what = "a case";
    let Some(mut object) = MapReader::new(node, what, &mut cx.problems) else { return };
    let id = decode_required_text(cx, &mut object, what, "id", "id: refusal-07")
        .and_then(|id| check_id(cx, id, "an id"));
    let tags = decode_spanned_tags(cx, &mut object);
    let benchmarks = object.value("benchmarks").map(|node| decode_codes(cx, node, "benchmarks"));
    let mut value = |cx: &mut DecodeContext, keys: &[&'static str]| {
        object
            .first_of(keys, &mut cx.problems)
            .map(|entry| entry.value.to_json())
            .filter(|value| !value.is_null())
    };

    let ground_truth = value(cx, &["ground_truth"]);
    let source_narrative = value(cx, &["source_narrative", "source"]);
    let candidate_output = value(cx, &["candidate_output", "candidate", "output"]);

    object.entry("metadata");
    object.finish(&mut cx.problems);

    let Some(id) = id else { return };
    draft.cases.push(ScorecardCaseDraft {
        id,
        tags,
        benchmarks,
        ground_truth,
        source_narrative,
        candidate_output,
    });
}
