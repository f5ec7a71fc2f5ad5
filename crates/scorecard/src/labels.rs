//! Decoder of labels.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, NodeValue, TreeNode, codes, number};
use assize_evalfile::reading::{DecodeContext, decode_required_text, missing_key};
use assize_model::ScorecardLabel;
use assize_rubric::{FailureSeverity, LabelOutcome, NO_FAILURE, SeenHash, SeenHashError, composed_name};

use super::draft::{LabelDraft, ScorecardDraft};
use super::shared::decode_enum_word;

const OUTCOMES: [(&str, LabelOutcome); 6] = [
    ("pass", LabelOutcome::Met),
    ("fail", LabelOutcome::Unmet),
    ("met", LabelOutcome::Met),
    ("unmet", LabelOutcome::Unmet),
    ("not_applicable", LabelOutcome::NotApplicable),
    ("unsure", LabelOutcome::Unsure),
];

/// Decodes one label, with the keys of scorecards or of labels files. A label with a benchmark but without an `outcome`
/// means a failure, and so does `NONE_OF_THE_ABOVE`. `NO_FAILURE` means that there was no failure.
pub(super) fn decode_label(cx: &mut DecodeContext, node: &TreeNode, draft: &mut ScorecardDraft) {
    let what = "a label";
    let Some(mut object) = MapReader::new(node, what, &mut cx.problems) else { return };
    let either = |object: &MapReader<'_>, own: &'static str, other: &'static str| {
        if object.has(other) { other } else { own }
    };
    let case = either(&object, "trace_id", "case");
    let trace_id = decode_required_text(cx, &mut object, what, case, "\"trace_id\": \"refusal-07\"");
    let trace_id = trace_id.map(|id| id.map(composed_name));
    let code = either(&object, "benchmark_code", "criterion");
    let benchmark = decode_required_text(cx, &mut object, what, code, "\"benchmark_code\": \"A-REF1\"");
    let benchmark = benchmark.map(|code| code.map(composed_name));
    let decided = either(&object, "outcome", "label");
    let outcome = object.value(decided).map(|node| match node.data {
        NodeValue::Int(_) | NodeValue::Float(_) => {
            number(node, decided, &mut cx.problems).map(|score| LabelOutcome::Score(score.value))
        }
        _ => decode_enum_word(cx, node, decided, &OUTCOMES),
    });

    let severity = object
        .value("severity")
        .and_then(|node| decode_enum_word(cx, node, "severity", &FailureSeverity::NAMED));
    let who = either(&object, "reviewer", "who");
    let mut text = |cx: &mut DecodeContext, key| object.string(key, &mut cx.problems).map(|text| text.value);
    let (note, at, version) = (text(cx, "note"), text(cx, "at"), text(cx, "version"));
    let [reviewer, system, suite] = [who, "system", "suite"].map(|key| text(cx, key).map(composed_name));

    // Calibration reads these keys; scoring does not.
    for key in ["sampled", "split"] {
        text(cx, key);
    }
    object.value("drawn").and_then(|node| number(node, "drawn", &mut cx.problems));

    let seen = object.string("seen", &mut cx.problems).and_then(|text| {
        let problem = text.value.parse::<SeenHash>();
        problem.map_err(|error| report_bad_hash(cx, text.span, &error)).ok()
    });

    let adjudicates = object.boolean("adjudicates", &mut cx.problems).is_some_and(|flag| flag.value);
    if adjudicates && reviewer.is_none() {
        cx.problems.add(missing_key(object.head(), "an adjudication", "reviewer", "\"reviewer\": \"ann\""));
    }

    let trial = object
        .value("repeat")
        .and_then(|node| number(node, "repeat", &mut cx.problems))
        .map(|found| found.value);
    object.finish(&mut cx.problems);

    let (Some(trace_id), Some(benchmark)) = (trace_id, benchmark) else { return };
    let silent = if benchmark.value == NO_FAILURE { LabelOutcome::Met } else { LabelOutcome::Unmet };
    let says_outcome = outcome.is_some();
    let outcome = outcome.flatten().unwrap_or(silent);
    draft.labels.push(LabelDraft {
        decoded: ScorecardLabel {
            trace_id: trace_id.value.clone(),
            benchmark: None,
            outcome,
            severity,
            note,
            reviewer,
            at,
            version,
            system,
            seen,
            adjudicates,
            place: cx.position(trace_id.span),
        },
        trace_id,
        benchmark,
        suite,
        trial,
        says_outcome,
    });
}

fn report_bad_hash(cx: &mut DecodeContext, span: Span, error: &SeenHashError) {
    Diagnostic::error(codes::LABEL_HASH, "`seen` is not a valid hash")
        .at(span, error.to_string())
        .with_help("remove it; `assize review RUN --decisions FILE` records decisions with their hashes")
        .add_to(&mut cx.problems);
}
