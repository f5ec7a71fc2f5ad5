//! Decoder of a benchmark.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::draft::{BenchmarkDraft, ScorecardDraft};
use super::scale::decode_scale;
use super::shared::{
    decode_code, decode_enum_word, decode_node_weight, decode_texts, decode_threshold, node_marks,
};
use super::{checks, criteria};
use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapReader, TreeNode, codes};
use assize_evalfile::reading::{DecodeContext, decode_required_text, decode_spanned_tags, missing_key};
use assize_model::{EvaluatorType, Grader, ScorecardBenchmark};
use assize_rubric::{Criticality, UnitInterval, Weight};

/// Decodes a benchmark. Its code is returned even if other fields are invalid, so that references to it still
/// resolve.
pub(super) fn decode_benchmark(
    cx: &mut DecodeContext,
    node: &TreeNode,
    draft: &mut ScorecardDraft,
) -> Option<SpannedValue<String>> {
    let what = "a benchmark";
    let mut object = MapReader::new(node, what, &mut cx.problems)?;
    object.entry("$schema");

    // A description of the metric, which has no effect: the threshold and the cases count.
    object.entry("metric");

    let code = decode_code(cx, &mut object, what);
    let parent = object.text("parent_rubric", &mut cx.problems);
    let label = object.string("label", &mut cx.problems);
    let concept = decode_required_text(
        cx,
        &mut object,
        what,
        "concept",
        "concept: Share of refusals whose risks are documented.",
    );

    let weight = object.value("weight").and_then(|node| decode_node_weight(cx, node, "weight"));
    if object.value("weight").is_none() {
        cx.problems.add(missing_key(object.head(), what, "weight", "weight: 0.5"));
    }
    if object.value("threshold").is_none() {
        cx.problems.add(missing_key(object.head(), what, "threshold", "threshold: 0.95"));
    }

    let line = decode_threshold(cx, &mut object, "threshold");
    let criticality = decode_criticality(cx, &mut object, line.as_ref());
    let scale = object.value("scoring_scale").and_then(|node| decode_scale(cx, node));
    let evaluator = object
        .value("evaluator_type")
        .and_then(|node| decode_enum_word(cx, node, "evaluator_type", &EvaluatorType::NAMED));

    if object.value("evaluator_type").is_none() {
        cx.problems.add(missing_key(object.head(), what, "evaluator_type", "evaluator_type: llm_judge"));
    }

    let config = object
        .value("evaluator_config")
        .map(|node| decode_evaluator_config(cx, node, evaluator))
        .unwrap_or_default();
    checks::report_missing_checks(cx, object.head(), evaluator, config.has_checks);

    let prompt = decode_prompt_file(cx, &mut object, config.prompt, evaluator);
    let inclusion = decode_required_text(
        cx,
        &mut object,
        what,
        "inclusion_criteria",
        "inclusion_criteria: Apply when a refusal is described. Flag if its risks are missing.",
    );

    let exclusion = object.text("exclusion_criteria", &mut cx.problems);
    criteria::check_criteria_form(cx, inclusion.as_ref(), exclusion.as_ref());

    let at = code.as_ref().map_or_else(|| object.head(), |code| code.span);
    let marks = node_marks(cx, &mut object, at, "threshold", "criticality");

    let examples = decode_texts(cx, &mut object, "examples");
    let tags = decode_spanned_tags(cx, &mut object);

    object.finish(&mut cx.problems);
    let code = code?;
    draft.benchmarks.push(BenchmarkDraft {
        code: code.clone(),
        parent,
        weight,
        prompt,
        decoded: ScorecardBenchmark {
            code: Arc::from(code.value.as_str()),
            label: label.map(|label| label.value),
            concept: concept.map(|concept| concept.value).unwrap_or_default(),
            weight: weight.unwrap_or(Weight::ONE),
            threshold: line.map_or(UnitInterval::ONE, |line| line.value),
            criticality,
            scale,
            evaluator: evaluator.unwrap_or(EvaluatorType::LlmJudge),
            prompt: None,
            checks: config.checks,
            all_must_pass: config.all_must_pass,
            raters: config.raters,
            inclusion: inclusion.map(|text| text.value).unwrap_or_default(),
            exclusion: exclusion.map(|text| text.value),
            examples,
            tags: tags.iter().map(|tag| tag.value.clone()).collect(),
            parent: 0,
            place: cx.position(code.span),
            marks,
        },
        tags,
    });

    Some(code)
}

