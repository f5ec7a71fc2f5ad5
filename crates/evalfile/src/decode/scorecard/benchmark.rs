//! Decoder of a benchmark.

use std::sync::Arc;

use super::draft::{BenchmarkDraft, Draft, NodeSpans};
use super::scale::scale;
use super::words::{code, missing, needed, texts, threshold, weight_of, whole, word};
use super::{checks, criteria};
use crate::codes;
use crate::decode::common::tags;
use crate::decode::{Context, Object};
use crate::model::{EvaluatorType, Grader};
use crate::tree::Node;
use assize_diagnostic::{Diagnostic, Spanned};
use assize_rubric::{Criticality, Unit};

const CRITICALITIES: [(&str, Criticality); 3] = [
    (Criticality::HardGate.name(), Criticality::HardGate),
    (Criticality::ThresholdGate.name(), Criticality::ThresholdGate),
    (Criticality::ImprovementSignal.name(), Criticality::ImprovementSignal),
];

const EVALUATORS: [(&str, EvaluatorType); 4] = [
    (EvaluatorType::Code.name(), EvaluatorType::Code),
    (EvaluatorType::LlmJudge.name(), EvaluatorType::LlmJudge),
    (EvaluatorType::Hybrid.name(), EvaluatorType::Hybrid),
    (EvaluatorType::ManualSme.name(), EvaluatorType::ManualSme),
];

/// Decodes a benchmark. Its code is returned even if other fields are invalid, so that references to it
/// resolve.
pub(super) fn benchmark(cx: &mut Context, node: &Node, draft: &mut Draft) -> Option<Spanned<String>> {
    let what = "a benchmark";
    let mut object = Object::new(node, what, &mut cx.problems)?;
    object.entry("$schema");
    let code = code(cx, &mut object, what);
    let parent = object.text("parent_rubric", &mut cx.problems);
    let label = object.string("label", &mut cx.problems);
    let concept =
        needed(cx, &mut object, what, "concept", "concept: Share of refusals whose risks are documented.");
    let weight = object.value("weight").and_then(|node| weight_of(cx, node, "weight"));
    if object.value("weight").is_none() {
        cx.problems.add(missing(object.head(), what, "weight", "weight: 0.5"));
    }
    if object.value("threshold").is_none() {
        cx.problems.add(missing(object.head(), what, "threshold", "threshold: 0.95"));
    }
    let line = threshold(cx, &mut object, "threshold");
    let tier = object.value("criticality");
    if let (None, Some(line)) = (tier, &line)
        && line.value == Unit::ONE
    {
        cx.problems.add(
            Diagnostic::warning(
                codes::FULL_MARKS_NO_TIER,
                "a threshold of 1.0 has no criticality",
                line.span,
                "without one, the rubric can pass although this fails",
            )
            .with_help(
                "write `criticality: hard_gate` if no failure is allowed, else `criticality: threshold_gate`",
            ),
        );
    }
    let criticality = tier.and_then(|node| word(cx, node, "criticality", &CRITICALITIES)).unwrap_or_default();
    let scale = object.value("scoring_scale").and_then(|node| scale(cx, node));
    let evaluator =
        object.value("evaluator_type").and_then(|node| word(cx, node, "evaluator_type", &EVALUATORS));
    if object.value("evaluator_type").is_none() {
        cx.problems.add(missing(object.head(), what, "evaluator_type", "evaluator_type: llm_judge"));
    }
    let config = object.value("evaluator_config").map(|node| config(cx, node, evaluator)).unwrap_or_default();
    checks::expected(cx, object.head(), evaluator, config.has_checks);
    let prompt = prompt(cx, &mut object, config.prompt, evaluator);
    let inclusion = needed(
        cx,
        &mut object,
        what,
        "inclusion_criteria",
        "inclusion_criteria: Apply when a refusal is described. Flag if its risks are missing.",
    );
    let exclusion = object.text("exclusion_criteria", &mut cx.problems);
    criteria::check(cx, inclusion.as_ref(), exclusion.as_ref());
    let spans = NodeSpans {
        weight: whole(&mut object, "weight"),
        threshold: whole(&mut object, "threshold"),
        gate: whole(&mut object, "criticality"),
    };
    let examples = texts(cx, &mut object, "examples");
    let tags = tags(cx, &mut object);
    object.finish(&mut cx.problems);
    let code = code?;
    draft.benchmarks.push(BenchmarkDraft {
        code: code.clone(),
        parent,
        label: label.map(|label| label.value),
        concept: concept.map(|concept| concept.value).unwrap_or_default(),
        weight,
        threshold: line.map_or(Unit::ONE, |line| line.value),
        criticality,
        scale,
        evaluator: evaluator.unwrap_or(EvaluatorType::LlmJudge),
        prompt,
        checks: config.checks,
        all_must_pass: config.all_must_pass,
        inclusion: inclusion.map(|text| text.value).unwrap_or_default(),
        exclusion: exclusion.map(|text| text.value),
        examples,
        tags,
        spans,
    });
    Some(code)
}

