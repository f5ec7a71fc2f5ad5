//! What an explanation says, in the order it is said. Text and JSON are two drawings of this.

use assize_rubric::{
    Confidence, Evidence, Formula, GateState, JudgeIdentity, Lines, Note, OutcomeKind, PanelReport,
    Probability, Truncated, Ungraded, Verdict,
};
use assize_store::{CaseError, GateRow, TurnRow};
use serde::Serialize;

/// A case explained.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Explanation {
    pub(crate) suite: String,
    pub(crate) case_id: String,
    pub(crate) target: Option<String>,
    pub(crate) repeat: u32,
    /// The lines the verdict was drawn at; null when no decision says so.
    pub(crate) lines: Option<Lines>,
    pub(crate) error: Option<CaseError>,
    /// What changed in files while the answer was made, as a unified diff; null when that is not known.
    pub(crate) file_changes: Option<String>,
    /// The turns of a conversation, as far as they were held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) turns: Vec<TurnRow>,
    pub(crate) graders: Vec<GraderPart>,
    /// How the graders' scores become the case's.
    pub(crate) equations: Vec<Equation>,
    /// The figures worked out here; those of the record where nothing can be worked out.
    pub(crate) figures: Figures,
    pub(crate) verdict: Verdict,
    /// The verdict's reason, in one sentence.
    pub(crate) because: String,
    pub(crate) gates_failed: Vec<GateRow>,
    /// Whether the figures were worked out from decisions.
    pub(crate) recomputed: bool,
    /// Where the stored row says something else. Empty for a sound record.
    pub(crate) disagreements: Vec<String>,
}

/// A score as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) score: Option<f64>,
    pub(crate) score_low: Option<f64>,
    pub(crate) score_high: Option<f64>,
    pub(crate) coverage: Option<f64>,
}

impl Figures {
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
pub(crate) struct Equation {
    /// `score`, `worst`, `best` or `otherwise`.
    pub(crate) of: &'static str,
    /// What is assumed about what was not judged; empty if all was.
    pub(crate) when: String,
    /// The calculation with its result.
    pub(crate) text: String,
}

/// A grader's part.
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
    /// What a grader that is no rubric decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) whole: Option<WholePart>,
    /// The members of a composite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<GraderPart>,
    /// All weights in the equations are divided by this; 1 unless they are extreme.
    pub(crate) weight_unit: f64,
    pub(crate) formula: Option<Formula>,
    pub(crate) equations: Vec<Equation>,
    /// What the criteria come to, before negation.
    pub(crate) rubric: Figures,
    pub(crate) rubric_verdict: Option<Verdict>,
    /// What the grader contributes, after negation.
    pub(crate) figures: Figures,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) because: String,
    /// What the grader's standing did, a sentence each.
    pub(crate) standing: Vec<String>,
    /// Why nothing could be worked out.
    pub(crate) problem: Option<String>,
}

/// The decision of a grader that is no rubric.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct WholePart {
    /// The score it gave, before negation; null when it broke, does not apply or rests on members.
    pub(crate) score: Option<f64>,
    /// How members are combined, in words.
    pub(crate) aggregator: Option<String>,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<Evidence>,
    /// What was found, point by point.
    pub(crate) notes: Vec<Note>,
    pub(crate) judge: JudgeIdentity,
    pub(crate) attempts: u32,
    /// What the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<Truncated>,
    /// The votes it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) panel: Option<PanelPart>,
}

/// A criterion's part.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CriterionPart {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) outcome: OutcomeKind,
    pub(crate) raw_score: Option<u8>,
    /// The score from 0 to 10, whole or not, when there is one: ten times the value.
    #[serde(skip)]
    pub(crate) of_ten: Option<f64>,
    pub(crate) value: Option<f64>,
    pub(crate) weight: f64,
    /// weight x value; null when nothing was decided or nothing applies.
    pub(crate) points: Option<f64>,
    /// The words of the band the score fell into.
    pub(crate) band: Option<String>,
    pub(crate) gate: Option<GatePart>,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) confidence: Option<Confidence>,
    pub(crate) judge: JudgeIdentity,
    pub(crate) attempts: u32,
    pub(crate) ungraded: Option<Ungraded>,
    /// What the probabilities of the judge's tokens say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<Probability>,
    /// What the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<Truncated>,
    /// The votes it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) panel: Option<PanelPart>,
}

/// The votes on a criterion and what they came to.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PanelPart {
    #[serde(flatten)]
    pub(crate) panel: PanelReport,
    /// What each judge said, in the order of the votes.
    pub(crate) votes_in_full: Vec<VotePart>,
}

/// A vote as its judge gave it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct VotePart {
    pub(crate) judge: JudgeIdentity,
    pub(crate) repeat: u32,
    pub(crate) escalated: bool,
    pub(crate) weight: f64,
    pub(crate) outcome: OutcomeKind,
    pub(crate) of_ten: Option<f64>,
    /// The score of the whole answer, 0 to 1, where that is voted on.
    pub(crate) score: Option<f64>,
    pub(crate) reason: String,
    pub(crate) probability: Option<Probability>,
    /// What the judge was not shown at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<Truncated>,
}

/// A gate, with the comparison it makes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GatePart {
    pub(crate) rule: String,
    /// Such as `raw 6 >= 7: no`.
    pub(crate) comparison: String,
    pub(crate) state: GateState,
}