/// Decodes the criticality. Warns if it is absent although the threshold allows no failure.
fn decode_criticality(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    threshold: Option<&SpannedValue<UnitInterval>>,
) -> Criticality {
    let tier = object.value("criticality");
    if let (None, Some(line)) = (tier, threshold)
        && line.value == UnitInterval::ONE
    {
        Diagnostic::warning(codes::FULL_MARKS_NO_TIER, "a threshold of 1.0 has no criticality")
            .at(line.span, "without one, the rubric can pass although this fails")
            .with_help(
                "write `criticality: hard_gate` if no failure is allowed, else `criticality: threshold_gate`",
            )
            .add_to(&mut cx.problems);
    }

    tier.and_then(|node| decode_enum_word(cx, node, "criticality", &Criticality::NAMED)).unwrap_or_default()
}

/// Maximum number of reviewers that can be required.
const MAX_RATERS: i64 = 100;

#[derive(Default)]
struct EvaluatorConfig {
    prompt: Option<SpannedValue<String>>,
    checks: Vec<Arc<Grader>>,
    /// True if there are checks, valid or not.
    has_checks: bool,
    all_must_pass: bool,
    /// Number of reviewers who must decide.
    raters: Option<NonZeroU32>,
}

fn decode_evaluator_config(
    cx: &mut DecodeContext,
    node: &TreeNode,
    evaluator: Option<EvaluatorType>,
) -> EvaluatorConfig {
    let mut config = EvaluatorConfig::default();
    let Some(mut object) = MapReader::new(node, "an evaluator's settings", &mut cx.problems) else {
        return config;
    };
    if let Some(checks) = object.value("deterministic") {
        config.has_checks = checks.as_seq().is_none_or(|items| !items.is_empty());
        config.checks = checks::decode_checks(cx, checks, evaluator);
    }

    if let Some(judge) = object.value("llm_judge")
        && let Some(mut judge) = MapReader::new(judge, "the judge's settings", &mut cx.problems)
    {
        config.prompt = judge.text("prompt_file", &mut cx.problems);
        judge.finish(&mut cx.problems);
    }

    if let Some(node) = object.value("aggregation") {
        config.all_must_pass =
            decode_enum_word(cx, node, "aggregation", &[("all_must_pass", true)]).unwrap_or(false);
    }

    if let Some(raters) = object.integer("raters", 1, MAX_RATERS, &mut cx.problems) {
        if evaluator == Some(EvaluatorType::Code) {
            Diagnostic::error(codes::UNUSED_SETTING, "`code` does not ask people")
                .at(raters.span, "has no effect here")
                .with_help("remove `raters`, or use `manual_sme`, `llm_judge` or `hybrid`")
                .add_to(&mut cx.problems);
        }
        config.raters = u32::try_from(raters.value).ok().and_then(NonZeroU32::new);
    }

    object.finish(&mut cx.problems);
    config
}

/// Decodes the prompt file, which either of two keys may name.
fn decode_prompt_file(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    configured: Option<SpannedValue<String>>,
    evaluator: Option<EvaluatorType>,
) -> Option<SpannedValue<String>> {
    let head = object.head();
    let direct = object.text("llm_prompt_file", &mut cx.problems);
    if let (Some(direct), Some(configured)) = (&direct, &configured)
        && direct.value != configured.value
    {
        Diagnostic::error(codes::TWO_SPELLINGS, "two prompt files are named")
            .at(configured.span, "this one differs")
            .with_secondary(direct.span, "already given here")
            .with_help("keep `llm_prompt_file`")
            .add_to(&mut cx.problems);
    }

    let prompt = direct.or(configured);
    match (&prompt, evaluator) {
        (None, Some(evaluator)) if evaluator.needs_prompt() => Diagnostic::error(
            codes::PROMPT_NOT_NAMED,
            format!("a benchmark with `{}` needs a prompt file", evaluator.name()),
        )
        .at(head, "no `llm_prompt_file` here")
        .with_help(
            "write `llm_prompt_file: benchmarks/.../CODE_prompt.md`, a path from the scorecard's folder",
        )
        .add_to(&mut cx.problems),
        (Some(prompt), Some(evaluator)) if !evaluator.needs_prompt() => {
            return Diagnostic::error(
                codes::UNUSED_SETTING,
                format!("`{}` does not use a prompt file", evaluator.name()),
            )
            .at(prompt.span, "has no effect here")
            .with_help("remove it, or use `hybrid` to ask a model after the checks")
            .reject_in(&mut cx.problems);
        }
        _ => {}
    }

    prompt
}