#[derive(Default)]
struct Config {
    prompt: Option<Spanned<String>>,
    checks: Vec<Arc<Grader>>,
    /// True if there are checks, valid or not.
    has_checks: bool,
    all_must_pass: bool,
}

fn config(cx: &mut Context, node: &Node, evaluator: Option<EvaluatorType>) -> Config {
    let mut config = Config::default();
    let Some(mut object) = Object::new(node, "an evaluator's settings", &mut cx.problems) else {
        return config;
    };
    if let Some(checks) = object.value("deterministic") {
        config.has_checks = true;
        config.checks = checks::checks(cx, checks, evaluator);
    }
    if let Some(judge) = object.value("llm_judge")
        && let Some(mut judge) = Object::new(judge, "the judge's settings", &mut cx.problems)
    {
        config.prompt = judge.text("prompt_file", &mut cx.problems);
        judge.finish(&mut cx.problems);
    }
    if let Some(node) = object.value("aggregation") {
        config.all_must_pass = word(cx, node, "aggregation", &[("all_must_pass", true)]).unwrap_or(false);
    }
    object.finish(&mut cx.problems);
    config
}

/// Decodes the prompt file, from either of the two keys that may name it.
fn prompt(
    cx: &mut Context,
    object: &mut Object<'_>,
    configured: Option<Spanned<String>>,
    evaluator: Option<EvaluatorType>,
) -> Option<Spanned<String>> {
    let head = object.head();
    let direct = object.text("llm_prompt_file", &mut cx.problems);
    if let (Some(direct), Some(configured)) = (&direct, &configured)
        && direct.value != configured.value
    {
        cx.problems.add(
            Diagnostic::error(
                codes::TWO_SPELLINGS,
                "two prompt files are named",
                configured.span,
                "this one differs",
            )
            .with_secondary(direct.span, "already given here")
            .with_help("keep `llm_prompt_file`"),
        );
    }
    let prompt = direct.or(configured);
    match (&prompt, evaluator) {
        (None, Some(evaluator)) if evaluator.needs_prompt() => cx.problems.add(
            Diagnostic::error(
                codes::PROMPT_NOT_NAMED,
                format!("a benchmark with `{}` needs a prompt file", evaluator.name()),
                head,
                "no `llm_prompt_file` here",
            )
            .with_help(
                "write `llm_prompt_file: benchmarks/.../CODE_prompt.md`, a path from the scorecard's folder",
            ),
        ),
        (Some(prompt), Some(evaluator)) if !evaluator.needs_prompt() => {
            cx.problems.add(
                Diagnostic::error(
                    codes::UNUSED_SETTING,
                    format!("`{}` uses no prompt file", evaluator.name()),
                    prompt.span,
                    "has no effect here",
                )
                .with_help("remove it, or use `hybrid` to ask a model after the checks"),
            );
            return None;
        }
        _ => {}
    }
    prompt
}
