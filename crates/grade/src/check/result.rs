//! The facts that checks read, and the result of a check.

use std::time::Duration;

use serde_json::{Map, Value};

use assize_rubric::{GraderNote, Tokens, ToolCall, UnitInterval};

/// Known facts about an answer. An unknown fact is `None`, not zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerFacts {
    /// The answer.
    pub answer: String,
    /// The answer as a script returned it, if that was not a text.
    pub value: Option<Value>,
    /// The question, for scripts.
    pub question: String,
    /// Variables of the case, for scripts.
    pub vars: Map<String, Value>,
    /// Metadata of the case, for scripts.
    pub metadata: Map<String, Value>,
    /// Name of the target, for scripts.
    pub target: Option<String>,
    /// An example of a good answer.
    pub reference: Option<String>,
    /// Tool calls in order; `None` if the target does not report them.
    pub calls: Option<Vec<ToolCall>>,
    /// Tokens spent on the answer.
    pub tokens: Tokens,
    /// Cost of the answer in US dollars.
    pub cost_usd: Option<f64>,
    /// Time the answer took.
    pub duration: Option<Duration>,
    /// True if the answer came from the reply cache, so its time was measured in an earlier run.
    pub recalled: bool,
    /// Why the model stopped, for scripts.
    pub finish_reason: Option<String>,
    /// Report of a guardrail of the target, for scripts.
    pub guardrails: Option<Value>,
    /// OpenTelemetry spans of the target's work, for scripts.
    pub spans: Option<Value>,
    /// Number of model calls behind the answer.
    pub model_calls: Option<u64>,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CheckResult {
    /// Score, 0 to 1; `None` if there was nothing to check.
    pub score: Option<UnitInterval>,
    /// The findings, point by point.
    pub findings: Vec<GraderNote>,
    /// Whether the answer passes, if the check decides that itself instead of by its score.
    pub passed: Option<bool>,
    /// True if the author's code threw an error about the answer. Such a check failed, and inverting it does
    /// not make it pass.
    pub threw: bool,
}

impl CheckResult {
    /// All or nothing: 1 if no finding failed.
    pub(crate) fn all_or_nothing(findings: Vec<GraderNote>) -> Self {
        let passed = findings.iter().all(|finding| finding.passed != Some(false));
        Self {
            score: Some(if passed { UnitInterval::ONE } else { UnitInterval::ZERO }),
            findings,
            ..Self::default()
        }
    }

    /// The share of findings that passed; findings without a decision don't count. If no finding counts,
    /// there is no score.
    pub(crate) fn passed_share(findings: Vec<GraderNote>) -> Self {
        let counted = findings.iter().filter_map(|finding| finding.passed);
        let (passed, all) = counted.fold((0u32, 0u32), |(yes, all), one| (yes + u32::from(one), all + 1));
        Self {
            score: (all > 0).then(|| to_unit_interval(f64::from(passed) / f64::from(all))),
            findings,
            ..Self::default()
        }
    }
}

/// A number that is a score except for rounding errors.
pub(crate) fn to_unit_interval(value: f64) -> UnitInterval {
    UnitInterval::new(value.clamp(0.0, 1.0)).unwrap_or(UnitInterval::ZERO)
}

/// Shortens a text for a finding, and marks the cut.
pub(crate) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}... [cut]", &text[..end]),
        None => text.to_owned(),
    }
}
