//! Combination of the graders of one case.

use crate::{
    CompositeFormula, GraderOutcome, GraderScore, GraderWeighting, Verdict, VerdictThresholds,
    combine_members,
};

/// Score and verdict of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseScore {
    /// Weighted mean of the graders' scores, 0 to 1; `None` if it is unknown.
    pub score: Option<f64>,
    /// Lowest and highest possible score; `None` if no grader with weight applies.
    pub bounds: Option<(f64, f64)>,
    /// Share of the weight that was judged, 0 to 1; `None` if no grader applies.
    pub coverage: Option<f64>,
    /// Verdict of the case. A case to which nothing applies is incomplete.
    pub verdict: Verdict,
    /// The graders, in the given order.
    pub graders: Vec<GraderScore>,
}

/// Combines graders. The score is the weighted mean over the graders that apply. A failed gate in any of
/// them, or a required grader below its threshold, fails the case, whatever the mean. Ungraded criteria make
/// the case incomplete unless no outcome of theirs could change the verdict.
pub fn score_case(graders: &[(GraderWeighting, GraderOutcome)], thresholds: VerdictThresholds) -> CaseScore {
    let combined = combine_members(graders, CompositeFormula::WeightedAverage, thresholds);
    let bounds = combined.bounds;
    CaseScore {
        score: bounds.filter(|(low, high)| low == high).map(|(low, _)| low),
        bounds,
        coverage: combined.coverage,
        verdict: combined.verdict.unwrap_or(Verdict::Incomplete),
        graders: combined.members,
    }
}
