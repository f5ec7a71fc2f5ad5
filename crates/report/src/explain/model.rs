//! Data model of an explanation, rendered as text and as JSON.

use assize_rubric::{
    DecisionProbability, EvidenceQuote, GateState, GraderNote, JudgeConfidence, JudgeIdentity, OutcomeKind,
    PanelReport, ScoringFormula, TruncationRecord, UngradedReason, Verdict, VerdictThresholds,
};
use assize_store::{CaseError, GateRow, ToolCallRow, TurnRow};
use serde::Serialize;

use crate::quote_place::QuotePlace;

/// Explanation of a case.
#[derive(Debug, Clone, Serialize)]
pub struct CaseExplanation {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Id of the test, if it makes several cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Name of the prompt, if the eval file has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Name of the target; null if the answer was given.
    pub target: Option<String>,
    /// Number of the trial, from 1.
    pub repeat: u32,
    /// Thresholds of the verdict; null if no decision has them.
    pub thresholds: Option<VerdictThresholds>,
    /// Why there is no answer or no grading.
    pub error: Option<CaseError>,
    /// The question; null if the case has none or the run did not keep it.
    pub question: Option<String>,
    /// Description of a good answer, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Reference answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Answer that was graded; null if there is none.
    pub answer: Option<String>,
    /// Time of the answer itself in milliseconds, without waiting and grading; null if it was not measured.
    pub latency_ms: Option<u64>,
    /// Changes in files while the answer was produced, as a unified diff; null if unknown.
    pub file_changes: Option<String>,
    /// Tools that the target called, in order; long inputs and outputs are cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRow>,
    /// Number of further calls that are not stored.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls_dropped: usize,
    /// Turns of a conversation that took place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnRow>,
    /// Graders, in file order.
    pub graders: Vec<GraderPart>,
    /// Calculation of the case's score from the scores of the graders.
    pub equations: Vec<ScoreEquation>,
    /// Recomputed score; the stored one where nothing can be recomputed.
    #[serde(rename = "metrics")]
    pub figures: ScoreRange,
    /// Verdict on the case.
    pub verdict: Verdict,
    /// Reason of the verdict, in one sentence.
    pub because: String,
    /// Gates that failed.
    pub gates_failed: Vec<GateRow>,
    /// True if the score was recomputed from decisions.
    pub recomputed: bool,
    /// Differences from the stored row. Empty for a consistent record.
    pub disagreements: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it asks about by reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A score, its bounds and its coverage; each is absent if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ScoreRange {
    /// Score, 0 to 1; null while ungraded criteria could change it.
    pub score: Option<f64>,
    /// Lowest possible score.
    pub score_low: Option<f64>,
    /// Highest possible score.
    pub score_high: Option<f64>,
    /// Share of the applicable weight that was graded, 0 to 1.
    pub coverage: Option<f64>,
}

impl ScoreRange {
    pub(crate) fn new(score: Option<f64>, bounds: Option<(f64, f64)>, coverage: Option<f64>) -> Self {
        let (score_low, score_high) = bounds.unzip();
        Self { score, score_low, score_high, coverage }
    }

    /// Lowest and highest possible score, if they are known.
    pub fn bounds(self) -> Option<(f64, f64)> {
        self.score_low.zip(self.score_high)
    }
}

/// One calculation, written out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreEquation {
    /// Name of the result: `score`, `worst`, `best` or `otherwise`.
    pub of: &'static str,
    /// Assumption about ungraded criteria; empty if all were graded.
    pub when: String,
    /// Calculation with its result.
    pub text: String,
}

/// Explanation of a grader.
#[derive(Debug, Clone, Serialize)]
pub struct GraderPart {
    /// Name, unique in its case.
    pub name: String,
    /// Type, such as `rubrics`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Weight among the graders of the case.
    pub weight: f64,
    /// True if the case fails when the grader does.
    pub required: bool,
    /// Score it must reach as a gate, 0 to 1.
    pub min_score: Option<f64>,
    /// True if its verdict is inverted.
    pub negate: bool,
    /// Its criteria; empty for graders that have none.
    pub criteria: Vec<CriterionPart>,
    /// Decision of a grader other than a rubric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholePart>,
    /// Members of a composite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<GraderPart>,
    /// Divisor of all weights in the equations; 1 unless they are extreme.
    pub weight_unit: f64,
    /// Formula of the score.
    pub formula: Option<ScoringFormula>,
    /// Calculation of the score.
    pub equations: Vec<ScoreEquation>,
    /// Score of the criteria, before negation.
    pub rubric: ScoreRange,
    /// Verdict on the criteria, before negation.
    pub rubric_verdict: Option<Verdict>,
    /// Contribution of the grader, after negation.
    #[serde(rename = "metrics")]
    pub figures: ScoreRange,
    /// Verdict on the grader; null when nothing in it applies.
    pub verdict: Option<Verdict>,
    /// Reason of the verdict, in one sentence.
    pub because: String,
    /// Effects of the grader's weight, gate and negation, a sentence each.
    #[serde(rename = "weighting")]
    pub weighting_effects: Vec<String>,
    /// Reason why nothing could be recomputed.
    pub problem: Option<String>,
}

