//! Limits on the execution of a target: time, cost, tokens, calls.

use std::time::Duration;

use assize_model::{ExecutionMetrics, TokenUsage};
use assize_rubric::{GraderNote, Tokens, UnitInterval, format_plain};

use super::result::{AnswerFacts, CheckResult};

/// Names of read-only tools, in lower case.
const EXPLORING: [&str; 10] =
    ["read", "grep", "glob", "search", "list", "ls", "find", "websearch", "webfetch", "read_file"];
/// Default tolerance for the share of exploring calls.
const DEFAULT_TOLERANCE: f64 = 0.2;

/// Beginning of messages about a measurement that a target does not report.
const NOT_REPORTED: &str = "the target does not report";
/// Beginning of the message about the time of an answer from the reply cache.
const NO_TIME_IN_CACHE: &str = "the answer came from the reply cache, which has no time for it";

/// Returns true for a message that a measurement of the answer is missing. Grading again would not find it.
pub fn is_unreported(message: &str) -> bool {
    // A composite prefixes the message with the name of its member.
    [NOT_REPORTED, NO_TIME_IN_CACHE].iter().any(|beginning| message.contains(beginning))
}

fn unknown_metric(what: &str) -> String {
    format!("{NOT_REPORTED} {what}, so the limit can't be checked")
}

fn check_limit(name: &str, most: f64, value: f64, unit: &str) -> GraderNote {
    let passed = value <= most;
    let word = if passed { "within" } else { "above" };
    GraderNote::new(
        passed,
        format!("{name} at most {most}{unit}"),
        format!("{}{unit}, {word} the limit", format_plain(value)),
    )
}

/// Compares each value that has a limit with it; fails if such a value is not known.
fn check_limits<const N: usize>(
    numbers: [(&str, Option<f64>, Option<f64>, &str); N],
) -> Result<Vec<GraderNote>, String> {
    let mut findings = Vec::new();
    for (name, most, value, unit) in numbers {
        if let Some(most) = most {
            let value = value.ok_or_else(|| unknown_metric(&format!("its {name}")))?;
            findings.push(check_limit(name, most, value, unit));
        }
    }
    Ok(findings)
}

fn to_millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// 1 if the answer arrived within the time limit.
pub(super) fn check_latency(threshold: Duration, facts: &AnswerFacts) -> Result<CheckResult, String> {
    Ok(CheckResult::all_or_nothing(vec![check_time(threshold, facts)?]))
}

/// Compares the time of an answer with a limit. The time of a cached answer was measured when the model was
/// called.
fn check_time(most: Duration, facts: &AnswerFacts) -> Result<GraderNote, String> {
    let duration = match facts.duration {
        Some(duration) => duration,
        None if facts.recalled => {
            return Err(format!(
                "{NO_TIME_IN_CACHE}, so the limit can't be checked; measure it with `--no-cache`"
            ));
        }
        None => return Err(unknown_metric("how long the answer took")),
    };
    let unit = if facts.recalled { " ms (measured in the original call)" } else { " ms" };
    let limit = check_limit("time", to_millis(most), to_millis(duration), unit);

    Ok(GraderNote { text: format!("time at most {} ms", to_millis(most)), ..limit })
}

/// 1 if the answer cost no more than the limit.
pub(super) fn check_cost(budget_usd: f64, facts: &AnswerFacts) -> Result<CheckResult, String> {
    let cost = facts.cost_usd.ok_or_else(|| unknown_metric("what the answer cost"))?;
    Ok(CheckResult::all_or_nothing(vec![check_limit("cost", budget_usd, cost, " USD")]))
}

/// 1 if all token limits are kept.
pub(super) fn check_tokens(limits: TokenUsage, facts: &AnswerFacts) -> Result<CheckResult, String> {
    let Tokens { input, output, .. } = facts.tokens;
    let findings = check_limits([
        ("tokens", limits.max_total.map(|n| n as f64), total_tokens(facts.tokens).map(|n| n as f64), ""),
        ("input tokens", limits.max_input.map(|n| n as f64), input.map(|n| n as f64), ""),
        ("output tokens", limits.max_output.map(|n| n as f64), output.map(|n| n as f64), ""),
    ])?;
    Ok(CheckResult::all_or_nothing(findings))
}

fn total_tokens(tokens: Tokens) -> Option<u64> {
    tokens.input.zip(tokens.output).map(|(input, output)| input.saturating_add(output))
}

