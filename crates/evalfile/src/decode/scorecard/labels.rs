//! Decoder of labels.

use assize_rubric::{LabelOutcome, Severity};

use super::draft::{Draft, LabelDraft};
use super::words::{needed, word};
use crate::decode::object::number;
use crate::decode::{Context, Object};
use crate::tree::{Data, Node};

/// Code of a label that none of the benchmarks failed.
pub(super) const NONE_OF_THE_ABOVE: &str = "NONE_OF_THE_ABOVE";

const OUTCOMES: [(&str, LabelOutcome); 6] = [
    ("pass", LabelOutcome::Met),
    ("fail", LabelOutcome::Unmet),
    ("met", LabelOutcome::Met),
    ("unmet", LabelOutcome::Unmet),
    ("not_applicable", LabelOutcome::NotApplicable),
    ("unsure", LabelOutcome::Unsure),
];

const SEVERITIES: [(&str, Severity); 3] =
    [("low", Severity::Low), ("medium", Severity::Medium), ("high", Severity::High)];

/// Decodes one label, with the keys of scorecards or those of labels files. A label with a benchmark and no
/// `outcome` is a failure; one with `NONE_OF_THE_ABOVE` says that there was none.
pub(super) fn label(cx: &mut Context, node: &Node, draft: &mut Draft) {
    let what = "a label";
    let Some(mut object) = Object::new(node, what, &mut cx.problems) else { return };
    let either = |object: &Object<'_>, own: &'static str, other: &'static str| {
        if object.has(other) { other } else { own }
    };
    let case = either(&object, "trace_id", "case");
    let trace_id = needed(cx, &mut object, what, case, "\"trace_id\": \"refusal-07\"");
    let code = either(&object, "benchmark_code", "criterion");
    let benchmark = needed(cx, &mut object, what, code, "\"benchmark_code\": \"A-REF1\"");
    let decided = either(&object, "outcome", "label");
    let outcome = object.value(decided).map(|node| match node.data {
        Data::Int(_) | Data::Float(_) => {
            number(node, decided, &mut cx.problems).map(|score| LabelOutcome::Score(score.value))
        }
        _ => word(cx, node, decided, &OUTCOMES),
    });
    let severity = object.value("severity").and_then(|node| word(cx, node, "severity", &SEVERITIES));
    let who = either(&object, "reviewer", "who");
    let mut text = |cx: &mut Context, key| object.string(key, &mut cx.problems).map(|text| text.value);
    let (note, reviewer) = (text(cx, "note"), text(cx, who));
    let (at, version) = (text(cx, "at"), text(cx, "version"));
    // Keys that calibration needs and scoring does not.
    for key in ["suite", "system", "sampled", "split"] {
        text(cx, key);
    }
    object.value("repeat");
    object.finish(&mut cx.problems);
    let (Some(trace_id), Some(benchmark)) = (trace_id, benchmark) else { return };
    let silent = if benchmark.value == NONE_OF_THE_ABOVE { LabelOutcome::Met } else { LabelOutcome::Unmet };
    let outcome = outcome.flatten().unwrap_or(silent);
    draft.labels.push(LabelDraft { trace_id, benchmark, outcome, severity, note, reviewer, at, version });
}
