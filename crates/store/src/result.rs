//! One row of `results.jsonl`: the result of a case.

use std::borrow::Cow;
use std::sync::Arc;

use assize_rubric::{
    AnswerComparison, Cost, EvidenceQuote, JudgeIdentity, OutcomeKind, PanelReport, PartialCost, Tokens,
    TrialPlan, TrialResult, TruncationMode, Usd, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool_call_row::is_zero;
use crate::{CaseError, CaseErrorKind, CaseKey, CaseStage, ToolCallRow};

/// Result of a case against a target. Unknown values are null.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResultRow {
    /// Eval-file format: 1 (the `evalcases` format) or 2 (the `tests` format); null for answers graded without an eval
    /// file.
    pub format: Option<u8>,
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Id of the case, unique in its suite.
    pub case_id: Arc<str>,
    /// Name of the target; null if the answer was given.
    pub target: Option<Arc<str>>,
    /// Name of the fallback target that answered, if the target failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Number of the trial, from 1.
    #[serde(rename = "repeat")]
    pub trial: u32,
    /// Position among the results in file order, from 1. Absent in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u64>,
    /// Settings of the trials; absent if the case runs once.
    #[serde(default, rename = "repeats", skip_serializing_if = "Option::is_none")]
    pub trials: Option<TrialPlan>,
    /// Tags of the case.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Cluster: cases with the same value are not independent, so intervals are computed over clusters.
    #[serde(default)]
    pub cluster: Option<String>,
    /// Id of the test, if it makes several cases: one for each prompt. Cases with several targets share their id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Arc<str>>,
    /// Name of the prompt, if the eval file has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Arc<str>>,
    /// Scores that count for named metrics, in file order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricScore>,
    /// Hash of the question and expectations; null in runs of older versions.
    #[serde(default)]
    pub case_hash: Option<String>,
    /// What later cases took over from this one; absent for cases of no conversation and without stored outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryRow>,
    /// Score, 0 to 1; null if unknown.
    pub score: Option<f64>,
    /// Lowest score the ungraded criteria could lead to, 0 to 1.
    pub score_low: Option<f64>,
    /// Highest score the ungraded criteria could lead to, 0 to 1.
    pub score_high: Option<f64>,
    /// Share of the applicable weight that was graded, 0 to 1.
    pub coverage: Option<f64>,
    /// Verdict.
    pub verdict: Verdict,
    /// Gates that failed.
    pub gates_failed: Vec<GateRow>,
    /// Graders, in file order.
    pub graders: Vec<GraderRow>,
    /// Graded answer; null if there is none.
    pub answer: Option<String>,
    /// Turns of a conversation that took place. `answer` then has the whole conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnRow>,
    /// File changes as a unified diff; empty if there are none, null if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_changes: Option<String>,
    /// Tool calls of the target, in order. Long inputs and outputs are shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRow>,
    /// Number of further tool calls that are not stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tool_calls_dropped: usize,
    /// Reason why the case has no answer or grade. With a grade: reason why the workspace could not be released.
    pub error: Option<CaseError>,
    /// Total tokens reported by the target and judge calls; null if none reported any.
    pub tokens: Tokens,
    /// Cost of the target and all judge calls in US dollars; null if not fully known.
    pub cost_usd: Option<Usd>,
    /// Known part of the cost, if the cost is not fully known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Time of the answer itself in milliseconds, without waiting and grading; absent if it was not measured, as for a given
    /// answer. For a cached reply: that of the original call. For a conversation: that of all turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// Duration of the case in milliseconds, with waiting and grading.
    pub duration_ms: u64,
}

