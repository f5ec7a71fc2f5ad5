//! Facts that checks look at, and what a check finds.

use std::time::Duration;

use serde_json::{Map, Value};

use assize_rubric::{GraderNote, Tokens, ToolCall, UnitInterval};

/// Known facts about an answer. Unknown is `None`, not zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerFacts {
    /// The answer.
    pub answer: String,
    /// The answer as a script made it, where that is no text.
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
    /// Calls of tools, in order; `None` when the target does not tell.
    pub calls: Option<Vec<ToolCall>>,
    /// Tokens spent on the answer.
    pub tokens: Tokens,
    /// Cost of the answer in US dollars.
    pub cost_usd: Option<f64>,
    /// Time the answer took.
    pub duration: Option<Duration>,
    /// True if the answer came from the reply cache, so that its time was measured in an earlier run.
    pub recalled: bool,
    /// Reason why the model stopped, for scripts.
    pub finish_reason: Option<String>,
    /// Report of a guardrail of the target, for scripts.
    pub guardrails: Option<Value>,
    /// OpenTelemetry spans of the work on the answer, for scripts.
    pub spans: Option<Value>,
    /// Calls of a model behind the answer.
    pub model_calls: Option<u64>,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CheckResult {
    /// Score, 0 to 1; `None` when there is nothing to check.
    pub score: Option<UnitInterval>,
    /// Point by point.
    pub findings: Vec<GraderNote>,
    /// The check's own word on the answer, where it is not the score that decides.
    pub passed: Option<bool>,
    /// True if code of the author threw an error about the answer: failed, and no pass where the result is inverted.
    pub threw: bool,
}

impl CheckResult {
    /// All or nothing: 1 if every finding is as it should be.
    pub(crate) fn all_or_nothing(findings: Vec<GraderNote>) -> Self {
        let passed = findings.iter().all(|finding| finding.passed != Some(false));
        Self {
            score: Some(if passed { UnitInterval::ONE } else { UnitInterval::ZERO }),
            findings,
            ..Self::default()
        }
    }

    /// The share of findings that are as they should be; remarks do not count. Nothing that counts is
    /// nothing to check.
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

/// A number that is a score but for rounding.
pub(crate) fn to_unit_interval(value: f64) -> UnitInterval {
    UnitInterval::new(value.clamp(0.0, 1.0)).unwrap_or(UnitInterval::ZERO)
}

/// A text short enough for a finding, its cut marked.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}... [cut]", &text[..end]),
        None => text.to_owned(),
    }
}
