//! Limits on how an answer came about: time, cost, tokens, calls.

use std::time::Duration;

use assize_evalfile::{ExecutionMetrics, TokenUsage};
use assize_rubric::{Tokens, Unit};

use super::{Checked, Facts, Finding};

/// Tools that look around and change nothing, in small letters.
const EXPLORING: [&str; 10] =
    ["read", "grep", "glob", "search", "list", "ls", "find", "websearch", "webfetch", "read_file"];
/// How far the share of exploring calls may be off when nobody says.
const DEFAULT_TOLERANCE: f64 = 0.2;

fn unknown(what: &str) -> String {
    format!("the target does not tell {what}, so there is nothing to compare with the limit")
}

fn limit(name: &str, most: f64, value: f64, unit: &str) -> Finding {
    let passed = value <= most;
    let word = if passed { "within" } else { "above" };
    Finding::new(passed, format!("{name} at most {most}{unit}"), format!("{value}{unit}, {word} the limit"))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// 1 if the answer came in time.
pub(super) fn latency(threshold: Duration, facts: &Facts) -> Result<Checked, String> {
    let duration = facts.duration.ok_or_else(|| unknown("how long the answer took"))?;
    Ok(Checked::all(vec![limit("time", millis(threshold), millis(duration), " ms")]))
}

/// 1 if the answer was cheap enough.
pub(super) fn cost(budget_usd: f64, facts: &Facts) -> Result<Checked, String> {
    let cost = facts.cost_usd.ok_or_else(|| unknown("what the answer cost"))?;
    Ok(Checked::all(vec![limit("cost", budget_usd, cost, " USD")]))
}

/// 1 if all token limits are kept.
pub(super) fn tokens(limits: TokenUsage, facts: &Facts) -> Result<Checked, String> {
    let Tokens { input, output, .. } = facts.tokens;
    let mut findings = Vec::new();
    for (name, most, value) in [
        ("tokens", limits.max_total, total(facts.tokens)),
        ("input tokens", limits.max_input, input),
        ("output tokens", limits.max_output, output),
    ] {
        if let Some(most) = most {
            let value = value.ok_or_else(|| unknown(&format!("its {name}")))?;
            findings.push(limit(name, most as f64, value as f64, ""));
        }
    }
    Ok(Checked::all(findings))
}

/// Tokens in and out; cached ones are part of those that went in.
fn total(tokens: Tokens) -> Option<u64> {
    tokens.input.zip(tokens.output).map(|(input, output)| input.saturating_add(output))
}

/// The share of limits that are kept.
pub(super) fn execution(limits: &ExecutionMetrics, facts: &Facts) -> Result<Checked, String> {
    let calls = facts.calls.as_deref();
    let numbers = [
        ("tool calls", limits.max_tool_calls.map(|n| n as f64), calls.map(|calls| calls.len() as f64), ""),
        ("model calls", limits.max_llm_calls.map(|n| n as f64), facts.model_calls.map(|n| n as f64), ""),
        ("tokens", limits.max_tokens.map(|n| n as f64), total(facts.tokens).map(|n| n as f64), ""),
        ("cost", limits.max_cost_usd, facts.cost_usd, " USD"),
        ("time", limits.max_duration.map(millis), facts.duration.map(millis), " ms"),
    ];
    let mut findings = Vec::new();
    for (name, most, value, unit) in numbers {
        if let Some(most) = most {
            findings.push(limit(name, most, value.ok_or_else(|| unknown(&format!("its {name}")))?, unit));
        }
    }
    if let Some(target) = limits.target_exploration_ratio {
        let calls = calls.ok_or_else(|| unknown("its tool calls"))?;
        let tolerance = limits.exploration_tolerance.map_or(DEFAULT_TOLERANCE, Unit::get);
        let text = format!("share of exploring calls {} ± {tolerance}", target.get());
        findings.push(if calls.is_empty() {
            Finding::remark(text, "no tool was called, so there is no share")
        } else {
            let exploring =
                calls.iter().filter(|call| EXPLORING.contains(&call.name.to_lowercase().as_str()));
            let share = exploring.count() as f64 / calls.len() as f64;
            Finding::new((share - target.get()).abs() <= tolerance + 1e-9, text, format!("{share:.2}"))
        });
    }
    Ok(Checked::share(findings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_rubric::ToolCall;
    use serde_json::Value;

    fn score(checked: Result<Checked, String>) -> Option<f64> {
        checked.unwrap().score.map(Unit::get)
    }

    fn facts() -> Facts {
        let call = |name: &str| ToolCall {
            name: name.into(),
            input: Value::Null,
            output: None,
            duration: None,
            failed: None,
        };
        Facts {
            calls: Some(vec![call("Read"), call("Edit")]),
            tokens: Tokens { input: Some(100), cached: Some(80), output: Some(20) },
            cost_usd: Some(0.02),
            duration: Some(Duration::from_millis(1500)),
            model_calls: Some(2),
            ..Facts::default()
        }
    }

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(score(latency(Duration::from_millis(1500), &facts())), Some(1.0));
        assert_eq!(score(latency(Duration::from_millis(1499), &facts())), Some(0.0));
        assert_eq!(score(cost(0.02, &facts())), Some(1.0));
        assert_eq!(score(cost(0.01, &facts())), Some(0.0));
        let usage = |max_total, max_output| TokenUsage { max_total, max_output, max_input: None };
        assert_eq!(score(tokens(usage(Some(120), None), &facts())), Some(1.0));
        assert_eq!(score(tokens(usage(Some(120), Some(19)), &facts())), Some(0.0));
    }

    #[test]
    fn missing_data_is_an_error_and_never_a_zero() {
        let nothing = Facts::default();
        assert!(latency(Duration::from_secs(1), &nothing).is_err());
        assert!(cost(1.0, &nothing).is_err());
        assert!(tokens(TokenUsage { max_total: Some(1), ..TokenUsage::default() }, &nothing).is_err());
        let metrics = ExecutionMetrics { max_tool_calls: Some(1), ..ExecutionMetrics::default() };
        assert!(execution(&metrics, &nothing).is_err());
    }

    #[test]
    fn execution_metrics_count_tokens_as_token_usage_does() {
        let metrics = ExecutionMetrics {
            max_tokens: Some(120),
            max_tool_calls: Some(1),
            target_exploration_ratio: Unit::new(0.5).ok(),
            ..ExecutionMetrics::default()
        };
        let checked = execution(&metrics, &facts()).unwrap();
        assert_eq!(
            checked.findings.iter().map(|one| one.passed).collect::<Vec<_>>(),
            [Some(false), Some(true), Some(true)]
        );
        assert!((checked.score.unwrap().get() - 2.0 / 3.0).abs() < 1e-12);
    }
}
