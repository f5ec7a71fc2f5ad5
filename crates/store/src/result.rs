//! One row of `results.jsonl`: what became of a case.

use std::borrow::Cow;
use std::sync::Arc;

use assize_rubric::{
    AnswerComparison, Cost, EvidenceQuote, JudgeIdentity, OutcomeKind, PanelReport, PartialCost, Tokens,
    TrialPlan, TrialResult, TruncationMode, Usd, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CaseError, CaseErrorKind, CaseKey, CaseStage, ToolCallRow};

/// Result of one case against one target. Absent knowledge is null, never a made-up value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultRow {
    /// Eval-file format, 1 or 2; null for answers graded without a suite.
    pub format: Option<u8>,
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Id of the case, unique in its suite.
    pub case_id: Arc<str>,
    /// Name of the target; null when the answer was given.
    pub target: Option<Arc<str>>,
    /// Name of the target that answered in its place, when it gave no answer and others stand behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Place among the results of the run in the order of its files, from 1; absent in runs of versions that did not
    /// keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u64>,
    /// Plan of the repeats of the case; absent if it is run once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<TrialPlan>,
    /// The case's own tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Cluster of cases of the same origin: their scores resemble each other, so errors are computed over clusters.
    #[serde(default)]
    pub cluster: Option<String>,
    /// Hash of what the case asks and expects; null in runs of versions that did not keep it.
    #[serde(default)]
    pub case_hash: Option<String>,
    /// Score, 0 to 1; null when it is not known.
    pub score: Option<f64>,
    /// Lowest score the ungraded criteria could lead to, 0 to 1.
    pub score_low: Option<f64>,
    /// Highest score the ungraded criteria could lead to, 0 to 1.
    pub score_high: Option<f64>,
    /// Share of the applicable weight that was judged, 0 to 1.
    pub coverage: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The gates that failed.
    pub gates_failed: Vec<GateRow>,
    /// The graders, in the order of the eval file.
    pub graders: Vec<GraderRow>,
    /// The answer that was graded; null when there is none.
    pub answer: Option<String>,
    /// For a conversation: its turns, as far as they were held. `answer` is then the whole of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnRow>,
    /// Changes to files while it was made, as a unified diff; empty when there are none, null when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_changes: Option<String>,
    /// Tools that the target called for the answer, in order; long inputs and outputs are cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRow>,
    /// Number of further calls that are not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tool_calls_dropped: usize,
    /// Reason there is no answer or no grading; beside a grading, why the workspace could not be given back in order.
    pub error: Option<CaseError>,
    /// Tokens that the target and the judge calls reported, added up; null when none did.
    pub tokens: Tokens,
    /// Cost of the target and of all judge calls, in US dollars; null when not all of it is known.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// From the start of the case to its end, in milliseconds.
    pub duration_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it asks about by reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One turn of a conversation, as it was held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnRow {
    /// Its number, from 1.
    pub turn: u32,
    /// Answer of the target; null when it gave none.
    pub answer: Option<String>,
    /// Reason there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CaseError>,
    /// Tokens of the target in this turn.
    pub tokens: Tokens,
    /// Cost of the target in this turn, in US dollars; null when not all of it is known.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Time the answer took, in milliseconds: of one from the reply cache, when it was first asked for; null when it was
    /// not measured.
    pub duration_ms: Option<u64>,
}

/// A gate that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateRow {
    /// Name of the grader.
    pub grader: String,
    /// Id of the criterion; null for the gate of a whole grader.
    pub criterion: Option<String>,
    /// The rule that failed, such as `required` or `required_min_score 7`.
    pub rule: String,
}

/// Result of one grader on the case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraderRow {
    /// Name, unique in its case.
    pub name: String,
    /// Type, such as `rubrics`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Weight among the graders of the case.
    pub weight: f64,
    /// True if its result is turned around: a criterion that is met then counts against the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negate: bool,
    /// Hash of the settings that decide about its result, beside criteria, judges and weights; absent in runs of versions
    /// that did not keep it. Of a program it covers the command line, not the content of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// Score, 0 to 1, negation included; null when it is not known.
    pub score: Option<f64>,
    /// Verdict; null when nothing in it applies.
    pub verdict: Option<Verdict>,
    /// Error that broke it.
    pub error: Option<String>,
    /// Its criteria, in the order of the rubric; empty for graders that have none.
    pub criteria: Vec<CriterionRow>,
    /// Comparisons with another answer, one for each time a judge was asked: what both orders came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairwise: Vec<AnswerComparison>,
}

/// Decision on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionRow {
    /// Id, unique in its rubric.
    pub id: Arc<str>,
    /// `met`, `unmet`, `scored`, `not_applicable` or `ungraded`.
    pub outcome: OutcomeKind,
    /// The judge's number, 0 to 10, for `scored`; null where the score is no judge's number but a mean.
    pub raw_score: Option<u8>,
    /// For `scored` without a judge's number: what several, or their probabilities, come to, 0 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
    /// The outcome on the 0 to 1 scale; null when nothing was decided or nothing applies.
    pub value: Option<f64>,
    /// Weight in the rubric.
    pub weight: f64,
    /// The gate's rule, if the criterion gates.
    pub gate: Option<Cow<'static, str>>,
    /// The judge's reason; for `ungraded`, why there is no decision.
    pub reason: String,
    /// Quotes the decision rests on.
    pub evidence: Vec<EvidenceQuote>,
    /// Identity of the judge.
    pub judge: JudgeIdentity,
    /// For a decision made of several: how, and how far they agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelReport>,
    /// Mode of truncation, if the judge could not be shown all of the material at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncationMode>,
}

impl CriterionRow {
    /// The score from 0 to 10, whole or not, when there is one.
    pub fn score_out_of_ten(&self) -> Option<f64> {
        self.raw_score.map(f64::from).or(self.points)
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

    /// Returns true if the case was not run because of one it depends on, whatever that makes of it.
    pub fn depends_on_failed_case(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.stage == CaseStage::Dependency)
    }

    /// Returns true for a trial that was run only because those before it did not pass. Counted beside first trials, it would
    /// bias rates and differences: failures are followed by it, passes are not.
    pub fn is_later_attempt(&self) -> bool {
        self.repeat > 1 && self.repeats.is_some_and(|plan| plan.early_stop)
    }

    /// The case that the row is about.
    pub fn key(&self) -> CaseKey {
        CaseKey {
            suite: self.suite.clone(),
            case_id: self.case_id.clone(),
            target: self.target.clone(),
            repeat: self.repeat,
        }
    }
}

impl From<&ResultRow> for TrialResult {
    /// The row as one of the repeats of its case.
    fn from(row: &ResultRow) -> Self {
        // A dependency that fails its dependents works as a gate.
        let gate_failed =
            !row.gates_failed.is_empty() || (row.depends_on_failed_case() && row.verdict == Verdict::Fail);
        Self::new(row.verdict, row.score, (row.score_low, row.score_high), gate_failed, row.cost())
    }
}