/// The share of limits that are kept.
pub(super) fn check_execution(limits: &ExecutionMetrics, facts: &AnswerFacts) -> Result<CheckResult, String> {
    let calls = facts.calls.as_deref();
    let numbers = [
        ("tool calls", limits.max_tool_calls.map(|n| n as f64), calls.map(|calls| calls.len() as f64), ""),
        ("model calls", limits.max_llm_calls.map(|n| n as f64), facts.model_calls.map(|n| n as f64), ""),
        ("tokens", limits.max_tokens.map(|n| n as f64), total_tokens(facts.tokens).map(|n| n as f64), ""),
        ("cost", limits.max_cost_usd, facts.cost_usd, " USD"),
    ];

    let mut findings = check_limits(numbers)?;

    if let Some(most) = limits.max_duration {
        findings.push(check_time(most, facts)?);
    }

    if let Some(target) = limits.target_exploration_ratio {
        let calls = calls.ok_or_else(|| unknown_metric("its tool calls"))?;
        let tolerance = limits.exploration_tolerance.map_or(DEFAULT_TOLERANCE, UnitInterval::get);
        let text = format!("share of exploring calls {} ± {tolerance}", target.get());
        findings.push(if calls.is_empty() {
            GraderNote::remark(text, "no tool was called, so there is no share")
        } else {
            let exploring =
                calls.iter().filter(|call| EXPLORING.contains(&call.name.to_lowercase().as_str()));
            let share = exploring.count() as f64 / calls.len() as f64;
            GraderNote::new((share - target.get()).abs() <= tolerance + 1e-9, text, format!("{share:.2}"))
        });
    }

    Ok(CheckResult::passed_share(findings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_rubric::ToolCall;
    use serde_json::Value;

    fn score(checked: Result<CheckResult, String>) -> Option<f64> {
        checked.unwrap().score.map(UnitInterval::get)
    }

    fn facts() -> AnswerFacts {
        let call = |name: &str| ToolCall {
            name: name.into(),
            input: Value::Null,
            output: None,
            duration: None,
            failed: None,
        };
        AnswerFacts {
            calls: Some(vec![call("Read"), call("Edit")]),
            tokens: Tokens { input: Some(100), cached: Some(80), output: Some(20) },
            cost_usd: Some(0.02),
            duration: Some(Duration::from_millis(1500)),
            model_calls: Some(2),
            ..AnswerFacts::default()
        }
    }

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(score(check_latency(Duration::from_millis(1500), &facts())), Some(1.0));
        assert_eq!(score(check_latency(Duration::from_millis(1499), &facts())), Some(0.0));
        assert_eq!(score(check_cost(0.02, &facts())), Some(1.0));
        assert_eq!(score(check_cost(0.01, &facts())), Some(0.0));
        let usage = |max_total, max_output| TokenUsage { max_total, max_output, max_input: None };
        assert_eq!(score(check_tokens(usage(Some(120), None), &facts())), Some(1.0));
        assert_eq!(score(check_tokens(usage(Some(120), Some(19)), &facts())), Some(0.0));
    }

    #[test]
    fn missing_data_is_an_error_and_never_a_zero() {
        let nothing = AnswerFacts::default();
        assert!(check_latency(Duration::from_secs(1), &nothing).is_err());
        assert!(check_cost(1.0, &nothing).is_err());
        assert!(check_tokens(TokenUsage { max_total: Some(1), ..TokenUsage::default() }, &nothing).is_err());
        let metrics = ExecutionMetrics { max_tool_calls: Some(1), ..ExecutionMetrics::default() };
        assert!(check_execution(&metrics, &nothing).is_err());
    }

    #[test]
    fn execution_metrics_count_tokens_as_token_usage_does() {
        let metrics = ExecutionMetrics {
            max_tokens: Some(120),
            max_tool_calls: Some(1),
            target_exploration_ratio: UnitInterval::new(0.5).ok(),
            ..ExecutionMetrics::default()
        };
        let checked = check_execution(&metrics, &facts()).unwrap();
        assert_eq!(
            checked.findings.iter().map(|one| one.passed).collect::<Vec<_>>(),
            [Some(false), Some(true), Some(true)]
        );
        assert!((checked.score.unwrap().get() - 2.0 / 3.0).abs() < 1e-12);
    }
}