/// Decision of a grader other than a rubric.
#[derive(Debug, Clone, Serialize)]
pub struct WholePart {
    /// Score before negation; null if the grader failed, does not apply or is a composite.
    pub score: Option<f64>,
    /// Aggregation of members, in words.
    pub aggregator: Option<String>,
    /// Reason that was given.
    pub reason: String,
    /// Quotes that support the decision.
    pub evidence: Vec<EvidenceQuote>,
    /// Place of each quote in the answer; null if the quote is not in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence_places: Vec<Option<QuotePlace>>,
    /// Notes of the grader, point by point.
    pub notes: Vec<GraderNote>,
    /// Judge that decided.
    pub judge: JudgeIdentity,
    /// Number of calls, including failed ones.
    pub attempts: u32,
    /// Parts of the material that the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncationRecord>,
    /// Votes behind the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelPart>,
}

/// Explanation of a criterion.
#[derive(Debug, Clone, Serialize)]
pub struct CriterionPart {
    /// Criterion id, unique in its rubric.
    pub id: String,
    /// Text of the criterion.
    pub text: String,
    /// Outcome.
    pub outcome: OutcomeKind,
    /// The judge's number, 0 to 10.
    pub raw_score: Option<u8>,
    /// Score from 0 to 10, possibly fractional, if there is one: ten times the value.
    #[serde(skip)]
    pub of_ten: Option<f64>,
    /// Value, 0 to 1; null if ungraded or not applicable.
    pub value: Option<f64>,
    /// Weight in the rubric.
    pub weight: f64,
    /// Weight times value; null if the criterion is ungraded or does not apply.
    pub points: Option<f64>,
    /// Text of the band of the score.
    pub band: Option<String>,
    /// Its gate, if it has one.
    pub gate: Option<GatePart>,
    /// The judge's reason; for an ungraded criterion, why there is no decision.
    pub reason: String,
    /// Quotes that support the decision.
    pub evidence: Vec<EvidenceQuote>,
    /// Place of each quote in the answer; null if the quote is not in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence_places: Vec<Option<QuotePlace>>,
    /// Confidence stated by the judge.
    pub confidence: Option<JudgeConfidence>,
    /// Judge that decided.
    pub judge: JudgeIdentity,
    /// Number of calls, including failed ones.
    pub attempts: u32,
    /// True if the reply had slips of JSON that leave only one reading.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_slips: bool,
    /// Reason why there is no decision.
    pub ungraded: Option<UngradedReason>,
    /// Probabilities of the judge's tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<DecisionProbability>,
    /// Parts of the material that the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncationRecord>,
    /// Votes behind the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelPart>,
}

/// Votes on a criterion and their result.
#[derive(Debug, Clone, Serialize)]
pub struct PanelPart {
    /// Rule and result of the votes.
    #[serde(flatten)]
    pub panel: PanelReport,
    /// Decisions of the individual judges, in the order of the votes.
    pub votes_in_full: Vec<VotePart>,
}

/// Vote of one judge.
#[derive(Debug, Clone, Serialize)]
pub struct VotePart {
    /// Judge that voted.
    pub judge: JudgeIdentity,
    /// Number of the repeat of this judge, from 1.
    pub repeat: u32,
    /// True for the stronger judge that was called because the panel was unsure.
    pub escalated: bool,
    /// Weight of the judge.
    pub weight: f64,
    /// Outcome it voted for.
    pub outcome: OutcomeKind,
    /// Score from 0 to 10, if there is one.
    pub of_ten: Option<f64>,
    /// Score of the whole answer, 0 to 1, if the vote is about the whole answer.
    pub score: Option<f64>,
    /// Reason that was given.
    pub reason: String,
    /// Probabilities of the judge's tokens.
    pub probability: Option<DecisionProbability>,
    /// Parts of the material that the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncationRecord>,
}

/// A gate with its comparison.
#[derive(Debug, Clone, Serialize)]
pub struct GatePart {
    /// The rule, such as `required`.
    pub rule: String,
    /// Comparison in words, such as `raw 6 >= 7: no`.
    pub comparison: String,
    /// State of the gate.
    pub state: GateState,
}
