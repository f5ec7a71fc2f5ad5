//! Decoder of graders of execution metrics: time, cost, tokens, calls, skills.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, codes};
use assize_model::{AnswerCheck, ExecutionMetrics, GraderKind, SkillTrigger, TokenUsage};

use super::shared::{decode_count, decode_duration, decode_non_negative, missing_key, unused_key};
use crate::decode::DecodeContext;
use crate::decode::common::{decode_required_text, refuse_foreign_keys};

/// Decodes the keys of `type: latency`: `threshold` in milliseconds.
pub(super) fn decode_latency(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    refuse_foreign_keys(cx, object, &[("max_ms", "write the milliseconds as `threshold`")]);
    if object.value("threshold").is_none() {
        return missing_key(object.head(), "a latency limit", "threshold", "threshold: 2000 # milliseconds")
            .reject_in(&mut cx.problems);
    }
    decode_duration(object, "threshold", 0.001, &mut cx.problems)
        .map(|threshold| GraderKind::Check(AnswerCheck::Latency { threshold }))
}

/// Decodes the keys of `type: cost`: `budget` in US dollars.
pub(super) fn decode_cost(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    refuse_foreign_keys(cx, object, &[("max_usd", "write the US dollars as `budget`")]);
    if object.value("budget").is_none() {
        let example = "budget: 0.05 # US dollars";
        return cx.problems.reject(missing_key(object.head(), "a cost limit", "budget", example));
    }
    decode_non_negative(object, "budget", &mut cx.problems)
        .map(|budget_usd| GraderKind::Check(AnswerCheck::Cost { budget_usd }))
}

/// Decodes the keys of `type: token-usage`.
pub(super) fn decode_token_usage(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let limits = TokenUsage {
        max_total: decode_count(object, "max_total", &mut cx.problems),
        max_input: decode_count(object, "max_input", &mut cx.problems),
        max_output: decode_count(object, "max_output", &mut cx.problems),
    };
    if limits == TokenUsage::default() && cx.problems.error_count() == errors {
        report_no_limit(cx, object, "a token limit", "`max_total`, `max_input` or `max_output`");
    }

    (cx.problems.error_count() == errors).then_some(GraderKind::Check(AnswerCheck::TokenUsage(limits)))
}

/// Decodes the keys of `type: execution-metrics`.
pub(super) fn decode_execution_metrics(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let limits = ExecutionMetrics {
        max_tool_calls: decode_count(object, "max_tool_calls", &mut cx.problems),
        max_llm_calls: decode_count(object, "max_llm_calls", &mut cx.problems),
        max_tokens: decode_count(object, "max_tokens", &mut cx.problems),
        max_cost_usd: decode_non_negative(object, "max_cost_usd", &mut cx.problems),
        max_duration: decode_duration(object, "max_duration_ms", 0.001, &mut cx.problems),
        target_exploration_ratio: object
            .unit("target_exploration_ratio", &mut cx.problems)
            .map(|ratio| ratio.value),
        exploration_tolerance: None,
    };

    let tolerance = object.unit("exploration_tolerance", &mut cx.problems);
    if limits == ExecutionMetrics::default() && cx.problems.error_count() == errors {
        report_no_limit(
            cx,
            object,
            "an execution-metrics grader",
            "a limit such as `max_tool_calls` or `max_duration_ms`",
        );
    } else if let Some(tolerance) = tolerance.as_ref().filter(|_| limits.target_exploration_ratio.is_none()) {
        unused_key(
            tolerance.span,
            "`exploration_tolerance` needs `target_exploration_ratio`",
            "add the ratio that is aimed at, or remove the tolerance",
        )
        .add_to(&mut cx.problems);
    }

    let limits = ExecutionMetrics { exploration_tolerance: tolerance.map(|unit| unit.value), ..limits };
    (cx.problems.error_count() == errors).then_some(GraderKind::Check(AnswerCheck::ExecutionMetrics(limits)))
}

fn report_no_limit(cx: &mut DecodeContext, object: &MapReader<'_>, what: &str, keys: &str) {
    Diagnostic::error(codes::MISSING_SETTING, format!("{what} needs a limit"))
        .at(object.head(), "no limit here")
        .with_help(format!("add {keys}"))
        .add_to(&mut cx.problems);
}

/// Decodes the keys of `type: skill-trigger`.
pub(super) fn decode_skill_trigger(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let example = "skill: name-of-the-skill";
    let skill = decode_required_text(cx, object, "a skill-trigger grader", "skill", example);

    let should = object.boolean("should_trigger", &mut cx.problems);
    let skill = skill?.value;
    (cx.problems.error_count() == errors).then(|| {
        GraderKind::Check(AnswerCheck::SkillTrigger(SkillTrigger {
            skill,
            should_trigger: should.is_none_or(|flag| flag.value),
        }))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tests::snippets::{codes, one};

    #[test]
    fn limits_are_read() {
        let kind = |text: &str| one(&format!("- {{type: {text}}}\n")).kind.clone();
        assert_eq!(
            kind("latency, threshold: 1500"),
            GraderKind::Check(AnswerCheck::Latency { threshold: Duration::from_millis(1500) })
        );
        assert_eq!(kind("cost, budget: 0.1"), GraderKind::Check(AnswerCheck::Cost { budget_usd: 0.1 }));
        assert_eq!(
            kind("token_usage, max_total: 100"),
            GraderKind::Check(AnswerCheck::TokenUsage(TokenUsage {
                max_total: Some(100),
                ..TokenUsage::default()
            }))
        );
        let GraderKind::Check(AnswerCheck::ExecutionMetrics(limits)) = kind(
            "execution-metrics, max_tool_calls: 3, max_duration_ms: 10, target_exploration_ratio: 0.5, exploration_tolerance: 0.1",
        ) else {
            panic!("limits")
        };
        assert_eq!((limits.max_tool_calls, limits.max_duration), (Some(3), Some(Duration::from_millis(10))));
        assert_eq!(limits.exploration_tolerance.map(assize_rubric::UnitInterval::get), Some(0.1));
        assert_eq!(
            kind("skill-trigger, skill: deploy"),
            GraderKind::Check(AnswerCheck::SkillTrigger(SkillTrigger {
                skill: "deploy".into(),
                should_trigger: true
            }))
        );
    }

    #[test]
    fn missing_and_wrong_limits_are_refused() {
        for (text, code) in [
            ("latency", "E0304"),
            ("latency, threshold: -1", "E0106"),
            ("latency, threshold: .inf", "E0106"),
            ("cost", "E0304"),
            ("cost, budget: free", "E0105"),
            ("cost, budget_usd: 1", "E0103"),
            ("token-usage", "E0304"),
            ("token-usage, max_total: 1.5", "E0105"),
            ("execution-metrics", "E0304"),
            ("execution-metrics, max_tokens: 1, exploration_tolerance: 0.1", "E0306"),
            ("execution-metrics, target_exploration_ratio: 50", "E0106"),
            ("skill-trigger", "E0304"),
            ("skill-trigger, skill: ''", "E0107"),
            ("skill-trigger, skill: a, should_trigger: no", "E0105"),
        ] {
            assert!(codes(&format!("- {{type: {text}}}\n")).contains(&code), "{text}");
        }
    }
}