/// What later cases take over from a case, in addition to its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryRow {
    /// Like `case_hash`, of the question before answers to other cases were filled in. Results with the same one are
    /// compared.
    pub planned_hash: String,
    /// Prompt as it was sent: a text, or a list of messages.
    pub prompt: Value,
    /// Output that later cases use as a variable; absent if it is not stored for them, or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnRow {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// Answer of the target; null if there is none.
    pub answer: Option<String>,
    /// Reason why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CaseError>,
    /// Tokens used by the target in this turn.
    pub tokens: Tokens,
    /// Cost of the target in this turn in US dollars; null if not fully known.
    pub cost_usd: Option<Usd>,
    /// Known part of the cost, if the cost is not fully known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Duration of the answer in milliseconds; null if not measured. For a cached reply: duration of the original call.
    pub duration_ms: Option<u64>,
}

/// A gate that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateRow {
    /// Name of the grader.
    pub grader: String,
    /// Criterion id; null if the gate is a whole grader.
    pub criterion: Option<String>,
    /// Rule that failed, such as `required` or `required_min_score 7`.
    pub rule: String,
}

/// A score that counts for a metric. Several scores of a case may have the same metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricScore {
    /// Name of the metric.
    pub name: Arc<str>,
    /// Name of the grader; for a member of a composite, the names that lead to it.
    pub grader: Vec<String>,
    /// Weight of the grader; 1 for a weight of 0, and the product of the weights on the way to a member.
    pub weight: f64,
    /// Score, 0 to 1, after negation; null if unknown or if nothing applies.
    pub score: Option<f64>,
    /// Lowest and highest score that ungraded criteria could lead to; absent if the score is known or nothing applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

/// Result of a grader on a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraderRow {
    /// Name, unique in its case.
    pub name: String,
    /// Type, such as `rubrics`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Weight among the graders of the case.
    pub weight: f64,
    /// True if the result is inverted: a met criterion then counts against the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negate: bool,
    /// Hash of further settings that affect the result. For a program it covers the command line, not file contents.
    /// Absent in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// Score, 0 to 1, after negation; null if unknown.
    pub score: Option<f64>,
    /// Verdict; null if nothing applies.
    pub verdict: Option<Verdict>,
    /// Error of the grader.
    pub error: Option<String>,
    /// Criteria in the order of the rubric; empty for graders without criteria.
    pub criteria: Vec<CriterionRow>,
    /// Pairwise comparisons, one per judge and repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairwise: Vec<AnswerComparison>,
}

/// Decision on a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionRow {
    /// Criterion id, unique in its rubric.
    pub id: Arc<str>,
    /// `met`, `unmet`, `scored`, `not_applicable` or `ungraded`.
    pub outcome: OutcomeKind,
    /// Raw score from the judge, 0 to 10, for `scored`; null if the score is a mean.
    pub raw_score: Option<u8>,
    /// Aggregated raw score, 0 to 10, for `scored` decisions that combine several votes or token probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
    /// Value, 0 to 1; null if ungraded or not applicable.
    pub value: Option<f64>,
    /// Weight in the rubric.
    pub weight: f64,
    /// Rule of the gate, if the criterion is one.
    pub gate: Option<Cow<'static, str>>,
    /// Reason for the decision; for `ungraded`, why there is none.
    pub reason: String,
    /// Quotes that support the decision.
    pub evidence: Vec<EvidenceQuote>,
    /// Identity of the judge.
    pub judge: JudgeIdentity,
    /// Way in which several votes were combined, and how far they agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelReport>,
    /// Truncation mode, if the material did not fit into the judge's context window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncationMode>,
}

impl CriterionRow {
    /// Returns the score from 0 to 10, possibly fractional, if there is one.
    pub fn score_out_of_ten(&self) -> Option<f64> {
        self.raw_score.map(f64::from).or(self.points)
    }

    /// Returns true if the decision counts against the answer: a criterion that is not met, a penalty that is incurred, or a
    /// score in the lower half. `negated` says if the grader is negated.
    pub fn counts_against(&self, negated: bool) -> bool {
        let is_fault = (self.weight < 0.0) != negated;
        match (self.outcome, self.score_out_of_ten()) {
            (OutcomeKind::Met, _) => is_fault,
            (OutcomeKind::Unmet, _) => !is_fault,
            (OutcomeKind::Scored, Some(points)) => (if is_fault { 10.0 - points } else { points }) < 5.0,
            _ => false,
        }
    }
}

