//! Data model of an explanation, rendered as text and as JSON.

use assize_rubric::{
    DecisionProbability, EvidenceQuote, GateState, GraderNote, JudgeConfidence, JudgeIdentity, OutcomeKind,
    PanelReport, ScoringFormula, TruncationRecord, UngradedReason, Verdict, VerdictThresholds,
};
use assize_store::{CaseError, GateRow, TurnRow};
use serde::Serialize;

use crate::quote_place::QuotePlace;

/// Explanation of a case.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CaseExplanation {
    pub(crate) suite: String,
    pub(crate) case_id: String,
    pub(crate) target: Option<String>,
    pub(crate) repeat: u32,
    /// Thresholds of the verdict; null if no decision has them.
    pub(crate) lines: Option<VerdictThresholds>,
    pub(crate) error: Option<CaseError>,
    /// Question that was asked; null if none was given, or if the run did not keep it.
    pub(crate) question: Option<String>,
    /// Expected outcome, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected_outcome: Option<String>,
    /// Reference answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
    /// Answer that was graded; null if there is none.
    pub(crate) answer: Option<String>,
    /// Changes in files while the answer was produced, as a unified diff; null if unknown.
    pub(crate) file_changes: Option<String>,
    /// Turns of a conversation that took place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) turns: Vec<TurnRow>,
    pub(crate) graders: Vec<GraderPart>,
    /// Calculation of the case's score from those of the graders.
    pub(crate) equations: Vec<ScoreEquation>,
    /// Recomputed score; the stored one where nothing can be recomputed.
    pub(crate) figures: ScoreRange,
    pub(crate) verdict: Verdict,
    /// Reason of the verdict, in one sentence.
    pub(crate) because: String,
    pub(crate) gates_failed: Vec<GateRow>,
    /// True if the score was recomputed from decisions.
    pub(crate) recomputed: bool,
    /// Differences from the stored row. Empty for a consistent record.
    pub(crate) disagreements: Vec<String>,
}

/// A score, its bounds and its coverage, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct ScoreRange {
    pub(crate) score: Option<f64>,
    pub(crate) score_low: Option<f64>,
    pub(crate) score_high: Option<f64>,
    pub(crate) coverage: Option<f64>,
}

impl ScoreRange {
    pub(crate) fn new(score: Option<f64>, bounds: Option<(f64, f64)>, coverage: Option<f64>) -> Self {
        let (score_low, score_high) = bounds.unzip();
        Self { score, score_low, score_high, coverage }
    }

    pub(crate) fn bounds(self) -> Option<(f64, f64)> {
        self.score_low.zip(self.score_high)
    }
}

/// One calculation, written out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ScoreEquation {
    /// Name of the result: `score`, `worst`, `best` or `otherwise`.
    pub(crate) of: &'static str,
    /// Assumption about ungraded criteria; empty if all were graded.
    pub(crate) when: String,
    /// Calculation with its result.
    pub(crate) text: String,
}

/// Explanation of a grader.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GraderPart {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    pub(crate) weight: f64,
    pub(crate) required: bool,
    pub(crate) min_score: Option<f64>,
    pub(crate) negate: bool,
    pub(crate) criteria: Vec<CriterionPart>,
    /// Decision of a grader other than a rubric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) whole: Option<WholePart>,
    /// Members of a composite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<GraderPart>,
    /// Divisor of all weights in the equations; 1 unless they are extreme.
    pub(crate) weight_unit: f64,
    pub(crate) formula: Option<ScoringFormula>,
    pub(crate) equations: Vec<ScoreEquation>,
    /// Score of the criteria, before negation.
    pub(crate) rubric: ScoreRange,
    pub(crate) rubric_verdict: Option<Verdict>,
    /// Contribution of the grader, after negation.
    pub(crate) figures: ScoreRange,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) because: String,
    /// Effects of the grader's weight, gate and negation, a sentence each.
    pub(crate) standing: Vec<String>,
    /// Reason why nothing could be recomputed.
    pub(crate) problem: Option<String>,
}

/// Decision of a grader other than a rubric.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct WholePart {
    /// Score before negation; null if the grader failed, does not apply or is a composite.
    pub(crate) score: Option<f64>,
    /// Aggregation of members, in words.
    pub(crate) aggregator: Option<String>,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<EvidenceQuote>,
    /// Place of each quote in the answer; null where it is not in there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) evidence_places: Vec<Option<QuotePlace>>,
    /// Notes of the grader, point by point.
    pub(crate) notes: Vec<GraderNote>,
    pub(crate) judge: JudgeIdentity,
    pub(crate) attempts: u32,
    /// Parts of the material that the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<TruncationRecord>,
    /// Votes behind the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) panel: Option<PanelPart>,
}

/// Explanation of a criterion.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CriterionPart {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) outcome: OutcomeKind,
    pub(crate) raw_score: Option<u8>,
    /// Score from 0 to 10, possibly fractional, if there is one: ten times the value.
    #[serde(skip)]
    pub(crate) of_ten: Option<f64>,
    pub(crate) value: Option<f64>,
    pub(crate) weight: f64,
    /// Weight x value; null if the criterion is ungraded or does not apply.
    pub(crate) points: Option<f64>,
    /// Text of the band of the score.
    pub(crate) band: Option<String>,
    pub(crate) gate: Option<GatePart>,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<EvidenceQuote>,
    /// Place of each quote in the answer; null where it is not in there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) evidence_places: Vec<Option<QuotePlace>>,
    pub(crate) confidence: Option<JudgeConfidence>,
    pub(crate) judge: JudgeIdentity,
    pub(crate) attempts: u32,
    pub(crate) ungraded: Option<UngradedReason>,
    /// Probabilities of the judge's tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<DecisionProbability>,
    /// Parts of the material that the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<TruncationRecord>,
    /// Votes behind the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) panel: Option<PanelPart>,
}

/// Votes on a criterion and their result.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PanelPart {
    #[serde(flatten)]
    pub(crate) panel: PanelReport,
    /// Decisions of the single judges, in the order of the votes.
    pub(crate) votes_in_full: Vec<VotePart>,
}

/// Vote of one judge.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct VotePart {
    pub(crate) judge: JudgeIdentity,
    pub(crate) repeat: u32,
    pub(crate) escalated: bool,
    pub(crate) weight: f64,
    pub(crate) outcome: OutcomeKind,
    pub(crate) of_ten: Option<f64>,
    /// Score of the whole answer, 0 to 1, if the vote is on that.
    pub(crate) score: Option<f64>,
    pub(crate) reason: String,
    pub(crate) probability: Option<DecisionProbability>,
    /// Parts of the material that the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<TruncationRecord>,
}

/// A gate with its comparison.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GatePart {
    pub(crate) rule: String,
    /// Comparison in words, such as `raw 6 >= 7: no`.
    pub(crate) comparison: String,
    pub(crate) state: GateState,
}
