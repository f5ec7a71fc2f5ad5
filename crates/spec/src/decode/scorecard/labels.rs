//! What people said about traces.

use super::draft::{Draft, LabelDraft};
use super::words::{needed, word};
use crate::decode::{Context, Object};
use crate::model::{LabelOutcome, Severity};
use crate::tree::Node;

/// The code of a label that finds none of the benchmarks at fault.
pub(super) const NONE_OF_THE_ABOVE: &str = "NONE_OF_THE_ABOVE";

const OUTCOMES: [(&str, LabelOutcome); 4] = [
    ("pass", LabelOutcome::Pass),
    ("fail", LabelOutcome::Fail),
    ("not_applicable", LabelOutcome::NotApplicable),
    ("unsure", LabelOutcome::Unsure),
];

const SEVERITIES: [(&str, Severity); 3] =
    [("low", Severity::Low), ("medium", Severity::Medium), ("high", Severity::High)];

/// Reads one label. A label with a benchmark and no `outcome` says that its failure was found; one with
/// `NONE_OF_THE_ABOVE` that none was.
pub(super) fn label(cx: &mut Context, node: &Node, draft: &mut Draft) {
    let what = "a label";
    let Some(mut object) = Object::new(node, what, &mut cx.problems) else { return };
    let trace_id = needed(cx, &mut object, what, "trace_id", "\"trace_id\": \"refusal-07\"");
    let benchmark = needed(cx, &mut object, what, "benchmark_code", "\"benchmark_code\": \"A-REF1\"");
    let outcome = object.value("outcome").map(|node| word(cx, node, "outcome", &OUTCOMES));
    let severity = object.value("severity").and_then(|node| word(cx, node, "severity", &SEVERITIES));
    let mut text = |cx: &mut Context, key| object.string(key, &mut cx.problems).map(|text| text.value);
    let (note, reviewer) = (text(cx, "note"), text(cx, "reviewer"));
    let (at, version) = (text(cx, "at"), text(cx, "version"));
    object.finish(&mut cx.problems);
    let (Some(trace_id), Some(benchmark)) = (trace_id, benchmark) else { return };
    let silent = if benchmark.value == NONE_OF_THE_ABOVE { LabelOutcome::Pass } else { LabelOutcome::Fail };
    let outcome = outcome.flatten().unwrap_or(silent);
    draft.labels.push(LabelDraft { trace_id, benchmark, outcome, severity, note, reviewer, at, version });
}