impl ResultRow {
    /// Cost of the case.
    pub fn cost(&self) -> Cost {
        Cost::from_parts(self.cost_usd, self.cost_partial)
    }

    /// Returns true if the case was not run because one it depends on did not pass.
    pub fn is_skipped(&self) -> bool {
        self.depends_on_failed_case()
            && self.error.as_ref().is_some_and(|error| error.kind == CaseErrorKind::Skipped)
    }

    /// Returns the hash by which the question is compared with that of other runs, whatever answers it shows.
    pub fn planned_hash(&self) -> Option<&str> {
        self.history.as_ref().map(|history| history.planned_hash.as_str()).or(self.case_hash.as_deref())
    }

    /// Returns true if the case was not run because of one it depends on, whether it then counts as skipped
    /// or failed.
    pub fn depends_on_failed_case(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.stage == CaseStage::Dependency)
    }

    /// Returns true for a trial that was run only because those before it did not pass. Counting it beside
    /// first trials would bias rates and differences, because failures are followed by such a trial and
    /// passes are not.
    pub fn is_later_attempt(&self) -> bool {
        self.trial > 1 && self.trials.is_some_and(|plan| plan.early_stop)
    }

    /// Returns the id of the test, which is the name of the case beside its prompt and target.
    pub fn test_id(&self) -> &Arc<str> {
        self.test.as_ref().unwrap_or(&self.case_id)
    }

    /// Returns the name of the case beside its target: the id of the test, and the prompt in brackets if there are several.
    pub fn name(&self) -> Cow<'_, str> {
        named_case(self.test_id(), self.prompt.as_deref())
    }

    /// Returns the cluster of the row for margins of error: suite, and the cluster of the case or else its test.
    /// Trials, prompts and targets of a test answer the same question, so they are in the same cluster.
    pub fn cluster_key(&self) -> (&str, &'static str, &str) {
        match &self.cluster {
            Some(cluster) => (&self.suite, "cluster", cluster),
            None => (&self.suite, "test", self.test_id()),
        }
    }

    /// Returns the key of the case.
    pub fn key(&self) -> CaseKey {
        CaseKey {
            suite: self.suite.clone(),
            case_id: self.case_id.clone(),
            target: self.target.clone(),
            trial: self.trial,
        }
    }
}

/// Writes the name of a case, with its prompt if the eval file has several.
pub fn named_case<'n>(test: &'n str, prompt: Option<&str>) -> Cow<'n, str> {
    prompt.map_or(Cow::Borrowed(test), |prompt| format!("{test} [{prompt}]").into())
}

impl From<&ResultRow> for TrialResult {
    /// Converts the row to a trial of its case.
    fn from(row: &ResultRow) -> Self {
        // A dependency that makes its dependents fail acts as a gate.
        let gate_failed =
            !row.gates_failed.is_empty() || (row.depends_on_failed_case() && row.verdict == Verdict::Fail);
        Self::new(row.verdict, row.score, (row.score_low, row.score_high), gate_failed, row.cost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of a version that stored no tests is the test itself, and its own cluster.
    #[test]
    fn a_row_without_a_test_is_named_by_its_case() {
        let stored = include_str!("../tests/data/run-v1/results.jsonl").lines().next().expect("a row");
        let mut row: ResultRow = serde_json::from_str(stored).expect("an old row");
        assert_eq!((&**row.test_id(), &*row.name()), ("greeting", "greeting"));
        assert_eq!(row.cluster_key(), ("one", "test", "greeting"));

        row.prompt = Some("v1".into());
        assert_eq!(&*row.name(), "greeting [v1]");
        row.test = Some("greets".into());
        assert_eq!((&*row.name(), row.cluster_key().2), ("greets [v1]", "greets"));
        row.cluster = Some("c".to_owned());
        assert_eq!(row.cluster_key(), ("one", "cluster", "c"));
    }
}
